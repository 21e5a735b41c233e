//! The columns of a table: headings, widths, and which cell goes where.

mod accesses;
mod branches;
mod cells;
mod details;
mod head;
mod headings;
mod kinds;
mod outline;
mod widest;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;

use oxperf_analysis::hist::{Cell, Extra, Field, Measure, Row, SortKey, Table, without_digits};
use oxperf_profile::{CommId, FieldRequest, FrameId, NamesFrom, Profile, SourceId};

use cells::{
    cut, fill, pad, push_counts, push_cut, push_means, push_nameless, push_narrow, push_padded,
    push_passed, push_percents, replace, spread,
};

pub(super) use outline::Levels;

use head::Heads;
use headings::heading;
use widest::Widest;

pub(crate) use headings::key_heading;

use super::ReportText;
use super::percent::Percents;
use crate::text::padding::{Left, Right, Zeroed, first};
use crate::text::sanitize;

/// Width of one event's percentage.
const PERCENT_WIDTH: usize = 8;
/// Width of one event's number of samples, or of their periods.
const COUNT_WIDTH: usize = 12;
/// Width of an address with its level.
const ADDRESS_WIDTH: usize = "[k] 0x0000000000000000".len();
/// Width of what tells where a symbol was met and where its name comes from.
const ORIGIN_WIDTH: usize = "0x0000000000000000 k ".len();
/// Least width of the objects where a row has no symbol.
const UNRESOLVED_DSO_WIDTH: usize = 16;
/// Width of a thread id and the colon behind it.
const ID_WIDTH: usize = 8;

struct Column<'a> {
    field: Field,
    heading: &'a str,
    width: usize,
    /// The width that the user asked for.
    wished: Option<usize>,
    /// The kinds of accesses to memory that have a place in the column, if it is one of these.
    kinds: Vec<usize>,
}

/// What a row weighs in each event.
pub(super) type Weights<'a> = (&'a [Cell], &'a [Extra]);

/// What a worker remembers from row to row.
pub(super) struct Memory {
    all: Vec<Percents>,
    own: Vec<Percents>,
    all_latency: Vec<Percents>,
    own_latency: Vec<Percents>,
    modes: Vec<Percents>,
    heads: Heads,
}

/// The columns of one table.
pub(crate) struct Columns<'a> {
    profile: &'a Profile,
    list: Vec<Column<'a>>,
    /// How many of the first columns are remembered together.
    heads: usize,
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
    /// Whether rows count what was called from them.
    children: bool,
    /// Whether times are shown with all their digits.
    nanoseconds: bool,
    /// Whether symbols stand behind an address and a letter for where names come from.
    addresses: bool,
}

impl<'a> Columns<'a> {
    /// Lays the columns out so that every row fits.
    pub(super) fn new(profile: &'a Profile, table: &Table, text: &ReportText) -> Columns<'a> {
        let events = || table.events.iter().map(|&event| profile.events.get(event));
        let totals = events().map(|event| event.map_or(0, |event| event.period_total));
        let latencies = events().map(|event| event.map_or(0, |event| event.latency_total));
        let mut columns = Columns::empty(profile, text);
        // As in perf, what is for programs has no colours.
        let coloured = text.coloured && text.separator.is_none();
        let percents = |total: u64| Percents::new(total).coloured(coloured);
        columns.percents = totals.map(percents).collect();
        columns.latencies = latencies.map(percents).collect();
        columns.children = table.children;
        let events = table.events.len();
        let fields = columns.fields(table, text);
        let widest = Widest::of(&columns, table.unordered_rows(), unresolved_width(text));
        let wished = text.widths.iter().copied().chain(std::iter::repeat(0));
        let column = |(field, wished): (Field, usize)| {
            let heading = columns.heading_of(field, text.own_is_self);
            let wished = Some(wished).filter(|&wished| wished > 0);
            let kinds = match field {
                Field::Measure(Measure::Kinds(kinds)) => kinds::met(table, kinds),
                _ => Vec::new(),
            };
            if let Field::Measure(Measure::Kinds(_)) = field {
                return Column {
                    field,
                    heading,
                    width: kinds::width(kinds.len()),
                    wished: None,
                    kinds,
                };
            }
            let fitting = columns
                .width(field, &widest, (table.unordered_rows(), events))
                .max(heading.len());
            let width = match (field, wished) {
                (_, None) => fitting,
                (Field::Key(_), Some(wished)) => wished,
                (Field::Measure(measure), Some(wished)) => wished.max(cell_width(measure) * events),
            };
            Column {
                field,
                heading,
                width,
                wished,
                kinds,
            }
        };
        columns.list = fields.into_iter().zip(wished).map(column).collect();
        columns.heads = Columns::count_heads(&columns.list);
        columns
    }

    /// Takes percentages of other sums of periods.
    pub(super) fn weigh_in(&mut self, totals: &[u64]) {
        self.percents = totals.iter().map(|&total| Percents::new(total)).collect();
    }

    /// What cells are made of, without any column yet.
    fn empty(profile: &'a Profile, text: &ReportText) -> Columns<'a> {
        Columns {
            profile,
            list: Vec::new(),
            heads: 0,
            separator: text.separator.clone(),
            percents: Vec::new(),
            latencies: Vec::new(),
            comms: profile.comms.iter().map(|name| sanitize(name)).collect(),
            leaders: match text.columns.contains(&Field::Key(SortKey::Process)) {
                true => leaders(profile),
                false => HashMap::new(),
            },
            children: false,
            nanoseconds: text.nanoseconds,
            addresses: text.addresses,
            dsos: profile
                .dsos
                .iter()
                .map(|dso| sanitize(&dso.short))
                .collect(),
            sources: profile.sources.iter().map(|text| sanitize(text)).collect(),
            symbols: profile
                .symbols
                .iter()
                .map(|symbol| sanitize(&symbol.name))
                .collect(),
        }
    }

    /// The columns for rows of one profile without their weights.
    pub(crate) fn of_keys(profile: &'a Profile, rows: &[Row], text: &ReportText) -> Columns<'a> {
        let mut columns = Columns::empty(profile, text);
        let widest = Widest::of(&columns, rows, unresolved_width(text));
        let column = |&field: &Field| {
            let heading = columns.heading_of(field, false);
            let width = columns.width(field, &widest, (rows, 1)).max(heading.len());
            Column {
                field,
                heading,
                width,
                wished: None,
                kinds: Vec::new(),
            }
        };
        columns.list = text.columns.iter().map(column).collect();
        columns
    }

    /// The widths of the columns.
    pub(crate) fn widths(&self) -> impl Iterator<Item = usize> + '_ {
        self.list.iter().map(|column| column.width)
    }

    /// One cell of a column of keys, not narrower than `width` unless it is the last of its row.
    pub(crate) fn key_cell(
        &self,
        buffer: &mut Vec<u8>,
        nth: usize,
        row: &Row,
        width: usize,
        last: bool,
    ) {
        let Some(Column {
            field: Field::Key(key),
            ..
        }) = self.list.get(nth)
        else {
            return;
        };
        let start = buffer.len();
        self.key(buffer, *key, (row, &[]), width, last);
        if let Some(separator) = self.separator.as_deref() {
            replace(buffer, start, separator);
        }
    }

    /// The columns that the table has: fields of tracepoints are those of its events.
    fn fields(&self, table: &Table, text: &ReportText) -> Vec<Field> {
        let fields = &self.profile.details.fields;
        let is_there = |field: &Field| match field {
            Field::Key(SortKey::Field(number)) => fields
                .get(usize::from(*number))
                .is_some_and(|field| table.events.contains(&field.event)),
            _ => true,
        };
        text.columns.iter().copied().filter(is_there).collect()
    }

    fn heading_of(&self, field: Field, own_is_self: bool) -> &'a str {
        match field {
            Field::Key(SortKey::Field(number)) => {
                let fields: &'a [FieldRequest] = &self.profile.details.fields;
                fields
                    .get(usize::from(number))
                    .map_or("", |field| field.name.as_str())
            }
            _ => heading(field, own_is_self),
        }
    }

    /// The width that the rows need.
    fn width(&self, field: Field, widest: &Widest, (rows, events): (&[Row], usize)) -> usize {
        match field {
            Field::Measure(Measure::ChildrenLatency) => PERCENT_WIDTH * events - 1,
            Field::Measure(measure) => cell_width(measure) * events,
            Field::Key(key) => match key {
                SortKey::Thread => ID_WIDTH + widest.comm,
                SortKey::Comm => widest.comm,
                SortKey::Dso => widest.dso,
                SortKey::Symbol => widest.symbol,
                SortKey::SourceLine => widest.source[0],
                SortKey::SourceFile => widest.source[1],
                SortKey::Branch(key) => widest.branch.of_key(key),
                SortKey::Access(key) => widest.access.of_key(key),
                key => details::width(self.profile, key, rows, self.nanoseconds),
            },
        }
    }

    /// The lines above the rows.
    pub(super) fn heading(&self, buffer: &mut Vec<u8>) {
        self.upper_heading(buffer, 0, self.list.iter());
        buffer.extend_from_slice(b"#");
        for (nth, column) in self.list.iter().enumerate() {
            buffer.extend_from_slice(if nth == 0 { b" " } else { self.between() });
            let (heading, width) = (column.heading, column.width);
            // Writing to a vector cannot fail.
            let _ = match column.field {
                Field::Measure(Measure::Kinds(kinds)) => {
                    write!(buffer, "{}", kinds::heading(kinds, &column.kinds))
                }
                Field::Key(key) if !details::is_field(key) => {
                    write!(buffer, "{}", Left(first(heading, width), width))
                }
                _ => write!(buffer, "{}", Right(first(heading, width), width)),
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
        cells
            .first()
            .zip(self.percents.first())
            .map_or(0.0, |(cell, percents)| percents.of(cell.all.period))
    }

    /// For [`Columns::row`]: what there is to remember before the first row.
    pub(super) fn memory(&self) -> Memory {
        Memory {
            all: self.percents.clone(),
            own: self.percents.clone(),
            all_latency: self.latencies.clone(),
            own_latency: self.latencies.clone(),
            modes: self.percents.clone(),
            heads: Heads::default(),
        }
    }

    /// About what the line of a row takes, no less where its names fit into their columns.
    pub(super) fn room(&self, row: &Row) -> usize {
        let beyond = self.symbol_name(row.frame).map_or(ADDRESS_WIDTH, str::len);
        self.list
            .iter()
            .map(|column| column.width + self.between().len())
            .sum::<usize>()
            + beyond
    }

    /// A row's line.
    pub(super) fn row(
        &self,
        buffer: &mut Vec<u8>,
        memory: &mut Memory,
        row: &Row,
        weights: Weights<'_>,
    ) {
        let heads = self.head(buffer, memory, row, weights);
        (heads..self.list.len()).for_each(|nth| self.cell(buffer, memory, nth, row, weights));
        buffer.push(b'\n');
    }

    /// One cell of a row, and what stands before it.
    fn cell(
        &self,
        buffer: &mut Vec<u8>,
        memory: &mut Memory,
        nth: usize,
        row: &Row,
        (cells, extras): Weights<'_>,
    ) {
        let last = self.list.len().saturating_sub(1);
        if nth > 0 || self.separator.is_none() {
            buffer.extend_from_slice(self.between());
        }
        let start = buffer.len();
        let Column {
            field,
            width,
            wished,
            ..
        } = self.list[nth];
        match field {
            Field::Measure(Measure::Kinds(kinds)) => {
                return self.kinds_cell(buffer, kinds, extras.first(), &self.list[nth].kinds);
            }
            Field::Measure(measure) => self.measure(buffer, memory, measure, (cells, extras)),
            Field::Key(key) => self.key(
                buffer,
                key,
                (row, cells),
                width,
                nth == last && wished.is_none(),
            ),
        }
        match (field, self.separator.as_deref(), wished) {
            (Field::Measure(measure), None, None) if measure.is_of_branches() => {
                pad(buffer, start, width)
            }
            (Field::Measure(_), None, None) => fill(buffer, start, width),
            (Field::Key(_), ..) if nth < last => pad(buffer, start, width),
            _ => {}
        }
        match (field, self.separator.as_deref(), wished) {
            (Field::Key(_), Some(separator), _) => replace(buffer, start, separator),
            // As perf does it, addresses are never cut.
            (Field::Key(SortKey::Symbol), None, Some(_))
                if self.symbol_name(row.frame).is_none() => {}
            (Field::Key(SortKey::Branch(key)), None, Some(_)) if self.is_address(key, row) => {}
            (Field::Key(SortKey::Access(key)), None, Some(_)) if self.is_never_cut(key, row) => {}
            (Field::Key(_), None, Some(width)) => cut(buffer, start, width),
            (Field::Key(_), None, None) => {}
            (_, Some(_), _) => spread(buffer, start, 0, width),
            (_, None, Some(wished)) => spread(buffer, start, wished, width),
            (_, None, None) => {}
        }
    }

    fn measure(
        &self,
        buffer: &mut Vec<u8>,
        memory: &mut Memory,
        measure: Measure,
        (cells, extras): Weights<'_>,
    ) {
        match measure {
            Measure::Children if !self.children => {
                buffer.extend_from_slice(b"     N/A");
                cells
                    .iter()
                    .skip(1)
                    .for_each(|_| buffer.extend_from_slice(b"        "));
            }
            Measure::Children => {
                push_percents(buffer, &mut memory.all, cells, |cell| cell.all.period)
            }
            Measure::ChildrenLatency => {
                push_narrow(buffer, &mut memory.all_latency, cells, |cell| {
                    cell.all.latency
                });
            }
            Measure::OwnLatency => {
                push_percents(buffer, &mut memory.own_latency, cells, |cell| {
                    cell.own.latency
                });
            }
            Measure::Own => push_percents(buffer, &mut memory.own, cells, |cell| cell.own.period),
            Measure::Samples => push_counts(buffer, cells, |cell| cell.own.samples),
            Measure::Period => push_counts(buffer, cells, |cell| cell.own.period),
            Measure::Mode(mode) => {
                push_percents(buffer, &mut memory.modes, extras, |extra| {
                    extra.modes[mode as usize]
                });
            }
            Measure::MeanWeight(nth) => push_means(buffer, cells, extras, usize::from(nth)),
            // Of a group the leading event tells of branches.
            of_branches => push_passed(buffer, of_branches, extras.first()),
        }
    }

    fn key(
        &self,
        buffer: &mut Vec<u8>,
        key: SortKey,
        (row, cells): (&Row, &[Cell]),
        width: usize,
        last: bool,
    ) {
        match key {
            SortKey::Comm => push_cut(buffer, self.comm(row.comm), width),
            SortKey::CommNoDigit => push_cut(buffer, &without_digits(self.comm(row.comm)), width),
            SortKey::Dso => push_cut(buffer, self.dso(row.frame).unwrap_or("[unknown]"), width),
            SortKey::Symbol => self.symbol(buffer, row, if last { 0 } else { width }),
            SortKey::SourceLine => push_padded(
                buffer,
                self.source(self.sources_of(row.frame)[0]),
                if last { 0 } else { width },
            ),
            SortKey::SourceFile => push_padded(
                buffer,
                self.source(self.sources_of(row.frame)[1]),
                if last { 0 } else { width },
            ),
            SortKey::Branch(key) => self.branch(buffer, key, row, (width, last)),
            SortKey::Access(key) => self.access(buffer, key, row, (width, last)),
            SortKey::Thread | SortKey::Process => self.task(buffer, key, row, width),
            SortKey::SymbolOffset => self.symbol_offset(buffer, row, width),
            key => {
                let samples = cells.first().map_or(0, |cell| cell.own.samples);
                let ends = matches!(key, SortKey::DataTypeOffset | SortKey::DataTypeLine) && last;
                let width = if ends { 0 } else { width };
                let shown = details::Shown {
                    profile: self.profile,
                    row,
                    samples,
                    width,
                };
                shown.push(buffer, key, self.nanoseconds);
            }
        }
    }

    /// The texts of a frame's source line and file.
    fn sources_of(&self, frame: FrameId) -> [Option<SourceId>; 2] {
        let source = self
            .profile
            .frames
            .get(frame.index())
            .and_then(|frame| frame.source);
        [
            source.map(|source| source.line),
            source.map(|source| source.file),
        ]
    }

    fn source(&self, source: Option<SourceId>) -> &str {
        source
            .and_then(|source| self.sources.get(source.index()))
            .map_or("", AsRef::as_ref)
    }

    fn comm(&self, comm: CommId) -> &str {
        self.comms.get(comm.index()).map_or("", AsRef::as_ref)
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
        let symbol = self
            .profile
            .frames
            .get(frame.index())
            .and_then(|frame| frame.symbol);
        symbol
            .and_then(|symbol| self.profile.symbols.get(symbol.index()))
            .is_some_and(|symbol| symbol.inlined)
    }

    /// Where a symbol was met and where its name comes from, if that is to be told.
    fn origin(&self, buffer: &mut Vec<u8>, frame: FrameId, address: u64) {
        if !self.addresses {
            return;
        }
        let dso = self
            .profile
            .frames
            .get(frame.index())
            .and_then(|frame| frame.dso);
        let from = dso.and_then(|dso| self.profile.origins.get(dso.index()).copied().flatten());
        let letter = from.map_or('!', NamesFrom::letter);
        // Writing to a vector cannot fail. As C does it, zero goes without 0x.
        let _ = match address {
            0 => write!(buffer, "{:<18} {letter} ", 0),
            _ => write!(buffer, "{address:<#18x} {letter} "),
        };
    }

    /// What a symbol needs beside its name.
    fn around_names(&self) -> usize {
        "[k] ".len() + if self.addresses { ORIGIN_WIDTH } else { 0 }
    }

    fn symbol(&self, buffer: &mut Vec<u8>, row: &Row, width: usize) {
        let start = buffer.len();
        self.origin(buffer, row.frame, row.address);
        buffer.extend_from_slice(&[b'[', row.level.letter() as u8, b']', b' ']);
        match self.symbol_name(row.frame) {
            Some(name) => {
                buffer.extend_from_slice(name.as_bytes());
                // As in perf the column is not made wider for it.
                buffer.extend_from_slice(if self.is_inlined(row.frame) {
                    b" (inlined)"
                } else {
                    b""
                });
            }
            None => push_nameless(buffer, row.address),
        }
        pad(buffer, start, width);
    }

    /// The symbol and how far behind its beginning the address is. As in perf the column is not filled up.
    fn symbol_offset(&self, buffer: &mut Vec<u8>, row: &Row, width: usize) {
        buffer.extend_from_slice(&[b'[', row.level.letter() as u8, b']', b' ']);
        let frame = self.profile.frames.get(row.frame.index());
        let symbol = frame.and_then(|frame| self.profile.symbols.get(frame.symbol?.index()));
        let digits = width.saturating_sub("[k] ".len());
        // Writing to a vector cannot fail.
        let _ = match (self.symbol_name(row.frame), frame.zip(symbol)) {
            (Some(name), Some((frame, symbol))) => {
                write!(
                    buffer,
                    "{name}+{:#x}",
                    frame.dso_address.wrapping_sub(symbol.start)
                )
            }
            // As C does it, zero goes without 0x.
            _ if row.address == 0 => write!(buffer, "{}", Zeroed(0, digits)),
            _ => write!(
                buffer,
                "0x{}",
                Zeroed(format_args!("{:x}", row.address), digits)
            ),
        };
    }

    /// A thread's or process's id and its name at the end of the recording.
    fn task(&self, buffer: &mut Vec<u8>, key: SortKey, row: &Row, width: usize) {
        let thread = self.profile.threads.get(row.thread.index());
        let id = thread.map_or(-1, |thread| {
            if key == SortKey::Thread {
                thread.tid.0
            } else {
                thread.pid.0
            }
        });
        let named = if key == SortKey::Process {
            self.leaders.get(&id).copied()
        } else {
            None
        };
        let name = named
            .or(thread.map(|thread| thread.comm))
            .map_or("", |comm| self.comm(comm));
        // Writing to a vector cannot fail.
        let _ = write!(buffer, "{id:7}:");
        push_cut(buffer, name, width.saturating_sub(ID_WIDTH));
    }
}

fn leaders(profile: &Profile) -> HashMap<i32, CommId> {
    let leading = profile
        .threads
        .iter()
        .filter(|thread| thread.tid.0 == thread.pid.0);
    leading.map(|thread| (thread.pid.0, thread.comm)).collect()
}

/// The least width of an object where a row has no symbol.
fn unresolved_width(text: &ReportText) -> usize {
    let resolved_only = text.narrow_objects || text.separator.is_some() || !text.widths.is_empty();
    if resolved_only {
        0
    } else {
        UNRESOLVED_DSO_WIDTH
    }
}

/// Width of one event's number.
fn cell_width(measure: Measure) -> usize {
    match measure {
        Measure::Samples | Measure::Period => COUNT_WIDTH,
        Measure::Predicted | Measure::Aborts | Measure::BranchCycles | Measure::Kinds(_) => 0,
        _ => PERCENT_WIDTH,
    }
}
