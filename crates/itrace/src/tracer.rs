//! The sink between a session and whoever wants samples: decodes the trace in step with the records.
//!
//! Before a record of time T counts, every queue is decoded up to T, the one that is furthest behind first; so the
//! machine is always as it was when the code ran.

mod sharing;

use std::io::Write;
use std::ops::ControlFlow;

use intel_pt::{ErrorKind, Hop, Item, Period as Sampling, Tsc, Wanted};
use oxperf_abi::{Cpu, Misc, PerfTime, Pid, RecordType, Tid};
use oxperf_data::{Damage, RawRecord};
use oxperf_machine::Machine;
use oxperf_session::{EventIndex, EventTable, SampleEvent, SidebandEvent, Sink};
use oxperf_wire::kernel::{Aux, AuxOutputHwId, ItraceStart, SwitchCpuWide, Task, TextPoke};
use oxperf_wire::user::AuxtraceError;
use oxperf_wire::{Cursor, Endian, SampleId};
use rustc_hash::FxHashMap;

use crate::code::{Images, ThreadCode};
use crate::crew::{Cores, Crew, Told};
use crate::errors::{LOST, is_told, told_error};
use crate::events::Events;
use crate::lane::{Lane, Running};
use crate::log::{Log, LogWriter, line};
use crate::options::Alone;
use crate::plan::Planned;
use crate::synth::{BranchFilter, PebsEvent, Shown, Synthesizer, Written};
use crate::trace::Trace;
use crate::window::{Bounds, Seeker, Window};
use crate::{ItraceOptions, SwitchRecords};

/// What a tracer needs beside the trace.
pub struct TracerOptions {
    /// What is made of the trace.
    pub itrace: ItraceOptions,
    /// Where code comes from.
    pub images: Images,
    /// Whether samples are to hold the bytes of their instruction.
    pub with_code: bool,
    /// On how many cores trace is decoded, where that makes no difference but of time.
    pub cores: Cores,
    /// Which moments are asked for.
    pub window: Window,
    /// How the log of the decoding is written, if there is to be one.
    pub log: Option<Box<dyn LogWriter>>,
}

/// Decodes the trace of a recording and hands its samples, among the recorded ones, to another sink.
pub struct Tracer<'t, 's, S> {
    trace: &'t Trace<'t>,
    sink: &'s mut S,
    synthesizer: Synthesizer<'s>,
    lanes: Vec<Lane<'t>>,
    crew: Crew<'t>,
    /// Who runs on each CPU.
    current: FxHashMap<Cpu, (Pid, Tid)>,
    events: EventTable,
    endian: Endian,
    errors: u64,
    /// Bytes of trace that were shared out.
    shared: u64,
    /// Bytes that were not decoded, before what is asked for.
    left_out: u64,
    /// Whether the queues were decoded up to their first time stamp.
    begun: bool,
    bounds: Bounds,
    wanted: Wanted,
    log: Option<Log>,
}

/// Why decoding halts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Halt {
    /// The time limit is reached, or the end.
    Limit,
    /// Another buffer was begun.
    Buffer,
    /// What comes now can be shared out.
    Stop,
}

/// When all is decoded.
const END: u64 = u64::MAX;

impl<'t, 's, S: Sink> Tracer<'t, 's, S> {
    /// Prepares decoding; gives the tracer to be wrapped around `sink`, once the events that it makes have been added
    /// to the session. `None` when the recording has no event of Intel PT.
    pub fn new(
        trace: &'t Trace<'t>,
        events: &EventTable,
        endian: Endian,
        planned: Planned,
        options: TracerOptions,
        sink: &'s mut S,
    ) -> Tracer<'t, 's, S> {
        let Planned { plan, events: made, .. } = planned;
        let mut wanted = plan.wanted(&options.itrace, &trace.info);
        let mut log = options.log.map(|writer| Log::new(&options.itrace, writer));
        wanted.runs |= log.is_some();
        let written = if log.is_some() { None } else { written(&options.itrace, made, sink) };
        if written.is_some() {
            (wanted.runs, wanted.period) = (true, None);
        }
        let alone = log.is_none() && can_be_foretold(wanted, plan.has_tsc);
        let cores = if alone { options.cores } else { Cores::ONE };
        let counts = wanted.period.is_some_and(|period| period != Sampling::Instructions(1));
        let jumps = alone && !counts && !options.itrace.follows_branches() && options.itrace.skip == 0;
        let clock = trace.info.clock.filter(|_| !plan.timeless);
        let bounds = Bounds::new(options.window, clock, jumps);
        let overlapping = trace.in_samples || trace.info.snapshots;
        let queues = trace.queues.values().filter(|queue| !queue.buffers.is_empty());
        let lanes = queues.enumerate().map(|queue| Lane::new(queue, &plan, wanted, overlapping));
        let mut lanes: Vec<Lane<'t>> = lanes.collect();
        if log.is_some() {
            lanes.iter_mut().for_each(|lane| lane.decoder.keep_notes());
        }
        if let Some(log) = &mut log {
            log.begin(&plan, trace.info.clock.map_or(0, |clock| clock.frequency()));
            if plan.timeless {
                lanes.iter().for_each(|_| log.begin_queue(&plan));
            }
        }
        let mut images = options.images;
        images.expect(&trace.pokes);
        let mut synthesizer =
            Synthesizer::new(options.itrace, plan, trace.info.clock, made, images, wanted, options.with_code);
        synthesizer.written = written;
        Tracer {
            trace,
            sink,
            lanes,
            crew: Crew::new(cores, &plan, wanted),
            synthesizer,
            current: FxHashMap::default(),
            events: events.clone(),
            endian,
            errors: 0,
            shared: 0,
            left_out: 0,
            begun: false,
            bounds,
            wanted,
            log,
        }
    }

    /// Errors of decoding that were told.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// Bytes of trace that several cores decoded.
    pub fn shared(&self) -> u64 {
        self.shared
    }

    /// Bytes of trace before what is asked for that were not decoded.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Decodes up to the first time stamp of each queue; what comes before it is nowhere in time.
    fn begin(&mut self, machine: &mut Machine) {
        if std::mem::replace(&mut self.begun, true) || self.synthesizer.plan.timeless {
            return;
        }
        self.synthesizer.images.grow(machine);
        for lane in &mut self.lanes {
            let config = &self.synthesizer.plan.config;
            let seeker = self.bounds.start.map(|start| Seeker { config, wanted: self.wanted, start });
            if let Some(found) = seeker.and_then(|seeker| seeker.find(&lane.feed)) {
                self.left_out += found.0.offset();
                lane.begin_at(found, &ThreadCode { machine, images: &self.synthesizer.images, thread: None });
                continue;
            }
            if let Some(log) = &mut self.log {
                log.begin_queue(&self.synthesizer.plan);
                line!(log.text(), "queue {} getting timestamp", lane.number);
                log.decode(lane);
            }
            lane.decoder.set_limit(Some(Tsc(0)));
            lane.reached = loop {
                let mut code = ThreadCode { machine, images: &self.synthesizer.images, thread: None };
                let item = lane.decoder.next(&mut code);
                if let Some(log) = &mut self.log {
                    log.item(item, &mut lane.decoder, (&code, &lane.earlier), self.sink);
                }
                match item {
                    Item::Pause => break Some(lane.decoder.moment().time.map_or(0, |time| time.0)),
                    Item::End if !advance(lane, self.log.as_mut()) => break None,
                    _ => {}
                }
            };
            if let Some(log) = &mut self.log {
                log.queue_begun(lane);
            }
        }
    }

    /// Decodes everything before a moment.
    fn advance(&mut self, machine: &mut Machine, until: u64) -> ControlFlow<()> {
        self.begin(machine);
        self.synthesizer.images.grow(machine);
        loop {
            let mut waiting: Vec<(u64, usize)> = self
                .lanes
                .iter()
                .enumerate()
                .filter_map(|(index, lane)| Some((lane.reached?, index)))
                .collect();
            waiting.sort_unstable();
            let Some((reached, index)) = waiting.first().copied() else { return ControlFlow::Continue(()) };
            if reached >= until {
                return ControlFlow::Continue(());
            }
            // Another queue's turn comes when this one is past it.
            let next = waiting.get(1).map_or(until, |(next, _)| next.saturating_add(1).min(until));
            let limit = self.bounds.limit(reached, next);
            self.set_running(machine, index);
            if let Some(log) = &mut self.log {
                let number = self.lanes[index].number;
                line!(log.text(), "queue {number} processing {reached:#x} to {until:#x}");
                log.decode(&self.lanes[index]);
            }
            self.decode(machine, index, limit)?;
            if reached >= self.bounds.end {
                self.lanes[index].reached = None;
            }
        }
    }

    /// Decodes a queue up to a moment.
    fn decode(&mut self, machine: &mut Machine, index: usize, limit: u64) -> ControlFlow<()> {
        loop {
            let lane = &mut self.lanes[index];
            lane.heads.forget();
            lane.decoder.set_limit((limit != END).then_some(Tsc(limit)));
            let (crew, decoder, from) = (&self.crew, &mut lane.decoder, lane.shared_to);
            let stop = *lane.stop.get_or_insert_with(|| crew.next_stop(decoder, from));
            decoder.set_stop(stop);
            let halt = self.decode_items(machine, index, limit)?;
            self.synthesizer.hand_over_text(&mut self.lanes[index], machine, self.sink)?;
            match halt {
                Halt::Limit => return ControlFlow::Continue(()),
                Halt::Buffer => {}
                Halt::Stop => {
                    if self.share_out(machine, index)? == Halt::Limit {
                        return ControlFlow::Continue(());
                    }
                }
            }
            self.lanes[index].stop = None;
        }
    }

    /// Decodes a queue until something is to be decided.
    fn decode_items(&mut self, machine: &mut Machine, index: usize, limit: u64) -> ControlFlow<(), Halt> {
        if let Some(told) = self.lanes[index].held.take() {
            self.take_item(machine, index, &told)?;
        }
        loop {
            let lane = &mut self.lanes[index];
            let mut code =
                ThreadCode { machine, images: &self.synthesizer.images, thread: lane.running.thread };
            let item = lane.decoder.next(&mut code);
            if let Some(log) = &mut self.log {
                log.item(item, &mut lane.decoder, (&code, &lane.earlier), self.sink);
            }
            match item {
                Item::Run => self.synthesizer.run(lane, machine, self.sink)?,
                Item::Address { ip } => self.synthesizer.named(lane, ip, machine, self.sink)?,
                Item::Pause => {
                    let time = lane.decoder.moment().time.map(|time| time.0);
                    if time.is_none_or(|time| time < limit) {
                        return ControlFlow::Continue(Halt::Stop);
                    }
                    lane.reached = time;
                    return ControlFlow::Continue(Halt::Limit);
                }
                Item::End if advance(lane, self.log.as_mut()) => {
                    return ControlFlow::Continue(Halt::Buffer);
                }
                Item::End => {
                    (lane.reached, lane.ended) = (None, true);
                    return ControlFlow::Continue(Halt::Limit);
                }
                item => {
                    let told = Told::of(item, &lane.decoder);
                    self.synthesizer.hand_over_text(lane, machine, self.sink)?;
                    if let Some(time) = told.enters_user_at(&lane.earlier).filter(|time| time.0 >= limit) {
                        (lane.reached, lane.held) = (Some(time.0), Some(told));
                        return ControlFlow::Continue(Halt::Limit);
                    }
                    self.take_item(machine, index, &told)?;
                }
            }
        }
    }

    /// Takes an item that is no run.
    fn take_item(&mut self, machine: &mut Machine, index: usize, told: &Told) -> ControlFlow<()> {
        let lane = &mut self.lanes[index];
        let Item::Error(error) = told.item else {
            return self.synthesizer.item(lane, told, machine, self.sink);
        };
        lane.errors += 1;
        lane.take_stamp(told.stamp(&lane.earlier));
        let code = error.kind.perf_code();
        if !is_told(&self.synthesizer.options, code) {
            self.log_error(error.kind, None);
            return ControlFlow::Continue(());
        }
        self.errors += 1;
        let told = told_error(code, lane.running, error.ip, self.synthesizer.time(lane.timestamp));
        self.log_error(error.kind, Some(&told));
        self.sink.trace_error(machine, &told)
    }

    fn log_error(&mut self, kind: ErrorKind, told: Option<&AuxtraceError<'_>>) {
        let Some(log) = &mut self.log else { return };
        log.error(kind, told, self.sink);
    }

    /// Logs a record when its turn has come.
    fn log_record(&mut self, record: &RawRecord<'_>, id: &SampleId) {
        let Some(log) = &mut self.log else { return };
        let time = id.time.filter(|time| time.0 != 0);
        let known = time.filter(|time| time.0 != u64::MAX).zip(self.trace.info.clock);
        let tsc = known.map_or(0, |(time, clock)| clock.tsc(time));
        let cpu = id.cpu.map_or(-1, |cpu| i64::from(cpu.0));
        let time = id.time.map_or(u64::MAX, |time| time.0);
        let prefix = if tsc == 0 { "" } else { "0x" };
        let timed = !self.synthesizer.plan.timeless;
        if let (true, RecordType::ITRACE_START, Ok(start)) =
            (timed, record.header.kind, ItraceStart::decode(&mut Cursor::new(record.body, self.endian)))
        {
            let (pid, tid) = (start.pid, start.tid);
            line!(log.text(), "itrace_start: cpu {cpu} pid {pid} tid {tid} time {time} tsc {prefix}{tsc:x}");
        }
        let kind = record.header.kind.0;
        let _ = write!(log.text(), "event {kind}: cpu {cpu} time {time} tsc {prefix}{tsc:x} ");
        log.record(record);
        log.hand_over(self.sink);
    }

    /// Finds out who runs where a queue's trace goes on.
    fn set_running(&mut self, machine: &mut Machine, index: usize) {
        let lane = &mut self.lanes[index];
        let by_cpu = lane.tid.is_none() || self.trace.info.switches != SwitchRecords::None;
        if by_cpu {
            let current = lane.cpu.and_then(|cpu| self.current.get(&cpu)).copied();
            lane.running.tid = current.map_or(Tid(-1), |current| current.1);
            lane.running.pid = if current.is_none() { Pid(-1) } else { lane.running.pid };
            lane.running.thread = None;
        }
        if lane.running.thread.is_none() && lane.running.tid.0 != -1 {
            lane.running.thread = machine.find_thread(lane.running.tid);
        }
        if let Some(thread) = lane.running.thread {
            lane.running.pid = machine.thread_info(thread).pid.unwrap_or(Pid(-1));
        }
    }

    /// Decodes queues without time, those of one thread or all.
    fn decode_timeless(&mut self, machine: &mut Machine, tid: Option<Tid>) -> ControlFlow<()> {
        self.synthesizer.images.grow(machine);
        for index in 0..self.lanes.len() {
            let lane = &self.lanes[index];
            if !lane.ended && tid.is_none_or(|tid| lane.running.tid == tid) {
                self.set_running(machine, index);
                if let Some(log) = &mut self.log {
                    log.decode(&self.lanes[index]);
                }
                self.decode(machine, index, END)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn set_current(&mut self, machine: &mut Machine, cpu: Option<Cpu>, pid: Pid, tid: Tid) {
        let Some(cpu) = cpu else { return };
        self.current.insert(cpu, (pid, tid));
        machine.thread(pid, tid);
    }

    /// What a record says about which event a counter is of.
    fn take_counter(&mut self, record: &RawRecord<'_>, event: EventIndex, id: &SampleId) {
        if record.header.kind != RecordType::AUX_OUTPUT_HW_ID {
            return;
        }
        let told = AuxOutputHwId::decode(&mut Cursor::new(record.body, self.endian));
        let (Ok(told), Some(counted)) = (told, PebsEvent::at(&self.events, event)) else { return };
        let same = |lane: &&mut Lane<'_>| match lane.cpu {
            Some(cpu) => id.cpu == Some(cpu),
            None => id.tid == lane.tid,
        };
        for lane in self.lanes.iter_mut().filter(same) {
            lane.pebs.insert(told.hw_id, counted);
        }
    }

    /// What a sample of `sched:sched_switch` says about who runs.
    fn take_sched_switch(
        &mut self,
        machine: &mut Machine,
        record: &RawRecord<'_>,
        event: EventIndex,
        id: &SampleId,
    ) {
        let Some(switches) = self.trace.sched_switch.as_ref() else { return };
        if record.header.kind != RecordType::SAMPLE {
            return;
        }
        let sample = self.events.events()[event.0].layout.decode_sample(record.body, self.endian);
        let next = sample.ok().and_then(|sample| switches.next(event, sample.raw?));
        if let Some(next) = next {
            self.set_current(machine, id.cpu, Pid(-1), next);
        }
    }

    /// What a record says about who runs, and about trace that was lost.
    fn take_record(
        &mut self,
        machine: &mut Machine,
        record: &RawRecord<'_>,
        id: &SampleId,
    ) -> ControlFlow<()> {
        let mut cursor = Cursor::new(record.body, self.endian);
        let out = record.header.misc.has(Misc::SWITCH_OUT);
        match record.header.kind {
            RecordType::ITRACE_START => {
                if let Ok(start) = ItraceStart::decode(&mut cursor) {
                    self.set_current(machine, id.cpu, start.pid, start.tid);
                }
            }
            RecordType::SWITCH_CPU_WIDE if out && self.trace.info.switches == SwitchRecords::OfCpus => {
                if let Ok(switch) = SwitchCpuWide::decode(&mut cursor) {
                    self.set_current(machine, id.cpu, switch.next_prev_pid, switch.next_prev_tid);
                }
            }
            RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE if !out => {
                self.set_current(machine, id.cpu, id.pid.unwrap_or(Pid(-1)), id.tid.unwrap_or(Tid(-1)));
            }
            RecordType::TEXT_POKE => {
                if let Ok(poke) = TextPoke::decode(&mut cursor) {
                    self.synthesizer.images.poke(machine, poke.addr, poke.new);
                }
            }
            RecordType::AUX => {
                const TRUNCATED: u64 = 1;
                let lost = Aux::decode(&mut cursor).is_ok_and(|aux| aux.flags & TRUNCATED != 0);
                if lost && is_told(&self.synthesizer.options, LOST) {
                    let (pid, tid) = (id.pid.unwrap_or(Pid(-1)), id.tid.unwrap_or(Tid(-1)));
                    let running = Running { pid, tid, cpu: id.cpu, thread: None };
                    self.errors += 1;
                    let told = told_error(LOST, running, 0, id.time);
                    return self.sink.trace_error(machine, &told);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Decodes what ran before a record.
    fn decode_before(
        &mut self,
        machine: &mut Machine,
        record: &RawRecord<'_>,
        time: Option<PerfTime>,
    ) -> ControlFlow<()> {
        if self.synthesizer.plan.timeless {
            let exit = (record.header.kind == RecordType::EXIT)
                .then(|| Task::decode(&mut Cursor::new(record.body, self.endian)).ok());
            return match exit.flatten() {
                Some(exit) => self.decode_timeless(machine, Some(exit.tid)),
                None => ControlFlow::Continue(()),
            };
        }
        let time = time.filter(|time| time.0 != 0 && time.0 != u64::MAX);
        match time.zip(self.trace.info.clock) {
            Some((time, clock)) => self.advance(machine, clock.tsc(time)),
            None => ControlFlow::Continue(()),
        }
    }

    fn identity(&self, record: &RawRecord<'_>, event: EventIndex) -> SampleId {
        let layout = &self.events.events()[event.0].layout;
        if record.header.kind != RecordType::SAMPLE {
            return layout.sample_id(record.body, self.endian);
        }
        let Ok(sample) = layout.decode_sample(record.body, self.endian) else { return SampleId::default() };
        let (pid, tid, time, cpu) = (sample.pid, sample.tid, sample.time, sample.cpu);
        SampleId { pid, tid, time, cpu, ..SampleId::default() }
    }
}

/// Goes on to the next buffer; false at the end.
fn advance<'t>(lane: &mut Lane<'t>, log: Option<&mut Log>) -> bool {
    let found = lane.feed.advance(&mut lane.decoder);
    if let Some(log) = log {
        log.feed(lane, found);
    }
    found
}

/// Whether a scout can foretell all that a decoder goes by: where there is more than PSBs, and the times are told by which
/// samples are due.
fn can_be_foretold(wanted: Wanted, has_tsc: bool) -> bool {
    let timed = !matches!(wanted.period, Some(Sampling::Ticks(_))) || has_tsc;
    timed && wanted.hop != Hop::Psb
}

/// What of the code that ran comes as text: every instruction or branches, if nothing has to be counted or followed for
/// them and the sink can say how they look.
fn written<'s, S: Sink + 's>(options: &ItraceOptions, events: Events, sink: &S) -> Option<Written<'s>> {
    let (event, shown) = match options.shown_alone()? {
        Alone::Instructions => (events.instructions?, Shown::Instructions),
        Alone::Branches => (events.branches?, Shown::Branches(BranchFilter::new(options))),
    };
    Some(Written::new(event, shown, sink.place_writer(event)?))
}

impl<S: Sink> Sink for Tracer<'_, '_, S> {
    fn record(
        &mut self,
        machine: &mut Machine,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
    ) -> ControlFlow<()> {
        if let Some(event) = event {
            let id = self.identity(record, event);
            self.decode_before(machine, record, id.time)?;
            self.take_record(machine, record, &id)?;
            self.take_counter(record, event, &id);
            self.take_sched_switch(machine, record, event, &id);
            self.log_record(record, &id);
        }
        self.sink.record(machine, record, event)
    }

    fn looks_ahead(&self) -> bool {
        self.sink.looks_ahead()
    }

    fn ahead(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        self.sink.ahead(machine, samples);
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let (chain, branches) = self.synthesizer.of_recorded(machine, event);
        let mut with_more = *event;
        if with_more.sample.callchain.is_none() && chain.is_some() {
            with_more.sample.callchain = chain;
            // What was found out ahead was found without it.
            with_more.ahead = None;
        }
        with_more.sample.branch_stack = with_more.sample.branch_stack.or(branches);
        self.sink.sample(machine, &with_more)
    }

    fn sideband(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        self.sink.sideband(machine, event)
    }

    fn damage(&mut self, damage: &Damage) -> ControlFlow<()> {
        self.sink.damage(damage)
    }

    fn round(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        self.sink.round(machine)
    }

    fn end(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        if self.synthesizer.plan.timeless {
            self.decode_timeless(machine, None)?;
        } else {
            self.advance(machine, END)?;
        }
        if let Some(log) = &mut self.log {
            log.hand_over(self.sink);
        }
        self.sink.end(machine)
    }
}
