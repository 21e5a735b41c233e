//! Filters of the commands that have not their own options yet.

use std::ops::Deref;

use clap::ArgMatches;
use oxperf_data::{EventEntry, Reader};
pub(crate) use oxperf_query::ThreadFilter as Threads;

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

    /// The filter without its conditions on threads, and these.
    pub(crate) fn split_threads(self) -> (Filter, Threads) {
        let (rest, threads) = self.0.split_threads();
        (Filter(rest), threads)
    }
}

/// That samples tell their CPUs, where some are asked for.
pub(crate) fn require_cpus(matches: &ArgMatches, events: &[EventEntry]) -> Result<(), Failure> {
    let options = crate::arguments::filter::options(matches);
    Ok(oxperf_query::require_cpus(&options, events)?)
}

/// `0,2-4`
pub(crate) fn cpus(text: &str) -> Result<Vec<(u32, u32)>, Failure> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some((first, last))
    };
    let ranges: Option<Vec<(u32, u32)>> = text.split(',').map(range).collect();
    Ok(ranges.ok_or_else(|| oxperf_query::QueryError::InvalidCpus(text.to_owned()))?)
}

/// Names, comma separated, or those that stand in a file, one a line.
pub(crate) fn names(text: &str) -> Result<Vec<String>, Failure> {
    Ok(oxperf_query::read_names(text)?)
}
