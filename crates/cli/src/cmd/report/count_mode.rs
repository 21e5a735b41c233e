//! The units that a report counts: samples, the branches that they carry, or the cost of their accesses to memory.

use clap::{Arg, ArgAction};
use oxperf_abi::{BranchEntry, SampleType};
use oxperf_analysis::hist::{BranchKey, SortKey};
use oxperf_collect::BranchDetail;
use oxperf_data::features::BranchStack;
use oxperf_data::{Container, EventEntry, Reader};
use oxperf_itrace::ItraceOptions;

/// The refusal of `-b` where samples carry no branches.
pub(super) const NO_BRANCHES: &str =
    "Error:\nSelected -b but no branch data. Did you call perf record without -b?";

/// The refusal of `--mem-mode` where samples say nothing of accesses to memory.
pub(super) const NO_ACCESSES: &str =
    "Error:\nSelected --mem-mode but no mem data. Did you call perf record without -d?";

/// The refusal of `--mem-mode` where branches are to be counted.
const NO_ACCESSES_OF_BRANCHES: &str = "branch and mem mode incompatible";

/// True if samples record where data were found; a stream says so only later.
pub(super) fn carries_accesses(reader: &Reader<'_>) -> bool {
    let carries = |event: &EventEntry| event.stored.attr.sample_type.contains(SampleType::DATA_SRC);
    reader.container() == Container::Stream || reader.events().iter().any(carries)
}

/// The options.
pub(super) fn arguments() -> [Arg; 4] {
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    [
        flag("branch-stack").short('b').overrides_with("no-branch-stack").help(
            "Count the branches that samples carry [default where the recorder was asked for branches]",
        ),
        flag("branch-history").help(
            "Let call graphs show the branches that samples carry, with how they were predicted, before the callers",
        ),
        flag("mem-mode").help(
            "Count samples by what their accesses to memory cost, told apart by where the data lay and were found",
        ),
        flag("no-branch-stack").help("Count the samples, though they carry branches"),
    ]
}

/// The units that rows count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CountMode {
    /// Samples, by their periods.
    Samples,
    /// Each branch that a sample carries, for one.
    Branches,
    /// Samples, by the cost of their accesses to memory.
    Accesses,
}

/// The options that choose a [`CountMode`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CountOptions {
    /// `--branch-stack`.
    pub(super) branches: bool,
    /// `--no-branch-stack`.
    pub(super) never_branches: bool,
    /// `--branch-history`.
    pub(super) history: bool,
    /// `--mem-mode`.
    pub(super) accesses: bool,
    /// A page is written, which shows samples: a branch has no time.
    pub(super) page: bool,
}

impl CountOptions {
    /// The mode of the options, else the one that the recording suggests; `None` for branches that no sample can have.
    ///
    /// # Errors
    ///
    /// The refusal of options that exclude each other.
    pub(super) fn mode(
        &self,
        reader: &Reader<'_>,
        itrace: Option<&ItraceOptions>,
    ) -> Result<Option<CountMode>, &'static str> {
        let mode = self.branches_or_samples(reader, itrace);
        if !self.accesses {
            Ok(mode)
        } else if mode == Some(CountMode::Branches) || self.branches {
            Err(NO_ACCESSES_OF_BRANCHES)
        } else {
            Ok(Some(CountMode::Accesses))
        }
    }

    fn branches_or_samples(
        &self,
        reader: &Reader<'_>,
        itrace: Option<&ItraceOptions>,
    ) -> Option<CountMode> {
        if self.history {
            return Some(CountMode::Samples);
        }
        let samples_have = |fields: SampleType| {
            let mut events = reader.events().iter();
            events.any(|event| event.stored.attr.sample_type.contains(fields))
        };
        let made =
            itrace.is_some_and(|made| made.stacks.last_branch || made.stacks.add_last_branch);
        if self.branches {
            let recorded = samples_have(SampleType::BRANCH_STACK);
            return (recorded || made).then_some(CountMode::Branches);
        }
        let has_feature = matches!(reader.features().get::<BranchStack>(), Ok(Some(_)));
        let recorded = has_feature && !samples_have(SampleType::STACK_USER);
        let allowed = !self.never_branches && !self.page;
        Some(if (recorded || made) && allowed {
            CountMode::Branches
        } else {
            CountMode::Samples
        })
    }
}

/// The details of each branch that the keys need.
pub(super) fn detail(keys: &[SortKey], addresses: bool) -> BranchDetail {
    let mut detail = BranchDetail {
        addresses,
        ..BranchDetail::default()
    };
    for key in keys {
        let SortKey::Branch(key) = key else { continue };
        match key {
            BranchKey::Mispredicted => {
                detail.flags |= BranchEntry::MISPREDICTED | BranchEntry::PREDICTED
            }
            BranchKey::InTransaction => detail.flags |= BranchEntry::IN_TRANSACTION,
            BranchKey::Abort => detail.flags |= BranchEntry::ABORT,
            BranchKey::Cycles => detail.flags |= BranchEntry::CYCLES,
            BranchKey::AddressFrom | BranchKey::AddressTo => detail.addresses = true,
            BranchKey::DsoFrom
            | BranchKey::DsoTo
            | BranchKey::SymbolFrom
            | BranchKey::SymbolTo
            | BranchKey::LineFrom
            | BranchKey::LineTo => {}
        }
    }
    detail
}
