//! Measures: what a row adds up, and the order that columns and rows can have.

use super::access_kinds::AccessKinds;
use super::key::SortKey;
use super::table::{Cell, Extra};

/// One number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// The part of all samples that ran in the row or were called from it.
    Children,
    /// The same of the time that passed.
    ChildrenLatency,
    /// The part of all samples that ran in the row.
    Own,
    /// The same of the time that passed.
    OwnLatency,
    /// The part that ran there with the privilege of a mode.
    Mode(PrivilegeMode),
    /// How many samples ran there.
    Samples,
    /// The sum of their periods.
    Period,
    /// The mean of one of their three weights: cost, latency of the instruction, latency of its retirement.
    MeanWeight(u8),
    /// How many of the branches in its chains were predicted rightly, in hundredths.
    Predicted,
    /// How many of them were aborts of transactions.
    Aborts,
    /// The mean of the cycles before them.
    BranchCycles,
    /// The parts of all samples that were accesses to memory of these kinds.
    Kinds(AccessKinds),
}

/// The privilege that samples ran with, as far as measures tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrivilegeMode {
    /// The kernel.
    System,
    /// A process.
    User,
    /// A guest's kernel.
    GuestSystem,
    /// A guest's process.
    GuestUser,
}

impl Measure {
    /// The names of sort keys, in the order in which beginnings of them are looked for.
    const NAMES: [(&'static str, Measure); 24] = [
        ("overhead", Measure::Own),
        ("latency", Measure::OwnLatency),
        ("overhead_sys", Measure::Mode(PrivilegeMode::System)),
        ("overhead_us", Measure::Mode(PrivilegeMode::User)),
        (
            "overhead_guest_sys",
            Measure::Mode(PrivilegeMode::GuestSystem),
        ),
        ("overhead_guest_us", Measure::Mode(PrivilegeMode::GuestUser)),
        ("overhead_children", Measure::Children),
        ("latency_children", Measure::ChildrenLatency),
        ("sample", Measure::Samples),
        ("period", Measure::Period),
        ("weight1", Measure::MeanWeight(0)),
        ("weight2", Measure::MeanWeight(1)),
        ("weight3", Measure::MeanWeight(2)),
        ("ins_lat", Measure::MeanWeight(1)),
        ("retire_lat", Measure::MeanWeight(2)),
        ("p_stage_cyc", Measure::MeanWeight(2)),
        ("op", Measure::Kinds(AccessKinds::Operation)),
        ("cache", Measure::Kinds(AccessKinds::Cache)),
        ("memory", Measure::Kinds(AccessKinds::Memory)),
        ("snoop", Measure::Kinds(AccessKinds::Snoop)),
        ("dtlb", Measure::Kinds(AccessKinds::Translation)),
        ("callchain_branch_predicted", Measure::Predicted),
        ("callchain_branch_abort", Measure::Aborts),
        ("callchain_branch_cycles", Measure::BranchCycles),
    ];

    /// The measure of a name on the command line; a beginning of a name is enough, letters of either case. Those of
    /// `accesses` to memory have a name only where these are counted.
    pub fn parse(name: &str, accesses: bool) -> Option<Measure> {
        let wanted = name.to_ascii_lowercase();
        let has_name = |measure: &Measure| accesses || !matches!(measure, Measure::Kinds(_));
        let mut known = Self::NAMES.iter().filter(|(_, measure)| has_name(measure));
        known
            .find(|(full, _)| !wanted.is_empty() && full.starts_with(&wanted))
            .map(|&(_, measure)| measure)
    }

    /// The names on the command line.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|&(name, _)| name)
    }

    /// True if it needs more than periods and numbers of samples.
    pub const fn is_extra(self) -> bool {
        matches!(
            self,
            Measure::Mode(_) | Measure::MeanWeight(_) | Measure::Kinds(_)
        ) || self.is_of_branches()
    }

    /// True if it is about the branches in chains.
    pub const fn is_of_branches(self) -> bool {
        matches!(
            self,
            Measure::Predicted | Measure::Aborts | Measure::BranchCycles
        )
    }

    /// What rows are compared by, the greatest first.
    pub(crate) fn rank(self, cell: &Cell, extra: &Extra) -> u64 {
        match self {
            Measure::Children => cell.all.period,
            Measure::ChildrenLatency => cell.all.latency,
            Measure::Own | Measure::Period | Measure::Kinds(_) => cell.own.period,
            Measure::OwnLatency => cell.own.latency,
            Measure::Mode(mode) => extra.modes[mode as usize],
            Measure::Samples => cell.own.samples,
            Measure::MeanWeight(nth) => extra.weights[usize::from(nth) % 3],
            // They put no row before another.
            Measure::Predicted | Measure::Aborts | Measure::BranchCycles => 0,
        }
    }
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// A number.
    Measure(Measure),
    /// What the row is about.
    Key(SortKey),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_that_begins_so_counts() {
        assert_eq!(Measure::parse("overhead", false), Some(Measure::Own));
        assert_eq!(Measure::parse("SAMPLES", false), None);
        assert_eq!(
            Measure::parse("weight", false),
            Some(Measure::MeanWeight(0))
        );
        let parsed = [false, true].map(|accesses| Measure::parse("mem", accesses));
        assert_eq!(parsed, [None, Some(Measure::Kinds(AccessKinds::Memory))]);
    }
}
