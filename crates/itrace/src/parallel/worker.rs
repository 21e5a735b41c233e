//! A worker: a decoder that goes on wherever a chunk begins.

use intel_pt::{Choices, Decoder, EmitOptions, Item, Period, QuickMode};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::SampleFlags;

use super::chunk::{Chunk, SharedTrace};
use super::chunk_output::{Arrival, ChunkOutput, OutputKind};
use super::instruction_counts::{CountBefore, InstructionCounts};
use super::reorder_buffer::DoneChunk;
use super::work_queue::WorkQueue;
use crate::code::{Images, ThreadCode};
use crate::decoded::{DecodedItem, PriorState, TimeUpdate};
use crate::plan::Plan;
use crate::select::{
    BlockTextCache, LinePrefix, LineWriter, NamedAddress, PathState, SampleSelector, SelectOptions,
    TextSynth, state_flags,
};
use crate::stack::{FollowOptions, StackChanges};

/// Bytes of an output above which the chunk is left to the queue's own decoder.
const MAX_OUTPUT: usize = 24 << 20;

/// The state that all workers share while they work.
#[derive(Clone, Copy)]
pub(crate) struct DecodeContext<'m, 't> {
    pub(crate) machine: &'m Machine,
    pub(crate) images: &'m Images,
    pub(crate) thread: Option<ThreadId>,
    /// Writes code that ran as text, if it becomes text.
    pub(crate) text_synth: Option<TextSynth<'m>>,
    pub(crate) select: &'m SelectOptions,
    /// The trace of which the chunks are.
    pub(crate) trace: SharedTrace<'t>,
}

/// A decoder with the caches of its blocks.
pub(super) struct Worker<'t> {
    decoder: Decoder<'t>,
    emit: EmitOptions,
    texts: BlockTextCache,
    prefix: LinePrefix,
    selector: SampleSelector,
    changes: StackChanges,
}

/// The chunk is left to the queue's own decoder.
struct GaveUp;

impl<'t> Worker<'t> {
    pub(super) fn new(plan: &Plan, emit: EmitOptions) -> Worker<'t> {
        Worker {
            decoder: Decoder::new(plan.config, emit),
            emit,
            texts: BlockTextCache::default(),
            prefix: LinePrefix::default(),
            selector: SampleSelector::default(),
            changes: StackChanges::default(),
        }
    }

    /// Decodes chunks as long as there are any.
    pub(super) fn work(&mut self, work_queue: &WorkQueue<'t>, cx: DecodeContext<'_, 't>) {
        while let Some(mut output) = work_queue.wait_for_room() {
            let Some(mut chunk) = work_queue.take_chunk() else {
                return work_queue.leave_room(output);
            };
            output.clear();
            self.changes.clear();
            self.prefix.begin();
            if self.needs_count_before() {
                self.decode_counted(&work_queue.counts, &mut chunk, cx, &mut output);
            } else {
                output.arrival = self.decode(&chunk, cx, &mut output).ok();
            }
            output.first_line = self.prefix.first();
            output.written = Some(self.prefix.written()).filter(|written| *written != 0);
            output.settle(&mut self.changes);
            work_queue.put(DoneChunk { chunk, output });
        }
    }

    /// True when the instructions before a chunk have to be known.
    fn needs_count_before(&self) -> bool {
        let by_number =
            matches!(self.emit.period, Some(Period::Instructions(period)) if period > 1);
        by_number && self.emit.quick == QuickMode::Walk
    }

    /// Decodes a chunk behind as many instructions as others report. Till they do it counts those of the chunk, for the
    /// worker that waits for that.
    fn decode_counted(
        &mut self,
        counts: &InstructionCounts,
        chunk: &mut Chunk,
        cx: DecodeContext<'_, 't>,
        output: &mut ChunkOutput,
    ) {
        let number = chunk.number;
        let mut before = counts.before(number);
        let is_counted = !matches!(before, Some(CountBefore::Known(_)));
        if is_counted {
            counts.report(number, self.count(chunk, cx));
            before = Some(counts.wait(number));
        }
        if let Some(CountBefore::Known(instructions)) = before {
            chunk.start = chunk.start.clone().behind(instructions);
            output.arrival = self.decode(chunk, cx, output).ok();
        }
        if !is_counted {
            let arrival = output.arrival.as_ref();
            counts.report(number, arrival.map(|arrival| arrival.instructions));
        }
    }

    /// Counts the instructions of a chunk; `None` where that is left to the queue's own decoder.
    fn count(&mut self, chunk: &Chunk, cx: DecodeContext<'_, 't>) -> Option<u64> {
        self.decoder.set_emit_options(EmitOptions {
            quick: self.emit.quick,
            ..EmitOptions::default()
        });
        let mut code = self.resume(chunk, cx);
        let mut end = self.decoder.next(&mut code);
        while !matches!(end, Item::Pause | Item::End) {
            end = self.decoder.next(&mut code);
        }
        self.decoder.set_emit_options(self.emit);
        self.decoder
            .checkpoint()
            .filter(|_| end == Item::Pause)
            .map(|_| self.decoder.counted().0)
    }

    /// Resumes the decoder where a chunk begins.
    fn resume<'m>(&mut self, chunk: &Chunk, cx: DecodeContext<'m, 't>) -> ThreadCode<'m> {
        let code = ThreadCode {
            machine: cx.machine,
            images: cx.images,
            thread: cx.thread,
        };
        let bytes = cx.trace.rest_at(chunk.start.offset());
        self.decoder.resume(&chunk.start, bytes, &code);
        self.decoder.set_limit(cx.trace.limit);
        self.decoder.set_stop(Some(chunk.end.offset()));
        code
    }

    /// Decodes a chunk.
    fn decode(
        &mut self,
        chunk: &Chunk,
        cx: DecodeContext<'_, 't>,
        output: &mut ChunkOutput,
    ) -> Result<Arrival, GaveUp> {
        let mut code = self.resume(chunk, cx);
        loop {
            match self.decoder.next(&mut code) {
                Item::Path => self.take_path(cx, output)?,
                Item::Pause => return self.arrival(),
                Item::End => return Err(GaveUp),
                Item::Address { ip } => self.take_address(ip, cx, output),
                item => self.take_item(DecodedItem::new(item, &self.decoder), cx, output)?,
            }
            if output.size() > MAX_OUTPUT || self.changes.are_too_many() {
                return Err(GaveUp);
            }
        }
    }

    /// The state at the end of a chunk.
    fn arrival(&self) -> Result<Arrival, GaveUp> {
        let (instructions, since) = self.decoder.counted();
        let has_run = self.decoder.has_run();
        Ok(Arrival {
            end: self.decoder.checkpoint().ok_or(GaveUp)?,
            leeway: self.decoder.leeway(),
            instructions,
            since,
            last: has_run.then(|| self.decoder.last_instruction()),
        })
    }

    /// Takes an item that is no path.
    fn take_item(
        &mut self,
        item: DecodedItem,
        cx: DecodeContext<'_, 't>,
        output: &mut ChunkOutput,
    ) -> Result<(), GaveUp> {
        let prior = PriorState::default();
        let entered = item.enters_user_at(&prior);
        if cx.trace.limit.is_some_and(|limit| entered >= Some(limit)) {
            // Its turn comes behind the limit.
            return Err(GaveUp);
        }
        match item.time_update(&prior) {
            TimeUpdate::Exactly(_) if cx.text_synth.is_some() && item.time_needs_prior_state() => {
                return Err(GaveUp);
            }
            TimeUpdate::Exactly(time) => self.prefix.set_timestamp(time.0),
            TimeUpdate::AtLeast(time) => self.prefix.advance_to(time),
        }
        output.add(OutputKind::Item(Box::new(item)), &mut self.changes);
        Ok(())
    }

    /// Takes an instruction that a packet names.
    fn take_address(&mut self, ip: u64, cx: DecodeContext<'_, 't>, output: &mut ChunkOutput) {
        let moment = self.decoder.moment();
        output.advance_to(moment.time);
        self.prefix.advance_to(moment.time);
        let Some(text_synth) = &cx.text_synth else {
            let point = cx.select.named_point(ip, SampleFlags::default(), &moment);
            let kind = OutputKind::Instruction(point, Choices::ALL);
            return output.add(kind, &mut self.changes);
        };
        let address = NamedAddress {
            ip,
            epoch: self.decoder.epoch(),
            now: PathState {
                moment: &moment,
                state: state_flags(&moment, &cx.select.plan),
            },
        };
        let mut writer = LineWriter {
            prefix: &mut self.prefix,
            out: output.text.open(),
        };
        self.texts.write_address(text_synth, address, &mut writer);
    }

    /// Takes the points of a path that are selected, or its text.
    fn take_path(
        &mut self,
        cx: DecodeContext<'_, 't>,
        output: &mut ChunkOutput,
    ) -> Result<(), GaveUp> {
        let moment = self.decoder.moment();
        if let Some(text_synth) = &cx.text_synth {
            if moment.mode.guest_toggled {
                // A branch from a guest to its host or back is two samples.
                return Err(GaveUp);
            }
            output.advance_to(self.decoder.time_and_length().0);
            let now = PathState {
                moment: &moment,
                state: state_flags(&moment, &cx.select.plan),
            };
            let mut writer = LineWriter {
                prefix: &mut self.prefix,
                out: output.text.open(),
            };
            self.texts
                .write_path(text_synth, &self.decoder, now, &mut writer);
        } else if cx.select.follows_calls_alone(&self.decoder) {
            self.changes.happen();
            self.selector.follow_calls(&self.decoder, &mut self.changes);
        } else {
            self.take_selected(cx.select, output);
        }
        output.advance_to(moment.time);
        Ok(())
    }

    /// Takes the points of a path that are selected.
    fn take_selected(&mut self, select: &SelectOptions, output: &mut ChunkOutput) {
        for selected in self.selector.select(select, &self.decoder) {
            output.advance_to(selected.time);
            if let Some(choices) = selected.marked {
                let kind = OutputKind::Instruction(selected.point, choices);
                output.add(kind, &mut self.changes);
            }
            if selected.branched {
                if select.follow != FollowOptions::default() {
                    self.changes.step(&selected.point.step(0), select.follow);
                }
                if select.samples_branch(selected.point.flags) {
                    output.add(OutputKind::Branch(selected.point), &mut self.changes);
                }
            }
        }
    }
}
