//! Calls added up by function.

use rustc_hash::FxHashMap;

use super::{Amounts, Ended, Entry, FunctionId};

/// What the calls of a function come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionTotal {
    /// The function.
    pub function: FunctionId,
    /// Its calls.
    pub calls: u64,
    /// Those of which the trace does not show the beginning or the end.
    pub incomplete: u64,
    /// What they spent with all that they called; calls inside calls of the same function count once.
    pub total: Amounts,
    /// What they spent themselves.
    pub own: Amounts,
    /// The shortest call, ns.
    pub shortest: u64,
    /// The longest call, ns.
    pub longest: u64,
}

/// The calls of every function.
#[derive(Debug, Default)]
pub struct Totals {
    functions: FxHashMap<FunctionId, FunctionTotal>,
}

impl Totals {
    /// Adds a call.
    pub fn add(&mut self, ended: &Ended) {
        let function = ended.call.function;
        let sum = self.functions.entry(function).or_insert(FunctionTotal {
            function,
            calls: 0,
            incomplete: 0,
            total: Amounts::default(),
            own: Amounts::default(),
            shortest: u64::MAX,
            longest: 0,
        });
        sum.calls += 1;
        sum.incomplete += u64::from(ended.call.entry == Entry::Unseen || ended.end.is_unseen());
        sum.own += ended.own;
        if !ended.call.recursive {
            sum.total += ended.total;
        }
        sum.shortest = sum.shortest.min(ended.total.time);
        sum.longest = sum.longest.max(ended.total.time);
    }

    /// All functions, those first in which most was executed.
    pub fn into_sorted(self) -> Vec<FunctionTotal> {
        let mut all: Vec<FunctionTotal> = self.functions.into_values().collect();
        let weight = |sum: &FunctionTotal| (sum.own.instructions, sum.own.time, sum.calls);
        all.sort_unstable_by(|a, b| {
            weight(b)
                .cmp(&weight(a))
                .then(a.function.0.cmp(&b.function.0))
        });
        all
    }
}
