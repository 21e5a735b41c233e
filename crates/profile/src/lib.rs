//! What an analysis works on: samples merged by everything that can tell them apart, over interned names.
//!
//! A producer fills a [`Profile`] once; every analysis reads it. Names, frames and call chains stand in it once and
//! are meant by small ids, so that memory grows with what is distinct and never with the number of samples.

mod access;
mod blocks;
mod branch;
mod branch_kinds;
mod branch_step;
mod context;
mod data_places;
mod details;
mod event_group;
mod frames;
mod ids;
mod ipc;
mod joined_event;
pub mod number_keys;
mod order;
mod parents;
mod paths;
mod percent;
mod weight;

use std::num::NonZeroU32;

use oxperf_abi::{Pid, Tid};
use oxperf_resolve::ChainLosses;

pub use access::{AccessAddress, AccessFields, CacheLine, MemoryAccess};
pub use blocks::{Block, BlockRuns, Blocks, FirstRuns};
pub use branch::{BranchEnd, SampleBranch};
pub use branch_kinds::BranchKinds;
pub use branch_step::{BranchStep, BranchStepTotals};
pub use context::{ContextTree, PathToRoot};
pub use data_places::{DataPlace, DataPlaces};
pub use details::{Detail, DetailOptions, DetailText, Details, FieldRequest};
pub use frames::{BareFrames, Frames};
pub use ids::{
    BranchHistoryId, BranchId, BranchStepId, CommId, DetailId, DsoId, FrameId, NodeId, SourceId,
    SymbolId, ThreadId,
};
pub use ipc::{BlockEnd, FunctionIpc, IpcTable};
pub use number_keys::{NumberCell, NumberInput, NumberKey, NumberOrder};
pub use order::ChainOrder;
pub use oxperf_symbols::NamesFrom;
pub use paths::PathTree;
pub use percent::percent;
pub use weight::SampleTotals;

/// Everything a report needs about one recording.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Thread names; each distinct text once.
    pub comms: Vec<String>,
    /// Objects that code was found in.
    pub dsos: Vec<ProfileDso>,
    /// Where the names of each of them come from; empty unless it was asked for.
    pub origins: Vec<Option<NamesFrom>>,
    /// Named address ranges of objects.
    pub symbols: Vec<ProfileSymbol>,
    /// Distinct located addresses.
    pub frames: Frames,
    /// The size of the mapping around each frame, in bytes; `None` where nothing is mapped. Empty unless it was asked for.
    pub map_sizes: Vec<Option<u64>>,
    /// What data each frame works on; empty unless it was asked for.
    pub data_places: DataPlaces,
    /// All call chains.
    pub chains: ContextTree,
    /// Distinct branches; empty unless samples are to be told by their branches.
    pub branches: Vec<SampleBranch>,
    /// What the branches say that lead through call chains; none unless chains are to hold branches.
    pub branch_steps: Vec<BranchStep>,
    /// The passages that chains begin with, in the order in which chains are read.
    pub branch_histories: Vec<Box<[BranchStepId]>>,
    /// How many of them, of all samples, were of each kind.
    pub branch_kinds: BranchKinds,
    /// The code between the branches of samples; none unless it was asked for.
    pub blocks: Blocks,
    /// How fast functions ran, as far as it was found out.
    pub ipc: IpcTable,
    /// Texts of source lines and files, each once; empty unless they were asked for.
    pub sources: Vec<String>,
    /// Threads that samples belong to.
    pub threads: Vec<ProfileThread>,
    /// What else samples say, as far as it was asked for.
    pub details: Details,
    /// True if threads ran at the same time, so that [`SampleGroup::latency`] says something.
    pub has_latency: bool,
    /// The recording's events in the order of the file.
    pub events: Vec<EventProfile>,
    /// What of the call chains could not be had.
    pub chain_losses: ChainLosses,
}

impl Profile {
    /// Has tables show objects by their whole paths, and tell them apart by these.
    pub fn show_whole_paths(&mut self) {
        self.dsos
            .iter_mut()
            .for_each(|dso| dso.short.clone_from(&dso.long));
    }

    /// The source line of an end of a branch, if that was asked for.
    pub fn branch_line(&self, end: BranchEnd) -> Option<&str> {
        let frame = self.frames.get(end.frame.index())?;
        self.sources
            .get(frame.source?.line.index())
            .map(String::as_str)
    }
}

/// An object that code comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileDso {
    /// The whole path, or a name in brackets.
    pub long: String,
    /// What tables show: the last part of the path, or the name in brackets.
    pub short: String,
}

/// A named range of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProfileSymbol {
    /// The name, demangled where that was asked for.
    pub name: String,
    /// The object it belongs to.
    pub dso: DsoId,
    /// First address, in the object's own addresses.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// True if this is a function that was inlined, and the range is that of the symbol that it was inlined in.
    pub inlined: bool,
    /// True if it names data, and not code.
    pub is_data: bool,
}

/// One located address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The object mapped there.
    pub dso: Option<DsoId>,
    /// The symbol around it.
    pub symbol: Option<SymbolId>,
    /// The address as it was recorded; call chains show it where no symbol is known.
    pub address: u64,
    /// The address in the object's own addresses (equal to `address` where no object is mapped); rows show it
    /// where no symbol is known.
    pub dso_address: u64,
    /// Where the address ran.
    pub level: Level,
    /// Where in source text the address stands, where a key asks for it.
    pub source: Option<Source>,
    /// True if the frame is for this address alone, and not for all of its symbol.
    pub alone: bool,
    /// True if its function has the code, and was not inlined there: the last of those that an address stands for. A
    /// function that was cloned has its code, but goes by its own name and counts as inlined into the clone's symbol.
    pub outermost: bool,
}

/// A place in source text, as rows show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// File and line, or what stands for them where they are not known.
    pub line: SourceId,
    /// The file; an empty text where it is not known.
    pub file: SourceId,
    /// The number of the line, from 1; `None` where it is not known.
    pub number: Option<NonZeroU32>,
}

/// The privilege an address ran with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The kernel.
    Kernel,
    /// A process.
    #[default]
    User,
    /// A guest's kernel.
    GuestKernel,
    /// A guest's process.
    GuestUser,
    /// The hypervisor.
    Hypervisor,
}

impl Level {
    /// The letter that reports put in brackets before a symbol.
    pub const fn letter(self) -> char {
        match self {
            Level::Kernel => 'k',
            Level::User => '.',
            Level::GuestKernel => 'g',
            Level::GuestUser => 'u',
            Level::Hypervisor => 'H',
        }
    }
}

/// A thread that samples belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileThread {
    /// Its process.
    pub pid: Pid,
    /// Its own id.
    pub tid: Tid,
    /// The name it has when the recording ends. A sample carries the name of its own time; column widths and the
    /// `pid` column go by this one, as in perf.
    pub comm: CommId,
}

/// One event and its samples.
#[derive(Clone, Debug, Default)]
pub struct EventProfile {
    /// The event's name.
    pub name: String,
    /// The group that the event was opened in; `None` for an event alone.
    pub group: Option<EventGroup>,
    /// True if the event's samples carry call chains (the attr asks for them).
    pub has_callchains: bool,
    /// Samples that the kernel or the ring lost for this event.
    pub lost: u64,
    /// The samples, equal ones merged, in the order of the first of each.
    pub groups: Vec<SampleGroup>,
    /// The samples one by one, in the order they came in; empty unless they were asked for.
    pub moments: Vec<SampleMoment>,
    /// The samples by address, in no order; empty unless they were asked for.
    pub addresses: Vec<AddressCount>,
    /// Number of samples.
    pub sample_count: u64,
    /// Sum of their periods.
    pub period_total: u64,
    /// Sum of their latencies.
    pub latency_total: u64,
    /// Number of samples that [`EventProfile::retain`] took out of these totals.
    pub hidden: u64,
}

/// One sample: all that its group does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleMoment {
    /// When it was taken, in nanoseconds of the recording's clock; `None` where the recording has no times.
    pub time: Option<u64>,
    /// Where, if the recording tells.
    pub cpu: Option<u32>,
    /// Index of its group in [`EventProfile::groups`].
    pub group: u32,
    /// How many of the event it stands for.
    pub period: u64,
}

/// The samples that hit one address. One place that is mapped twice may come twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressCount {
    /// The frame that the address is named by.
    pub frame: FrameId,
    /// The address in its object's own addresses.
    pub address: u64,
    /// How often, and for how much.
    pub weight: SampleTotals,
}

impl EventProfile {
    /// True if there are any samples, shown or hidden.
    pub fn is_empty(&self) -> bool {
        self.sample_count == 0 && self.hidden == 0
    }

    /// Hides the samples of groups that do not pass. The totals stay those of all samples unless they, too, are to be
    /// of the others alone.
    pub fn retain(&mut self, totals_too: bool, passes: impl Fn(&SampleGroup) -> bool) {
        self.retain_groups(passes);
        if totals_too {
            let shown: u64 = self.groups.iter().map(|group| group.samples).sum();
            self.hidden += self.sample_count.saturating_sub(shown);
            self.sample_count = shown;
            self.period_total = self
                .groups
                .iter()
                .fold(0, |sum, group| sum.wrapping_add(group.period));
            self.latency_total = self
                .groups
                .iter()
                .fold(0, |sum, group| sum.wrapping_add(group.latency));
        }
    }

    /// Takes groups out, with their moments.
    fn retain_groups(&mut self, passes: impl Fn(&SampleGroup) -> bool) {
        let mut left = 0;
        let number = |passes: bool| {
            left += u32::from(passes);
            passes.then_some(left.saturating_sub(1))
        };
        let passing: Vec<bool> = self.groups.iter().map(passes).collect();
        let places: Vec<Option<u32>> = passing.iter().copied().map(number).collect();
        let mut passing = passing.into_iter();
        self.groups.retain(|_| passing.next().unwrap_or(false));
        self.moments.retain_mut(|moment| {
            let place = places.get(moment.group as usize).copied().flatten();
            moment.group = place.unwrap_or(moment.group);
            place.is_some()
        });
    }
}

/// Membership of a group of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventGroup {
    /// Index of the leader in [`Profile::events`]; the leader names itself.
    pub leader: usize,
    /// The group's name, when the user gave one.
    pub name: Option<String>,
    /// True if its events were recorded one by one, and are only shown together.
    pub joined: bool,
}

impl SampleGroup {
    /// Where the group counts: a branch at its target, a sample at its own address.
    pub fn counted_at(&self, branches: &[SampleBranch]) -> FrameId {
        self.branch
            .and_then(|branch| branches.get(branch.index()))
            .map_or(self.frame, |branch| branch.to.frame)
    }
}

/// Samples that nothing tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleGroup {
    /// The thread that ran; the first that did, where threads were not to be kept apart.
    pub thread: ThreadId,
    /// Its name at the time.
    pub comm: CommId,
    /// What else keys ask for.
    pub detail: DetailId,
    /// The sample's own address.
    pub frame: FrameId,
    /// The branch that the group stands for: each of a sample's branches counts by itself then.
    pub branch: Option<BranchId>,
    /// The call chain, innermost frame included; the tree's root when there is none.
    pub chain: NodeId,
    /// The branches that the chain begins with.
    pub history: Option<BranchHistoryId>,
    /// Number of samples.
    pub samples: u64,
    /// Sum of their periods.
    pub period: u64,
    /// Sum of their shares of the time that passed, in thousandths: their periods, each divided by the number of threads
    /// that ran at the moment; 0 where the recording does not tell.
    pub latency: u64,
    /// Place of the first of them among all samples in time order.
    pub order: u64,
}
