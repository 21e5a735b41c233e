//! `bundle`: a recording with every file that its names and code come from, as one file for another machine.
//!
//! It is a tar archive, compressed by zstd: `oxperf-bundle` says what it is, then come `perf.data`, `kallsyms`, and below
//! `root` the files at their recorded places. [`crate::bundled`] is the other side.
//!
//! Debug information and recordings name files as they like, so what is packed is what it is taken for: binaries are ELF files
//! of the recorded identity, maps and logs of code belong to root or the user, source text is packed only if it is asked for
//! and only where everybody may read it. The command lists what it packed.

mod arguments;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use oxperf_abi::SampleType;
use oxperf_collect::CollectOptions;
use oxperf_data::{FeatureId, Reader};
use oxperf_itrace::ItraceOptions;
use oxperf_machine::{Dso, DsoKind, Machine};
use oxperf_objects::running_kernel_build_id;
use oxperf_objects::{Contents, Elf, FileVersion, Found, ObjectKind, ObjectQuery};
use oxperf_present::text::sanitize;
use oxperf_profile::Profile;
use oxperf_query::{Filter, SymbolOptions};
use oxperf_resolve::SymbolSource;
use oxperf_session::is_jit_log;
use oxperf_symbols::SymbolStore;
use oxperf_sys::files::{open_regular, open_regular_itself};
use oxperf_sys::process::effective_user;
use oxperf_tar::TarError;

use crate::bundled::{KALLSYMS, MARK, RECORDING, ROOT, VERSION};
use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::load::{LoadOptions, Loaded, load};
use crate::output::{print_error, print_line};
use crate::packing::Packing;
use crate::recording_options::RecordingOptions;
use crate::symbol_source;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "bundle",
    command: arguments::command,
    run: |matches, invocation| run(&arguments::options(matches, &invocation.configuration)),
    shares_work: true,
};

/// The options of `bundle`.
struct BundleOptions {
    recording: RecordingOptions,
    /// The bundle.
    output: Option<PathBuf>,
    /// Source text is packed, too.
    source_text: bool,
}

/// Runs `bundle`.
fn run(options: &BundleOptions) -> Result<i32, Failure> {
    let symbols = &options.recording.symbols;
    let input = Input::new(&options.recording.input)?;
    let recording = recording_files(input.path())?;
    if recording.is_empty() {
        return Err(Failure::new(format!(
            "{}: only a recording in files can be bundled: keep the stream in one",
            input.path().display()
        )));
    }
    let reader = input.reader()?;
    let names = symbol_source::open(symbols, &input, &reader)?;
    let filter = Filter::default();
    let collected = CollectOptions {
        chains: true,
        max_stack: 127,
        by_address: true,
        ..CollectOptions::default()
    };
    let loading = LoadOptions {
        trace: options.recording.trace.request(ItraceOptions::REPORT)?,
        ..LoadOptions::new(symbols, &filter, collected)
    };
    let Loaded {
        profile, machine, ..
    } = load(&input, &reader, &names, loading)?;
    let mut parts = Parts {
        store: symbols.store()?,
        files: BTreeMap::new(),
        missing: BTreeSet::new(),
    };
    for dso in needed(&reader, &machine, &profile) {
        parts.add_object(dso);
    }
    for log in machine
        .objects()
        .dsos()
        .filter(|dso| is_jit_log(dso.name.as_bytes()))
    {
        parts.add_written_by_program(&log.name);
    }
    if options.source_text {
        parts.add_source_text(&machine, &profile);
    }
    let kallsyms = kernel_symbols(symbols, &machine);
    let target = match &options.output {
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{}.bundle.tar.zst", input.path().display())),
    };
    let size = parts
        .write(&target, &recording, kallsyms.as_deref())
        .map_err(|error| Failure::new(format!("{}: {error}", target.display())))?;
    parts.list(&recording, kallsyms.as_deref())?;
    for missing in &parts.missing {
        print_error(&format!("Not in the bundle: {missing}"));
    }
    print_error(&format!(
        "{} files, {} MB, in {}",
        parts.files.len(),
        size >> 20,
        target.display()
    ));
    Ok(code::SUCCESS)
}

/// The files of a recording by their names in the bundle: itself, or all of a directory (`record --threads`, `--kcore`). No
/// link is followed.
fn recording_files(path: &Path) -> std::io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    if path.is_file() {
        files.push((RECORDING.to_owned(), path.to_owned()));
    }
    let mut open = vec![(RECORDING.to_owned(), path.to_owned())];
    while let Some((name, folder)) = open.pop().filter(|(_, folder)| folder.is_dir()) {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let Ok(own) = entry.file_name().into_string() else {
                continue;
            };
            let (name, kind) = (format!("{name}/{own}"), entry.file_type()?);
            match (kind.is_file(), kind.is_dir()) {
                (true, _) => files.push((name, entry.path())),
                (_, true) => open.push((name, entry.path())),
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The objects to pack: those that samples lie in, and where stacks are to be unwound or trace is to be decoded, all
/// code that was mapped.
fn needed<'m>(reader: &Reader<'_>, machine: &'m Machine, profile: &Profile) -> Vec<&'m Dso> {
    let stacks = |attr: &oxperf_abi::EventAttr| attr.sample_type.contains(SampleType::STACK_USER);
    let all = reader.features().bits().contains(FeatureId::AUXTRACE)
        || reader
            .events()
            .iter()
            .any(|event| stacks(&event.stored.attr));
    let mut names: BTreeSet<&str> = profile
        .frames
        .iter()
        .filter_map(|frame| Some(profile.dsos.get(frame.dso?.index())?.long.as_str()))
        .collect();
    if all {
        let code = machine
            .maps()
            .iter()
            .filter(|map| map.is_executable().unwrap_or(true));
        names.extend(code.map(|map| machine.dso(map.dso).name.as_str()));
    }
    machine
        .objects()
        .dsos()
        .filter(|dso| names.contains(dso.name.as_str()))
        .collect()
}

/// The kernel's symbols, where samples lie in it and they can be had.
fn kernel_symbols(symbols: &SymbolOptions, machine: &Machine) -> Option<PathBuf> {
    let kernel = machine
        .objects()
        .dsos()
        .find(|dso| dso.kind == DsoKind::Kernel)?;
    if let Some(given) = &symbols.kallsyms {
        return Some(given.clone());
    }
    let runs_here = kernel.build_id.is_none() || kernel.build_id == running_kernel_build_id();
    (runs_here && symbols.search_paths.root.is_none()).then(|| PathBuf::from("/proc/kallsyms"))
}

/// What goes into a bundle.
struct Parts {
    store: SymbolStore,
    /// Files by their name in the bundle.
    files: BTreeMap<String, Source>,
    /// What is not to be had, with the reason.
    missing: BTreeSet<String>,
}

/// Where the bytes of a file come from.
enum Source {
    /// A file in the state in which it was looked at.
    File(PathBuf, FileVersion),
    Memory(Vec<u8>),
}

impl Source {
    fn of(found: Found) -> Option<Source> {
        Some(Source::File(found.path, found.contents.version()?))
    }

    /// The file, if it is still the one that was looked at: somebody may put another in its place meanwhile.
    fn open(path: &Path, version: FileVersion) -> Result<File, String> {
        let file = open_regular(path).map_err(|error| error.to_string())?;
        match FileVersion::of_open(&file).map_err(|error| error.to_string())? == version {
            true => Ok(file),
            false => Err("it changed meanwhile".to_owned()),
        }
    }
}

impl Parts {
    fn add_object(&mut self, dso: &Dso) {
        match dso.kind {
            DsoKind::File => self.add_image(dso, ObjectKind::User),
            DsoKind::Vdso => self.add_image(dso, ObjectKind::Vdso),
            DsoKind::Module => self.add_image(dso, ObjectKind::KernelModule),
            DsoKind::Anonymous => self.add_written_by_program(&dso.name),
            DsoKind::Kernel
            | DsoKind::GuestKernel(_)
            | DsoKind::GuestModule(_)
            | DsoKind::KernelSymbol
            | DsoKind::Jit => {}
        }
    }

    fn add_image(&mut self, dso: &Dso, kind: ObjectKind) {
        if !dso.name.starts_with('/') && kind == ObjectKind::User {
            return;
        }
        let wanted = ObjectQuery {
            path: dso.name.as_bytes(),
            build_id: dso.build_id,
            kind,
            process: dso.process,
        };
        let locator = self.store.locator();
        let found = match locator.image(&wanted) {
            Ok(found) => found,
            Err(missing) => {
                let why = missing
                    .tried
                    .last()
                    .map_or_else(String::new, |(_, why)| format!(": {why}"));
                self.missing.insert(format!("{}{why}", dso.name));
                return;
            }
        };
        let image = Elf::parse(&found.contents).ok();
        let id = image.as_ref().and_then(Elf::build_id);
        let separate = [
            locator.debug_info(&wanted, image.as_ref()),
            locator.debug_file(&wanted, image.as_ref()),
        ];
        let separate: Vec<Found> = separate.into_iter().flatten().collect();
        let memory = found
            .contents
            .version()
            .is_none()
            .then(|| Source::Memory(found.contents.to_vec()));
        if let Some(source) = memory.or_else(|| Source::of(found)) {
            self.put(&dso.name, source);
        }
        let Some(id) = id.map(|id| id.to_string()) else {
            return;
        };
        let (head, rest) = id.split_at_checked(2).unwrap_or((&id, ""));
        for debug in separate {
            let name = format!("/usr/lib/debug/.build-id/{head}/{rest}.debug");
            if let Some(source) = Source::of(debug) {
                self.put(&name, source);
            }
        }
    }

    /// A map or log of code that a program made at run time.
    fn add_written_by_program(&mut self, path: &str) {
        let places = self.store.locator().places();
        let opened = places.recorded(path.as_bytes()).and_then(|found| {
            let contents = places.open_written_by_program(&found, Contents::open)?;
            Ok(contents
                .version()
                .map(|version| Source::File(found, version)))
        });
        match opened {
            Ok(Some(source)) => self.put(path, source),
            Ok(None) => {}
            Err(why) => drop(self.missing.insert(format!("{path}: {why}"))),
        }
    }

    /// The source text of what samples lie in.
    fn add_source_text(&mut self, machine: &Machine, profile: &Profile) {
        let hits = profile.events.iter().flat_map(|event| &event.addresses);
        let mut places: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        for hit in hits {
            let frame = profile.frames.get(hit.frame.index());
            let object = frame.and_then(|frame| profile.dsos.get(frame.dso?.index()));
            if let Some(object) = object {
                places.entry(&object.long).or_default().insert(hit.address);
            }
        }
        let mut texts = BTreeSet::new();
        let of_files =
            |dso: &&Dso| matches!(dso.kind, DsoKind::File | DsoKind::Kernel | DsoKind::Module);
        for dso in machine.objects().dsos().filter(of_files) {
            let Some(addresses) = places.get(dso.name.as_str()) else {
                continue;
            };
            let Some(lines) = SymbolSource::source(&self.store, dso, machine.objects()) else {
                continue;
            };
            texts.extend(
                addresses
                    .iter()
                    .filter_map(|address| Some(lines.line(*address)?.file)),
            );
        }
        for text in &texts {
            let path = self.store.locator().places().recorded(text.as_bytes());
            match path
                .map_err(|why| why.to_string())
                .and_then(|path| public_text(&path))
            {
                Ok(source) => self.put(text, source),
                Err(why) => drop(self.missing.insert(format!("{text}: {why}"))),
            }
        }
    }

    /// Names what was packed.
    fn list(
        &self,
        recording: &[(String, PathBuf)],
        kallsyms: Option<&Path>,
    ) -> std::io::Result<()> {
        for (_, path) in recording {
            print_line(&sanitize(&path.to_string_lossy()))?;
        }
        if let Some(kallsyms) = kallsyms {
            print_line(&sanitize(&kallsyms.to_string_lossy()))?;
        }
        for (name, source) in &self.files {
            let from = match source {
                Source::File(path, _) => path.to_string_lossy(),
                Source::Memory(_) => Cow::Borrowed(name.as_str()),
            };
            print_line(&sanitize(&from))?;
        }
        Ok(())
    }

    /// Names with `..` would lead out when the bundle is read: they are left out.
    fn put(&mut self, name: &str, source: Source) {
        let below = name.trim_start_matches('/');
        if below.split('/').any(|part| part == "..") {
            self.missing.insert(format!("{name}: a path with .."));
            return;
        }
        self.files
            .entry(format!("{ROOT}/{below}"))
            .or_insert(source);
    }

    /// Writes the archive. A file that changed since it was looked at is left out.
    fn write(
        &mut self,
        target: &Path,
        recording: &[(String, PathBuf)],
        kallsyms: Option<&Path>,
    ) -> Result<u64, TarError> {
        let mut packing = Packing::create(target)?;
        packing.add_bytes(MARK, VERSION.as_bytes())?;
        for (name, path) in recording {
            packing.add(name, path)?;
        }
        if let Some(kallsyms) = kallsyms {
            // The kernel makes this file up: it claims to be empty.
            let mut text = Vec::new();
            File::open(kallsyms)?.read_to_end(&mut text)?;
            packing.add_bytes(KALLSYMS, &text)?;
        }
        let mut changed = Vec::new();
        for (name, source) in &self.files {
            match source {
                Source::File(path, version) => match Source::open(path, *version) {
                    Ok(file) => packing.add_open(name, file)?,
                    Err(why) => changed.push((name.clone(), format!("{}: {why}", path.display()))),
                },
                Source::Memory(bytes) => packing.add_bytes(name, bytes)?,
            }
        }
        for (name, why) in changed {
            self.files.remove(&name);
            self.missing.insert(why);
        }
        packing.finish()
    }
}

/// A file of source text, where everybody may read it: by its own mode and those of the folders that lead to it. Folders of
/// the user (and not root) need not let others in: nobody's secrets but the user's own can be below them.
fn public_text(path: &Path) -> Result<Source, String> {
    let path = fs::canonicalize(path).map_err(|error| error.to_string())?;
    let file = open_regular_itself(&path).map_err(|error| error.to_string())?;
    let found = file.metadata().map_err(|error| error.to_string())?;
    let user = effective_user();
    let lets_in = |folder: &Path| {
        fs::metadata(folder)
            .is_ok_and(|data| data.mode() & OTHERS_ENTER != 0 || data.uid() == user && user != 0)
    };
    if found.mode() & OTHERS_READ == 0 || !path.ancestors().skip(1).all(lets_in) {
        return Err("not everybody may read it".to_owned());
    }
    let version = FileVersion::of_open(&file).map_err(|error| error.to_string())?;
    Ok(Source::File(path, version))
}

/// The bits of a mode that let everybody read a file, and pass through a folder.
const OTHERS_READ: u32 = 0o004;
const OTHERS_ENTER: u32 = 0o001;
