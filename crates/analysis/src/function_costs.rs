//! The costs of functions, line by line: their own, and those of what they call from there.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use oxperf_profile::{DsoId, Frame, FrameId, NodeId, Profile, SampleTotals, SourceId, SymbolId};
use rustc_hash::FxHashMap;

use crate::stacks::Stacks;

/// A function of an object, or all code of an object that no symbol covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CostedFunction<'p> {
    /// Its name; `None` for code without a symbol.
    pub name: Option<&'p str>,
    /// Its object, where that is known.
    pub dso: Option<DsoId>,
    /// The file that it is written in, where that is known.
    pub file: Option<SourceId>,
}

/// The costs of all functions of a profile for some events. Functions have the numbers of their places in `functions`.
#[derive(Clone, Debug, Default)]
pub struct FunctionCosts<'p> {
    /// The functions.
    pub functions: Vec<CostedFunction<'p>>,
    /// A frame of each function that has code of its own.
    pub frames: Vec<Option<FrameId>>,
    /// What was spent in a function itself, by the frame where it was.
    pub own: BTreeMap<(u32, FrameId), Weights>,
    /// What was spent in a function that another called: by caller, callee and the frame that called.
    pub calls: BTreeMap<(u32, u32, FrameId), Weights>,
    /// The weight of all samples.
    pub total: Weights,
}

/// The weight of each event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weights(pub Vec<SampleTotals>);

impl AddAssign<&[SampleTotals]> for Weights {
    fn add_assign(&mut self, other: &[SampleTotals]) {
        let length = self.0.len().max(other.len());
        self.0.resize(length, SampleTotals::default());
        self.0
            .iter_mut()
            .zip(other)
            .for_each(|(sum, more)| *sum += *more);
    }
}

impl<'p> FunctionCosts<'p> {
    /// The costs of these stacks. Of a call that stands on a stack several times the outermost counts: its cost holds
    /// those of the others.
    pub fn of(profile: &'p Profile, stacks: &Stacks) -> FunctionCosts<'p> {
        let mut costs = FunctionCosts::default();
        let function_of = costs.name_functions(profile);
        let mut walk = Walk::default();
        for (chain, weights) in by_chain(stacks) {
            costs.total += &weights.0[..];
            let frames: Vec<FrameId> = profile.chains.path_to_root(chain).collect();
            if let Some(&innermost) = frames.first() {
                let place = (function_of[innermost.index()], innermost);
                *costs.own.entry(place).or_default() += &weights.0[..];
            }
            walk.begin();
            for pair in frames.windows(2).rev() {
                let [callee, caller] = [pair[0], pair[1]];
                let [to, from] = [callee, caller].map(|frame| function_of[frame.index()]);
                if walk.is_first((from, to)) {
                    *costs.calls.entry((from, to, caller)).or_default() += &weights.0[..];
                }
            }
        }
        costs
    }

    /// Finds the function of each frame.
    fn name_functions(&mut self, profile: &'p Profile) -> Vec<u32> {
        let files = files_of_symbols(profile);
        let mut known: FxHashMap<CostedFunction<'p>, u32> = FxHashMap::default();
        let number = |(nth, frame): (u32, &Frame)| {
            let symbol = frame.symbol.and_then(|id| profile.symbols.get(id.index()));
            let function = CostedFunction {
                name: symbol.map(|symbol| symbol.name.as_str()),
                dso: symbol.map(|symbol| symbol.dso).or(frame.dso),
                file: match symbol {
                    Some(symbol) if symbol.inlined => frame.source.map(|source| source.file),
                    _ => frame
                        .symbol
                        .and_then(|id| files.get(&id).map(|known| known.1)),
                },
            };
            *known.entry(function).or_insert_with(|| {
                let has_code = symbol.is_some_and(|symbol| !symbol.inlined);
                self.functions.push(function);
                self.frames.push(has_code.then_some(FrameId(nth)));
                self.functions.len() as u32 - 1
            })
        };
        (0..).zip(&profile.frames).map(number).collect()
    }
}

/// The file of each symbol that is not inlined: that of its lowest address with one.
fn files_of_symbols(profile: &Profile) -> FxHashMap<SymbolId, (u64, SourceId)> {
    let mut files = FxHashMap::default();
    for frame in profile.frames.iter().filter(|frame| frame.outermost) {
        if let (Some(symbol), Some(source)) = (frame.symbol, frame.source) {
            let at = (frame.dso_address, source.file);
            files
                .entry(symbol)
                .and_modify(|known| *known = at.min(*known))
                .or_insert(at);
        }
    }
    files
}

/// The weights of each chain, whoever's it is.
fn by_chain(stacks: &Stacks) -> BTreeMap<NodeId, Weights> {
    let mut chains: BTreeMap<NodeId, Weights> = BTreeMap::new();
    for (stack, weights) in stacks.iter() {
        *chains.entry(stack.chain).or_default() += weights;
    }
    chains
}

/// The calls of the stack that is walked.
#[derive(Default)]
struct Walk {
    stack: u64,
    /// The last stack that held a call, from one function to another.
    last: FxHashMap<(u32, u32), u64>,
}

impl Walk {
    fn begin(&mut self) {
        self.stack += 1;
    }

    fn is_first(&mut self, call: (u32, u32)) -> bool {
        self.last.insert(call, self.stack) != Some(self.stack)
    }
}
