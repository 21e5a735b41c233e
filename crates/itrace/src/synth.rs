//! Items of the decoder to samples: the events, flags, counts and chains of each, delivered to a sink.

mod context;
mod deliver;
mod ipc;
mod paths;
mod pebs;
mod point_samples;
mod thread_stacks;
mod trace_events;

use std::ops::ControlFlow;

use intel_pt::{Item, Moment};
use oxperf_abi::PerfTime;
use oxperf_session::{SampleEvent, SampleFlags, Sink};

use crate::code::Images;
use crate::decoded::DecodedItem;
use crate::events::SynthEvents;
use crate::plan::Plan;
use crate::select::{
    BranchFilter, EXIT_OF_GUEST, Point, SampleSettings, SelectOptions, TextFastPath, async_flags,
    empty_sample, known, state_flags,
};
use crate::{ItraceOptions, TscClock};
pub(crate) use context::{QueueState, SynthContext};
pub(crate) use thread_stacks::ThreadStacks;

/// Makes the samples of a recording.
pub(crate) struct Synthesizer<'w> {
    pub(crate) options: ItraceOptions,
    pub(crate) plan: Plan,
    pub(crate) clock: Option<TscClock>,
    pub(crate) events: SynthEvents,
    pub(crate) images: Images,
    pub(crate) select: SelectOptions,
    /// Samples hold the bytes of their instruction.
    pub(crate) with_code: bool,
    pub(crate) stacks: ThreadStacks,
    skipped: u64,
    /// The samples that are handed over as text, where places alone matter.
    pub(crate) fast_path: Option<TextFastPath<'w>>,
    /// Text that was not handed over yet.
    text: Vec<u8>,
    /// The sample that was delivered last: most of the next one is the same.
    sampled: SampleEvent<'static>,
}

/// The choices that samples are made by.
pub(crate) struct SynthSetup<'w> {
    pub(crate) options: ItraceOptions,
    pub(crate) plan: Plan,
    pub(crate) clock: Option<TscClock>,
    pub(crate) events: SynthEvents,
    pub(crate) images: Images,
    pub(crate) with_code: bool,
    /// The decoder gives the paths of code that ran.
    pub(crate) paths: bool,
    pub(crate) fast_path: Option<TextFastPath<'w>>,
}

/// A transfer of control that no instruction made.
struct ForeignTransfer {
    from: Option<u64>,
    to: Option<u64>,
    flags: SampleFlags,
}

impl<'w> Synthesizer<'w> {
    /// A synthesizer that has made no sample yet.
    pub(crate) fn new(setup: SynthSetup<'w>) -> Synthesizer<'w> {
        let SynthSetup {
            options,
            plan,
            clock,
            events,
            images,
            with_code,
            paths,
            fast_path,
        } = setup;
        let stacks = ThreadStacks::new(options.stacks);
        let select = SelectOptions {
            branch_samples: events.branches.map(|_| BranchFilter::new(&options.events)),
            follow: stacks.follow(),
            branches: paths,
            approximate_ipc: options.approximate_ipc,
            plan,
        };
        Synthesizer {
            stacks,
            options,
            plan,
            clock,
            events,
            images,
            select,
            with_code,
            skipped: 0,
            fast_path,
            text: Vec::new(),
            sampled: empty_sample(),
        }
    }

    /// Makes the samples of an item that is no path.
    pub(crate) fn item(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        item: &DecodedItem,
    ) -> ControlFlow<()> {
        let moment = &item.moment;
        cx.state.last = item.last(&cx.queue.prior);
        cx.queue.apply_time(item.time_update(&cx.queue.prior));
        match item.item {
            Item::Begin { to, end, .. } => {
                let begin = SampleFlags::BRANCH | SampleFlags::TRACE_BEGIN;
                let transfer = ForeignTransfer {
                    from: None,
                    to: Some(to),
                    flags: if end {
                        begin | SampleFlags::TRACE_END
                    } else {
                        begin
                    },
                };
                self.transfer(cx, moment, transfer)
            }
            Item::Async {
                from,
                to,
                end,
                abort,
            } => {
                let leaves_guest = moment.mode.guest && moment.mode.guest_toggled;
                let flags = if leaves_guest {
                    EXIT_OF_GUEST
                } else {
                    async_flags(to, end, abort)
                };
                if self.options.quick > 0 {
                    let point = self.select.named_point(from, flags, moment);
                    self.instruction(cx, &point)?;
                }
                let transfer = ForeignTransfer {
                    from: Some(from),
                    to,
                    flags,
                };
                self.transfer(cx, moment, transfer)
            }
            Item::Event(event) => self.event(cx, event, item),
            Item::Path | Item::Address { .. } | Item::Error(_) | Item::Pause | Item::End => {
                ControlFlow::Continue(())
            }
        }
    }

    /// Makes the samples of the instruction at `ip`, which a packet names.
    pub(crate) fn address(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        ip: u64,
    ) -> ControlFlow<()> {
        let moment = cx.queue.decoder.moment();
        cx.queue.advance_to(moment.time);
        if self.fast_path.is_some() {
            return self.write_address(cx, ip, &moment);
        }
        let point = self.select.named_point(ip, SampleFlags::default(), &moment);
        self.instruction(cx, &point)
    }

    /// Makes the sample of a transfer of control that no instruction made.
    fn transfer(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        moment: &Moment,
        transfer: ForeignTransfer,
    ) -> ControlFlow<()> {
        let ForeignTransfer { from, to, flags } = transfer;
        let point = Point {
            to: known(to),
            flags: flags | state_flags(moment, &self.plan),
            cycles: self.select.cycles(moment),
            crosses: moment.mode.guest_toggled,
            ..Point::at(from, moment)
        };
        self.branch(cx, &point)
    }

    /// The settings of all samples.
    fn settings(&self) -> SampleSettings<'_> {
        SampleSettings {
            images: &self.images,
            clock: self.clock,
            timeless: self.plan.timeless,
            with_code: self.with_code,
        }
    }

    /// The time of a TSC; `None` where there is no time.
    pub(crate) fn time(&self, tsc: u64) -> Option<PerfTime> {
        self.settings().time(tsc)
    }

    /// Counts a sample that is about to be made; true when it is one of the first that are passed over.
    fn skips(&mut self) -> bool {
        let skips = self.skipped < self.options.skip;
        self.skipped += u64::from(skips);
        skips
    }
}
