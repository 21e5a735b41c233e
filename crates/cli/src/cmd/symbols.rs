//! `symbols`: for each binary of a recording what names can be had, from where, and what to do where there are none.

mod arguments;
mod debian;

use std::path::Path;

use oxperf_collect::CollectOptions;
use oxperf_itrace::ItraceOptions;
use oxperf_machine::{Dso, DsoKind, Machine};
use oxperf_objects::running_kernel_build_id;
use oxperf_objects::{Elf, Locator, ObjectKind, ObjectOrigin, ObjectQuery};
use oxperf_present::recording::symbols::{self as present, ObjectState};
use oxperf_query::Filter;
use rustc_hash::FxHashSet;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::load::{LoadOptions, Loaded, load};
use crate::output::print_line;
use crate::recording_options::RecordingOptions;
use crate::symbol_source;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "symbols",
    command: arguments::command,
    run: |matches, invocation| run(&arguments::options(matches, &invocation.configuration)),
    shares_work: true,
};

/// The options of `symbols`.
struct SymbolsOptions {
    recording: RecordingOptions,
    /// Objects are written as JSON.
    json: bool,
}

/// Runs `symbols`.
fn run(options: &SymbolsOptions) -> Result<i32, Failure> {
    let recording = &options.recording;
    let input = Input::new(&recording.input)?;
    let reader = input.reader()?;
    let names = symbol_source::open(&recording.symbols, &input, &reader)?;
    let filter = Filter::default();
    let collected = CollectOptions {
        chains: true,
        max_stack: 127,
        ..CollectOptions::default()
    };
    let loading = LoadOptions {
        trace: recording.trace.request(ItraceOptions::REPORT)?,
        ..LoadOptions::new(&recording.symbols, &filter, collected)
    };
    let Loaded {
        profile, machine, ..
    } = load(&input, &reader, &names, loading)?;
    let hit: FxHashSet<&str> = profile
        .frames
        .iter()
        .filter_map(|frame| Some(profile.dsos.get(frame.dso?.index())?.long.as_str()))
        .collect();
    let locator = Locator::new(recording.symbols.search_paths.clone());
    let (kallsyms, vmlinux) = (&recording.symbols.kallsyms, &recording.symbols.vmlinux);
    let kernel_given = kallsyms.is_some() || vmlinux.is_some();
    let states: Vec<ObjectState> = machine
        .objects()
        .dsos()
        .filter(|dso| hit.contains(dso.name.as_str()))
        .map(|dso| state(&locator, &machine, dso, kernel_given))
        .collect();
    let shown = if options.json {
        present::json(&states)
    } else {
        present::plain(&states)
    };
    print_line(shown.trim_end())?;
    Ok(code::SUCCESS)
}

fn state(locator: &Locator, machine: &Machine, dso: &Dso, kernel_given: bool) -> ObjectState {
    let mut state = ObjectState {
        name: dso.name.clone(),
        recorded: dso.build_id,
        found: None,
        file: None,
        tried: Vec::new(),
        symbols: (0, 0, false),
        debug: None,
        unwinding: Vec::new(),
        advice: None,
    };
    match dso.kind {
        DsoKind::File => look_at_file(&mut state, locator, dso, ObjectKind::User),
        DsoKind::Vdso => look_at_file(&mut state, locator, dso, ObjectKind::Vdso),
        DsoKind::Kernel => look_at_kernel(&mut state, machine, kernel_given),
        DsoKind::Module => {
            look_at_file(&mut state, locator, dso, ObjectKind::KernelModule);
            if state.file.is_none() {
                // The kernel's list names what modules hold.
                look_at_kernel(&mut state, machine, kernel_given);
            }
        }
        DsoKind::Anonymous => look_at_map(&mut state, locator),
        DsoKind::GuestKernel(_)
        | DsoKind::GuestModule(_)
        | DsoKind::KernelSymbol
        | DsoKind::Jit => {}
    }
    state
}

fn look_at_file(state: &mut ObjectState, locator: &Locator, dso: &Dso, kind: ObjectKind) {
    let wanted = ObjectQuery {
        path: dso.name.as_bytes(),
        build_id: dso.build_id,
        kind,
        process: dso.process,
    };
    let image = locator.image(&wanted);
    if let Err(missing) = &image {
        state.tried = missing
            .tried
            .iter()
            .map(|(path, why)| format!("{}: {why}", path.display()))
            .collect();
        state.advice = Some(if missing.other_version().is_some() {
            "the file was replaced since: record again, or find the old version by its build id and put it into the \
             cache (buildid-cache -a FILE)"
                .to_owned()
        } else {
            "give the folder that holds the recorded machine's files (--symfs DIR), or read a bundle made there".to_owned()
        });
    }
    let image = image.ok();
    let elf = image
        .as_ref()
        .and_then(|found| Elf::parse(&found.contents).ok());
    let debug_file = locator.debug_file(&wanted, elf.as_ref()).ok();
    let debug_info = locator.debug_info(&wanted, elf.as_ref()).ok();
    state.file = image
        .as_ref()
        .map(|found| (found.path.display().to_string(), origin(found.origin)));
    let Some(elf) = elf else { return };
    state.found = elf.build_id();
    let other = debug_file
        .as_ref()
        .and_then(|found| Elf::parse(&found.contents).ok());
    let full = if elf.has_symtab() {
        count(&elf, SYMTAB)
    } else {
        other.as_ref().map_or(0, |file| count(file, SYMTAB))
    };
    state.symbols = (
        full,
        count(&elf, DYNSYM),
        elf.section(b".gnu_debugdata").is_some(),
    );
    state.debug = if elf.has_debug_section(".debug_info") {
        state.file.as_ref().map(|(path, _)| path.clone())
    } else {
        debug_info.map(|found| found.path.display().to_string())
    };
    let sections = [
        (&b".eh_frame"[..], ".eh_frame"),
        (b".debug_frame", ".debug_frame"),
    ];
    state.unwinding = sections
        .iter()
        .filter(|(name, _)| elf.section(name).is_some())
        .map(|(_, name)| *name)
        .collect();
    if state.debug.is_none() && kind == ObjectKind::User {
        state.advice = Some(debian::debug_package(Path::new(&dso.name)).unwrap_or_else(|| {
            "build it with -g for source lines and inlined functions, or install its debug files".to_owned()
        }));
    }
}

fn look_at_kernel(state: &mut ObjectState, machine: &Machine, given: bool) {
    let kernel = machine
        .objects()
        .dsos()
        .find(|dso| dso.kind == DsoKind::Kernel)
        .and_then(|dso| dso.build_id);
    let running = running_kernel_build_id();
    let same = kernel.is_none() || running.is_none() || kernel == running;
    if given || same {
        state.file = Some((
            if given { "as given" } else { "/proc/kallsyms" }.to_owned(),
            "kernel",
        ));
    }
    state.advice = match (given, same) {
        (true, _) => None,
        (_, true) => Some("for code and source lines name the kernel's image with -k vmlinux".to_owned()),
        _ => Some(
            "another kernel runs here: give its list of symbols (--kallsyms FILE) or image (-k vmlinux)"
                .to_owned(),
        ),
    };
}

fn look_at_map(state: &mut ObjectState, locator: &Locator) {
    let there = locator
        .places()
        .recorded(state.name.as_bytes())
        .ok()
        .filter(|path| path.is_file());
    match there {
        Some(path) => {
            state.file = Some((path.display().to_string(), "map of code made at run time"))
        }
        None => {
            state.advice = Some(
                "code made at run time: let the program write /tmp/perf-PID.map (node --perf-basic-prof, java with \
                 perf-map-agent) while it is recorded"
                    .to_owned(),
            );
        }
    }
}

fn origin(origin: ObjectOrigin) -> &'static str {
    match origin {
        ObjectOrigin::BuildIdCache => "build-id cache",
        ObjectOrigin::RecordedPath => "recorded path",
        ObjectOrigin::LiveProcess => "the process that ran it",
        ObjectOrigin::DebugFile(_) => "debug file",
        ObjectOrigin::Debuginfod => "debuginfod",
        ObjectOrigin::OwnMemory => "this process",
    }
}

/// `SHT_SYMTAB`.
const SYMTAB: u32 = 2;
/// `SHT_DYNSYM`.
const DYNSYM: u32 = 11;

fn count(file: &Elf<'_>, table: u32) -> usize {
    file.section_of_kind(table)
        .map_or(0, |table| file.symbols(table).count())
}
