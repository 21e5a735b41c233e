//! The sink between a session and whoever wants samples: decodes the trace in step with the records.
//!
//! Before a record of time T counts, every queue is decoded up to T, the one that is furthest behind first; so the
//! machine is always as it was when the code ran.

mod logging;
mod missing_code;
mod records;
mod sharing;
mod sink;

use std::io::Write;
use std::ops::ControlFlow;

use intel_pt::{CodeAddress, EmitOptions, ErrorKind, Item, Period as Sampling, QuickMode, Tsc};
use oxperf_abi::{Cpu, PerfTime, Pid, RecordType, Tid};
use oxperf_data::RawRecord;
use oxperf_machine::Machine;
use oxperf_session::{EventTable, Sink};
use oxperf_wire::kernel::TaskEvent;
use oxperf_wire::{Cursor, Endian};
use rustc_hash::FxHashMap;

use crate::ItraceOptions;
use crate::code::{Images, ThreadCode};
use crate::decoded::Told;
use crate::errors::{is_told, told_error};
use crate::events::Events;
use crate::log::{Log, LogWriter, line};
use crate::options::SoleEvent;
use crate::parallel::{Cores, Crew};
use crate::plan::DecodePlan;
use crate::queue::Lane;
use crate::select::{BranchFilter, Shown, Written};
use crate::synth::Synthesizer;
use crate::trace::Trace;
use crate::window::{Bounds, Seeker, Window};
use missing_code::Codeless;

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
    codeless: Codeless,
    /// Bytes of trace that were shared out.
    shared: u64,
    /// Bytes that were not decoded, before what is asked for.
    left_out: u64,
    /// Whether the queues were decoded up to their first time stamp.
    begun: bool,
    bounds: Bounds,
    wanted: EmitOptions,
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
        endian: Endian,
        planned: DecodePlan,
        options: TracerOptions,
        sink: &'s mut S,
    ) -> Tracer<'t, 's, S> {
        let DecodePlan { plan, made, events } = planned;
        let mut wanted = plan.wanted(&options.itrace, &trace.info);
        let mut log = options.log.map(|writer| Log::new(&options.itrace, writer));
        wanted.paths |= log.is_some();
        let written = if log.is_some() {
            None
        } else {
            written(&options.itrace, made, sink)
        };
        if written.is_some() {
            (wanted.paths, wanted.period) = (true, None);
        }
        let alone = log.is_none() && can_be_foretold(wanted, plan.has_tsc);
        let cores = if alone { options.cores } else { Cores::ONE };
        let counts = wanted
            .period
            .is_some_and(|period| period != Sampling::Instructions(1));
        let jumps = alone
            && !counts
            && !options.itrace.stacks.follows_branches()
            && options.itrace.skip == 0;
        let clock = trace.info.clock.filter(|_| !plan.timeless);
        let bounds = Bounds::new(options.window, clock, jumps);
        let overlapping = trace.in_samples || trace.info.snapshots;
        let queues = trace
            .queues
            .values()
            .filter(|queue| !queue.buffers.is_empty());
        let lanes = queues
            .enumerate()
            .map(|queue| Lane::new(queue, &plan, wanted, overlapping));
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
        images.expect(&trace.text_pokes);
        let mut synthesizer = Synthesizer::new(
            options.itrace,
            plan,
            trace.info.clock,
            made,
            images,
            wanted,
            options.with_code,
        );
        synthesizer.written = written;
        Tracer {
            trace,
            sink,
            lanes,
            crew: Crew::new(cores, &plan, wanted),
            synthesizer,
            current: FxHashMap::default(),
            events,
            endian,
            errors: 0,
            codeless: Codeless::default(),
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
            let seeker = self.bounds.start.map(|start| Seeker {
                config,
                wanted: self.wanted,
                start,
            });
            if let Some(found) = seeker.and_then(|seeker| seeker.find(&lane.feed)) {
                self.left_out += found.0.offset();
                lane.begin_at(
                    found,
                    &ThreadCode {
                        machine,
                        images: &self.synthesizer.images,
                        thread: None,
                    },
                );
                continue;
            }
            if let Some(log) = &mut self.log {
                log.begin_queue(&self.synthesizer.plan);
                line!(log.text(), "queue {} getting timestamp", lane.number);
                log.decode(lane);
            }
            lane.decoder.set_limit(Some(Tsc(0)));
            lane.reached = loop {
                let mut code = ThreadCode {
                    machine,
                    images: &self.synthesizer.images,
                    thread: None,
                };
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
            let Some((reached, index)) = waiting.first().copied() else {
                return ControlFlow::Continue(());
            };
            if reached >= until {
                return ControlFlow::Continue(());
            }
            // Another queue's turn comes when this one is past it.
            let next = waiting
                .get(1)
                .map_or(until, |(next, _)| next.saturating_add(1).min(until));
            let limit = self.bounds.limit(reached, next);
            self.set_running(machine, index);
            if let Some(log) = &mut self.log {
                let number = self.lanes[index].number;
                line!(
                    log.text(),
                    "queue {number} processing {reached:#x} to {until:#x}"
                );
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
            let stop = *lane
                .stop
                .get_or_insert_with(|| crew.next_stop(decoder, from));
            decoder.set_stop(stop);
            let halt = self.decode_items(machine, index, limit)?;
            self.synthesizer
                .hand_over_text(&mut self.lanes[index], machine, self.sink)?;
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
    fn decode_items(
        &mut self,
        machine: &mut Machine,
        index: usize,
        limit: u64,
    ) -> ControlFlow<(), Halt> {
        if let Some(told) = self.lanes[index].held.take() {
            self.take_item(machine, index, &told)?;
        }
        loop {
            let lane = &mut self.lanes[index];
            let mut code = ThreadCode {
                machine,
                images: &self.synthesizer.images,
                thread: lane.running.thread,
            };
            let item = lane.decoder.next(&mut code);
            if let Some(log) = &mut self.log {
                log.item(item, &mut lane.decoder, (&code, &lane.earlier), self.sink);
            }
            match item {
                Item::Path => self.synthesizer.run(lane, machine, self.sink)?,
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
                    if let Some(time) = told
                        .enters_user_at(&lane.earlier)
                        .filter(|time| time.0 >= limit)
                    {
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
        let images = &self.synthesizer.images;
        let thread = ThreadCode {
            machine,
            images,
            thread: lane.running.thread,
        };
        let at = CodeAddress {
            ip: error.ip,
            guest: told.moment.mode.guest,
        };
        let object = thread
            .object_without_code(at)
            .filter(|_| error.kind == ErrorKind::MissingCode);
        if object.is_some_and(|object| self.codeless.is_told(object)) {
            self.log_error(error.kind, None);
            return ControlFlow::Continue(());
        }
        lane.take_stamp(told.stamp(&lane.earlier));
        let code = error.kind.perf_code();
        if !is_told(&self.synthesizer.options, code) {
            self.log_error(error.kind, None);
            return ControlFlow::Continue(());
        }
        self.errors += 1;
        let told = told_error(
            code,
            lane.running,
            error.ip,
            self.synthesizer.time(lane.timestamp),
        );
        self.log_error(error.kind, Some(&told));
        self.sink.trace_error(machine, &told)
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

    /// Decodes what ran before a record.
    fn decode_before(
        &mut self,
        machine: &mut Machine,
        record: &RawRecord<'_>,
        time: Option<PerfTime>,
    ) -> ControlFlow<()> {
        if self.synthesizer.plan.timeless {
            let exit = (record.header.kind == RecordType::EXIT)
                .then(|| TaskEvent::decode(&mut Cursor::new(record.body, self.endian)).ok());
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
fn can_be_foretold(wanted: EmitOptions, has_tsc: bool) -> bool {
    let timed = !matches!(wanted.period, Some(Sampling::Ticks(_))) || has_tsc;
    timed && wanted.quick != QuickMode::Psb
}

/// What of the code that ran comes as text: every instruction or branches, if nothing has to be counted or followed for
/// them and the sink can say how they look.
fn written<'s, S: Sink + 's>(
    options: &ItraceOptions,
    events: Events,
    sink: &mut S,
) -> Option<Written<'s>> {
    let (event, shown) = match options.sole_event()? {
        SoleEvent::Instructions => (events.instructions?, Shown::Instructions),
        SoleEvent::Branches => (
            events.branches?,
            Shown::Branches(BranchFilter::new(options)),
        ),
    };
    Some(Written::new(event, shown, sink.text_writer(event)?))
}
