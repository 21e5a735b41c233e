//! The collector: a sink of samples that fills a profile.

use std::ops::ControlFlow;

use oxperf_abi::SampleType;
use oxperf_machine::Machine;
use oxperf_profile::{
    BranchHistoryId, CommId, DetailId, DetailOptions, EventProfile, Profile, ProfileThread,
};
use oxperf_resolve::{Chains, Names, SymbolSource, Unwinder};
use oxperf_session::{EventIndex, EventTable, NoSink, SampleEvent, SidebandEvent, Sink};
use oxperf_tracepoint::Formatters;
use oxperf_wire::{Endian, SampleWeight};

use super::address_counts::AddressCounts;
use super::batch::{Batch, BatchSample, Span};
use super::block_counts::BlockCounts;
use super::branch_history::HistoryChains;
use super::branches;
use super::comms::{self, Comms};
use super::detail_collector::DetailCollector;
use super::frame_namer::FrameNamer;
use super::locator::Locator;
use super::lookup::SymbolLookup;
use super::map_sizes;
use super::merged_event::MergedEvent;
use super::merger::{BackgroundMerger, MergedSamples};
use super::named_frames::NamedFrames;
use super::options::CollectOptions;
use super::parallelism::Parallelism;
use super::two_pass::{FirstPass, SecondPass};

/// Addresses and samples of a batch: enough to keep the cores busy with naming, few enough to stay in the cache.
const BATCH: usize = 1 << 18;
/// The size of a batch of samples without chains: there are more samples then, which take more room than addresses.
const FLAT_BATCH: usize = 1 << 15;

/// A sink that merges samples into a [`Profile`].
pub struct Collector<'s> {
    options: CollectOptions,
    locator: Locator,
    names: Names<'s>,
    namer: FrameNamer,
    details: Option<DetailCollector<'s>>,
    /// Samples whose frames are not named yet.
    batch: Batch,
    merger: BackgroundMerger,
    comms: Comms,
    address_counts: AddressCounts,
    blocks: Option<BlockCounts>,
    profile: Profile,
    chains: Chains,
    branch_histories: Option<HistoryChains>,
    parallelism: Option<Parallelism>,
    /// The samples that this pass takes, if it is the second.
    second_pass: Option<SecondPass>,
}

/// The parts of a profile that are complete only with its last sample.
struct Unfinished<'s> {
    profile: Profile,
    namer: FrameNamer,
    details: Option<DetailCollector<'s>>,
    merged: MergedSamples,
}

impl<'s> Collector<'s> {
    /// Collects samples of these events, named by `source`. The events come with their names and groups, and leave
    /// with their samples.
    pub fn new(
        events: Vec<EventProfile>,
        source: &'s dyn SymbolSource,
        options: CollectOptions,
    ) -> Collector<'s> {
        let locator = if options.wants_functions_alone() {
            Locator::functions()
        } else if options.by_address || options.blocks.is_some() {
            Locator::one_table()
        } else {
            Locator::many_tables()
        };
        let branch_histories = options
            .history
            .then(|| HistoryChains::new(options.max_stack, options.keep_outermost));
        Collector {
            options,
            merger: BackgroundMerger::new(locator.split(), options.merge_threads),
            locator,
            names: Names::new(source),
            namer: FrameNamer::default(),
            details: None,
            batch: Batch::default(),
            comms: Comms::default(),
            address_counts: AddressCounts::default(),
            blocks: options.blocks.map(BlockCounts::new),
            profile: Profile {
                events,
                ..Profile::default()
            },
            chains: Chains::new(options.chain_options(), None),
            branch_histories,
            parallelism: None,
            second_pass: None,
        }
    }

    /// For the first of two passes: see [`CollectOptions::allows_two_passes`].
    pub fn first_pass(
        events: Vec<EventProfile>,
        source: &'s dyn SymbolSource,
        options: CollectOptions,
    ) -> Collector<'s> {
        let without_chains = CollectOptions {
            chains: false,
            ..options
        };
        let mut collector = Collector::new(events, source, without_chains);
        collector.merger.number_samples();
        collector
    }

    /// For the second pass, which meets the same samples in the same order: takes those of the wanted groups of each
    /// event again, with their chains.
    pub fn second_pass(
        first: FirstPass<'s>,
        wanted: Vec<Vec<bool>>,
        source: &'s dyn SymbolSource,
        options: CollectOptions,
    ) -> Collector<'s> {
        let FirstPass {
            profile,
            names,
            namer,
            samples,
        } = first;
        Collector {
            profile,
            names,
            namer,
            second_pass: Some(SecondPass::new(samples, wanted)),
            ..Collector::new(Vec::new(), source, options)
        }
    }

    /// Also counts the time that passed, on so many CPUs: the recording holds when threads began and ceased to run.
    #[must_use]
    pub fn with_latency(mut self, cpus: Option<u32>) -> Collector<'s> {
        self.parallelism = cpus.map(Parallelism::new);
        self
    }

    /// Also collects details of samples, and keeps those that differ in them apart. Records of tracepoints need their
    /// formats.
    #[must_use]
    pub fn with_details(
        mut self,
        wanted: DetailOptions,
        formats: Option<&'s Formatters>,
        endian: Endian,
    ) -> Collector<'s> {
        let is_wanted = !wanted.details.is_empty();
        self.details = is_wanted.then(|| DetailCollector::new(wanted, formats, endian));
        self
    }

    /// Also finds the callers of samples that hold a copy of their stack.
    #[must_use]
    pub fn with_unwinder(mut self, unwinder: Option<Unwinder>) -> Collector<'s> {
        self.chains = Chains::new(self.options.chain_options(), unwinder);
        self
    }

    /// True if nothing but the prefixes of samples counts: see [`Session::prefix_only`](oxperf_session::Session::prefix_only).
    pub fn needs_prefix_only(&self) -> bool {
        self.options.needs_prefix_only() && self.details.is_none()
    }

    /// The profile of all samples so far, while collecting goes on. `machine` is that of the moment. What comes later is
    /// collected as if nobody had asked.
    ///
    /// Costs a copy of the profile.
    pub fn snapshot(&mut self, machine: &Machine) -> Profile {
        let named = self.name_batch(machine);
        self.merger.merge(&mut self.batch, named);
        let so_far = Unfinished {
            profile: self.profile.clone(),
            namer: self.namer.clone(),
            details: self.details.clone(),
            merged: self.merger.samples(),
        };
        self.complete(so_far, machine).0
    }

    /// The profile of everything that came, given the machine at the end of the recording.
    pub fn finish(self, machine: &Machine) -> Profile {
        self.finish_first_pass(machine).profile
    }

    /// The result of the first of two passes, given the machine at the end of the recording.
    pub fn finish_first_pass(mut self, machine: &Machine) -> FirstPass<'s> {
        let named = self.name_batch(machine);
        self.merger.merge(&mut self.batch, named);
        let all = Unfinished {
            profile: std::mem::take(&mut self.profile),
            namer: std::mem::take(&mut self.namer),
            details: self.details.take(),
            merged: self.merger.take_samples(),
        };
        let (profile, namer) = self.complete(all, machine);
        FirstPass {
            profile,
            names: self.names,
            namer,
            samples: self.merger.take_numbered(),
        }
    }

    /// Puts the parts of a profile together.
    fn complete(&self, parts: Unfinished<'s>, machine: &Machine) -> (Profile, FrameNamer) {
        let Unfinished {
            mut profile,
            mut namer,
            details,
            merged,
        } = parts;
        let lookup = SymbolLookup {
            names: &self.names,
            machine,
        };
        if let Some(details) = details {
            let naming = self.options.naming();
            let accessed = namer.extend(details.accessed(), lookup, &mut profile, naming);
            profile.details = details.into_details(&accessed);
        }
        // The addresses that are counted one by one are located in one table.
        let tables = self.merger.named();
        if let Some(named) = tables.and_then(|tables| tables.only_table()) {
            self.address_counts.give(named, &mut profile);
            if let Some(blocks) = &self.blocks {
                blocks.give(named, lookup, &mut profile);
            }
        }
        if self.options.map_sizes {
            profile.map_sizes = map_sizes::of_frames(&profile, machine, |dso| namer.known(dso));
        }
        profile.chains = merged.chains;
        profile.branches = merged.branches;
        let comms = comms::names(machine);
        profile.comms = comms.names;
        self.give_events(merged.events, &comms.ids, &mut profile);
        let thread = |thread| profile_thread(thread, &comms.ids);
        profile.threads = machine.threads().iter().map(thread).collect();
        rayon::join(|| profile.chains.seal(), || profile.frames.seal());
        // The first of two passes has seen all samples.
        profile.has_latency |= self
            .parallelism
            .is_some_and(|parallelism| parallelism.matters());
        profile.chain_losses = self.chains.losses();
        (profile, namer)
    }

    /// Gives the events of a profile their samples, whose names have new ids.
    fn give_events(&self, merged: Vec<MergedEvent>, comms: &[CommId], profile: &mut Profile) {
        for (nth, (event, mut merged)) in profile.events.iter_mut().zip(merged).enumerate() {
            for group in &mut merged.groups {
                group.comm = comms[group.comm.index()];
            }
            match &self.second_pass {
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
    }

    /// Takes the chain of a sample; returns the branches that it begins with.
    fn take_chain(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> Option<BranchHistoryId> {
        if !self.options.chains {
            return None;
        }
        // Calls that have not returned are no branches: they are callers.
        let branches = event
            .sample
            .branch_stack
            .is_some_and(|stack| !stack.call_stack);
        let Some(branch_histories) = self.branch_histories.as_mut().filter(|_| branches) else {
            let chain = self.chains.of(machine, event);
            if chain.addresses.is_empty() && self.options.chains_of_one {
                let ip = event.sample.ip.unwrap_or(0);
                self.batch.addresses.push((event.misc.cpu_mode(), ip));
            }
            self.batch.addresses.extend_from_slice(chain.addresses);
            return None;
        };
        let (addresses, history) = branch_histories.take(machine, event, &mut self.profile);
        self.batch.addresses.extend(addresses);
        Some(history)
    }

    /// Locates the addresses of the batch and names the new ones, for each table.
    fn name_batch(&mut self, machine: &Machine) -> Vec<NamedFrames> {
        let lookup = SymbolLookup {
            names: &self.names,
            machine,
        };
        self.locator.locate(&mut self.batch, lookup);
        let fresh = self.locator.take_new();
        if self.options.by_address {
            self.address_counts.locate(&fresh.frames);
            self.address_counts.count(&self.batch);
        }
        if let Some(blocks) = &mut self.blocks {
            blocks.locate(&fresh.frames);
            blocks.count(&self.batch);
        }
        // The mappings have served.
        self.batch.mappings.clear();
        let naming = self.options.naming();
        // A symbol that is met for the first time is shown by where that was: the order of arrival counts.
        let named = self
            .namer
            .extend(&fresh.frames, lookup, &mut self.profile, naming);
        fresh.by_table(named)
    }

    /// Begins a new batch where the last one is full.
    #[inline]
    fn end_full_batch(&mut self, machine: &Machine) {
        let limit = if self.options.chains {
            BATCH
        } else {
            FLAT_BATCH
        };
        if self.batch.len() >= limit || self.batch.mappings.is_full() {
            let named = self.name_batch(machine);
            self.batch = self.merger.begin(std::mem::take(&mut self.batch), named);
        }
    }
}

fn profile_thread(thread: &oxperf_machine::Thread, comms: &[CommId]) -> ProfileThread {
    let pid = thread.pid.unwrap_or(oxperf_abi::Pid(-1));
    ProfileThread {
        pid,
        tid: thread.tid,
        comm: comms[thread.comm.0 as usize],
    }
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
        if let Some(details) = &mut self.details {
            details.follow(machine, event);
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
        let second_pass = self.second_pass.as_mut();
        if second_pass.is_some_and(|pass| !pass.takes_next()) {
            self.chains.pass_over(&event.sample);
            return ControlFlow::Continue(());
        }
        let own = (event.misc.cpu_mode(), event.sample.ip.unwrap_or(0));
        let start = self.batch.addresses.len();
        let (mut branches, mut history) = (Span::default(), None);
        if self.options.branches.is_none() {
            self.batch.addresses.push(own);
            if self.blocks.is_some() {
                branches = branches::take_beside(&mut self.batch, machine, event);
            }
            history = self.take_chain(machine, event);
        }
        let period = if self.options.by_cost {
            event.sample.weight.map_or(0, SampleWeight::cost).max(1)
        } else {
            event.period
        };
        let parallelism = self.parallelism.as_mut();
        let (latency, running) = parallelism.map_or((0, 1), |running| running.latency(period));
        let lookup = SymbolLookup {
            names: &self.names,
            machine,
        };
        let details = self.details.as_mut();
        let detail = details.map(|details| details.of(event, running, lookup));
        let sample = BatchSample {
            event: event.event.0 as u32,
            thread: event.thread,
            comm: self.comms.of(machine, event.thread),
            detail: detail.unwrap_or(DetailId::EMPTY),
            mappings: self.batch.mappings.keep(machine, event.thread),
            branches,
            is_branch: false,
            history,
            last: true,
            addresses: Span::new(start, self.batch.addresses.len()),
            period,
            latency,
            moment: self.options.moments.then(|| self.batch.add_moment(event)),
        };
        match self.options.branches {
            Some(detail) => {
                let stack = event.sample.branch_stack;
                let entries = stack.iter().flat_map(|stack| stack.entries());
                entries.for_each(|entry| self.profile.branch_kinds.add(&entry, 1));
                let sample = branches::BranchingSample {
                    own,
                    sample,
                    detail,
                };
                branches::take(&mut self.batch, machine, event, &sample);
            }
            None => self.batch.samples.push(sample),
        }
        self.end_full_batch(machine);
        ControlFlow::Continue(())
    }
}
