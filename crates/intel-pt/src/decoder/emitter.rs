//! Items, with what is known of their moment.

mod events;
mod notes;
mod paths;

use std::collections::VecDeque;
use std::num::NonZeroU8;

use super::checkpoint::Checkpoint;
use super::packet_stream::TraceChunk;
use super::processor::Processor;
use super::timed_packets::{TimedPackets, Timing};
use super::walker::Walker;
use crate::config::{Config, EmitOptions};
use crate::event::{Event, RatioPlace};
use crate::item::{Cycles, Error, ErrorKind, Item, Mode, Tsc};
use crate::packet::Packet;
use crate::time::Samplers;
use events::WaitingEvents;
use notes::Notes;
use paths::PathSummary;

/// The parts of a [`Moment`](crate::Moment).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    pub(super) offset: u64,
    pub(super) time: Option<Tsc>,
    /// Instructions since the time was known exactly.
    pub(super) since: u64,
    pub(super) since_is_known: bool,
    pub(super) ip: Option<u64>,
    pub(super) instructions: u64,
    pub(super) cycles: Cycles,
    pub(super) cycles_fresh: bool,
    pub(super) cycles_counted: bool,
    pub(super) mode: Mode,
}

/// Makes items of what the layers below find, in order.
#[derive(Debug)]
pub(super) struct Emitter<'t> {
    walker: Walker<'t>,
    options: EmitOptions,
    queue: VecDeque<(Item, Stamp)>,
    /// The stamp of the last item that was taken.
    stamp: Stamp,
    /// The time of the last deciding packet.
    decided: Option<Tsc>,
    instructions: u64,
    cycles: Cycles,
    /// Cycles were counted with the last item.
    fresh: bool,
    /// The ratio of the last event of that kind.
    emitted_cbr: Option<NonZeroU8>,
    samplers: Samplers,
    /// A sample was near before the time was known, after decoding was resumed.
    hurried: bool,
    path: PathSummary,
    events: WaitingEvents,
    notes: Notes,
}

impl<'t> Emitter<'t> {
    pub(super) fn new(config: &Config, options: EmitOptions) -> Emitter<'t> {
        Emitter {
            walker: Walker::new(config),
            options,
            queue: VecDeque::new(),
            stamp: Stamp::default(),
            decided: None,
            instructions: 0,
            cycles: Cycles::default(),
            fresh: false,
            emitted_cbr: None,
            samplers: Samplers::new(options.period),
            hurried: false,
            path: PathSummary::default(),
            events: WaitingEvents::default(),
            notes: Notes::default(),
        }
    }

    #[inline]
    pub(super) fn walker(&self) -> &Walker<'t> {
        &self.walker
    }

    #[inline]
    pub(super) fn walker_mut(&mut self) -> &mut Walker<'t> {
        &mut self.walker
    }

    #[inline]
    pub(super) fn trace(&self) -> &TimedPackets<'t> {
        self.walker.trace()
    }

    #[inline]
    pub(super) fn trace_mut(&mut self) -> &mut TimedPackets<'t> {
        self.walker.trace_mut()
    }

    #[inline]
    pub(super) fn processor(&self) -> &Processor {
        self.walker.trace().processor()
    }

    #[inline]
    pub(super) fn processor_mut(&mut self) -> &mut Processor {
        self.walker.trace_mut().processor_mut()
    }

    #[inline]
    pub(super) fn options(&self) -> EmitOptions {
        self.options
    }

    pub(super) fn set_options(&mut self, options: EmitOptions) {
        self.options = options;
    }

    /// Pushes a chunk of trace.
    pub(super) fn push(&mut self, chunk: TraceChunk<'t>) {
        self.walker.trace_mut().push(chunk);
        if !chunk.consecutive {
            self.decided = None;
        }
    }

    /// Applies a packet to the clock.
    #[inline]
    pub(super) fn on_timing(&mut self, packet: Packet, in_psb_plus: bool) -> Timing {
        let instructions = self.instructions;
        let trace = self.walker.trace_mut();
        trace.on_timing(packet, instructions, in_psb_plus)
    }

    /// The next of the items that were made already.
    #[inline]
    pub(super) fn next_queued(&mut self) -> Option<Item> {
        let (item, stamp) = self.queue.pop_front()?;
        self.stamp = stamp;
        Some(item)
    }

    /// True if every item that was made was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The moment of the last item.
    pub(super) fn last_stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// The moment of an item that is made at `time`.
    #[inline]
    fn stamp_at(&self, time: Option<Tsc>) -> Stamp {
        let trace = self.walker.trace();
        let clock = trace.clock();
        Stamp {
            offset: trace.packets().offset_of_packet(),
            time,
            since: clock.since(self.instructions),
            since_is_known: clock.has_changed(),
            ip: self.walker.ip(),
            instructions: self.instructions,
            cycles: self.cycles,
            cycles_fresh: self.fresh,
            cycles_counted: clock.has_cycles(),
            mode: trace.processor().mode(),
        }
    }

    /// Queues an item at the time of the last deciding packet.
    pub(super) fn emit(&mut self, item: Item) {
        let stamp = self.stamp_at(self.decided);
        self.queue.push_back((item, stamp));
    }

    /// Queues something that happens now, and not with an outcome of a branch.
    pub(super) fn emit_now(&mut self, item: Item) {
        self.happen_now();
        self.emit(item);
    }

    /// An item that is taken at once, at the time of the clock.
    pub(super) fn emit_at_once(&mut self, item: Item) -> Item {
        self.stamp = self.stamp_at(self.trace().clock().time());
        item
    }

    /// An item that is taken at once, at the time of the last deciding packet.
    #[inline]
    pub(super) fn emit_decided(&mut self, item: Item) -> Item {
        self.stamp = self.stamp_at(self.decided);
        item
    }

    /// Time and cycles so far belong to this moment.
    fn happen_now(&mut self) {
        self.decided = self.trace().clock().time();
        self.count_cycles(true);
    }

    /// Takes the cycles since they were last counted into account, unless the moment is not theirs.
    #[inline]
    fn count_cycles(&mut self, exact: bool) {
        let clock = self.walker.trace_mut().clock_mut();
        self.fresh = clock.take_fresh() && exact;
        self.cycles.rough = clock.total_cycles();
        if self.fresh {
            self.cycles.exact = self.cycles.rough;
        }
    }

    pub(super) fn emit_event(&mut self, event: Event) {
        self.happen_now();
        if self.options.events {
            self.emit(Item::Event(event));
        }
    }

    /// Emits a PSB, at the time of its TSC packet.
    pub(super) fn emit_psb(&mut self, psb: Event) {
        self.count_cycles(true);
        self.decided = self.trace().psb_time();
        if self.options.events {
            self.emit(Item::Event(psb));
        }
    }

    /// Emits a new core to bus ratio once.
    pub(super) fn emit_ratio(&mut self, place: RatioPlace) {
        let ratio = self.trace().clock().cbr();
        if ratio != self.emitted_cbr {
            self.emitted_cbr = ratio;
            let payload = self.trace().cbr_payload();
            self.emit_event(Event::Cbr {
                ratio: ratio.map_or(0, NonZeroU8::get),
                payload,
                place,
            });
        }
    }

    /// True if a CBR packet has a ratio that was not emitted.
    pub(super) fn is_new_ratio(&self, payload: u16) -> bool {
        NonZeroU8::new(payload as u8) != self.emitted_cbr
    }

    /// Emits an error at the address of the program.
    pub(super) fn emit_error(&mut self, kind: ErrorKind) {
        self.emit_error_at(kind, self.walker.ip());
    }

    pub(super) fn emit_error_at(&mut self, kind: ErrorKind, ip: Option<u64>) {
        let clock = self.trace().clock();
        let (time, cycles) = (clock.time(), clock.total_cycles());
        self.decided = time;
        // The cycles count, but they belong to the next moment.
        self.cycles = Cycles {
            exact: cycles,
            rough: cycles,
        };
        self.emit(Item::Error(Error { kind, ip }));
    }

    /// The time of now is exact: no instruction has to be counted for it.
    pub(super) fn restart_count_since_time(&mut self) {
        let instructions = self.instructions;
        let clock = self.walker.trace_mut().clock_mut();
        clock.set_changed_at(instructions);
    }

    /// Tracing stopped: the next sample is chosen anew.
    pub(super) fn interrupt_sampling(&mut self) {
        self.samplers.interrupt();
    }

    /// Instructions so far, and those of them since the time was known exactly; `None` if it was not since a checkpoint.
    pub(super) fn counted(&self) -> (u64, Option<u64>) {
        let clock = self.trace().clock();
        let since = clock.since(self.instructions);
        (self.instructions, clock.has_changed().then_some(since))
    }

    /// Counts on from here, where others decoded the trace before.
    pub(super) fn count_on(&mut self, instructions: u64, since: u64) {
        self.instructions = instructions;
        let clock = self.walker.trace_mut().clock_mut();
        clock.set_changed_at(instructions.saturating_sub(since));
    }

    /// The state here, where the program is at `ip`.
    pub(super) fn checkpoint(&self, ip: u64) -> Checkpoint {
        let trace = self.trace();
        let processor = trace.processor();
        Checkpoint {
            offset: trace.packets().offset(),
            ip,
            context: processor.context(),
            mode: processor.mode(),
            interrupts: processor.next_interrupts(),
            emitted_cbr: self.emitted_cbr,
            cbr_payload: trace.cbr_payload(),
            decided: self.decided,
            fresh: self.fresh,
            clock: trace.clock().begin_count(),
            samplers: self.samplers.clone(),
        }
    }

    /// Goes on at a checkpoint, with the trace behind it.
    pub(super) fn restore(&mut self, from: &Checkpoint, chunk: TraceChunk<'t>) {
        self.trace_mut().restore(from, chunk);
        self.queue.clear();
        self.events.clear();
        self.emitted_cbr = from.emitted_cbr;
        self.decided = from.decided;
        self.fresh = from.fresh;
        self.samplers = from.samplers.clone();
        self.hurried = false;
        let cycles = self.trace().clock().total_cycles();
        self.cycles = Cycles {
            exact: cycles,
            rough: cycles,
        };
        self.instructions = 0;
    }
}
