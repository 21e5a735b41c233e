//! The columns of a table: headings, widths, and which cell goes where.

mod branches;
mod cells;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;

use oxperf_analysis::hist::{Cell, Row, SortKey, Table};
use oxperf_analysis::profile::{CommId, FrameId, Profile, SourceId, TraceId};
use rayon::prelude::*;

use cells::{
    cut, pad, push_counts, push_cpu, push_cut, push_nameless, push_narrow, push_padded, push_percents,
    replace, spread,
};

use branches::{WidestBranch, branch_heading};

use super::ReportText;
use super::percent::Percents;
use crate::visible::visible;

/// Width of one event's percentage.
const PERCENT_WIDTH: usize = 8;
/// Width of one event's number of samples, or of their periods.
const COUNT_WIDTH: usize = 12;
/// Width of an address with its level.
const ADDRESS_WIDTH: usize = "[k] 0x0000000000000000".len();
/// Least width of the objects where a row has no symbol.
const UNRESOLVED_DSO_WIDTH: usize = 16;
/// Width of a thread id and the colon behind it.
const ID_WIDTH: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Children,
    ChildrenLatency,
    Own { alone: bool },
    OwnLatency,
    Samples,
    Period,
    Key(SortKey),
}

impl Kind {
    fn heading(self) -> &'static str {
        match self {
            Kind::Children => "Children",
            Kind::ChildrenLatency | Kind::OwnLatency => "Latency",
            Kind::Own { alone: true } => "Overhead",
            Kind::Own { alone: false } => "Self",
            Kind::Samples => "Samples",
            Kind::Period => "Period",
            Kind::Key(SortKey::Thread) => "    Pid:Command",
            Kind::Key(SortKey::Process) => "   Tgid:Command",
            Kind::Key(SortKey::Comm) => "Command",
            Kind::Key(SortKey::Dso) => "Shared Object",
            Kind::Key(SortKey::Symbol) => "Symbol",
            Kind::Key(SortKey::Cpu) => "CPU",
            Kind::Key(SortKey::Trace) => "Trace output",
            Kind::Key(SortKey::SourceLine) => "Source:Line",
            Kind::Key(SortKey::SourceFile) => "Source File",
            Kind::Key(SortKey::Branch(key)) => branch_heading(key),
        }
    }
}

struct Column {
    kind: Kind,
    width: usize,
    /// The width that the user asked for.
    wished: Option<usize>,
}

/// The words above the column of a key.
pub(crate) fn key_heading(key: SortKey) -> &'static str {
    Kind::Key(key).heading()
}

/// What a worker remembers from row to row.
pub(super) struct Memory {
    all: Vec<Percents>,
    own: Vec<Percents>,
    all_latency: Vec<Percents>,
    own_latency: Vec<Percents>,
}

/// The columns of one table.
pub(crate) struct Columns<'a> {
    profile: &'a Profile,
    list: Vec<Column>,
    separator: Option<String>,
    /// Percentages of each event.
    percents: Vec<Percents>,
    /// The same of the time that passed.
    latencies: Vec<Percents>,
    comms: Vec<Cow<'a, str>>,
    dsos: Vec<Cow<'a, str>>,
    symbols: Vec<Cow<'a, str>>,
    sources: Vec<Cow<'a, str>>,
    /// The names of processes: those of their first threads.
    leaders: HashMap<i32, CommId>,
}

impl<'a> Columns<'a> {
    /// Lays the columns out so that every row fits.
    pub(super) fn new(profile: &'a Profile, table: &Table, text: &ReportText) -> Columns<'a> {
        let events = || table.events.iter().map(|&event| profile.events.get(event));
        let totals = events().map(|event| event.map_or(0, |event| event.period_total));
        let latencies = events().map(|event| event.map_or(0, |event| event.latency_total));
        let mut columns = Columns::empty(profile, text);
        columns.percents = totals.map(Percents::new).collect();
        columns.latencies = latencies.map(Percents::new).collect();
        let events = table.events.len();
        let widest = Widest::of(&columns, table.rows(), unresolved_width(text));
        let kinds = kinds(table.children, profile.has_latency, text);
        let wished = text.widths.iter().copied().chain(std::iter::repeat(0));
        let column = |(kind, wished)| {
            let (wished, fitting) = (Some(wished).filter(|&wished| wished > 0), width(kind, &widest, events));
            let width = match (kind, wished) {
                (_, None) => fitting,
                (Kind::Key(_), Some(wished)) => wished,
                (_, Some(wished)) => wished.max(cell_width(kind) * events),
            };
            Column { kind, width, wished }
        };
        columns.list = kinds.zip(wished).map(column).collect();
        columns
    }

    /// What cells are made of, without any column yet.
    fn empty(profile: &'a Profile, text: &ReportText) -> Columns<'a> {
        Columns {
            profile,
            list: Vec::new(),
            separator: text.separator.clone(),
            percents: Vec::new(),
            latencies: Vec::new(),
            comms: profile.comms.iter().map(|name| visible(name)).collect(),
            leaders: if text.keys.contains(&SortKey::Process) { leaders(profile) } else { HashMap::new() },
            dsos: profile.dsos.iter().map(|dso| visible(&dso.short)).collect(),
            sources: profile.sources.iter().map(|text| visible(text)).collect(),
            symbols: profile.symbols.iter().map(|symbol| visible(&symbol.name)).collect(),
        }
    }

    /// The columns of keys alone, for rows of one profile.
    pub(crate) fn of_keys(profile: &'a Profile, rows: &[Row], text: &ReportText) -> Columns<'a> {
        let mut columns = Columns::empty(profile, text);
        let unresolved = unresolved_width(text);
        let widest = Widest::of(&columns, rows, unresolved);
        let column = |&key| {
            let kind = Kind::Key(key);
            Column { kind, width: width(kind, &widest, 1), wished: None }
        };
        columns.list = text.keys.iter().map(column).collect();
        columns
    }

    /// The widths of the columns.
    pub(crate) fn widths(&self) -> impl Iterator<Item = usize> + '_ {
        self.list.iter().map(|column| column.width)
    }

    /// One cell of a column of keys, not narrower than `width` unless it is the last of its row.
    pub(crate) fn key_cell(&self, buffer: &mut Vec<u8>, nth: usize, row: &Row, width: usize, last: bool) {
        let Some(Column { kind: Kind::Key(key), .. }) = self.list.get(nth) else { return };
        let start = buffer.len();
        self.key(buffer, *key, row, width, last);
        if let Some(separator) = self.separator.as_deref() {
            replace(buffer, start, separator);
        }
    }

    /// The lines above the rows.
    pub(super) fn heading(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(b"#");
        for (nth, column) in self.list.iter().enumerate() {
            buffer.extend_from_slice(if nth == 0 { b" " } else { self.between() });
            let (heading, width) = (column.kind.heading(), column.width);
            // Writing to a vector cannot fail.
            let _ = match column.kind {
                Kind::Key(_) => write!(buffer, "{heading:width$.width$}"),
                _ => write!(buffer, "{heading:>width$.width$}"),
            };
        }
        if self.separator.is_some() {
            return buffer.push(b'\n');
        }
        buffer.extend_from_slice(b"\n#");
        for (nth, column) in self.list.iter().enumerate() {
            buffer.extend_from_slice(if nth == 0 { b" " } else { b"  " });
            buffer.resize(buffer.len() + column.width, b'.');
        }
        buffer.extend_from_slice(b"\n#\n");
    }

    /// What stands between two columns.
    fn between(&self) -> &[u8] {
        self.separator.as_deref().unwrap_or("  ").as_bytes()
    }

    /// The leading event's part of all samples, in hundredths, that decides whether the row is shown.
    pub(super) fn leader_percent(&self, cells: &[Cell]) -> f64 {
        cells.first().zip(self.percents.first()).map_or(0.0, |(cell, percents)| percents.of(cell.all.period))
    }

    /// For [`Columns::row`]: what there is to remember before the first row.
    pub(super) fn memory(&self) -> Memory {
        Memory {
            all: self.percents.clone(),
            own: self.percents.clone(),
            all_latency: self.latencies.clone(),
            own_latency: self.latencies.clone(),
        }
    }

    /// A row's line.
    pub(super) fn row(&self, buffer: &mut Vec<u8>, memory: &mut Memory, row: &Row, cells: &[Cell]) {
        let last = self.list.len().saturating_sub(1);
        for nth in 0..self.list.len() {
            if nth > 0 || self.separator.is_none() {
                buffer.extend_from_slice(self.between());
            }
            let start = buffer.len();
            let Column { kind, width, wished } = self.list[nth];
            match kind {
                Kind::Children => push_percents(buffer, &mut memory.all, cells, |cell| cell.all.period),
                Kind::ChildrenLatency => {
                    push_narrow(buffer, &mut memory.all_latency, cells, |cell| cell.all.latency);
                }
                Kind::OwnLatency => {
                    push_percents(buffer, &mut memory.own_latency, cells, |cell| cell.own.latency);
                }
                Kind::Own { .. } => push_percents(buffer, &mut memory.own, cells, |cell| cell.own.period),
                Kind::Samples => push_counts(buffer, cells, |cell| cell.own.samples),
                Kind::Period => push_counts(buffer, cells, |cell| cell.own.period),
                Kind::Key(key) => self.key(buffer, key, row, width, nth == last && wished.is_none()),
            }
            match (kind, self.separator.as_deref(), wished) {
                (Kind::Key(_), Some(separator), _) => replace(buffer, start, separator),
                // As perf does it, addresses are never cut.
                (Kind::Key(SortKey::Symbol), None, Some(_)) if self.symbol_name(row.frame).is_none() => {}
                (Kind::Key(SortKey::Branch(key)), None, Some(_)) if self.is_address(key, row) => {}
                (Kind::Key(_), None, Some(width)) => cut(buffer, start, width),
                (Kind::Key(_), None, None) => {}
                (_, Some(_), _) => spread(buffer, start, 0, width),
                (_, None, Some(wished)) => spread(buffer, start, wished, width),
                (_, None, None) => {}
            }
        }
        buffer.push(b'\n');
    }

    fn key(&self, buffer: &mut Vec<u8>, key: SortKey, row: &Row, width: usize, last: bool) {
        match key {
            SortKey::Comm => push_cut(buffer, self.comm(row.comm), width),
            SortKey::Dso => push_cut(buffer, self.dso(row.frame).unwrap_or("[unknown]"), width),
            SortKey::Symbol => self.symbol(buffer, row, if last { 0 } else { width }),
            SortKey::Cpu => push_cpu(buffer, row.cpu, width),
            // As perf does it, texts of records are not padded, not even before another column.
            SortKey::Trace => buffer.extend_from_slice(visible(self.trace(row.trace)).as_bytes()),
            SortKey::SourceLine => {
                push_padded(buffer, self.source(row.source[0]), if last { 0 } else { width })
            }
            SortKey::SourceFile => {
                push_padded(buffer, self.source(row.source[1]), if last { 0 } else { width })
            }
            SortKey::Branch(key) => self.branch(buffer, key, row, (width, last)),
            SortKey::Thread | SortKey::Process => self.task(buffer, key, row, width),
        }
    }

    fn source(&self, source: Option<SourceId>) -> &str {
        source.and_then(|source| self.sources.get(source.index())).map_or("", AsRef::as_ref)
    }

    fn comm(&self, comm: CommId) -> &str {
        self.comms.get(comm.index()).map_or("", AsRef::as_ref)
    }

    fn trace(&self, trace: Option<TraceId>) -> &str {
        trace.and_then(|trace| self.profile.traces.get(trace.index())).map_or("", String::as_str)
    }

    fn dso(&self, frame: FrameId) -> Option<&str> {
        let dso = self.profile.frames.get(frame.index())?.dso?;
        self.dsos.get(dso.index()).map(AsRef::as_ref)
    }

    fn symbol_name(&self, frame: FrameId) -> Option<&str> {
        let symbol = self.profile.frames.get(frame.index())?.symbol?;
        self.symbols.get(symbol.index()).map(AsRef::as_ref)
    }

    fn is_inlined(&self, frame: FrameId) -> bool {
        let symbol = self.profile.frames.get(frame.index()).and_then(|frame| frame.symbol);
        symbol
            .and_then(|symbol| self.profile.symbols.get(symbol.index()))
            .is_some_and(|symbol| symbol.inlined)
    }

    fn symbol(&self, buffer: &mut Vec<u8>, row: &Row, width: usize) {
        let start = buffer.len();
        buffer.extend_from_slice(&[b'[', row.level.letter() as u8, b']', b' ']);
        match self.symbol_name(row.frame) {
            Some(name) => {
                buffer.extend_from_slice(name.as_bytes());
                // As in perf the column is not made wider for it.
                buffer.extend_from_slice(if self.is_inlined(row.frame) { b" (inlined)" } else { b"" });
            }
            None => push_nameless(buffer, row.address),
        }
        pad(buffer, start, width);
    }

    /// A thread's or process's id and its name at the end of the recording.
    fn task(&self, buffer: &mut Vec<u8>, key: SortKey, row: &Row, width: usize) {
        let thread = self.profile.threads.get(row.thread.index());
        let id = thread.map_or(-1, |thread| if key == SortKey::Thread { thread.tid.0 } else { thread.pid.0 });
        let named = if key == SortKey::Process { self.leaders.get(&id).copied() } else { None };
        let name = named.or(thread.map(|thread| thread.comm)).map_or("", |comm| self.comm(comm));
        // Writing to a vector cannot fail.
        let _ = write!(buffer, "{id:7}:");
        push_cut(buffer, name, width.saturating_sub(ID_WIDTH));
    }
}

fn leaders(profile: &Profile) -> HashMap<i32, CommId> {
    let leading = profile.threads.iter().filter(|thread| thread.tid.0 == thread.pid.0);
    leading.map(|thread| (thread.pid.0, thread.comm)).collect()
}

fn kinds(children: bool, latency: bool, text: &ReportText) -> impl Iterator<Item = Kind> {
    let weights = [
        children.then_some(Kind::Children),
        (children && latency).then_some(Kind::ChildrenLatency),
        Some(Kind::Own { alone: !children }),
        latency.then_some(Kind::OwnLatency),
    ];
    let samples = text.samples.then_some(Kind::Samples);
    let periods = text.periods.then_some(Kind::Period);
    weights
        .into_iter()
        .flatten()
        .chain(samples)
        .chain(periods)
        .chain(text.keys.iter().copied().map(Kind::Key))
}

fn width(kind: Kind, widest: &Widest, events: usize) -> usize {
    let needed = match kind {
        Kind::ChildrenLatency => PERCENT_WIDTH * events - 1,
        Kind::Children | Kind::Own { .. } | Kind::OwnLatency | Kind::Samples | Kind::Period => {
            cell_width(kind) * events
        }
        Kind::Key(SortKey::Thread) => ID_WIDTH + widest.comm,
        Kind::Key(SortKey::Comm) => widest.comm,
        Kind::Key(SortKey::Dso) => widest.dso,
        Kind::Key(SortKey::Symbol) => widest.symbol,
        Kind::Key(SortKey::Trace) => widest.trace,
        Kind::Key(SortKey::SourceLine) => widest.source[0],
        Kind::Key(SortKey::SourceFile) => widest.source[1],
        Kind::Key(SortKey::Process | SortKey::Cpu) => 0,
        Kind::Key(SortKey::Branch(key)) => widest.branch.of_key(key),
    };
    needed.max(kind.heading().len())
}

/// The least width of an object where a row has no symbol.
fn unresolved_width(text: &ReportText) -> usize {
    let resolved_only = text.narrow_objects || text.separator.is_some() || !text.widths.is_empty();
    if resolved_only { 0 } else { UNRESOLVED_DSO_WIDTH }
}

/// Width of one event's number; 0 of columns that hold none.
fn cell_width(kind: Kind) -> usize {
    match kind {
        Kind::Children | Kind::ChildrenLatency | Kind::Own { .. } | Kind::OwnLatency => PERCENT_WIDTH,
        Kind::Samples | Kind::Period => COUNT_WIDTH,
        Kind::Key(_) => 0,
    }
}

/// The widths that rows need. Names of threads count as they are at the end of the recording; a row may show an
/// earlier and longer one, which is cut.
#[derive(Default)]
struct Widest {
    comm: usize,
    dso: usize,
    symbol: usize,
    trace: usize,
    /// Of the source line and file.
    source: [usize; 2],
    branch: WidestBranch,
}

impl Widest {
    fn of(columns: &Columns<'_>, rows: &[Row], unresolved: usize) -> Widest {
        let rows = rows.par_iter().with_min_len(4096);
        rows.map(|row| Widest::of_row(columns, row, unresolved)).reduce(Widest::default, Widest::with)
    }

    /// An object without a symbol gets at least the width `unresolved`.
    fn of_row(columns: &Columns<'_>, row: &Row, unresolved: usize) -> Widest {
        let symbol = columns.symbol_name(row.frame);
        let thread = columns.profile.threads.get(row.thread.index());
        let dso = columns.dso(row.frame).map_or(0, str::len);
        Widest {
            comm: thread.map_or(0, |thread| columns.comm(thread.comm).len()),
            dso: if symbol.is_none() { dso.max(unresolved) } else { dso },
            symbol: symbol.map_or(ADDRESS_WIDTH, |name| name.len() + "[k] ".len()),
            trace: visible(columns.trace(row.trace)).len(),
            source: row.source.map(|source| columns.source(source).len()),
            branch: WidestBranch::of_row(columns, row, unresolved),
        }
    }

    fn with(self, other: Widest) -> Widest {
        Widest {
            comm: self.comm.max(other.comm),
            dso: self.dso.max(other.dso),
            symbol: self.symbol.max(other.symbol),
            trace: self.trace.max(other.trace),
            source: [0, 1].map(|nth| self.source[nth].max(other.source[nth])),
            branch: self.branch.with(other.branch),
        }
    }
}
