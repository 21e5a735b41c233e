//! The sources of names, for the commands that have not their own options yet.

use clap::ArgMatches;
use oxperf_data::Reader;
use oxperf_objects::SearchPaths;
use oxperf_resolve::{RecordedSymbols, Unwinder};
use oxperf_symbols::SymbolStore;

pub(crate) use crate::arguments::symbols::{arguments, options};
use crate::failure::Failure;
pub(crate) use crate::symbol_source::{keep, report_nameless};

/// Where names come from, as the options ask: from the recording where it holds them, else from the store.
pub(crate) fn source(
    matches: &ArgMatches,
    reader: &Reader<'_>,
) -> Result<RecordedSymbols<SymbolStore>, Failure> {
    crate::symbol_source::open(&options(matches), reader)
}

/// Whether call chains show inlined functions.
pub(crate) fn inlines(matches: &ArgMatches) -> bool {
    options(matches).inlines
}

/// What unwinds the stacks that samples hold; `None` where none can hold one.
pub(crate) fn unwinder(places: SearchPaths, reader: &Reader<'_>) -> Option<Unwinder> {
    oxperf_query::unwinder(&places, reader)
}

/// Where the recorded files are looked for.
pub(crate) fn places(matches: &ArgMatches) -> SearchPaths {
    options(matches).search_paths
}
