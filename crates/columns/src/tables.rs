//! A recording as tables: one walk over it, whose rows go to a sink.

use oxperf_abi::SampleType;
use oxperf_collect::{StackNamer, StackOptions};
use oxperf_data::{DataError, Reader};
use oxperf_query::{
    Filter, FilteredSink, Query, QueryRun, SwitchOptions, Switching, SymbolOptions, TraceOptions,
    formatters, unwinder,
};
use oxperf_resolve::{ChainLosses, SymbolSource};
use oxperf_session::{Diagnostics, EventTable, ProgressObserver};
use oxperf_tracepoint::Formatters;
use thiserror::Error;

use crate::error::ColumnsError;
use crate::host_names::HostNames;
use crate::recording::{RecordingEnd, RecordingFacts};
use crate::rows::TableRows;
use crate::samples::{RowSink, SampleRows, SampleSpan, SamplesOf, has_column};
use crate::schema::{ColumnSchema, Presence, TableSchema};
use crate::stacks::{StackColumns, StackTable};

/// The columns of samples that stand behind what says who, when and where.
const BEHIND_PREFIX: [&str; 7] = [
    "addr",
    "phys_addr",
    "data_src",
    "weight",
    "ins_lat",
    "cgroup",
    "trace",
];

/// Which rows are made of a recording, and of what.
pub struct TableOptions<'o> {
    /// The table of samples: `samples` or `profile`.
    pub samples: &'static TableSchema,
    /// Which of its columns are wanted. What nobody wants costs nothing.
    pub wants: &'o dyn Fn(&ColumnSchema) -> bool,
    /// Most frames of a stack.
    pub max_stack: usize,
    /// What stacks have beside names; `None` makes no rows of stacks.
    pub stacks: Option<StackColumns>,
    /// The samples that count.
    pub filter: &'o Filter,
    /// The event whose samples count; `None` is all.
    pub event: Option<&'o str>,
    /// Rows are made of what is said once of a recording: those of `recordings`, `events`, `threads` and `maps`. Of several
    /// parts of a recording one makes them.
    pub whole: bool,
    /// The files that names, logs of JIT compilers and tables for unwinding come from.
    pub symbols: &'o SymbolOptions,
    /// The samples that are made of hardware trace; `None` is none.
    pub trace: Option<TraceOptions<'o>>,
    /// Observes how far the walk has come.
    pub progress: Option<&'o dyn ProgressObserver>,
}

/// What a walk found beside rows.
#[derive(Debug)]
pub struct Walked {
    /// The samples that became rows.
    pub span: SampleSpan,
    /// Losses and damage.
    pub diagnostics: Diagnostics,
    /// Those of call chains.
    pub chains: ChainLosses,
}

/// A recording that did not become tables.
#[derive(Debug, Error)]
pub enum TableWalkError {
    /// Its records cannot be had.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The options cannot be followed for it.
    #[error(transparent)]
    Query(#[from] oxperf_query::QueryError),
    /// The event is not in it.
    #[error("there is no event '{name}'; there are: {known}")]
    NoEvent {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// Rows cannot be made or kept.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
}

/// Threads are told with the cgroup of their last sample.
fn has_cgroups(events: &EventTable) -> bool {
    let mut events = events.events().iter();
    events.any(|event| event.attr.sample_type.contains(SampleType::CGROUP))
}

impl<'o> TableOptions<'o> {
    /// A walk over a recording, without its hardware trace.
    pub(crate) fn start<'r, 'a>(&self, reader: &'r Reader<'a>) -> QueryRun<'r, 'a>
    where
        'o: 'r,
    {
        let query = Query {
            keeps_exited_threads: true,
            guests: Some(&self.symbols.guests),
            jit_logs: Some(&self.symbols.search_paths),
            progress: self.progress,
            ..Query::default()
        };
        query.start(reader)
    }

    /// Refuses an event that the recording does not have.
    fn require_event(&self, events: &EventTable) -> Result<(), TableWalkError> {
        let known = || events.events().iter().map(|event| event.name.as_str());
        match self.event {
            Some(name) if !known().any(|known| known == name) => Err(TableWalkError::NoEvent {
                name: name.to_owned(),
                known: known().collect::<Vec<_>>().join(", "),
            }),
            _ => Ok(()),
        }
    }

    fn wants_column(&self, name: &str) -> bool {
        let column = self.samples.columns.iter().find(|known| known.name == name);
        column.is_some_and(self.wants)
    }

    /// `true` if stacks are made, and not only the functions that ran.
    fn wants_stacks(&self) -> bool {
        self.wants_column("stack_id") || self.stacks.is_some()
    }

    /// The rows of samples, still empty, with the wanted columns that these events can fill.
    fn sample_rows(&self, events: &EventTable) -> TableRows {
        let raw = self.stacks.is_some_and(|stacks| stacks.addresses);
        TableRows::new(self.samples, |column| {
            let is_asked_for = raw || !matches!(column.when, Presence::Option(_));
            (self.wants)(column) && is_asked_for && has_column(column, events)
        })
    }

    /// Names the stacks, or the functions that ran, if anybody wants them.
    fn namer<'s>(
        &self,
        reader: &Reader<'_>,
        names: &'s dyn SymbolSource,
    ) -> Option<StackNamer<'s>> {
        let chains = self.wants_stacks();
        if !chains && !self.wants_column("symbol") && !self.wants_column("dso") {
            return None;
        }
        let columns = self.stacks.unwrap_or_default();
        let stack = StackOptions {
            chains,
            max_stack: self.max_stack,
            inlines: columns.inlined,
            lines: columns.lines,
            addresses: columns.addresses,
        };
        let unwinder = chains.then(|| unwinder(&self.symbols.search_paths, reader));
        Some(StackNamer::new(stack, names, unwinder.flatten()))
    }

    /// `true` if only columns of a sample's prefix are wanted, and nothing of its stack.
    fn is_brief(&self, events: &EventTable) -> bool {
        let reads_on = BEHIND_PREFIX
            .into_iter()
            .any(|name| self.wants_column(name));
        !self.wants_stacks() && !reads_on && !has_cgroups(events)
    }
}

/// Makes rows of a recording's samples and of their stacks, and then of all that is said of it as a whole.
///
/// # Errors
/// It cannot be read to its end, or the sink takes no more.
pub fn write_tables<T: RowSink>(
    reader: &Reader<'_>,
    facts: &RecordingFacts,
    names: &dyn SymbolSource,
    options: &TableOptions<'_>,
    sink: T,
) -> Result<(Walked, T), TableWalkError> {
    let mut walk = options.start(reader);
    if let Some(mut trace) = options.trace {
        // What cannot be decoded is lost, whatever samples are made of the rest.
        trace.itrace.errors.shown = true;
        walk.decode_trace(trace, options.filter)?;
        walk.skip_trace_outside(options.filter, true);
    }
    let events = walk.events().clone();
    options.require_event(&events)?;
    if options.is_brief(&events) && !walk.decodes_trace() {
        walk = walk.prefix_only();
    }
    let columns = options.stacks.unwrap_or_default();
    let on_host = HostNames(names);
    let names = match columns.addresses {
        true => &on_host,
        false => names,
    };
    let formats = match options.wants_column("trace") {
        true => formatters(reader),
        false => Formatters::default(),
    };
    let of = SamplesOf {
        recording_id: facts.id,
        host: facts.host.clone(),
        clock: facts.clock,
        endian: reader.endian(),
    };
    let rows = options.sample_rows(&events);
    let namer = options.namer(reader, names);
    let stacks = options.wants_stacks().then(|| StackTable::new(columns));
    let mut made = SampleRows::new(of, rows, &events, namer, stacks, sink)
        .with_formats(&formats)
        .of_event(options.event, &events);
    if columns.addresses && options.whole {
        made = made.with_maps();
    }
    let switching = Switching::new(&SwitchOptions::default(), &events)?;
    let mut filtered = FilteredSink::new(options.filter, switching, &mut made);
    let finished = walk.run(&mut filtered)?;
    let end = made.finish(&finished.machine)?;
    let walked = Walked {
        span: end.span,
        diagnostics: finished.diagnostics,
        chains: end.chains,
    };
    let mut tables = vec![facts.object_rows(end.objects(&finished.machine))];
    if options.whole {
        let end_of_recording = RecordingEnd {
            span: walked.span,
            diagnostics: &walked.diagnostics,
            chains: walked.chains,
        };
        tables.extend([
            facts.row(&events, &end_of_recording),
            facts.event_rows(&events),
            facts.thread_rows(&finished.machine, &end.lives),
        ]);
    }
    let mut sink = end.out;
    for rows in tables.iter().filter(|rows| !rows.is_empty()) {
        sink.take(rows)?;
    }
    Ok((walked, sink))
}
