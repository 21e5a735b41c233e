//! A recording as tables: one walk over it, whose rows go to a sink.

use oxperf_abi::SampleType;
use oxperf_collect::{StackNamer, StackOptions};
use oxperf_data::{DataError, Reader};
use oxperf_query::{
    Filter, FilteredSink, Query, SwitchOptions, Switching, SymbolOptions, TraceOptions, formatters,
    unwinder,
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
    let query = Query {
        keeps_exited_threads: true,
        guests: Some(&options.symbols.guests),
        jit_logs: Some(&options.symbols.search_paths),
        progress: options.progress,
        ..Query::default()
    };
    let mut walk = query.start(reader);
    if let Some(trace) = options.trace {
        walk.decode_trace(trace, options.filter)?;
        walk.skip_trace_outside(options.filter, true);
    }
    let is_known = |name: &str| {
        walk.events()
            .events()
            .iter()
            .any(|event| event.name == name)
    };
    if let Some(name) = options.event.filter(|name| !is_known(name)) {
        let known = walk.events().events().iter();
        return Err(TableWalkError::NoEvent {
            name: name.to_owned(),
            known: known
                .map(|event| event.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        });
    }
    let wants = |name: &str| {
        let place = options.samples.position(name);
        place.is_some_and(|place| (options.wants)(&options.samples.columns[place]))
    };
    let events = walk.events().clone();
    let has = |column: &ColumnSchema| {
        let raw = options.stacks.is_some_and(|stacks| stacks.addresses);
        let is_asked_for = raw || !matches!(column.when, Presence::Option(_));
        (options.wants)(column) && is_asked_for && has_column(column, &events)
    };
    let on_host = HostNames(names);
    let on_host: &dyn SymbolSource = &on_host;
    let whole = wants("stack_id") || options.stacks.is_some();
    let columns = options.stacks.unwrap_or_default();
    let namer = (whole || wants("symbol") || wants("dso")).then(|| {
        let stack = StackOptions {
            chains: whole,
            max_stack: options.max_stack,
            inlines: columns.inlined,
            lines: columns.lines,
            addresses: columns.addresses,
        };
        let unwinder = whole
            .then(|| unwinder(&options.symbols.search_paths, reader))
            .flatten();
        let names = match columns.addresses {
            true => on_host,
            false => names,
        };
        StackNamer::new(stack, names, unwinder)
    });
    let stacks = whole.then(|| StackTable::new(columns));
    let formats = match wants("trace") {
        true => formatters(reader),
        false => Formatters::default(),
    };
    let of = SamplesOf {
        recording_id: facts.id,
        host: facts.host.clone(),
        clock: facts.clock,
        endian: reader.endian(),
    };
    // Only columns of a sample's prefix are wanted, and nothing of its stack.
    let brief = !whole && !walk.decodes_trace() && !BEHIND_PREFIX.into_iter().any(wants);
    if brief && !has_cgroups(&events) {
        walk = walk.prefix_only();
    }
    let rows = TableRows::new(options.samples, has);
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
    let whole = RecordingEnd {
        span: walked.span,
        diagnostics: &walked.diagnostics,
        chains: walked.chains,
    };
    let mut tables = vec![facts.object_rows(end.objects(&finished.machine))];
    if options.whole {
        tables.extend([
            facts.row(&events, &whole),
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
