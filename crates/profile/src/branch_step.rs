//! What the branches say that lead through call chains.

use oxperf_abi::BranchEntry;

use super::{BranchHistoryId, BranchKinds, FrameId, Profile};

/// An entry of a call chain that stands for an end of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BranchStep {
    /// The branch.
    pub branch: BranchEntry,
    /// True if the entry is what the branch led to, and not the branching instruction.
    pub is_target: bool,
    /// Rounds of a loop that lie behind it and are left out of the chain.
    pub rounds: u32,
    /// Cycles of the last of them.
    pub round_cycles: u64,
}

/// What all passages of one place say together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchStepTotals {
    /// How often it was passed.
    pub times: u64,
    /// True if branches led there, and not away from there.
    pub is_target: bool,
    /// Of branches that led there, those that were predicted rightly.
    pub predicted: u64,
    /// Of branches that led there, those that were aborts of transactions.
    pub aborted: u64,
    /// Their kinds.
    pub kinds: BranchKinds,
    /// The cycles before branches that led away.
    pub cycles: u64,
    /// Rounds of loops that are left out.
    pub rounds: u64,
    /// Cycles of those.
    pub round_cycles: u64,
}

impl BranchStepTotals {
    /// Adds a passage of so many samples.
    pub fn add(&mut self, passage: &BranchStep, samples: u64) {
        let BranchStep {
            branch,
            is_target,
            rounds,
            round_cycles,
        } = *passage;
        self.times += samples;
        self.is_target = is_target;
        if is_target {
            self.predicted += if branch.is(BranchEntry::PREDICTED) {
                samples
            } else {
                0
            };
            self.aborted += if branch.is(BranchEntry::ABORT) {
                samples
            } else {
                0
            };
            self.kinds.add(&branch, samples);
        } else {
            self.cycles += samples * u64::from(branch.cycles());
            self.rounds += samples * u64::from(rounds);
            self.round_cycles = self
                .round_cycles
                .saturating_add(samples.saturating_mul(round_cycles));
        }
    }
}

impl Profile {
    /// A chain of frames, in the order in which it is read, with the passages that it begins with. Of the functions that
    /// an address stands for, where some were inlined, the first that is read has its passage.
    pub fn with_branch_steps(
        &self,
        chain: impl IntoIterator<Item = FrameId>,
        history: Option<BranchHistoryId>,
        callers_first: bool,
    ) -> Vec<(FrameId, Option<&BranchStep>)> {
        let history = history.and_then(|history| self.branch_histories.get(history.index()));
        let mut branch_steps = history
            .into_iter()
            .flatten()
            .map(|id| self.branch_steps.get(id.index()));
        let mut is_behind_outermost = true;
        let link = |frame: FrameId| {
            let outermost = self
                .frames
                .get(frame.index())
                .is_none_or(|frame| frame.outermost);
            let begins = if callers_first {
                outermost
            } else {
                is_behind_outermost
            };
            is_behind_outermost = outermost;
            (
                frame,
                if begins {
                    branch_steps.next().flatten()
                } else {
                    None
                },
            )
        };
        chain.into_iter().map(link).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BranchStepId, DsoId, Frame, Level, ProfileSymbol, SymbolId};

    /// A profile of a function, one that was inlined in it, and one with code of its own that counts as inlined, as
    /// frames 0 to 2, and a history of two passages.
    fn profile() -> Profile {
        let mut profile = Profile::default();
        for (nth, inlined) in [false, true, true].into_iter().enumerate() {
            let (name, dso) = (nth.to_string(), DsoId(0));
            profile.symbols.push(ProfileSymbol {
                name,
                dso,
                start: 0,
                end: 16,
                inlined,
                is_data: false,
            });
            profile.frames.add(Frame {
                dso: Some(dso),
                symbol: Some(SymbolId(nth as u32)),
                address: 4,
                dso_address: 4,
                level: Level::User,
                source: None,
                alone: false,
                outermost: nth != 1,
            });
        }
        let branch = BranchEntry {
            from: 4,
            to: 4,
            flags: 0,
        };
        let passage = BranchStep {
            branch,
            is_target: true,
            rounds: 0,
            round_cycles: 0,
        };
        profile.branch_steps = vec![
            passage,
            BranchStep {
                is_target: false,
                ..passage
            },
        ];
        profile
            .branch_histories
            .push([BranchStepId(0), BranchStepId(1)].into());
        profile
    }

    /// Of each frame of a chain whether a passage leads to the address, or away from it.
    fn passed(chain: &[u32], callers_first: bool) -> Vec<Option<bool>> {
        let profile = profile();
        let chain = chain.iter().map(|&frame| FrameId(frame));
        let links = profile.with_branch_steps(chain, Some(BranchHistoryId(0)), callers_first);
        links
            .into_iter()
            .map(|(_, passage)| passage.map(|passage| passage.is_target))
            .collect()
    }

    #[test]
    fn the_first_function_of_an_address_has_its_passage() {
        assert_eq!(
            passed(&[1, 0, 0, 0], false),
            [Some(true), None, Some(false), None]
        );
        assert_eq!(
            passed(&[0, 1, 0, 0], true),
            [Some(true), None, Some(false), None]
        );
        assert_eq!(
            passed(&[1, 1, 0, 1, 0], false),
            [Some(true), None, None, Some(false), None]
        );
        assert_eq!(
            passed(&[2, 1, 2, 0], false),
            [Some(true), Some(false), None, None]
        );
        assert_eq!(
            passed(&[2, 2, 1, 0], true),
            [Some(true), Some(false), None, None]
        );
    }
}
