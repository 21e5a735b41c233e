//! The options that say where names come from, shared by all commands that show names.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_abi::SampleType;
use oxperf_data::{Container, Reader, features::Arch};
use oxperf_objects::SearchPaths;
use oxperf_present::text::sanitize;
use oxperf_resolve::{RecordedSymbols, Unwinder};
use oxperf_symbols::{
    BuildIdMismatch, Demangling, KernelSource, StoreOptions, SymbolPrefilter, SymbolStore,
    Unreadable,
};

use crate::environment;
use crate::failure::Failure;
use crate::guests;
use crate::learned_cache::LearnedCache;
use crate::output::print_error;

/// Most objects that are told one by one.
const MOST_TOLD: usize = 8;

/// Options of perf that choose what there is no choice of: no other program is run for source lines, one unwinder reads
/// all stacks, and a kernel image names nothing unless it is given.
const ACCEPTED: [&str; 3] = ["addr2line", "addr2line-style", "unwind-style"];

/// The options.
pub(crate) fn arguments() -> Vec<Arg> {
    let accepted = |name: &'static str| Arg::new(name).long(name).value_name("WHAT").hide(true);
    let mut all = chosen();
    all.extend(ACCEPTED.map(accepted));
    all.extend(guests::arguments());
    all.push(
        Arg::new("ignore-vmlinux")
            .long("ignore-vmlinux")
            .action(ArgAction::SetTrue)
            .hide(true),
    );
    all
}

fn chosen() -> Vec<Arg> {
    vec![
        Arg::new("symfs")
            .long("symfs")
            .value_name("DIR[,flat]")
            .help("Look for the recorded files below DIR"),
        Arg::new("kallsyms")
            .long("kallsyms")
            .value_name("FILE")
            .help("Kernel symbols from this copy of /proc/kallsyms"),
        Arg::new("vmlinux")
            .long("vmlinux")
            .short('k')
            .value_name("FILE")
            .help("Kernel symbols from this kernel image"),
        debuginfod_argument(),
        Arg::new("demangle")
            .long("demangle")
            .action(ArgAction::SetTrue)
            .overrides_with("no-demangle")
            .help("Show C++ and Rust names as written in the source (default)"),
        Arg::new("no-demangle")
            .long("no-demangle")
            .action(ArgAction::SetTrue)
            .help("Show names as the linker knows them"),
        Arg::new("demangle-kernel")
            .long("demangle-kernel")
            .action(ArgAction::SetTrue)
            .help("Show the kernel's names as written in the source, too"),
        Arg::new("inline")
            .long("inline")
            .action(ArgAction::SetTrue)
            .overrides_with("no-inline")
            .help("Show inlined functions in call chains (default)"),
        Arg::new("no-inline")
            .long("no-inline")
            .action(ArgAction::SetTrue)
            .help("Do not show inlined functions: debug information is not read for them"),
        Arg::new("full-source-path")
            .long("full-source-path")
            .action(ArgAction::SetTrue)
            .help("Show source files with their whole paths"),
    ]
}

/// The option that lets servers be asked.
pub(crate) fn debuginfod_argument() -> Arg {
    Arg::new(environment::DEBUGINFOD)
        .long("debuginfod")
        .value_name("URLS")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("")
        .help("Fetch missing programs and debug files from these servers, or from those of DEBUGINFOD_URLS")
}

/// Where names come from, as the options ask: from the recording where it holds them, else from the store.
pub(crate) fn source(
    matches: &ArgMatches,
    reader: &Reader<'_>,
) -> Result<RecordedSymbols<SymbolStore>, Failure> {
    Ok(RecordedSymbols::new(
        reader,
        demangling(matches),
        remembering_store(matches)?,
    ))
}

/// The same for one of several recordings that share a store: objects that they have in common are read once.
pub(crate) fn shared_source<'s>(
    matches: &ArgMatches,
    reader: &Reader<'_>,
    store: &'s SymbolStore,
) -> RecordedSymbols<&'s SymbolStore> {
    RecordedSymbols::new(reader, demangling(matches), store)
}

/// The same, but objects that cannot hold a function of that name go without names.
pub(crate) fn source_of_function(
    matches: &ArgMatches,
    reader: &Reader<'_>,
    function: &str,
) -> Result<RecordedSymbols<SymbolStore>, Failure> {
    let store = remembering(store_of(matches, Some(SymbolPrefilter::of(function)))?);
    Ok(RecordedSymbols::new(reader, demangling(matches), store))
}

/// A store that knows what earlier runs learned.
pub(crate) fn remembering_store(matches: &ArgMatches) -> Result<SymbolStore, Failure> {
    Ok(remembering(store(matches)?))
}

fn remembering(store: SymbolStore) -> SymbolStore {
    if let Some(cache) = learned_cache() {
        store.remember(move |id, topic| cache.load(id, topic));
    }
    store
}

/// Keeps what was learned for the next run.
pub(crate) fn keep(names: &RecordedSymbols<SymbolStore>) {
    keep_learned(names.otherwise());
}

/// The same of a store that recordings share.
pub(crate) fn keep_learned(store: &SymbolStore) {
    let learned = store.learned();
    if let Some(cache) = learned_cache().filter(|_| !learned.is_empty()) {
        cache.keep(&learned);
    }
}

/// Tells of objects whose code goes without names although there is a file: because it cannot be read, is another version,
/// or a map of names that is somebody else's.
pub(crate) fn report_nameless(store: &SymbolStore) {
    let unreadable = store.unreadable();
    report_each(&unreadable, "cannot be read", |Unreadable { file, why }| {
        format!(
            "Failed to open {}: {why}, continuing without symbols",
            sanitize(&file.to_string_lossy())
        )
    });
    if let [(path, owner), more @ ..] = store.disbelieved().as_slice() {
        let more = if more.is_empty() {
            String::new()
        } else {
            format!(" (as {} more maps)", more.len())
        };
        print_error(&format!(
            "Warning:\nFile {} belongs to user {owner}, not to you, root, or who runs that process: its names are not \
             used (-f uses them){more}.",
            sanitize(&path.to_string_lossy()),
        ));
    }
    report_each(
        &store.replaced(),
        "are there in other versions alone",
        |object| {
            let BuildIdMismatch {
                path,
                recorded,
                file,
                found,
            } = object;
            let path = String::from_utf8_lossy(path);
            format!(
                "Warning:\n{}: the recorded build id is {recorded}, that of {} is {found}. This is another version: its \
             names are not used.",
                sanitize(&path),
                sanitize(&file.to_string_lossy()),
            )
        },
    );
}

fn report_each<T>(objects: &[T], what: &str, message: impl Fn(&T) -> String) {
    objects
        .iter()
        .take(MOST_TOLD)
        .for_each(|object| print_error(&message(object)));
    if let Some(more) = objects
        .len()
        .checked_sub(MOST_TOLD)
        .filter(|more| *more > 0)
    {
        print_error(&format!(
            "Warning:\n{more} more objects {what}: see `symbols`"
        ));
    }
}

fn learned_cache() -> Option<LearnedCache> {
    environment::cache().map(|folder| LearnedCache::below(&folder))
}

/// Whether call chains show inlined functions.
pub(crate) fn inlines(matches: &ArgMatches) -> bool {
    !matches.get_flag("no-inline")
}

/// What unwinds the stacks that samples hold; `None` where none can hold one.
pub(crate) fn unwinder(places: SearchPaths, reader: &Reader<'_>) -> Option<Unwinder> {
    let mut types = reader
        .events()
        .iter()
        .map(|event| event.stored.attr.sample_type);
    // A stream may tell of further events.
    let any = reader.container() == Container::Stream
        || types.any(|parts| parts.contains(SampleType::STACK_USER));
    let machine = reader.features().get::<Arch>().ok().flatten();
    any.then(|| Unwinder::new(places, machine.as_ref().map(|machine| machine.0.as_str())))
}

/// Whether names are shown as in the source.
pub(crate) fn demangling(matches: &ArgMatches) -> Demangling {
    if matches.get_flag("no-demangle") {
        Demangling::Off
    } else {
        Demangling::default()
    }
}

/// The tables and files that names come from.
pub(crate) fn store(matches: &ArgMatches) -> Result<SymbolStore, Failure> {
    store_of(matches, None)
}

fn store_of(
    matches: &ArgMatches,
    only_with: Option<SymbolPrefilter>,
) -> Result<SymbolStore, Failure> {
    let file = |name| matches.get_one::<String>(name).map(PathBuf::from);
    let (kallsyms, vmlinux) = (file("kallsyms"), file("vmlinux"));
    for path in [&kallsyms, &vmlinux].into_iter().flatten() {
        if let Err(error) = std::fs::File::open(path) {
            return Err(Failure::invalid(format!(
                "cannot read kernel symbols from {}: {error}",
                path.display()
            )));
        }
    }
    let places = places(matches);
    let kernel = match (kallsyms, vmlinux) {
        (Some(path), _) => KernelSource::Kallsyms(path),
        (None, Some(path)) => KernelSource::Vmlinux(path),
        // The running kernel is not the one whose files lie below another root.
        (None, None) if places.root.is_some() => KernelSource::Nothing,
        (None, None) => KernelSource::default(),
    };
    let demangling = demangling(matches);
    let kernel_demangling = matches.get_flag("demangle-kernel").then_some(demangling);
    let guests = guests::names(matches);
    Ok(SymbolStore::new(StoreOptions {
        places,
        demangling,
        kernel,
        guests,
        kernel_demangling,
        only_with,
    }))
}

/// Where the recorded files are looked for by a command that has no options for that.
pub(crate) fn default_places(matches: &ArgMatches) -> SearchPaths {
    SearchPaths {
        build_id_cache: environment::build_id_cache(matches),
        debuginfod: environment::debuginfod(matches),
        any_owner: matches
            .try_get_one::<bool>("force")
            .ok()
            .flatten()
            .copied()
            .unwrap_or(false),
        ..SearchPaths::default()
    }
}

/// Where the recorded files are looked for.
pub(crate) fn places(matches: &ArgMatches) -> SearchPaths {
    let symfs = matches
        .get_one::<String>("symfs")
        .filter(|dir| !dir.is_empty());
    let (root, flat) = match symfs.map(|dir| {
        dir.strip_suffix(",flat")
            .map_or((dir.as_str(), false), |dir| (dir, true))
    }) {
        Some((dir, flat)) => (Some(PathBuf::from(dir)), flat),
        None => (None, false),
    };
    SearchPaths {
        root,
        flat,
        ..default_places(matches)
    }
}
