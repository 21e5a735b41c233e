//! Where code lies, for the commands that have not their own options yet.

use clap::ArgMatches;
use oxperf_data::Reader;
use oxperf_itrace::CodeSearchPaths;

use crate::input::Input;

/// All places for a recording.
pub(crate) fn code_places(
    matches: &ArgMatches,
    input: &Input,
    reader: &Reader<'_>,
) -> CodeSearchPaths {
    crate::arguments::symbols::options(matches).code_search_paths(input.path(), reader)
}
