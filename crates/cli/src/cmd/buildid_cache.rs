//! `buildid-cache`: what is in perf's cache of binaries, and putting things in and out.

mod arguments;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use oxperf_abi::BuildId;
use oxperf_data::features::BuildIds;
use oxperf_objects::elf::build_id_in_notes;
use oxperf_objects::running_kernel_build_id;
use oxperf_objects::{
    BuildIdCache, CacheFile, Contents, Debuginfod, Elf, Locator, ObjectKind, ObjectQuery,
    SearchPaths, copy_kernel, is_copy_of,
};
use oxperf_present::text::calendar::CivilTime;
use oxperf_present::text::sanitize;
use oxperf_query::SymbolOptions;

use super::buildid_list;
use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::output::{print_error, print_line};
use crate::pager::{self, Habit};

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "buildid-cache",
    command: arguments::command,
    run: |matches, invocation| {
        let options = arguments::options(matches, &invocation.configuration);
        let _pager = pager::start(invocation, "buildid-cache", Habit::Paged);
        run(&options, &invocation.program)
    },
    shares_work: false,
};

/// The options of `buildid-cache`.
struct CacheOptions {
    /// The cache.
    root: Option<PathBuf>,
    /// The servers for debug files.
    debuginfod: Option<Debuginfod>,
    /// The process whose root files are taken from.
    process: Option<u32>,
    /// Every change is reported.
    verbose: bool,
    /// Recordings of other users are read, and a kernel's memory is copied again.
    force: bool,
    /// Something is asked for.
    does_something: bool,
    add: Vec<PathBuf>,
    remove: Vec<PathBuf>,
    purge: Vec<PathBuf>,
    purge_all: bool,
    update: Vec<PathBuf>,
    /// The kernel's memory to copy.
    kcore: Option<PathBuf>,
    /// The recording whose missing binaries are listed.
    missing: Option<String>,
    list: bool,
    symbols: SymbolOptions,
}

/// Runs `buildid-cache`.
fn run(options: &CacheOptions, program: &str) -> Result<i32, Failure> {
    let root = options.root.clone();
    let root = root
        .ok_or_else(|| Failure::new("there is no home folder: name a cache with --buildid-dir"))?;
    let changes = Changes {
        cache: BuildIdCache::new(root),
        process: options.process,
        places: SearchPaths {
            debuginfod: options.debuginfod.clone(),
            ..SearchPaths::default()
        },
        verbose: options.verbose,
    };
    if !options.does_something {
        return Err(Failure::bad_option(format!(
            "say what to do: see '{program} buildid-cache --help'"
        )));
    }
    for path in &options.add {
        changes.report("Adding", path, changes.add(path));
    }
    for path in &options.remove {
        changes.report("Removing", path, changes.remove(path));
    }
    for path in &options.purge {
        changes.report("Removing", path, changes.purge(path));
    }
    if options.purge_all {
        changes.purge_all()?;
    }
    for path in &options.update {
        changes.report("Updating", path, changes.update(path));
    }
    if let Some(path) = &options.kcore {
        changes.add_kcore(path, options.force)?;
    }
    if let Some(recording) = &options.missing {
        changes.list_missing(options, recording)?;
    }
    if options.list {
        for entry in changes.cache.entries() {
            print_line(&format!("{} {}", entry.build_id, sanitize(&entry.name)))?;
        }
    }
    Ok(code::SUCCESS)
}

/// What is done to a cache.
struct Changes {
    cache: BuildIdCache,
    /// The process whose root holds the files.
    process: Option<u32>,
    /// Where separate debug files may be.
    places: SearchPaths,
    verbose: bool,
}

/// Why a file could not be put in or taken out.
type Outcome = Result<BuildId, String>;

impl Changes {
    fn report(&self, what: &str, path: &Path, outcome: Outcome) {
        match outcome {
            Ok(id) if self.verbose => print_error(&format!("{what} {id} {}: Ok", path.display())),
            Ok(_) => {}
            Err(why) => print_error(&format!("{what} {}: {why}", path.display())),
        }
    }

    /// The file where it can be read from here.
    fn source(&self, path: &Path) -> PathBuf {
        match self.process {
            Some(process) => Path::new("/proc")
                .join(process.to_string())
                .join("root")
                .join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    fn identity(&self, path: &Path) -> Outcome {
        let contents = Contents::open(&self.source(path))
            .map_err(|why| why.to_string())?
            .into_elf();
        let image = Elf::parse(&contents).map_err(|why| why.to_string())?;
        image
            .build_id()
            .ok_or_else(|| "it has no build id".to_owned())
    }

    fn add(&self, path: &Path) -> Outcome {
        let id = self.identity(path)?;
        let name = std::path::absolute(path).map_err(|error| error.to_string())?;
        let name = if self.process.is_some() {
            path.to_owned()
        } else {
            fs::canonicalize(&name).unwrap_or(name)
        };
        let name = name.as_os_str().as_encoded_bytes();
        self.cache
            .add(name, id, CacheFile::Elf, &self.source(path))
            .map_err(|error| error.to_string())?;
        add_debug_file(&self.cache, &self.places, name, id);
        Ok(id)
    }

    fn remove(&self, path: &Path) -> Outcome {
        let id = self.identity(path)?;
        match self.cache.remove(id) {
            Ok(true) => Ok(id),
            Ok(false) => Err("it is not in the cache".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn update(&self, path: &Path) -> Outcome {
        self.cache
            .remove(self.identity(path)?)
            .map_err(|error| error.to_string())?;
        self.add(path)
    }

    fn purge(&self, path: &Path) -> Outcome {
        let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let names = [
            path.to_string_lossy().into_owned(),
            canonical.to_string_lossy().into_owned(),
        ];
        let versions = self
            .cache
            .entries()
            .into_iter()
            .filter(|entry| names.contains(&entry.name));
        let mut last = Err("it is not in the cache".to_owned());
        for entry in versions {
            self.cache
                .remove(entry.build_id)
                .map_err(|error| error.to_string())?;
            last = Ok(entry.build_id);
        }
        last
    }

    fn purge_all(&self) -> Result<(), Failure> {
        for entry in self.cache.entries() {
            let removed = self.cache.remove(entry.build_id);
            removed
                .map_err(|error| Failure::new(format!("cannot remove {}: {error}", entry.name)))?;
            if self.verbose {
                print_error(&format!(
                    "Removing {} {}: Ok",
                    entry.build_id,
                    sanitize(&entry.name)
                ));
            }
        }
        Ok(())
    }

    /// Copies the memory of the kernel that `path` (`/proc/kcore`) stands for, unless a copy is there already.
    fn add_kcore(&self, path: &Path, anew: bool) -> Result<(), Failure> {
        let source = path.parent().filter(|_| path.ends_with("kcore"));
        let source =
            source.ok_or_else(|| Failure::new(format!("{} is no kcore", path.display())))?;
        let notes = source.join("../sys/kernel/notes");
        let id = fs::read(&notes)
            .ok()
            .and_then(|notes| build_id_in_notes(&notes, IS_LITTLE_ENDIAN));
        let id =
            id.ok_or_else(|| Failure::new(format!("{} tells no build id", notes.display())))?;
        let copies = self.cache.kernel_copies(id);
        let entries = fs::read_dir(&copies)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()));
        if let Some(same) = entries
            .filter(|_| !anew)
            .find(|copy| is_copy_of(copy, source))
        {
            self.tell(&format!("same kcore found in {}", same.display()));
            return Ok(());
        }
        let folder = copies.join(name_of_now());
        copy_kernel(source, &folder)
            .map_err(|error| Failure::new(format!("cannot copy {}: {error}", path.display())))?;
        self.tell(&format!(
            "kcore added to build-id cache directory {}",
            folder.display()
        ));
        Ok(())
    }

    fn tell(&self, what: &str) {
        if self.verbose {
            print_error(what);
        }
    }

    fn list_missing(&self, options: &CacheOptions, recording: &str) -> Result<(), Failure> {
        let input = Input::open(recording, options.force)?;
        let reader = input.reader()?;
        for (id, name) in buildid_list::binaries(&options.symbols, &input, &reader, false)? {
            if let Some(id) = id.filter(|id| self.cache.find(*id).is_none()) {
                print_line(&format!("{id} {}", sanitize(&name)))?;
            }
        }
        Ok(())
    }
}

const IS_LITTLE_ENDIAN: bool = cfg!(target_endian = "little");

/// The moment as perf names copies of a kernel's memory: date, time of day and hundredths of a second.
fn name_of_now() -> String {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = now.as_secs() as i64;
    let time = CivilTime::new(seconds, oxperf_sys::clock::utc_offset(seconds)).date_time();
    let digits: String = time.chars().filter(char::is_ascii_digit).collect();
    format!("{digits}{:02}", now.subsec_millis() / 10)
}

/// Puts the separate debug file of a binary beside it, where there is one.
fn add_debug_file(cache: &BuildIdCache, places: &SearchPaths, name: &[u8], id: BuildId) {
    let locator = Locator::new(places.clone());
    let wanted = ObjectQuery {
        path: name,
        build_id: Some(id),
        kind: ObjectKind::User,
        process: None,
    };
    let image = locator.image(&wanted).ok();
    let image = image
        .as_ref()
        .and_then(|found| Elf::parse(&found.contents).ok());
    if let Ok(found) = locator.debug_info(&wanted, image.as_ref()) {
        // A cache without the debug file is still a cache.
        let _ = cache.add(name, id, CacheFile::Debug, &found.path);
    }
}

/// Puts the binaries of a recording's table into the cache, as perf's recorder does; what cannot be had is passed over.
pub(crate) fn fill(
    root: &Path,
    recording: &str,
    servers: Option<Debuginfod>,
) -> Result<(), Failure> {
    let paths = SearchPaths {
        debuginfod: servers,
        ..SearchPaths::default()
    };
    let cache = BuildIdCache::new(root.to_owned());
    let input = Input::open(recording, true)?;
    let reader = input.reader()?;
    let table = reader.features().get::<BuildIds>().ok().flatten();
    for entry in table.iter().flat_map(|table| &table.0) {
        let (name, id) = (entry.name.as_bytes(), entry.build_id);
        if cache.find(id).is_some() {
            continue;
        }
        let added = match entry.name.as_str() {
            "[vdso]" => {
                own_vdso(id).map(|bytes| cache.add_from(name, id, CacheFile::Vdso, &mut &bytes[..]))
            }
            kernel if kernel.starts_with("[kernel") => running_kernel_build_id()
                .filter(|running| *running == id)
                .map(|_| {
                    fs::File::open("/proc/kallsyms").and_then(|mut text| {
                        cache.add_from(name, id, CacheFile::Kallsyms, &mut text)
                    })
                }),
            path if path.starts_with('/') => {
                Some(cache.add(name, id, CacheFile::Elf, Path::new(path)))
            }
            _ => None,
        };
        if added.is_some_and(|added| added.is_ok()) && name.starts_with(b"/") {
            add_debug_file(&cache, &paths, name, id);
        }
    }
    Ok(())
}

fn own_vdso(id: BuildId) -> Option<Vec<u8>> {
    let wanted = ObjectQuery {
        path: b"[vdso]",
        build_id: Some(id),
        kind: ObjectKind::Vdso,
        process: None,
    };
    Locator::new(SearchPaths::default())
        .image(&wanted)
        .ok()
        .map(|found| found.contents.to_vec())
}
