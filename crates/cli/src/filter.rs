//! Filters of the commands that have not their own options yet.

use std::ops::Deref;

use clap::ArgMatches;
use oxperf_data::{EventEntry, Reader};

pub(crate) use crate::arguments::filter::arguments;
use crate::failure::Failure;

/// A filter as the options ask.
#[derive(Debug, Default)]
pub(crate) struct Filter(pub(crate) oxperf_query::Filter);

impl Deref for Filter {
    type Target = oxperf_query::Filter;

    fn deref(&self) -> &oxperf_query::Filter {
        &self.0
    }
}

impl Filter {
    /// Takes the options for a recording.
    pub(crate) fn from_matches(
        matches: &ArgMatches,
        reader: &Reader<'_>,
    ) -> Result<Filter, Failure> {
        let options = crate::arguments::filter::options(matches);
        Ok(Filter(oxperf_query::Filter::new(&options, reader)?))
    }
}

/// That samples tell their CPUs, where some are asked for.
pub(crate) fn require_cpus(matches: &ArgMatches, events: &[EventEntry]) -> Result<(), Failure> {
    let options = crate::arguments::filter::options(matches);
    Ok(oxperf_query::require_cpus(&options, events)?)
}
