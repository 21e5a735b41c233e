//! Branches as numbers: the rank of each for every key that is about branches.
//!
//! Ranks rise in the order in which perf lists rows of equal weight: objects by falling names, cycles from the most,
//! symbols by where they begin and before what has none.

use std::cmp::Reverse;

use oxperf_abi::BranchEntry;

use super::key::{BranchKey, SortKey};
use super::rank::ranks;
use oxperf_profile::{BranchEnd, BranchId, Frame, Profile};

/// The ranks of all branches for the keys that are asked for.
#[derive(Debug)]
pub(crate) struct BranchRanks {
    by_key: Vec<(BranchKey, Vec<u32>)>,
}

impl BranchRanks {
    pub(crate) fn new(profile: &Profile, keys: &[SortKey]) -> BranchRanks {
        let keys = keys.iter().filter_map(|key| match key {
            SortKey::Branch(key) => Some(*key),
            _ => None,
        });
        BranchRanks {
            by_key: keys.map(|key| (key, of_key(profile, key))).collect(),
        }
    }

    /// A branch's rank; samples without one come last.
    pub(crate) fn value(&self, key: BranchKey, branch: Option<BranchId>) -> i64 {
        let ranks = self
            .by_key
            .iter()
            .find(|(known, _)| *known == key)
            .map(|(_, ranks)| ranks);
        let rank = ranks
            .zip(branch)
            .and_then(|(ranks, branch)| ranks.get(branch.index()));
        rank.map_or(i64::MAX, |&rank| rank.into())
    }
}

fn of_key(profile: &Profile, key: BranchKey) -> Vec<u32> {
    let branches = profile.branches.iter();
    match key {
        BranchKey::DsoFrom => ranks(branches.map(|branch| dso(profile, branch.from))),
        BranchKey::DsoTo => ranks(branches.map(|branch| dso(profile, branch.to))),
        BranchKey::SymbolFrom => ranks(branches.map(|branch| symbol(profile, branch.from))),
        BranchKey::SymbolTo => ranks(branches.map(|branch| symbol(profile, branch.to))),
        BranchKey::AddressFrom => ranks(branches.map(|branch| address(profile, branch.from))),
        BranchKey::AddressTo => ranks(branches.map(|branch| address(profile, branch.to))),
        BranchKey::LineFrom => ranks(branches.map(|branch| line(profile, branch.from))),
        BranchKey::LineTo => ranks(branches.map(|branch| line(profile, branch.to))),
        BranchKey::Mispredicted => {
            ranks(branches.map(|branch| branch.is(BranchEntry::MISPREDICTED)))
        }
        BranchKey::InTransaction => {
            ranks(branches.map(|branch| branch.is(BranchEntry::IN_TRANSACTION)))
        }
        BranchKey::Abort => ranks(branches.map(|branch| branch.is(BranchEntry::ABORT))),
        BranchKey::Cycles => ranks(branches.map(|branch| Reverse(branch.cycles().cast_unsigned()))),
    }
}

fn frame(profile: &Profile, end: BranchEnd) -> Option<&Frame> {
    profile.frames.get(end.frame.index())
}

/// No object comes first.
fn dso(profile: &Profile, end: BranchEnd) -> Option<Reverse<&str>> {
    let dso = profile.dsos.get(frame(profile, end)?.dso?.index())?;
    Some(Reverse(&dso.short))
}

/// Where a symbol begins and ends, or an address, all as signed numbers: the kernel's come first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Lies {
    Symbol(i64, i64),
    Address(i64),
}

fn symbol(profile: &Profile, end: BranchEnd) -> Option<Lies> {
    let frame = frame(profile, end)?;
    let symbol = frame.symbol.and_then(|id| profile.symbols.get(id.index()));
    Some(match symbol {
        Some(symbol) => Lies::Symbol(symbol.start.cast_signed(), symbol.end.cast_signed()),
        None => Lies::Address(frame.address.cast_signed()),
    })
}

/// By object first.
fn address(profile: &Profile, end: BranchEnd) -> (Option<Reverse<&str>>, Option<i64>) {
    (
        dso(profile, end),
        end.address.map(|(recorded, _)| recorded.cast_signed()),
    )
}

fn line(profile: &Profile, end: BranchEnd) -> &str {
    profile.branch_line(end).unwrap_or_default()
}
