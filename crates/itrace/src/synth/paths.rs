//! Code that ran: its sampled instructions and its branches, in order, as samples or as text.

use std::ops::ControlFlow;

use intel_pt::Moment;
use oxperf_session::{EventIndex, Sink};

use super::Synthesizer;
use super::context::{QueueState, SynthContext};
use crate::queue::QueueDecoder;
use crate::select::{
    LineWriter, NamedAddress, PathState, SampleOwner, SampleSelector, TextSynth, state_flags,
};

/// Bytes of text that are handed over at once.
const TEXT: usize = 128 << 10;

impl Synthesizer<'_> {
    /// Makes the samples of the decoder's path.
    pub(crate) fn path(&mut self, cx: &mut SynthContext<'_, '_, impl Sink>) -> ControlFlow<()> {
        let moment = cx.queue.decoder.moment();
        let crosses = moment.mode.guest_toggled;
        if crosses && self.text_event() == self.events.branches {
            // Both ends of the branch are samples.
            self.hand_over_text(cx)?;
        } else if self.fast_path.is_some() {
            return self.write_path(cx, &moment);
        }
        if self.select.follows_calls_alone(&cx.queue.decoder) {
            if let Some(stack) = self.stacks.of_queue(cx.queue, cx.machine) {
                cx.state.selector.follow_calls(&cx.queue.decoder, stack);
            }
        } else {
            let mut selector = std::mem::take(&mut cx.state.selector);
            let flow = self.take_selected(cx, &mut selector);
            cx.state.selector = selector;
            flow?;
        }
        cx.queue.advance_to(moment.time);
        ControlFlow::Continue(())
    }

    /// The event whose samples are written as text, if one's are.
    fn text_event(&self) -> Option<EventIndex> {
        self.fast_path.as_ref().map(|path| path.event)
    }

    /// Makes the samples of the selected points of a path.
    fn take_selected(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        selector: &mut SampleSelector,
    ) -> ControlFlow<()> {
        for selected in selector.select(&self.select, &cx.queue.decoder) {
            cx.queue.advance_to(selected.time);
            if selected.marked.is_some() {
                self.instruction(cx, &selected.point)?;
            }
            if selected.branched {
                self.branch(cx, &selected.point)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Writes a path, where moments and places alone matter.
    fn write_path(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        moment: &Moment,
    ) -> ControlFlow<()> {
        let now = PathState {
            moment,
            state: state_flags(moment, &self.plan),
        };
        self.write(cx, |text_synth, queue, state, out| {
            let mut writer = LineWriter {
                prefix: &mut state.prefix,
                out,
            };
            state
                .texts
                .write_path(text_synth, &queue.decoder, now, &mut writer);
        });
        self.hand_over_much(cx)
    }

    /// Writes an instruction that a packet names, likewise.
    pub(super) fn write_address(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        ip: u64,
        moment: &Moment,
    ) -> ControlFlow<()> {
        let address = NamedAddress {
            ip,
            epoch: cx.queue.decoder.epoch(),
            now: PathState {
                moment,
                state: state_flags(moment, &self.plan),
            },
        };
        self.write(cx, |text_synth, _, state, out| {
            let mut writer = LineWriter {
                prefix: &mut state.prefix,
                out,
            };
            state.texts.write_address(text_synth, address, &mut writer);
        });
        self.hand_over_much(cx)
    }

    fn write<S>(
        &mut self,
        cx: &mut SynthContext<'_, '_, S>,
        write: impl FnOnce(&TextSynth<'_>, &QueueDecoder<'_>, &mut QueueState, &mut Vec<u8>),
    ) {
        let thread = cx.queue.thread(cx.machine);
        let mut text = std::mem::take(&mut self.text);
        if let Some(path) = &self.fast_path {
            let owner = SampleOwner::of_queue(cx.queue, path.event, thread);
            let text_synth = TextSynth {
                path,
                sampler: self.settings().sampler(owner, cx.machine),
            };
            cx.state.prefix.set_timestamp(cx.queue.timestamp);
            write(&text_synth, cx.queue, cx.state, &mut text);
            cx.queue.timestamp = cx.state.prefix.timestamp();
        }
        self.text = text;
    }

    /// Hands over the text so far, if it is much.
    fn hand_over_much(&mut self, cx: &mut SynthContext<'_, '_, impl Sink>) -> ControlFlow<()> {
        if self.text.len() < TEXT {
            return ControlFlow::Continue(());
        }
        self.hand_over_text(cx)
    }

    /// Hands over the text since the last time.
    pub(crate) fn hand_over_text(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
    ) -> ControlFlow<()> {
        let text = std::mem::take(&mut self.text);
        let flow = self.pass_text(cx, &text);
        self.text = text;
        self.text.clear();
        flow
    }

    fn pass_text(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        text: &[u8],
    ) -> ControlFlow<()> {
        let Some(event) = self.text_event().filter(|_| !text.is_empty()) else {
            return ControlFlow::Continue(());
        };
        let thread = cx.queue.thread(cx.machine);
        let owner = SampleOwner::of_queue(cx.queue, event, thread);
        let sampler = self.settings().sampler(owner, cx.machine);
        let moment = sampler.moment(cx.queue.timestamp);
        cx.sink.sample_text(cx.machine, &moment, text)
    }

    /// Hands over text that was written elsewhere.
    pub(crate) fn hand_over_pieces<'p>(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        mut pieces: impl Iterator<Item = &'p [u8]>,
    ) -> ControlFlow<()> {
        pieces.try_for_each(|piece| self.pass_text(cx, piece))
    }
}
