//! Names as the options ask, with those that earlier runs learned; objects that go without names are reported.

use oxperf_data::Reader;
use oxperf_present::text::sanitize;
use oxperf_query::SymbolOptions;
use oxperf_resolve::RecordedSymbols;
use oxperf_symbols::{BuildIdMismatch, SymbolStore, Unreadable};

use crate::environment;
use crate::failure::Failure;
use crate::input::Input;
use crate::learned_cache::LearnedCache;
use crate::output::print_error;

/// Most objects that are reported one by one.
const MAX_REPORTED: usize = 8;

/// Names from the recording where it holds them, else from a store that knows what earlier runs learned.
pub(crate) fn open(
    options: &SymbolOptions,
    input: &Input,
    reader: &Reader<'_>,
) -> Result<RecordedSymbols<SymbolStore>, Failure> {
    let options = options.of_recording(input.path());
    Ok(options.recorded(reader, recalling_store(&options)?))
}

/// Names as of [`open`], but objects that cannot hold a function of that name go without any.
pub(crate) fn open_for_function(
    options: &SymbolOptions,
    input: &Input,
    reader: &Reader<'_>,
    function: &str,
) -> Result<RecordedSymbols<SymbolStore>, Failure> {
    let options = options.of_recording(input.path());
    let store = recalling(options.store_of_function(function)?);
    Ok(options.recorded(reader, store))
}

/// A store that knows what earlier runs learned.
pub(crate) fn recalling_store(options: &SymbolOptions) -> Result<SymbolStore, Failure> {
    Ok(recalling(options.store()?))
}

fn recalling(store: SymbolStore) -> SymbolStore {
    if let Some(cache) = learned_cache() {
        store.remember(move |id, topic| cache.load(id, topic));
    }
    store
}

/// Keeps what was learned for the next run.
pub(crate) fn keep(names: &RecordedSymbols<SymbolStore>) {
    keep_learned(names.otherwise());
}

/// Keeps what was learned by a store that recordings share.
pub(crate) fn keep_learned(store: &SymbolStore) {
    let learned = store.learned();
    if let Some(cache) = learned_cache().filter(|_| !learned.is_empty()) {
        cache.keep(&learned);
    }
}

fn learned_cache() -> Option<LearnedCache> {
    environment::cache().map(|folder| LearnedCache::below(&folder))
}

/// Reports objects whose code goes without names although there is a file: because it cannot be read, is another version,
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
        .take(MAX_REPORTED)
        .for_each(|object| print_error(&message(object)));
    if let Some(more) = objects
        .len()
        .checked_sub(MAX_REPORTED)
        .filter(|more| *more > 0)
    {
        print_error(&format!(
            "Warning:\n{more} more objects {what}: see `symbols`"
        ));
    }
}
