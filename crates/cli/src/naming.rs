//! The sources of names, for the commands that have not their own options yet.

use clap::ArgMatches;
use oxperf_data::Reader;
use oxperf_objects::SearchPaths;
use oxperf_resolve::{RecordedSymbols, Unwinder};
use oxperf_symbols::{Demangling, SymbolStore};

pub(crate) use crate::arguments::symbols::{arguments, debuginfod_argument, options};
use crate::failure::Failure;
use crate::symbol_source::recalling_store;
pub(crate) use crate::symbol_source::{keep, keep_learned, report_nameless};

/// Where names come from, as the options ask: from the recording where it holds them, else from the store.
pub(crate) fn source(
    matches: &ArgMatches,
    reader: &Reader<'_>,
) -> Result<RecordedSymbols<SymbolStore>, Failure> {
    crate::symbol_source::open(&options(matches), reader)
}

/// A store that knows what earlier runs learned.
pub(crate) fn remembering_store(matches: &ArgMatches) -> Result<SymbolStore, Failure> {
    recalling_store(&options(matches))
}

/// Whether call chains show inlined functions.
pub(crate) fn inlines(matches: &ArgMatches) -> bool {
    options(matches).inlines
}

/// What unwinds the stacks that samples hold; `None` where none can hold one.
pub(crate) fn unwinder(places: SearchPaths, reader: &Reader<'_>) -> Option<Unwinder> {
    oxperf_query::unwinder(&places, reader)
}

/// Whether names are shown as in the source.
pub(crate) fn demangling(matches: &ArgMatches) -> Demangling {
    options(matches).demangling
}

/// The tables and files that names come from.
pub(crate) fn store(matches: &ArgMatches) -> Result<SymbolStore, Failure> {
    Ok(options(matches).store()?)
}

/// Where the recorded files are looked for.
pub(crate) fn places(matches: &ArgMatches) -> SearchPaths {
    options(matches).search_paths
}
