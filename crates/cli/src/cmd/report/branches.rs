//! Whether a report counts samples, the branches that they carry or what their accesses to memory cost.

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_abi::{BranchEntry, SampleType};
use oxperf_analysis::hist::{BranchKey, SortKey};
use oxperf_collect::BranchDetail;
use oxperf_data::features::BranchStack;
use oxperf_data::{Container, EventEntry, Reader};
use oxperf_itrace::ItraceOptions;

/// The refusal of `-b` where samples carry no branches.
pub(super) const NO_BRANCHES: &str =
    "Error:\nSelected -b but no branch data. Did you call perf record without -b?";

/// The refusal of `--mem-mode` where samples tell nothing of accesses to memory.
pub(super) const NO_ACCESSES: &str =
    "Error:\nSelected --mem-mode but no mem data. Did you call perf record without -d?";

/// The refusal of `--mem-mode` where branches are to be counted.
pub(super) const NO_ACCESSES_OF_BRANCHES: &str = "branch and mem mode incompatible";

/// Whether samples tell where data were found; a stream does only later.
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

/// What a report counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Counted {
    /// Samples, by their periods.
    Samples,
    /// Each branch that a sample carries, for one.
    Branches,
    /// Samples, by the cost of their accesses to memory.
    Accesses,
}

impl Counted {
    /// What the options say, else what the recording suggests; `None` for branches that no sample can have.
    pub(super) fn of(
        matches: &ArgMatches,
        reader: &Reader<'_>,
        itrace: Option<&ItraceOptions>,
    ) -> Option<Counted> {
        if matches.get_flag("branch-history") {
            return Some(Counted::Samples);
        }
        let made =
            itrace.is_some_and(|made| made.stacks.last_branch || made.stacks.add_last_branch);
        if matches.get_flag("branch-stack") {
            let carries = |sample_type: SampleType| sample_type.contains(SampleType::BRANCH_STACK);
            let recorded = reader
                .events()
                .iter()
                .any(|event| carries(event.stored.attr.sample_type));
            return (recorded || made).then_some(Counted::Branches);
        }
        let copies = reader.events().iter().any(|event| {
            event
                .stored
                .attr
                .sample_type
                .contains(SampleType::STACK_USER)
        });
        let asked = reader
            .features()
            .get::<BranchStack>()
            .ok()
            .flatten()
            .is_some()
            && !copies;
        // A page shows samples: a branch has no time.
        let wanted = !matches.get_flag("no-branch-stack") && !super::html::is_asked(matches);
        Some(match (asked || made) && wanted {
            true => Counted::Branches,
            false => Counted::Samples,
        })
    }
}

/// What the keys need to be known of each branch.
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
