//! Items of the decoder to samples: the events, flags, counts and chains of each, handed to a sink.

mod deliver;
mod ipc;
mod pebs;
mod point_samples;
mod runs;
mod thread_stacks;
mod trace_events;

use std::ops::ControlFlow;

use intel_pt::{EmitOptions, Item, Moment};
use oxperf_machine::Machine;
use oxperf_session::{SampleEvent, SampleFlags, Sink};
use oxperf_wire::{BranchStack, Words};

use crate::code::Images;
use crate::decoded::Told;
use crate::events::Events;
use crate::plan::Plan;
use crate::queue::Lane;
use crate::select::{
    BranchFilter, EXIT_OF_GUEST, Point, Taking, Written, async_flags, state_flags, unfilled,
};
use crate::{ItraceOptions, TscClock};
pub(crate) use ipc::Counted;
use thread_stacks::Stacks;

/// Makes the samples of a recording.
pub(crate) struct Synthesizer<'w> {
    pub(crate) options: ItraceOptions,
    pub(crate) plan: Plan,
    pub(crate) clock: Option<TscClock>,
    pub(crate) events: Events,
    pub(crate) images: Images,
    pub(crate) taking: Taking,
    /// Whether samples are to hold the bytes of their instruction.
    pub(crate) with_code: bool,
    pub(crate) stacks: Stacks,
    skipped: u64,
    /// What is handed over as text, where places alone matter.
    pub(crate) written: Option<Written<'w>>,
    /// What was written and not handed over yet.
    text: Vec<u8>,
    /// The sample that was handed over last: most of the next one is the same.
    sampled: SampleEvent<'static>,
}

impl<'w> Synthesizer<'w> {
    pub(crate) fn new(
        options: ItraceOptions,
        plan: Plan,
        clock: Option<TscClock>,
        events: Events,
        images: Images,
        wanted: EmitOptions,
        with_code: bool,
    ) -> Synthesizer<'w> {
        let stacks = Stacks::new(options.stacks);
        let taking = Taking {
            sampled: events.branches.map(|_| BranchFilter::new(&options)),
            followed: stacks.followed(),
            branches: wanted.paths,
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
            taking,
            with_code,
            skipped: 0,
            written: None,
            text: Vec::new(),
            sampled: unfilled(),
        }
    }

    /// Makes the samples of an item that is no run.
    pub(crate) fn item(
        &mut self,
        lane: &mut Lane<'_>,
        told: &Told,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let moment = told.moment;
        lane.last = told.last(&lane.earlier);
        lane.take_stamp(told.stamp(&lane.earlier));
        match told.item {
            Item::Begin { to, end, .. } => {
                let ended = if end {
                    SampleFlags::TRACE_END
                } else {
                    SampleFlags::default()
                };
                let flags = SampleFlags::BRANCH | SampleFlags::TRACE_BEGIN | ended;
                self.transfer(lane, &moment, (0, to, flags), machine, sink)
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
                    self.address(lane, &moment, (from, flags), machine, sink)?;
                }
                self.transfer(lane, &moment, (from, to.unwrap_or(0), flags), machine, sink)
            }
            Item::Event(event) => self.event(lane, event, told, machine, sink),
            Item::Path | Item::Address { .. } | Item::Error(_) | Item::Pause | Item::End => {
                ControlFlow::Continue(())
            }
        }
    }

    /// An instruction that a packet of the lane's decoder names.
    pub(crate) fn named(
        &mut self,
        lane: &mut Lane<'_>,
        ip: u64,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let moment = lane.decoder.moment();
        lane.pass_to(moment.time);
        match self.written {
            Some(_) => self.write_address(lane, &moment, ip, machine, sink),
            None => self.address(lane, &moment, (ip, SampleFlags::default()), machine, sink),
        }
    }

    /// An instruction that a packet names.
    fn address(
        &mut self,
        lane: &mut Lane<'_>,
        moment: &Moment,
        (ip, flags): (u64, SampleFlags),
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let point = self.taking.address(ip, flags, moment);
        self.instruction(lane, &point, machine, sink)
    }

    /// A transfer of control that no instruction made.
    fn transfer(
        &mut self,
        lane: &mut Lane<'_>,
        moment: &Moment,
        (from, to, flags): (u64, u64, SampleFlags),
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let cycles = self.taking.cycles(moment);
        let flags = flags | state_flags(moment, &self.plan);
        let point = Point {
            to,
            flags,
            cycles,
            crosses: moment.mode.guest_toggled,
            ..Point::at(from, moment)
        };
        self.branch(lane, &point, machine, sink)
    }

    /// The call chain and the last branches of a recorded sample: of each what it does not have and what is asked for.
    pub(crate) fn of_recorded(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> (Option<Words<'_>>, Option<BranchStack<'_>>) {
        self.stacks.of_recorded(machine, event)
    }

    /// Whether a sample is one of the first that are not wanted.
    fn skips(&mut self) -> bool {
        let skips = self.skipped < self.options.skip;
        self.skipped += u64::from(skips);
        skips
    }
}
