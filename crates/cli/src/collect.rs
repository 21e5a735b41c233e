//! Loading, for the commands that have not their own options yet.

use clap::ArgMatches;
use oxperf_collect::CollectOptions;
use oxperf_data::Reader;
use oxperf_itrace::ItraceOptions;
use oxperf_profile::DetailOptions;
pub(crate) use oxperf_query::{formatters, sockets};
use oxperf_resolve::SymbolSource;
use oxperf_tracepoint::Formatters;

use crate::arguments;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::input::Input;
pub(crate) use crate::load::{Graphed, Loaded};
use crate::load::{LoadOptions, load as load_as};
pub(crate) use crate::losses::losses;
use crate::recording_options::TraceRequest;

/// What is made of hardware trace, and the options that say where its code lies.
pub(crate) type Itrace<'m> = (&'m ArgMatches, Option<ItraceOptions>);

/// What is wanted of samples beyond where they ran.
#[derive(Default)]
pub(crate) struct Wishes<'w> {
    /// Details of them; records of tracepoints need their formats.
    pub(crate) details: DetailOptions,
    pub(crate) formats: Option<&'w Formatters>,
    /// If call chains matter to nothing but call graphs, tells to which these belong.
    pub(crate) graphed: Option<&'w Graphed<'w>>,
}

/// Reads the whole recording.
pub(crate) fn load(
    input: &Input,
    reader: &Reader<'_>,
    source: &dyn SymbolSource,
    options: CollectOptions,
    wishes: Wishes<'_>,
    (matches, itrace): Itrace<'_>,
    filter: &Filter,
) -> Result<Loaded, Failure> {
    let trace = match itrace {
        Some(itrace) => arguments::itrace::options(matches).request(itrace)?,
        None => None,
    };
    let trace = trace.map(|trace| TraceRequest {
        itrace: itrace.unwrap_or(trace.itrace),
        ..trace
    });
    let options = LoadOptions {
        symbols: &arguments::symbols::options(matches),
        trace,
        filter,
        switching: arguments::switching::options(matches),
        collect: options,
        details: wishes.details,
        formats: wishes.formats,
        graphed: wishes.graphed,
    };
    load_as(input, reader, source, options)
}
