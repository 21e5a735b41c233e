//! Filling a profile from a session: every sample located, named and merged as it comes.
//!
//! Samples are taken in batches. Within a batch addresses are kept with what was mapped at their moment; at its end they
//! are located and the new ones named, on all cores, and the chains enter the context tree by what they are called. So the
//! tree grows with distinct functions, not with the address spaces that hold them, and naming costs once for each place.

mod accesses;
mod addresses;
mod blocks;
mod branches;
mod comms;
mod details;
mod functions;
mod history;
mod locate;
mod map_sizes;
mod merge;
mod named;
mod naming;
mod parallelism;
mod sources;
mod symbol_frames;
mod twice;

use std::ops::ControlFlow;

use oxperf_abi::{CpuMode, SampleType};
use oxperf_machine::Machine;
use oxperf_resolve::{ChainOptions, Chains, Names, SymbolSource, Unwinder};
use oxperf_session::{EventIndex, EventTable, NoSink, SampleEvent, SidebandEvent, Sink};
use oxperf_tracepoint::Formatters;
use oxperf_wire::{Endian, SampleWeight};

use addresses::Addresses;
pub use blocks::BlockDetail;
use blocks::Blocks;
pub use branches::BranchDetail;
use comms::Comms;
use details::Noting;
use history::History;
use locate::Locating;
use merge::{Batch, Merged, Merging, Part, Sample};
use named::Named;
use naming::{Naming, Wanted};
use oxperf_profile::{CommId, DetailId, DetailsWanted, EventProfile, HistoryId, Profile, Thread};
use parallelism::Parallelism;
pub use twice::Counts;
use twice::Second;

/// Addresses and samples of a batch: enough to keep the cores busy with naming, few enough to stay in the cache.
const BATCH: usize = 1 << 18;
/// The same of samples without chains: there are more samples then, which take more room than addresses.
const FLAT_BATCH: usize = 1 << 15;

/// What to keep apart while collecting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CollectOptions {
    /// Keep call chains.
    pub chains: bool,
    /// Most recorded entries of a chain that count, and most that a copy of the stack gives besides.
    pub max_stack: usize,
    /// Of a longer recorded chain the outermost entries count, not the innermost.
    pub keep_outermost: bool,
    /// As [`ChainOptions::stitch`].
    pub stitch: Option<u32>,
    /// Leave out samples of code without a symbol, and such callers.
    pub hide_unresolved: bool,
    /// Which samples of different threads may be merged; the thread is then that of the first.
    pub alike: Alike,
    /// Keep the time and CPU of each sample.
    pub moments: bool,
    /// Also count the samples of each address.
    pub by_address: bool,
    /// Keep different addresses of a symbol apart.
    pub addresses_apart: bool,
    /// Entries of call chains stand for the functions that were inlined there, too.
    pub inlines: bool,
    /// Keep different source lines apart.
    pub lines: Option<LineText>,
    /// Chains go on with the branches that their samples carry.
    pub history: bool,
    /// Find out how large mappings are.
    pub map_sizes: bool,
    /// A sample counts for the cost of its access to memory, at least for one, and not for its period.
    pub by_cost: bool,
    /// Each branch that a sample carries counts, and the sample itself does not.
    pub branches: Option<BranchDetail>,
    /// Keep the code between them apart.
    pub blocks: Option<BlockDetail>,
}

/// Which threads nothing tells apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Alike {
    /// None are alike.
    #[default]
    None,
    /// Threads of one name are alike.
    Namesakes,
    /// All are alike.
    All,
}

/// How source lines are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineText {
    /// With the whole path of the file and not its last name alone.
    pub whole_paths: bool,
}

impl CollectOptions {
    fn wanted(&self) -> Wanted {
        Wanted {
            inlines: self.inlines && self.chains,
            lines: self.lines,
            addresses_apart: self.addresses_apart,
            symbols_only: self.hide_unresolved,
        }
    }

    /// Whether what is wanted of an address is the function that holds it and no more.
    fn wants_functions_alone(&self) -> bool {
        let CollectOptions {
            chains,
            by_address,
            addresses_apart,
            lines,
            blocks,
            ..
        } = self;
        !(*chains || *by_address || *addresses_apart || lines.is_some() || blocks.is_some())
    }

    /// Whether samples whose chains nobody asks for can do without: nothing else depends on their chains.
    pub fn can_walk_twice(&self) -> bool {
        let CollectOptions {
            stitch,
            hide_unresolved,
            moments,
            history,
            branches,
            map_sizes,
            ..
        } = self;
        let counts_functions = CollectOptions {
            chains: false,
            ..*self
        }
        .wants_functions_alone();
        let others = *hide_unresolved || *moments || *history || *map_sizes || branches.is_some();
        self.chains && counts_functions && stitch.is_none() && !others
    }

    fn of_chains(&self) -> ChainOptions {
        ChainOptions {
            max_stack: self.max_stack,
            keep_outermost: self.keep_outermost,
            stitch: self.stitch,
        }
    }
}

/// A sink that merges samples into a [`Profile`].
pub struct Collector<'s> {
    options: CollectOptions,
    locating: Locating,
    names: Names<'s>,
    naming: Naming,
    noting: Option<Noting<'s>>,
    /// Samples whose frames are not named yet.
    batch: Batch,
    merging: Merging,
    comms: Comms,
    addresses: Addresses,
    blocks: Option<Blocks>,
    profile: Profile,
    chains: Chains,
    history: Option<History>,
    parallelism: Option<Parallelism>,
    /// What this walk is to take, if it is the second.
    second: Option<Second>,
}

impl<'s> Collector<'s> {
    /// Collects samples of these events, named by `source`. The events come with their names and groups, and leave
    /// with their samples.
    pub fn new(
        events: Vec<EventProfile>,
        source: &'s dyn SymbolSource,
        options: CollectOptions,
    ) -> Collector<'s> {
        let locating = match options.by_address || options.blocks.is_some() {
            _ if options.wants_functions_alone() => Locating::functions(),
            true => Locating::alone(),
            false => Locating::shared(),
        };
        Collector {
            options,
            merging: Merging::new(locating.split(), options.alike),
            locating,
            names: Names::new(source),
            naming: Naming::default(),
            noting: None,
            batch: Batch::default(),
            comms: Comms::default(),
            addresses: Addresses::default(),
            blocks: options.blocks.map(Blocks::new),
            profile: Profile {
                events,
                ..Profile::default()
            },
            chains: Chains::new(options.of_chains(), None),
            history: options
                .history
                .then(|| History::new(options.max_stack, options.keep_outermost)),
            parallelism: None,
            second: None,
        }
    }

    /// Also counts the time that passed, on so many CPUs: the recording tells when threads began and ceased to run.
    #[must_use]
    pub fn with_latency(mut self, cpus: Option<u32>) -> Collector<'s> {
        self.parallelism = cpus.map(Parallelism::new);
        self
    }

    /// Also keeps what is wanted of samples, and those that differ in it apart. Records of tracepoints need their formats.
    #[must_use]
    pub fn with_details(
        mut self,
        wanted: DetailsWanted,
        formats: Option<&'s Formatters>,
        endian: Endian,
    ) -> Collector<'s> {
        self.noting = (!wanted.details.is_empty()).then(|| Noting::new(wanted, formats, endian));
        self
    }

    /// Also finds the callers of samples that hold a copy of their stack.
    #[must_use]
    pub fn with_unwinder(mut self, unwinder: Option<Unwinder>) -> Collector<'s> {
        self.chains = Chains::new(self.options.of_chains(), unwinder);
        self
    }

    /// Whether nothing but the prefixes of samples counts: see [`Session::prefix_only`](oxperf_session::Session::prefix_only).
    pub fn needs_prefix_only(&self) -> bool {
        let CollectOptions {
            chains,
            history,
            by_cost,
            branches,
            blocks,
            ..
        } = self.options;
        !(chains || history || by_cost)
            && branches.is_none()
            && blocks.is_none()
            && self.noting.is_none()
    }

    /// The profile of everything that came, given the machine at the end of the recording.
    pub fn finish(self, machine: &Machine) -> Profile {
        self.finish_walk(machine).profile
    }

    fn finish_walk(mut self, machine: &Machine) -> Counts<'s> {
        let named = self.name_batch(machine);
        if let Some(noting) = self.noting.take() {
            let wanted = self.options.wanted();
            let (naming, names, profile) = (&mut self.naming, &self.names, &mut self.profile);
            let accessed = naming.extend(noting.accessed(), (names, machine), profile, wanted);
            self.profile.details = noting.into_details(&accessed);
        }
        let merger = self.merging.finish(self.batch, named);
        // What counts addresses has them located in one table.
        if let Some(named) = merger.named.alone() {
            self.addresses.give(named, &mut self.profile);
            if let Some(blocks) = &self.blocks {
                blocks.give(named, (&self.names, machine), &mut self.profile);
            }
        }
        if self.options.map_sizes {
            self.profile.map_sizes =
                map_sizes::of_frames(&self.profile, machine, |dso| self.naming.known(dso));
        }
        self.profile.chains = merger.chains;
        self.profile.branches = merger.branches;
        take_merged(
            &mut self.profile,
            merger.events,
            self.second.as_ref(),
            machine,
        );
        rayon::join(|| self.profile.chains.seal(), || self.profile.frames.seal());
        // The first of two walks has seen all samples.
        self.profile.has_latency |= self
            .parallelism
            .is_some_and(|parallelism| parallelism.matters());
        self.profile.chain_losses = self.chains.losses();
        let Self {
            profile,
            names,
            naming,
            ..
        } = self;
        Counts {
            profile,
            names,
            naming,
            samples: merger.numbered.unwrap_or_default(),
        }
    }

    /// Takes the chain of a sample; tells what branches it begins with.
    fn take_chain(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> Option<HistoryId> {
        if !self.options.chains {
            return None;
        }
        // Calls that have not returned are no branches: they are callers.
        let branches = event
            .sample
            .branch_stack
            .is_some_and(|stack| !stack.call_stack);
        let Some(history) = self.history.as_mut().filter(|_| branches) else {
            let chain = self.chains.of(machine, event);
            self.batch.addresses.extend_from_slice(chain.addresses);
            return None;
        };
        let (addresses, history) = history.take(machine, event, &mut self.profile);
        self.batch.addresses.extend(addresses);
        Some(history)
    }

    /// Locates the addresses of the batch and names what is new, for each table.
    fn name_batch(&mut self, machine: &Machine) -> Vec<Named> {
        self.locating
            .locate(&mut self.batch, (&self.names, machine.objects()));
        let fresh = self.locating.take_fresh();
        if self.options.by_address {
            self.addresses.locate(&fresh.frames);
            self.addresses.count(&self.batch);
        }
        if let Some(blocks) = &mut self.blocks {
            blocks.locate(&fresh.frames);
            blocks.count(&self.batch);
        }
        let wanted = self.options.wanted();
        let (naming, names) = (&mut self.naming, &self.names);
        let profile = &mut self.profile;
        // Nobody asks any more where its addresses lie.
        self.batch.mappings.clear();
        // A symbol that is met for the first time is shown by where that was: the order of arrival counts.
        fresh.by_table(naming.extend(&fresh.frames, (names, machine), profile, wanted))
    }
}

fn profile_thread(thread: &oxperf_machine::Thread, comms: &[CommId]) -> Thread {
    let pid = thread.pid.unwrap_or(oxperf_abi::Pid(-1));
    Thread {
        pid,
        tid: thread.tid,
        comm: comms[thread.comm.0 as usize],
    }
}

/// Gives the events of a profile their samples, and threads their names.
fn take_merged(
    profile: &mut Profile,
    merged: Vec<Merged>,
    second: Option<&Second>,
    machine: &Machine,
) {
    let (names, comms) = comms::names(machine);
    profile.comms = names;
    for (nth, (event, mut merged)) in profile.events.iter_mut().zip(merged).enumerate() {
        merged
            .groups
            .iter_mut()
            .for_each(|group| group.comm = comms[group.comm.index()]);
        match second {
            Some(second) => second.join(nth, &mut event.groups, merged.groups),
            None => {
                event.groups = merged.groups;
                event.sample_count = merged.sample_count;
                event.moments = merged.moments;
                event.period_total = merged.period_total;
                event.latency_total = merged.latency_total;
            }
        }
    }
    profile.threads = machine
        .threads()
        .iter()
        .map(|thread| profile_thread(thread, &comms))
        .collect();
}

impl Sink for Collector<'_> {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn event_update(&mut self, events: &EventTable, index: EventIndex) -> bool {
        let Some(event) = events.events().get(index.0) else {
            return false;
        };
        match self.profile.events.get_mut(index.0) {
            Some(known) => known.name.clone_from(&event.name),
            None => self.profile.events.push(EventProfile {
                name: event.name.clone(),
                has_callchains: event.attr.sample_type.contains(SampleType::CALLCHAIN),
                ..EventProfile::default()
            }),
        }
        true
    }

    fn sideband(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        if let Some(noting) = &mut self.noting {
            noting.follow(machine, event);
        }
        if let Some(parallelism) = &mut self.parallelism {
            parallelism.follow(event.record.header.kind, event.record.header.misc);
        }
        ControlFlow::Continue(())
    }

    fn wants_batches(&mut self) -> bool {
        self.options.chains && self.chains.wants_batches()
    }

    fn prefetch(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        self.chains.prefetch(machine, samples);
    }

    #[inline]
    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        if event.event.0 >= self.profile.events.len() {
            return ControlFlow::Continue(());
        }
        if self
            .second
            .as_mut()
            .is_some_and(|second| !second.takes_next())
        {
            self.chains.pass_over(&event.sample);
            return ControlFlow::Continue(());
        }
        let own = (event.misc.cpu_mode(), event.sample.ip.unwrap_or(0));
        let start = self.batch.addresses.len();
        let (mut links, mut history) = (Part::default(), None);
        if self.options.branches.is_none() {
            self.batch.addresses.push(own);
            if self.blocks.is_some() {
                links = branches::take_beside(&mut self.batch, (machine, event));
            }
            history = self.take_chain(machine, event);
        }
        let period = match self.options.by_cost {
            true => event.sample.weight.map_or(0, SampleWeight::cost).max(1),
            false => event.period,
        };
        let parallelism = self.parallelism.as_mut();
        let (latency, running) = parallelism.map_or((0, 1), |running| running.latency(period));
        let noting = self.noting.as_mut();
        let detail = noting.map_or(DetailId(0), |noting| {
            noting.of(event, running, &self.names, machine)
        });
        let sample = Sample {
            event: event.event.0 as u32,
            thread: event.thread,
            comm: self.comms.of(machine, event.thread),
            detail,
            mappings: self.batch.mappings.keep(machine, event.thread),
            links,
            is_branch: false,
            history,
            last: true,
            addresses: Part::new(start, self.batch.addresses.len()),
            period,
            latency,
            taken: self.options.moments.then(|| self.batch.note_taken(event)),
        };
        match self.options.branches {
            Some(detail) => {
                let stack = event.sample.branch_stack;
                let entries = stack.iter().flat_map(|stack| stack.entries());
                entries.for_each(|entry| self.profile.branch_kinds.add(&entry, 1));
                branches::take(&mut self.batch, (machine, event), (own, sample), detail);
            }
            None => self.batch.samples.push(sample),
        }
        let most = if self.options.chains {
            BATCH
        } else {
            FLAT_BATCH
        };
        if self.batch.len() >= most || self.batch.mappings.is_full() {
            let named = self.name_batch(machine);
            self.batch = self.merging.begin(std::mem::take(&mut self.batch), named);
        }
        ControlFlow::Continue(())
    }
}

/// The profile's frames are told apart by level; modes without one of their own count as the hypervisor's.
fn level(mode: CpuMode) -> oxperf_profile::Level {
    use oxperf_profile::Level;
    match mode {
        CpuMode::Kernel => Level::Kernel,
        CpuMode::User => Level::User,
        CpuMode::GuestKernel => Level::GuestKernel,
        CpuMode::GuestUser => Level::GuestUser,
        CpuMode::Hypervisor | CpuMode::Unknown => Level::Hypervisor,
    }
}
