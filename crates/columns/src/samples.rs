//! A sink of samples that makes rows of them.
//!
//! What a sample says is written down as it comes; its stack is named later, with those of many others. So rows leave in
//! pieces of [`ROW_GROUP`], and memory grows with what is distinct alone: names, stacks, threads.

use std::ops::ControlFlow;

use oxperf_abi::{CpuMode, EventType, PerfTime, SampleType};
use oxperf_collect::StackNamer;
use oxperf_machine::{Dso, Machine};
use oxperf_profile::{FrameId, Profile};
use oxperf_resolve::ChainLosses;
use oxperf_session::{EventIndex, EventTable, NoSink, SampleEvent, SidebandEvent, Sink};
use oxperf_tracepoint::Formatters;
use oxperf_wire::{Endian, SampleWeight};

use crate::clock::WallClock;
use crate::error::ColumnsError;
use crate::lives::Lives;
use crate::maps::Maps;
use crate::rows::TableRows;
use crate::schema::{ColumnSchema, PROFILE};
use crate::stacks::{FrameText, StackTable};

/// Rows that leave at once: the row groups of files.
pub const ROW_GROUP: usize = 1 << 17;
/// Rows of stacks that leave at once, at least.
const STACK_GROUP: usize = 1 << 16;

const TS: usize = PROFILE.place("ts");
const TIME: usize = PROFILE.place("time");
const RECORDING_ID: usize = PROFILE.place("recording_id");
const HOST: usize = PROFILE.place("host");
const EVENT: usize = PROFILE.place("event");
const COMM: usize = PROFILE.place("comm");
const PID: usize = PROFILE.place("pid");
const TID: usize = PROFILE.place("tid");
const CPU: usize = PROFILE.place("cpu");
const MODE: usize = PROFILE.place("mode");
const PERIOD: usize = PROFILE.place("period");
const STACK_ID: usize = PROFILE.place("stack_id");
const IP: usize = PROFILE.place("ip");
const ADDR: usize = PROFILE.place("addr");
const PHYS_ADDR: usize = PROFILE.place("phys_addr");
const DATA_SRC: usize = PROFILE.place("data_src");
const WEIGHT: usize = PROFILE.place("weight");
const INS_LAT: usize = PROFILE.place("ins_lat");
const CGROUP: usize = PROFILE.place("cgroup");
const TRACE: usize = PROFILE.place("trace");
const SYMBOL: usize = PROFILE.place("symbol");
const DSO: usize = PROFILE.place("dso");

/// Takes the rows of tables as they are made.
pub trait RowSink {
    /// Takes rows: those of samples, and before or behind them those of their stacks that are new.
    ///
    /// # Errors
    /// They cannot be kept; nothing more is made then.
    fn take(&mut self, rows: &TableRows) -> Result<(), ColumnsError>;
}

/// The recording that samples belong to.
#[derive(Clone, Debug)]
pub struct SamplesOf {
    /// Its number.
    pub recording_id: i64,
    /// The recorded machine's name.
    pub host: Option<String>,
    /// Its clock and the wall clock.
    pub clock: WallClock,
    /// Its byte order.
    pub endian: Endian,
}

/// Which samples come first and last, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleSpan {
    /// Number of rows.
    pub samples: u64,
    /// The earliest.
    pub first: Option<PerfTime>,
    /// The latest.
    pub last: Option<PerfTime>,
}

/// What came of the samples of a recording.
pub struct SamplesEnd<'s, T> {
    /// Their span.
    pub span: SampleSpan,
    /// What of their chains could not be had.
    pub chains: ChainLosses,
    /// The sink.
    pub out: T,
    pub(crate) lives: Lives,
    namer: Option<StackNamer<'s>>,
}

impl<T> SamplesEnd<'_, T> {
    /// The objects that code was named in, each with whether it has symbols.
    pub fn objects<'m>(&self, machine: &'m Machine) -> impl Iterator<Item = (&'m Dso, bool)> {
        let namer = self.namer.iter();
        namer.flat_map(move |namer| namer.objects(machine))
    }
}

/// Makes rows of samples and of their stacks.
pub struct SampleRows<'s, T> {
    of: SamplesOf,
    rows: TableRows,
    codes: Codes,
    namer: Option<StackNamer<'s>>,
    stacks: Option<StackTable>,
    formats: Option<&'s Formatters>,
    /// The event whose samples count; `None` is all.
    only: Option<String>,
    span: SampleSpan,
    lives: Lives,
    maps: Option<Maps>,
    out: T,
    failure: Option<ColumnsError>,
}

/// The numbers of texts that rows repeat.
#[derive(Debug, Default)]
struct Codes {
    host: Option<u32>,
    events: Vec<NotedEvent>,
    comms: Vec<Option<u32>>,
    modes: [Option<u32>; 6],
    /// The leaf's function and object of each frame.
    leaves: Vec<Option<(u32, u32)>>,
    text: Vec<u8>,
}

/// An event's name as a number, and whether its samples count.
#[derive(Clone, Copy, Debug)]
struct NotedEvent {
    code: u32,
    counts: bool,
}

/// The columns of samples that a recording with these events can fill.
pub fn has_column(column: &ColumnSchema, events: &EventTable) -> bool {
    let any = |part: SampleType| {
        let mut events = events.events().iter();
        events.any(|event| event.attr.sample_type.contains(part))
    };
    match column.name {
        "ts" | "time" => any(SampleType::TIME),
        "pid" | "tid" => any(SampleType::TID),
        "cpu" => any(SampleType::CPU),
        "ip" => any(SampleType::IP),
        "addr" => any(SampleType::ADDR),
        "phys_addr" => any(SampleType::PHYS_ADDR),
        "data_src" => any(SampleType::DATA_SRC),
        "weight" => any(SampleType::WEIGHT) || any(SampleType::WEIGHT_STRUCT),
        "ins_lat" => any(SampleType::WEIGHT_STRUCT),
        "cgroup" => any(SampleType::CGROUP),
        "trace" => {
            let mut events = events.events().iter();
            any(SampleType::RAW) && events.any(|event| event.attr.kind == EventType::TRACEPOINT)
        }
        _ => true,
    }
}

impl<'s, T: RowSink> SampleRows<'s, T> {
    /// Rows with these columns of [`PROFILE`], of samples of these events. Stacks, or the function that ran alone, are named
    /// by `namer`; with `stacks` each stack gets a number and a row.
    pub fn new(
        of: SamplesOf,
        mut rows: TableRows,
        events: &EventTable,
        namer: Option<StackNamer<'s>>,
        stacks: Option<StackTable>,
        out: T,
    ) -> SampleRows<'s, T> {
        rows.reserve(ROW_GROUP);
        let mut made = SampleRows {
            of,
            rows,
            codes: Codes::default(),
            namer,
            stacks,
            formats: None,
            only: None,
            span: SampleSpan::default(),
            lives: Lives::default(),
            maps: None,
            out,
            failure: None,
        };
        (0..events.events().len()).for_each(|place| made.note_event(events, place));
        made
    }

    /// Fields of tracepoints are shown by these formats.
    #[must_use]
    pub fn with_formats(mut self, formats: &'s Formatters) -> Self {
        self.formats = Some(formats);
        self
    }

    /// Also makes rows of mappings.
    #[must_use]
    pub fn with_maps(mut self) -> Self {
        let SamplesOf {
            recording_id,
            clock,
            endian,
            ..
        } = self.of;
        self.maps = Some(Maps::new(recording_id, clock, endian));
        self
    }

    /// Only samples of the event of this name count.
    #[must_use]
    pub fn of_event(mut self, name: Option<&str>, events: &EventTable) -> Self {
        self.only = name.map(str::to_owned);
        (0..events.events().len()).for_each(|place| self.note_event(events, place));
        self
    }

    /// What came of the samples, given the machine at the end of the recording.
    ///
    /// # Errors
    /// The first row that could not be made or kept.
    pub fn finish(mut self, machine: &Machine) -> Result<SamplesEnd<'s, T>, ColumnsError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.name(machine)?;
        self.hand_on(0)?;
        let chains = self.namer.as_ref().map(StackNamer::losses);
        Ok(SamplesEnd {
            span: self.span,
            chains: chains.unwrap_or_default(),
            out: self.out,
            lives: self.lives,
            namer: self.namer,
        })
    }

    fn note_event(&mut self, events: &EventTable, place: usize) {
        let Some(event) = events.events().get(place) else {
            return;
        };
        let noted = NotedEvent {
            code: self
                .rows
                .at(EVENT)
                .map_or(0, |column| column.code(&event.name)),
            counts: self.only.as_ref().is_none_or(|only| *only == event.name),
        };
        if self.codes.events.len() <= place {
            self.codes.events.resize(place + 1, noted);
        }
        self.codes.events[place] = noted;
    }

    /// Writes down what a sample says of itself.
    fn push(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let sample = &event.sample;
        self.push_moment(event);
        let thread = machine.thread_info(event.thread);
        let of = &self.of;
        let rows = &mut self.rows;
        let mut int = |place: usize, value: Option<i64>| {
            if let Some(column) = rows.at(place) {
                column.push_int_or_null(value);
            }
        };
        let bits = |value: Option<u64>| value.map(u64::cast_signed);
        int(RECORDING_ID, Some(of.recording_id));
        int(PID, sample.pid.or(thread.pid).map(|pid| pid.0.into()));
        int(TID, sample.tid.map(|tid| tid.0.into()));
        int(CPU, sample.cpu.map(|cpu| i64::from(cpu.0)));
        int(PERIOD, bits(Some(event.period)));
        int(IP, bits(sample.ip));
        int(ADDR, bits(sample.addr));
        int(PHYS_ADDR, bits(sample.phys_addr));
        int(DATA_SRC, bits(sample.data_src));
        int(WEIGHT, bits(sample.weight.map(|weight| weight.cost())));
        int(INS_LAT, sample.weight.and_then(instruction_latency));
        int(CGROUP, bits(sample.cgroup));
        if sample.cgroup.is_some() {
            self.lives.at(event.thread).cgroup = sample.cgroup;
        }
        self.push_texts(machine, event);
    }

    fn push_moment(&mut self, event: &SampleEvent<'_>) {
        let time = event.sample.time.filter(|time| *time != PerfTime::OF_SUMS);
        let SampleSpan {
            samples,
            first,
            last,
        } = &mut self.span;
        *samples += 1;
        if time.is_some() {
            *first = first.map_or(time, |first| Some(first).min(time));
            *last = (*last).max(time);
        }
        if let Some(column) = self.rows.at(TIME) {
            column.push_int_or_null(time.map(|time| time.0.cast_signed()));
        }
        if let Some(column) = self.rows.at(TS) {
            column.push_int_or_null(time.and_then(|time| self.of.clock.microseconds(time)));
        }
    }

    fn push_texts(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let (rows, codes) = (&mut self.rows, &mut self.codes);
        if let Some(column) = rows.at(HOST) {
            let host = self.of.host.as_deref();
            match host.map(|host| *codes.host.get_or_insert_with(|| column.code(host))) {
                Some(code) => column.push_code(code),
                None => column.push_null(),
            }
        }
        if let Some(column) = rows.at(EVENT) {
            let noted = codes.events.get(event.event.0);
            column.push_code(noted.map_or(0, |noted| noted.code));
        }
        if let Some(column) = rows.at(COMM) {
            let comm = machine.thread_info(event.thread).comm;
            let place = comm.0 as usize;
            if codes.comms.len() <= place {
                codes.comms.resize(place + 1, None);
            }
            let code = codes.comms[place].get_or_insert_with(|| column.code(machine.comm(comm)));
            column.push_code(*code);
        }
        if let Some(column) = rows.at(MODE) {
            let (place, name) = mode_name(event.misc.cpu_mode());
            let code = codes.modes[place].get_or_insert_with(|| column.code(name));
            column.push_code(*code);
        }
        if let Some(column) = rows.at(TRACE) {
            codes.text.clear();
            let raw = event.sample.raw.zip(self.formats);
            let formatter =
                raw.and_then(|(raw, formats)| Some((raw, formats.get(formats.event_of(raw)?)?)));
            match formatter {
                Some((raw, formatter)) => {
                    formatter.format(raw, &mut codes.text);
                    column.push_text(&String::from_utf8_lossy(&codes.text));
                }
                None => column.push_null(),
            }
        }
    }

    /// Names the stacks of the samples that have none yet.
    fn name(&mut self, machine: &Machine) -> Result<(), ColumnsError> {
        let Some(namer) = &mut self.namer else {
            return Ok(());
        };
        let (rows, stacks, codes) = (&mut self.rows, &mut self.stacks, &mut self.codes);
        let mut failure = None;
        namer.name(machine, |names, frames| {
            if let Some(stacks) = stacks {
                match stacks.id_of(frames, &names) {
                    Ok(id) => {
                        if let Some(column) = rows.at(STACK_ID) {
                            column.push_int(id.0);
                        }
                    }
                    Err(error) => failure = failure.take().or(Some(error)),
                }
            }
            push_leaf(rows, codes, names.profile, frames);
        });
        if namer.is_large() {
            namer.forget();
            codes.leaves.clear();
            stacks.iter_mut().for_each(StackTable::forget);
        }
        failure.map_or(Ok(()), Err)
    }

    /// Hands on the rows so far, all of whose stacks are named. Stacks wait until they are many: their texts repeat.
    fn hand_on(&mut self, most_stacks: usize) -> Result<(), ColumnsError> {
        if let Some(namer) = &self.namer {
            namer.release_files();
        }
        if let Some(stacks) = &mut self.stacks
            && stacks.rows().len() > most_stacks
        {
            self.out.take(stacks.rows())?;
            stacks.clear_rows();
        }
        if let Some(maps) = &mut self.maps
            && !maps.rows().is_empty()
        {
            self.out.take(maps.rows())?;
            maps.rows().clear();
            maps.rows().forget_texts();
        }
        if !self.rows.is_empty() {
            self.out.take(&self.rows)?;
            self.rows.clear();
            // The texts of other columns are few, and their numbers are kept.
            if let Some(trace) = self.rows.at(TRACE) {
                trace.forget_texts();
            }
        }
        Ok(())
    }

    fn take_sample(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> Result<(), ColumnsError> {
        self.push(machine, event);
        let is_full = match &mut self.namer {
            Some(namer) => namer.push(machine, event),
            None => false,
        };
        let is_group = self.span.samples.is_multiple_of(ROW_GROUP as u64);
        if is_full || is_group {
            self.name(machine)?;
        }
        if is_group {
            self.hand_on(STACK_GROUP)?;
        }
        Ok(())
    }
}

/// Writes down the function that ran and its object.
fn push_leaf(rows: &mut TableRows, codes: &mut Codes, names: &Profile, frames: &[FrameId]) {
    if rows.at(SYMBOL).is_none() && rows.at(DSO).is_none() {
        return;
    }
    let leaf = frames.first().copied();
    let place = leaf.map_or(0, |leaf| leaf.index() + 1);
    if codes.leaves.len() <= place {
        codes.leaves.resize(place + 1, None);
    }
    let (symbol, dso) = *codes.leaves[place].get_or_insert_with(|| {
        let text = FrameText::of(names, leaf.unwrap_or(FrameId(u32::MAX)), false);
        let mut code =
            |place: usize, text: &str| rows.at(place).map_or(0, |column| column.code(text));
        (code(SYMBOL, &text.symbol), code(DSO, text.dso))
    });
    if let Some(column) = rows.at(SYMBOL) {
        column.push_code(symbol);
    }
    if let Some(column) = rows.at(DSO) {
        column.push_code(dso);
    }
}

/// The latency of the instruction, where costs come in parts.
fn instruction_latency(weight: SampleWeight) -> Option<i64> {
    match weight {
        SampleWeight::Parts { var2, .. } => Some(var2.into()),
        SampleWeight::Whole(_) => None,
    }
}

fn mode_name(mode: CpuMode) -> (usize, &'static str) {
    match mode {
        CpuMode::Kernel => (0, "kernel"),
        CpuMode::User => (1, "user"),
        CpuMode::GuestKernel => (2, "guest_kernel"),
        CpuMode::GuestUser => (3, "guest_user"),
        CpuMode::Hypervisor => (4, "hypervisor"),
        CpuMode::Unknown => (5, "unknown"),
    }
}

impl<T: RowSink> Sink for SampleRows<'_, T> {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn event_update(&mut self, events: &EventTable, index: EventIndex) -> bool {
        self.note_event(events, index.0);
        true
    }

    fn sideband(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        self.lives.follow(machine, event, self.of.endian);
        if let Some(maps) = &mut self.maps {
            maps.follow(event);
        }
        ControlFlow::Continue(())
    }

    fn wants_batches(&mut self) -> bool {
        self.namer.as_ref().is_some_and(StackNamer::wants_batches)
    }

    fn prefetch(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        if let Some(namer) = &mut self.namer {
            namer.prefetch(machine, samples);
        }
    }

    #[inline]
    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let noted = self.codes.events.get(event.event.0);
        if !noted.is_some_and(|noted| noted.counts) {
            return ControlFlow::Continue(());
        }
        match self.take_sample(machine, event) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}
