//! The decoder of a queue: who runs, what time it is, and how far the trace was followed.
//!
//! perf calls it `intel_pt_queue`.

use intel_pt::{Checkpoint, Decoder, EmitOptions, Located, TraceChunk};
use oxperf_abi::{Cpu, Pid, Tid};
use oxperf_machine::{Machine, ThreadId};

use crate::code::{Images, ThreadCode};
use crate::decoded::{DecodedItem, PriorState, TimeUpdate};
use crate::feed::Feed;
use crate::plan::Plan;
use crate::running::Running;
use crate::trace::TraceQueue;

/// The decoder of a queue.
pub(crate) struct QueueDecoder<'t> {
    pub(crate) decoder: Decoder<'t>,
    pub(crate) feed: Feed<'t>,
    /// Its number among the queues.
    pub(crate) number: u32,
    /// Errors of decoding so far.
    pub(crate) errors: u64,
    /// The CPU of the queue, if it is of one.
    pub(crate) cpu: Option<Cpu>,
    /// The thread of the queue, if it is of one.
    pub(crate) tid: Option<Tid>,
    pub(crate) running: Running,
    /// The state that its decoder does not know, because workers decoded up to there.
    pub(crate) prior: PriorState,
    /// The latest TSC.
    pub(crate) timestamp: u64,
    /// The TSC up to which it has been decoded; `None` before its first time stamp and after its end.
    pub(crate) reached: Option<u64>,
    pub(crate) ended: bool,
    /// An item that was found and whose turn comes when the queue is decoded on.
    pub(crate) held: Option<DecodedItem>,
    /// The offset at which its decoder stops for the trace behind it to be shared out; the outer `None` before that was
    /// looked up in this buffer.
    pub(crate) stop: Option<Option<u64>>,
    /// The offset up to which it is not worth while to share the trace out.
    pub(crate) shared_to: u64,
}

/// A place in a queue's trace from which it can be decoded without all that comes before.
pub(crate) struct StartPoint<'t> {
    pub(crate) checkpoint: Checkpoint,
    /// The trace from there on.
    pub(crate) chunk: TraceChunk<'t>,
    /// The buffers behind it.
    pub(crate) feed: Feed<'t>,
}

impl<'t> QueueDecoder<'t> {
    /// A queue at its beginning.
    pub(crate) fn new(
        number: usize,
        queue: &'t TraceQueue<'t>,
        plan: &Plan,
        emit: EmitOptions,
        overlapping: bool,
    ) -> QueueDecoder<'t> {
        QueueDecoder {
            decoder: Decoder::new(plan.config, emit),
            feed: Feed::new(queue, overlapping, plan.has_tsc),
            number: u32::try_from(number).unwrap_or(u32::MAX),
            errors: 0,
            cpu: queue.cpu,
            tid: queue.tid,
            running: Running {
                pid: Pid(-1),
                tid: queue.tid.unwrap_or(Tid(-1)),
                cpu: queue.cpu,
                thread: None,
            },
            prior: PriorState::default(),
            timestamp: 0,
            reached: None,
            ended: false,
            held: None,
            stop: None,
            shared_to: 0,
        }
    }

    /// The state of its decoder, and of the workers that decoded before it.
    pub(crate) fn state_so_far(&self) -> PriorState {
        let (instructions, since) = self.decoder.counted();
        PriorState {
            instructions,
            since: since.unwrap_or(instructions),
            last: self.last_instruction(),
        }
    }

    fn last_instruction(&self) -> Option<Located> {
        if self.decoder.has_run() {
            self.decoder.last_instruction()
        } else {
            self.prior.last
        }
    }

    /// Goes on at a place that was looked for, before anything was decoded.
    pub(crate) fn begin_at(&mut self, start: StartPoint<'t>, code: &ThreadCode<'_>) {
        let StartPoint {
            checkpoint,
            chunk,
            feed,
        } = start;
        self.feed = feed;
        self.decoder.resume(&checkpoint, chunk, code);
        self.reached = Some(checkpoint.time().map_or(0, |time| time.0));
    }

    /// Takes the time of an item.
    pub(crate) fn apply_time(&mut self, update: TimeUpdate) {
        match update {
            TimeUpdate::AtLeast(time) => self.advance_to(time),
            TimeUpdate::Exactly(time) => self.timestamp = time.0,
        }
    }

    /// Takes a time stamp; time does not go back.
    pub(crate) fn advance_to(&mut self, time: Option<intel_pt::Tsc>) {
        self.timestamp = self.timestamp.max(time.map_or(0, |time| time.0));
    }

    /// The thread of its samples.
    pub(crate) fn thread(&self, machine: &mut Machine) -> ThreadId {
        self.running
            .thread
            .unwrap_or_else(|| machine.thread(self.running.pid, self.running.tid))
    }

    /// The code of the thread that runs.
    pub(crate) fn code<'m>(&self, machine: &'m Machine, images: &'m Images) -> ThreadCode<'m> {
        ThreadCode {
            machine,
            images,
            thread: self.running.thread,
        }
    }

    /// True when the trace is of a CPU.
    pub(crate) fn is_of_cpu(&self) -> bool {
        self.cpu.is_some()
    }
}
