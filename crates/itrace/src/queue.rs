//! One queue on its way through the decoder: who runs, what time it is, and what was counted so far.

use intel_pt::{Checkpoint, Decoder, EmitOptions, Located, TraceChunk};
use oxperf_abi::{Cpu, Pid, Tid};
use oxperf_session::Progress;

use rustc_hash::FxHashMap;

use crate::code::ThreadCode;
use crate::decoded::{Earlier, Stamp, Told};
use crate::feed::Feed;
use crate::parallel::Portion;
use crate::pebs_event::PebsEvent;
use crate::plan::Plan;
use crate::running::Running;
use crate::select::{BlockTexts, Heads, Taker};
use crate::synth::Counted;
use crate::trace::TraceQueue;

/// A queue with its decoder.
pub(crate) struct Lane<'t> {
    pub(crate) decoder: Decoder<'t>,
    pub(crate) feed: Feed<'t>,
    /// Its number among the queues.
    pub(crate) number: u32,
    /// Errors of decoding so far.
    pub(crate) errors: u64,
    /// The latest count of cycles.
    pub(crate) cycles: u64,
    /// The CPU and thread that the queue is of.
    pub(crate) cpu: Option<Cpu>,
    pub(crate) tid: Option<Tid>,
    pub(crate) running: Running,
    /// What its decoder does not know, because others decoded it.
    pub(crate) earlier: Earlier,
    /// The instruction that ran before the item that is told.
    pub(crate) last: Option<Located>,
    /// The latest TSC.
    pub(crate) timestamp: u64,
    /// Until when it has been decoded; `None` before its first time stamp and after its end.
    pub(crate) reached: Option<u64>,
    pub(crate) ended: bool,
    /// An item that was found and whose turn comes when the queue is decoded on.
    pub(crate) held: Option<Told>,
    /// Where its decoder stops for the trace behind it to be shared out, if that was looked up in this buffer.
    pub(crate) stop: Option<Option<u64>>,
    /// Up to where in the trace it is not worth while to share it out.
    pub(crate) shared_to: u64,
    pub(crate) cbr_seen: u8,
    /// The events whose PEBS records are in the trace, by counter.
    pub(crate) pebs: FxHashMap<u64, PebsEvent>,
    /// What the blocks of the decoder look like.
    pub(crate) texts: BlockTexts,
    /// What stands before them.
    pub(crate) heads: Heads,
    /// What takes samples and calls of the code that it finds.
    pub(crate) taker: Taker,
    pub(crate) instructions_sampled: u64,
    pub(crate) by_branches: Counted,
    pub(crate) by_instructions: Counted,
    pub(crate) by_cycles: Counted,
}

impl<'t> Lane<'t> {
    /// A queue at its beginning.
    pub(crate) fn new(
        (number, queue): (usize, &'t TraceQueue<'t>),
        plan: &Plan,
        wanted: EmitOptions,
        overlapping: bool,
    ) -> Lane<'t> {
        let tid = queue.tid.unwrap_or(Tid(-1));
        Lane {
            decoder: Decoder::new(plan.config, wanted),
            feed: Feed::new(queue, overlapping, plan.has_tsc),
            number: u32::try_from(number).unwrap_or(u32::MAX),
            errors: 0,
            cycles: 0,
            cpu: queue.cpu,
            tid: queue.tid,
            running: Running {
                pid: Pid(-1),
                tid,
                cpu: queue.cpu,
                thread: None,
            },
            earlier: Earlier::default(),
            last: None,
            timestamp: 0,
            reached: None,
            ended: false,
            held: None,
            stop: None,
            shared_to: 0,
            cbr_seen: 0,
            pebs: FxHashMap::default(),
            texts: BlockTexts::default(),
            heads: Heads::default(),
            taker: Taker::default(),
            instructions_sampled: 0,
            by_branches: Counted::default(),
            by_instructions: Counted::default(),
            by_cycles: Counted::default(),
        }
    }

    /// How far the queue has been followed, at a point that this count of instructions and maybe cycles belongs to.
    pub(crate) fn progress(&mut self, instructions: u64, cycles: Option<u64>) -> Progress {
        self.cycles = cycles.unwrap_or(self.cycles);
        let stretch = self.feed.stretch.wrapping_add(self.errors << 32);
        Progress {
            queue: self.number,
            stretch,
            instructions,
            cycles: self.cycles,
        }
    }

    /// What its decoder knows, and what others decoded before it.
    pub(crate) fn so_far(&self) -> Earlier {
        let (instructions, since) = self.decoder.counted();
        let last = if self.decoder.has_run() {
            self.decoder.last_instruction()
        } else {
            self.earlier.last
        };
        Earlier {
            instructions,
            since: since.unwrap_or(instructions),
            last,
        }
    }

    /// Goes on at a place that was looked for, before anything was decoded.
    pub(crate) fn begin_at(
        &mut self,
        (place, stretch, feed): (Checkpoint, TraceChunk<'t>, Feed<'t>),
        code: &ThreadCode<'_>,
    ) {
        self.feed = feed;
        self.decoder.resume(&place, stretch, code);
        self.cbr_seen = self.decoder.cbr();
        self.reached = Some(place.time().map_or(0, |time| time.0));
    }

    /// Whether the text of a stretch can stand behind what was written, before which what is called earlier had happened.
    pub(crate) fn continues(&self, portion: &Portion, earlier: &Earlier) -> bool {
        portion.fits(self.timestamp, self.heads.written(), earlier.instructions)
    }

    /// The text of a stretch was written.
    pub(crate) fn go_on_writing(&mut self, portion: &Portion, earlier: &Earlier) {
        if let Some(written) = portion.written() {
            self.heads.set_written(earlier.instructions + written);
        }
    }

    /// Takes the time stamp of an item.
    pub(crate) fn take_stamp(&mut self, stamp: Stamp) {
        match stamp {
            Stamp::AtLeast(time) => self.pass_to(time),
            Stamp::Exactly(time) => self.timestamp = time.0,
        }
    }

    /// Takes a time stamp; time does not go back.
    pub(crate) fn pass_to(&mut self, time: Option<intel_pt::Tsc>) {
        self.timestamp = self.timestamp.max(time.map_or(0, |time| time.0));
    }
}
