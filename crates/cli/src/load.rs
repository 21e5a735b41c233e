//! From a recording to a profile: what `report`, `annotate`, `diff` and `profile` show.

use std::ops::ControlFlow;

use oxperf_collect::{CollectOptions, Collector, event_profiles, latency_cpus};
use oxperf_data::Reader;
use oxperf_machine::Machine;
use oxperf_profile::{DetailOptions, Profile};
use oxperf_query::{
    Filter, FilteredSink, Query, QueryRun, SwitchOptions, Switching, SymbolOptions, TraceOptions,
    unwinder,
};
use oxperf_resolve::SymbolSource;
use oxperf_session::{Diagnostics, Finished, SampleEvent, Sink};
use oxperf_tracepoint::Formatters;

use crate::failure::Failure;
use crate::input::Input;
use crate::recording_options::TraceRequest;
use crate::{itrace_log, output};

/// A recording that was read.
pub(crate) struct Loaded {
    /// Its samples.
    pub(crate) profile: Profile,
    /// Losses and damage.
    pub(crate) diagnostics: Diagnostics,
    /// The machine at its end.
    pub(crate) machine: Machine,
}

/// Marks, in a profile without chains, the sample groups of each event that matter to a call graph.
pub(crate) type Graphed<'w> = dyn Fn(&Profile) -> Vec<Vec<bool>> + 'w;

/// The samples that are read, and what is kept of them.
pub(crate) struct LoadOptions<'o> {
    /// The files that code, logs of JIT compilers and tables for unwinding come from.
    pub(crate) symbols: &'o SymbolOptions,
    /// The samples that are made of hardware trace; `None` is none.
    pub(crate) trace: Option<TraceRequest>,
    /// The samples that count.
    pub(crate) filter: &'o Filter,
    /// The events between which they count.
    pub(crate) switching: SwitchOptions,
    /// The parts of samples that are kept.
    pub(crate) collect: CollectOptions,
    /// Details of them; records of tracepoints need their formats.
    pub(crate) details: DetailOptions,
    /// The formats of tracepoints.
    pub(crate) formats: Option<&'o Formatters>,
    /// Set where call chains matter to nothing but call graphs.
    pub(crate) graphed: Option<&'o Graphed<'o>>,
}

impl<'o> LoadOptions<'o> {
    /// All samples that pass, without trace, switches and details.
    pub(crate) fn new(
        symbols: &'o SymbolOptions,
        filter: &'o Filter,
        collect: CollectOptions,
    ) -> LoadOptions<'o> {
        LoadOptions {
            symbols,
            trace: None,
            filter,
            switching: SwitchOptions::default(),
            collect,
            details: DetailOptions::default(),
            formats: None,
            graphed: None,
        }
    }
}

/// Reads the whole recording, with names of `source`.
pub(crate) fn load(
    input: &Input,
    reader: &Reader<'_>,
    source: &dyn SymbolSource,
    options: LoadOptions<'_>,
) -> Result<Loaded, Failure> {
    let progress = input.progress(false);
    let query = Query {
        keeps_exited_threads: true,
        guests: Some(&options.symbols.guests),
        jit_logs: Some(&options.symbols.search_paths),
        progress: Some(&progress),
        ..Query::default()
    };
    let loader = Loader {
        input,
        reader,
        options: &options,
    };
    let mut walk = query.start(reader);
    loader.decode_trace(&mut walk)?;
    let mut events = event_profiles(reader, walk.events());
    if walk.follows_calls() {
        events
            .iter_mut()
            .for_each(|event| event.has_callchains = true);
    }
    let cpus = latency_cpus(reader, walk.events());
    let unwinder = (options.collect.chains)
        .then(|| unwinder(&options.symbols.search_paths, reader))
        .flatten();
    let takes_all =
        walk.decodes_trace() || unwinder.is_some() || !options.details.details.is_empty();
    let two_pass = options.collect.allows_two_passes()
        && reader.is_rereadable()
        && reader.compression().is_none();
    let (mut profile, finished) = match options.graphed.filter(|_| two_pass && !takes_all) {
        Some(graphed) => {
            let mut counts =
                Collector::first_pass(events, source, options.collect).with_latency(cpus);
            let finished = loader.run(walk, &mut counts)?;
            let counts = counts.finish_first_pass(&finished.machine);
            let wanted = graphed(&counts.profile);
            let mut chains =
                Collector::second_pass(counts, wanted, source, options.collect).with_latency(cpus);
            let finished = loader.run(query.start(reader), &mut chains)?;
            (chains.finish(&finished.machine), finished)
        }
        None => {
            let details = options.details.clone();
            let mut collector = Collector::new(events, source, options.collect)
                .with_latency(cpus)
                .with_details(details, options.formats, reader.endian())
                .with_unwinder(unwinder);
            let finished = loader.run(walk, &mut collector)?;
            (collector.finish(&finished.machine), finished)
        }
    };
    let lost = &finished.diagnostics.lost_samples_by_event;
    for (event, lost) in profile.events.iter_mut().zip(lost) {
        event.lost = *lost;
    }
    Ok(Loaded {
        profile,
        diagnostics: finished.diagnostics,
        machine: finished.machine,
    })
}

/// Runs the walks of one recording.
struct Loader<'o, 'a> {
    input: &'o Input,
    reader: &'o Reader<'a>,
    options: &'o LoadOptions<'o>,
}

impl Loader<'_, '_> {
    fn decode_trace(&self, walk: &mut QueryRun<'_, '_>) -> Result<(), Failure> {
        let Some(TraceRequest { itrace, cores }) = self.options.trace else {
            return Ok(());
        };
        let trace = TraceOptions {
            itrace,
            cores,
            symbols: self.options.symbols,
            recording: self.input.path(),
        };
        let decoded = walk.decode_trace(trace, self.options.filter);
        decoded.map_err(|error| self.input.refuse(&error))?;
        walk.skip_trace_outside(self.options.filter, true);
        Ok(())
    }

    fn run(
        &self,
        walk: QueryRun<'_, '_>,
        collector: &mut Collector<'_>,
    ) -> Result<Finished, Failure> {
        let switching = Switching::new(&self.options.switching, walk.events())?;
        let prefix_only = !walk.decodes_trace() && collector.needs_prefix_only();
        let walk = if prefix_only {
            walk.prefix_only()
        } else {
            walk
        };
        let mut collector = PrintLog(collector);
        let mut sink = FilteredSink::new(self.options.filter, switching, &mut collector);
        itrace_log::run(walk, (self.input, self.reader.endian()), &mut sink)
    }
}

/// Prints the log of decoding where it stands among the samples (`--itrace=do`).
struct PrintLog<'a, S>(&'a mut S);

impl<S: Sink> Sink for PrintLog<'_, S> {
    type Inner = S;

    #[inline]
    fn inner(&mut self) -> Option<&mut S> {
        Some(self.0)
    }

    #[inline]
    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        self.0.sample(machine, event)
    }

    fn log(&mut self, text: &[u8]) {
        output::print_text(text);
    }
}
