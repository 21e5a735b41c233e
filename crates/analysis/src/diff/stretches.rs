//! The stretches of a function's code on two sides, and how the cycles that they took changed.

use std::cmp::Reverse;

use oxperf_profile::{Block, Profile, SymbolId};

/// A stretch of the newer side.
#[derive(Clone, Debug, PartialEq)]
pub struct StretchChange<'p> {
    /// The stretch.
    pub block: &'p Block,
    /// How many cycles more it took on average; 0 of one that the baseline has not.
    pub cycles: i64,
    /// How far the first passes of both sides are apart, one by one.
    pub distances: Vec<u64>,
}

impl StretchChange<'_> {
    /// How far the distances scatter: the standard error of their mean, in hundredths of it.
    pub fn scatter(&self) -> f64 {
        let count = self.distances.len() as f64;
        let mean = self.distances.iter().sum::<u64>() as f64 / count;
        let squares = self
            .distances
            .iter()
            .map(|&distance| (distance as f64 - mean).powi(2));
        let error = (squares.sum::<f64>() / (count - 1.0) / count).sqrt();
        if error.is_finite() && mean > 0.0 {
            100.0 * error / mean
        } else {
            0.0
        }
    }
}

/// The stretches of a function on the newer side: the greatest change first.
pub fn stretches<'p>(
    (baseline, old): (&Profile, SymbolId),
    (newer, new): (&'p Profile, SymbolId),
) -> Vec<StretchChange<'p>> {
    let known = baseline.blocks.of(old);
    let bounds = |profile: &Profile, block: &Block| {
        let beginning = profile
            .symbols
            .get(block.symbol.index())
            .map_or(0, |symbol| symbol.start);
        let from = |address: u64| address.wrapping_sub(beginning);
        (block.start.map_or(0, from), from(block.end))
    };
    let changed = newer.blocks.of(new).iter().map(|block| {
        let place = bounds(newer, block);
        let before = known
            .iter()
            .find(|before| bounds(baseline, before) == place);
        (
            place,
            before.map_or_else(|| unchanged(block), |before| change(before, block)),
        )
    });
    let mut changed: Vec<_> = changed.collect();
    changed.sort_by_key(|(place, change)| (Reverse(change.cycles.unsigned_abs()), *place));
    changed.into_iter().map(|(_, change)| change).collect()
}

fn unchanged(block: &Block) -> StretchChange<'_> {
    StretchChange {
        block,
        cycles: 0,
        distances: Vec::new(),
    }
}

fn change<'p>(old: &Block, new: &'p Block) -> StretchChange<'p> {
    let passes = old.first.cycles().iter().zip(new.first.cycles());
    StretchChange {
        block: new,
        cycles: new
            .all
            .average()
            .cast_signed()
            .wrapping_sub(old.all.average().cast_signed()),
        distances: passes
            .map(|(&old, &new)| old.abs_diff(new).into())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_profile::{BlockRuns, DsoId, FirstRuns, ProfileSymbol};

    /// A profile of one function with stretches: where they begin and end, and the cycles of each pass.
    fn profile(at: u64, stretches: &[(u64, u64, &[u64])]) -> Profile {
        let mut profile = Profile::default();
        let (name, dso) = ("f".into(), DsoId(0));
        profile.symbols.push(ProfileSymbol {
            name,
            dso,
            start: at,
            end: at + 99,
            inlined: false,
            is_data: false,
        });
        for &(start, end, passes) in stretches {
            let mut block = Block::ending(SymbolId(0), at + end);
            for &cycles in passes {
                let mut first = FirstRuns::default();
                first.push(cycles);
                block.add(Some(at + start), BlockRuns { times: 1, cycles }, &first);
            }
            profile.blocks.list.push(block);
        }
        profile
    }

    #[test]
    fn stretches_meet_by_their_distance_from_the_functions_beginning() {
        let old = profile(0x1000, &[(0, 4, &[10, 20]), (8, 12, &[5])]);
        let new = profile(0x5000, &[(0, 4, &[12, 26]), (0, 20, &[90]), (8, 12, &[25])]);
        let found = stretches((&old, SymbolId(0)), (&new, SymbolId(0)));
        let told: Vec<_> = found
            .iter()
            .map(|change| (change.block.end - 0x5000, change.cycles))
            .collect();
        assert_eq!(told, [(12, 20), (4, 4), (20, 0)]);
        assert_eq!(
            (found[1].distances.as_slice(), found[1].scatter()),
            (&[2, 6][..], 50.0)
        );
        assert_eq!((found[0].scatter(), found[2].scatter()), (0.0, 0.0));
    }
}
