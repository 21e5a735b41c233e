//! Items of the decoder to samples: the events, flags, counts and chains of each, handed to a sink.

use std::ops::ControlFlow;

use intel_pt::{Branch, CodeAddress, CodeSource, Event, Item, Located, Moment, Wanted};
use oxperf_abi::{Cpu, FileOffset, Misc, PerfTime};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::{EventIndex, Payload, SampleEvent, SampleFlags, Sink, Traced, TracedCode};
use oxperf_wire::{BranchStack, Endian, Sample, Words};
use rustc_hash::FxHashMap;

use crate::code::{Images, ThreadCode, mode_of};
use crate::events::Events;
use crate::lane::{Lane, flags_of};
use crate::plan::Plan;
use crate::stack::{Followed, Step, ThreadStack};
use crate::{ItraceOptions, TscClock};

/// Which events pass the filter of branches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct BranchFilter(SampleFlags);

impl BranchFilter {
    fn new(options: &ItraceOptions) -> BranchFilter {
        use SampleFlags as F;
        let calls = if options.calls { F::CALL | F::ASYNC | F::TRACE_END } else { F::default() };
        let returns = if options.returns { F::RETURN | F::TRACE_BEGIN } else { F::default() };
        BranchFilter(calls | returns)
    }

    fn takes(self, flags: SampleFlags) -> bool {
        self.0 == SampleFlags::default() || flags.meets(self.0)
    }
}

/// A place in the flow at which samples are made.
#[derive(Clone, Copy, Debug)]
struct Point {
    from: u64,
    to: u64,
    flags: SampleFlags,
    /// Of the instruction; 0 where none did it.
    length: u8,
    /// Instructions till now.
    instructions: u64,
    /// Cycles till now, if they belong to this point.
    cycles: Option<u64>,
}

impl Point {
    /// A place where nothing happens but an instruction.
    fn at(ip: u64) -> Point {
        Point { from: ip, to: 0, flags: SampleFlags::default(), length: 0, instructions: 0, cycles: None }
    }
}

/// Makes the samples of a recording.
pub(crate) struct Synthesizer {
    pub(crate) options: ItraceOptions,
    pub(crate) plan: Plan,
    pub(crate) clock: Option<TscClock>,
    pub(crate) events: Events,
    pub(crate) images: Images,
    pub(crate) wanted: Wanted,
    /// Whether samples are to hold the bytes of their instruction.
    pub(crate) with_code: bool,
    filter: BranchFilter,
    followed: Followed,
    stacks: FxHashMap<(ThreadId, Option<Cpu>), ThreadStack>,
    skipped: u64,
    chain: Vec<u64>,
    words: Vec<u8>,
    branch_words: Vec<u8>,
    marks: Vec<(u64, Located)>,
    branches: Vec<Branch>,
    addresses: Vec<u64>,
    /// The event of which every instruction is a sample and only its address matters.
    pub(crate) only_addresses: Option<EventIndex>,
    /// The sample that was handed over last: most of the next one is the same.
    sampled: SampleEvent<'static>,
}

impl Synthesizer {
    pub(crate) fn new(
        options: ItraceOptions,
        plan: Plan,
        clock: Option<TscClock>,
        events: Events,
        images: Images,
        wanted: Wanted,
        with_code: bool,
    ) -> Synthesizer {
        let branches = if options.last_branch { options.last_branch_size } else { 0 };
        // A branch into the kernel may stand between a sample and what it was taken of.
        let more = if options.add_last_branch { options.last_branch_size + 1 } else { 0 };
        Synthesizer {
            filter: BranchFilter::new(&options),
            followed: Followed { calls: options.follows_calls(), branches: branches.max(more) },
            options,
            plan,
            clock,
            events,
            images,
            wanted,
            with_code,
            stacks: FxHashMap::default(),
            skipped: 0,
            chain: Vec::new(),
            words: Vec::new(),
            branch_words: Vec::new(),
            marks: Vec::new(),
            branches: Vec::new(),
            addresses: Vec::new(),
            only_addresses: None,
            sampled: unfilled(),
        }
    }

    /// Makes the samples of an item.
    pub(crate) fn item(
        &mut self,
        lane: &mut Lane<'_>,
        item: Item,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let moment = lane.decoder.moment();
        match item {
            Item::Run => self.run(lane, &moment, machine, sink),
            Item::Begin { to, .. } => {
                // Where code of user space begins, time has passed since the trace told it.
                match moment.estimate.filter(|_| to < crate::code::KERNEL_START) {
                    Some(estimate) => lane.timestamp = estimate.0,
                    None => lane.pass_to(moment.time),
                }
                let flags = SampleFlags::BRANCH | SampleFlags::TRACE_BEGIN;
                self.transfer(lane, &moment, (0, to, flags), machine, sink)
            }
            Item::Async { from, to, end, abort } => {
                lane.pass_to(moment.time);
                let flags = async_flags(to, end, abort);
                self.transfer(lane, &moment, (from, to.unwrap_or(0), flags), machine, sink)
            }
            Item::Event(event) => {
                lane.pass_to(moment.time);
                self.event(lane, event, &moment, machine, sink)
            }
            Item::Address { ip } => {
                lane.pass_to(moment.time);
                let cycles = self.cycles(&moment, moment.cycles_fresh);
                let (instructions, flags) = (moment.instructions, in_tx(&moment));
                let point = Point { from: ip, to: 0, flags, length: 0, instructions, cycles };
                self.instruction(lane, &point, machine, sink)
            }
            Item::Error(_) | Item::Pause | Item::End => ControlFlow::Continue(()),
        }
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
        let fresh = std::mem::replace(&mut lane.cycles_fresh, false) || moment.cycles_fresh;
        let cycles = self.cycles(moment, fresh);
        let flags = flags | in_tx(moment);
        let point = Point { from, to, flags, length: 0, instructions: moment.instructions, cycles };
        self.branch(lane, &point, machine, sink)
    }

    /// The cycles that count for a point.
    fn cycles(&self, moment: &Moment, fresh: bool) -> Option<u64> {
        (fresh || self.options.approximate_ipc).then_some(moment.cycles)
    }

    /// Code that ran: its sampled instructions and its branches, in order.
    fn run(
        &mut self,
        lane: &mut Lane<'_>,
        moment: &Moment,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        if let Some(event) = self.only_addresses {
            return self.addresses(lane, event, moment, machine, sink);
        }
        let (mut marks, mut branches) = (std::mem::take(&mut self.marks), std::mem::take(&mut self.branches));
        collect_marks(lane, &mut marks);
        branches.clear();
        if self.wanted.runs {
            branches.extend(lane.decoder.branches());
        }
        let flow = self.points(lane, moment, (&marks, &branches), machine, sink);
        (self.marks, self.branches) = (marks, branches);
        flow
    }

    /// Every instruction, where nothing but its address matters.
    fn addresses(
        &mut self,
        lane: &mut Lane<'_>,
        event: EventIndex,
        moment: &Moment,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let mut addresses = std::mem::take(&mut self.addresses);
        addresses.clear();
        let (before, undecided) = (lane.decoder.run().before, first_decision(lane).saturating_sub(1));
        let run = lane.decoder.run();
        for (index, visit) in run.visits.iter().enumerate() {
            let block = lane.decoder.block(visit.block()).instructions();
            let last = index + 1 == run.visits.len();
            let executed = run.partial.filter(|_| last).map_or(block.len(), |count| count as usize);
            addresses.extend(block.iter().take(executed).map(|located| located.ip));
        }
        let split = usize::try_from(undecided).unwrap_or(usize::MAX).min(addresses.len());
        let (early, late) = addresses.split_at(split);
        let mut flow = ControlFlow::Continue(());
        for (part, time) in [(early, before), (late, moment.time)] {
            lane.pass_to(time);
            if let (Some(first), ControlFlow::Continue(())) = (part.first(), flow) {
                let thread = thread_of(lane, machine);
                self.fill(lane, event, thread, &Point::at(*first));
                flow = sink.addresses(machine, &self.sampled, part);
            }
        }
        self.addresses = addresses;
        flow
    }

    fn points(
        &mut self,
        lane: &mut Lane<'_>,
        moment: &Moment,
        (marks, branches): (&[(u64, Located)], &[Branch]),
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let (instructions, before) = {
            let run = lane.decoder.run();
            (moment.instructions.wrapping_sub(run.instructions), run.before)
        };
        let undecided = first_decision(lane);
        // A count that nothing has shown yet is still to be shown.
        lane.cycles_fresh |= moment.cycles_fresh;
        let mut branches = branches.iter().peekable();
        let mut marks = marks.iter().peekable();
        loop {
            let at = match (marks.peek(), branches.peek()) {
                (None, None) => return ControlFlow::Continue(()),
                (Some(mark), Some(branch)) => mark.0.min(branch.instructions),
                (Some(mark), None) => mark.0,
                (None, Some(branch)) => branch.instructions,
            };
            let mark = marks.next_if(|mark| mark.0 == at);
            let branch = branches.next_if(|branch| branch.instructions == at);
            let decided = at >= undecided;
            lane.pass_to(if decided { moment.time } else { before });
            let located = branch.map(|branch| branch.from).or(mark.map(|mark| mark.1));
            let Some(located) = located else { continue };
            let end = branch.is_some_and(|branch| branch.end);
            let ended = if end { SampleFlags::TRACE_END } else { SampleFlags::default() };
            let point = Point {
                from: located.ip,
                to: branch.and_then(|branch| branch.to).unwrap_or(0),
                flags: flags_of(located.class) | in_tx(moment) | ended,
                length: located.length,
                instructions: instructions + at,
                cycles: self.cycles(moment, lane.cycles_fresh && (decided || self.plan.cycles_estimated)),
            };
            lane.cycles_fresh &= !decided || self.plan.cycles_estimated;
            if mark.is_some() {
                self.instruction(lane, &point, machine, sink)?;
            }
            if branch.is_some() {
                self.branch(lane, &point, machine, sink)?;
            }
        }
    }

    /// Samples of instructions and cycles.
    fn instruction(
        &mut self,
        lane: &mut Lane<'_>,
        point: &Point,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        if let Some(event) = self.events.instructions.filter(|_| !self.skips()) {
            let period = match self.options.quick {
                0 => point.instructions.wrapping_sub(lane.instructions_sampled),
                _ => 1,
            };
            let counts = lane.by_instructions.advance(point.instructions, point.cycles);
            lane.instructions_sampled = point.instructions;
            self.hand_over(lane, (event, period, counts, None), point, machine, sink)?;
        }
        let Some(event) = self.events.cycles else { return ControlFlow::Continue(()) };
        let counts = lane.by_cycles.advance(point.instructions, point.cycles);
        if counts.1 == 0 || self.skips() {
            return ControlFlow::Continue(());
        }
        self.hand_over(lane, (event, counts.1, counts, None), point, machine, sink)
    }

    fn branch(
        &mut self,
        lane: &mut Lane<'_>,
        point: &Point,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        if self.followed != Followed::default()
            && let Some(thread) = lane.running.thread
        {
            let (flags, from, to, length) = (point.flags, point.from, point.to, point.length);
            let step = Step { flags, from, to, length, stretch: lane.feed.stretch };
            let key = stack_key(machine, thread, lane.running.cpu);
            self.stacks.entry(key).or_default().step(&step, self.followed);
        }
        let Some(event) = self.events.branches.filter(|_| self.filter.takes(point.flags)) else {
            return ControlFlow::Continue(());
        };
        if self.skips() {
            return ControlFlow::Continue(());
        }
        let counts = lane.by_branches.advance(point.instructions, point.cycles);
        self.hand_over(lane, (event, 1, counts, None), point, machine, sink)
    }

    /// Whether a sample is one of the first that are not wanted.
    fn skips(&mut self) -> bool {
        let skips = self.skipped < self.options.skip;
        self.skipped += u64::from(skips);
        skips
    }

    fn event(
        &mut self,
        lane: &mut Lane<'_>,
        event: Event,
        moment: &Moment,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let events = self.events;
        // An event that does not say where it was is where the program is.
        let place = lane.decoder.place();
        let here = place.map(|(ip, _)| ip);
        let (event, ip, payload) = match event {
            Event::Psb { offset, ip } => (events.psb, ip, Payload::Psb { offset }),
            Event::Cbr { ratio, .. } => {
                if std::mem::replace(&mut lane.cbr_seen, ratio) == ratio {
                    return ControlFlow::Continue(());
                }
                (events.cbr, here, self.cbr(ratio))
            }
            Event::PtWrite { value, ip } => {
                (events.ptwrite, ip.or(here), Payload::PtWrite { exact: ip.is_some(), value })
            }
            Event::Mwait(wait) => {
                let (hints, extensions) = (wait.hints().into(), wait.extensions().into());
                (events.mwait, here, Payload::Mwait { hints, extensions })
            }
            Event::PowerEntry(entry) => {
                let (hardware, state, sub_state) = (entry.hardware(), entry.c_state(), entry.sub_c_state());
                (events.pwre, here, Payload::PowerEntry { hardware, state, sub_state })
            }
            Event::ExStop { ip } => (events.exstop, ip.or(here), Payload::ExStop { exact: ip.is_some() }),
            Event::PowerExit(exit) => {
                let (deepest, last, wake_reason) = (exit.deepest(), exit.last(), exit.wake_reason());
                (events.pwrx, here, Payload::PowerExit { deepest, last, wake_reason })
            }
            Event::Transaction { ip, .. } => return self.transaction(lane, ip, moment, machine, sink),
            Event::ControlFlow { .. } | Event::InterruptFlag { .. } | Event::Block { .. } => {
                return ControlFlow::Continue(());
            }
        };
        let Some(event) = event.filter(|_| !self.skips()) else { return ControlFlow::Continue(()) };
        let ran = place.filter(|_| ip.is_some() && !matches!(payload, Payload::Psb { .. }));
        let flags = ran.map_or(SampleFlags::default(), |(_, class)| flags_of(class));
        let point = Point {
            from: ip.unwrap_or(0),
            to: 0,
            flags,
            length: 0,
            instructions: moment.instructions,
            cycles: None,
        };
        self.hand_over(lane, (event, 1, (0, 0), Some(payload)), &point, machine, sink)
    }

    fn cbr(&self, ratio: u8) -> Payload {
        let frequency = u32::from(ratio).saturating_mul(self.plan.khz_per_ratio);
        Payload::Cbr { ratio, frequency, max_non_turbo: self.plan.max_non_turbo }
    }

    fn transaction(
        &mut self,
        lane: &mut Lane<'_>,
        ip: u64,
        moment: &Moment,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let Some(event) = self.events.transactions.filter(|_| !self.skips()) else {
            return ControlFlow::Continue(());
        };
        let (flags, instructions) = (in_tx(moment), moment.instructions);
        let point = Point { from: ip, to: 0, flags, length: 0, instructions, cycles: None };
        self.hand_over(lane, (event, 1, (0, 0), None), &point, machine, sink)
    }

    /// Hands a sample to the sink.
    fn hand_over(
        &mut self,
        lane: &mut Lane<'_>,
        (event, period, (instructions, cycles), payload): (EventIndex, u64, (u64, u64), Option<Payload>),
        point: &Point,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let thread = thread_of(lane, machine);
        let code = self.code(lane, point, machine);
        let depth = self.depth(machine, thread, lane.running.cpu);
        self.fill(lane, event, thread, point);
        self.sampled.sample.period = Some(period);
        self.sampled.period = period;
        let traced = Traced { flags: point.flags, instructions, cycles, code, depth, payload };
        self.sampled.traced = Some(traced);
        let with_stacks = self.options.callchain || self.options.last_branch;
        if !with_stacks || Some(event) == self.events.branches {
            return sink.sample(machine, &self.sampled);
        }
        self.collect_stacks(machine, thread, lane.running.cpu, point.from);
        let mut sampled: SampleEvent<'_> = self.sampled;
        let (chain, branches) = (Words::new(&self.words, Endian::Little), &self.branch_words);
        sampled.sample.callchain = self.options.callchain.then_some(chain);
        sampled.sample.branch_stack =
            self.options.last_branch.then(|| BranchStack::from_words(Words::new(branches, Endian::Little)));
        sink.sample(machine, &sampled)
    }

    /// Fills in what every sample says.
    fn fill(&mut self, lane: &Lane<'_>, event: EventIndex, thread: ThreadId, point: &Point) {
        let (running, time) = (lane.running, self.time(lane.timestamp));
        let sampled = &mut self.sampled;
        (sampled.event, sampled.thread) = (event, thread);
        let anywhere = if point.from == 0 { point.to } else { point.from };
        sampled.misc = Misc(mode_of(anywhere) as u16);
        let sample = &mut sampled.sample;
        (sample.ip, sample.addr) = (Some(point.from), Some(point.to));
        (sample.pid, sample.tid) = (Some(running.pid), Some(running.tid));
        (sample.time, sample.cpu) = (time, running.cpu.filter(|_| lane.cpu.is_some()));
    }

    /// The time of a TSC, where there is time.
    pub(crate) fn time(&self, tsc: u64) -> Option<PerfTime> {
        self.clock.filter(|_| !self.plan.timeless).map(|clock| clock.time(tsc))
    }

    /// How deep in calls a thread is, for those who indent by it.
    fn depth(&self, machine: &Machine, thread: ThreadId, cpu: Option<Cpu>) -> u32 {
        if !self.options.thread_stack {
            return 0;
        }
        let stack = self.stacks.get(&stack_key(machine, thread, cpu));
        stack.map_or(0, |stack| u32::try_from(stack.depth()).unwrap_or(u32::MAX))
    }

    fn code(&self, lane: &Lane<'_>, point: &Point, machine: &Machine) -> TracedCode {
        let mut code = TracedCode { length: point.length, bytes: [0; 16] };
        if !self.with_code || point.length == 0 {
            return code;
        }
        let source = ThreadCode { machine, images: &self.images, thread: lane.running.thread };
        let found = source.code(CodeAddress { ip: point.from, guest: false });
        let bytes = found.map_or(&[][..], |found| found.from(point.from));
        code.bytes.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        code
    }

    fn collect_stacks(&mut self, machine: &Machine, thread: ThreadId, cpu: Option<Cpu>, ip: u64) {
        let stack = self.stacks.entry(stack_key(machine, thread, cpu)).or_default();
        if self.options.callchain {
            stack.chain(ip, self.options.callchain_size + 1, &mut self.chain);
            self.words.clear();
            self.words.extend(self.chain.iter().flat_map(|word| word.to_le_bytes()));
        }
        if self.options.last_branch {
            self.branch_words.clear();
            for branch in stack.branches().take(self.options.last_branch_size) {
                let words = [branch.from, branch.to, branch.flags];
                self.branch_words.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            }
        }
    }

    /// The call chain of a recorded sample, if it has none and one is asked for.
    pub(crate) fn chain_of_recorded(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> Option<Words<'_>> {
        if !self.options.add_callchain || event.sample.callchain.is_some() {
            return None;
        }
        let stack = self.stacks.entry(stack_key(machine, event.thread, event.sample.cpu)).or_default();
        stack.chain_of_recorded(
            event.sample.ip.unwrap_or(0),
            self.options.callchain_size + 1,
            &mut self.chain,
        );
        self.words.clear();
        self.words.extend(self.chain.iter().flat_map(|word| word.to_le_bytes()));
        Some(Words::new(&self.words, Endian::Little))
    }
}

/// The thread of a lane's samples.
fn thread_of(lane: &Lane<'_>, machine: &mut Machine) -> ThreadId {
    lane.running.thread.unwrap_or_else(|| machine.thread(lane.running.pid, lane.running.tid))
}

/// A sample of which nothing is known.
fn unfilled() -> SampleEvent<'static> {
    SampleEvent {
        event: EventIndex(0),
        offset: FileOffset(0),
        misc: Misc(0),
        sample: Sample::default(),
        thread: ThreadId(0),
        period: 1,
        traced: None,
    }
}

/// Threads have a stack each; of the idle thread there is one on every CPU.
fn stack_key(machine: &Machine, thread: ThreadId, cpu: Option<Cpu>) -> (ThreadId, Option<Cpu>) {
    (thread, cpu.filter(|_| machine.thread_info(thread).tid.0 == 0))
}

fn async_flags(to: Option<u64>, end: bool, abort: bool) -> SampleFlags {
    use SampleFlags as F;
    let ended = if end { F::TRACE_END } else { F::default() };
    ended
        | match (abort, to) {
            (true, _) => F::BRANCH | F::TX_ABORT,
            (_, None) => F::BRANCH | F::ASYNC | F::TRACE_END,
            (_, Some(_)) => F::BRANCH | F::CALL | F::ASYNC | F::INTERRUPT,
        }
}

fn in_tx(moment: &Moment) -> SampleFlags {
    if moment.mode.in_transaction { SampleFlags::IN_TX } else { SampleFlags::default() }
}

/// The sampled instructions of a run, each with the number of instructions up to and with it.
fn collect_marks(lane: &Lane<'_>, marks: &mut Vec<(u64, Located)>) {
    marks.clear();
    let run = lane.decoder.run();
    let (mut visit, mut before) = (0, 0);
    for mark in run.marks {
        while visit < mark.visit {
            let Some(passed) = run.visits.get(visit as usize) else { return };
            before += lane.decoder.block(passed.block()).instructions().len() as u64;
            visit += 1;
        }
        let Some(marked) = run.visits.get(visit as usize) else { return };
        let block = lane.decoder.block(marked.block()).instructions();
        if let Some(located) = block.get(mark.instruction as usize) {
            marks.push((before + u64::from(mark.instruction) + 1, *located));
        }
    }
}

/// The number of the first instruction of which the trace told the outcome.
fn first_decision(lane: &Lane<'_>) -> u64 {
    let run = lane.decoder.run();
    let first = run.visits.first().map(|visit| lane.decoder.block(visit.block()).instructions().len() as u64);
    first.unwrap_or(0)
}
