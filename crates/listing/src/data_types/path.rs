//! The way that code takes from one instruction to another: the one through the fewest blocks.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::RangeInclusive;

use oxperf_disasm::OperationFlow;

use super::code::Code;

/// Number of blocks that are tried.
const BLOCKS_LIMIT: usize = 1 << 14;

/// Instructions by their numbers, stretch by stretch.
pub(super) type Path = Vec<RangeInclusive<usize>>;

/// The way from the instruction `from` to `to`, both among them; `None` where there is none.
pub(super) fn path(code: &Code, targets: &HashSet<usize>, from: usize, to: usize) -> Option<Path> {
    let mut came: HashMap<usize, Option<usize>> = HashMap::from([(from, None)]);
    let mut ends: HashMap<usize, usize> = HashMap::new();
    let mut waiting = VecDeque::from([from]);
    while let Some(begin) = waiting.pop_front() {
        let end = end_of(code, targets, begin);
        if (begin..=end).contains(&to) {
            return Some(way_back(&came, &ends, begin, to));
        }
        if came.len() > BLOCKS_LIMIT {
            return None;
        }
        ends.insert(begin, end);
        for next in next_of(code, end).into_iter().flatten() {
            came.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                Some(begin)
            });
        }
    }
    None
}

/// The instructions that others jump to.
pub(super) fn targets(code: &Code) -> HashSet<usize> {
    let flows = code
        .list
        .iter()
        .filter_map(|coded| coded.step.as_ref().map(|step| step.flow));
    let targets = flows.filter_map(|flow| match flow {
        OperationFlow::Branch(target) | OperationFlow::Jump(target) => code.at(target),
        _ => None,
    });
    targets.collect()
}

/// The last instruction of the block that begins with one.
fn end_of(code: &Code, targets: &HashSet<usize>, begin: usize) -> usize {
    let mut end = begin;
    while end + 1 < code.list.len() {
        let step = code.list[end].step.as_ref();
        let goes_on = step
            .is_some_and(|step| matches!(step.flow, OperationFlow::Next | OperationFlow::Call(_)));
        if !goes_on || targets.contains(&(end + 1)) {
            break;
        }
        end += 1;
    }
    end
}

/// The instructions that may come behind the last one of a block.
fn next_of(code: &Code, end: usize) -> [Option<usize>; 2] {
    let behind = Some(end + 1).filter(|next| *next < code.list.len());
    match code.list[end].step.as_ref().map(|step| step.flow) {
        Some(OperationFlow::Next | OperationFlow::Call(_)) => [behind, None],
        Some(OperationFlow::Branch(target)) => [behind, code.at(target)],
        Some(OperationFlow::Jump(target)) => [code.at(target), None],
        Some(OperationFlow::Away) | None => [None, None],
    }
}

fn way_back(
    came: &HashMap<usize, Option<usize>>,
    ends: &HashMap<usize, usize>,
    last: usize,
    to: usize,
) -> Path {
    let mut path = vec![last..=to];
    let mut at = last;
    while let Some(&Some(before)) = came.get(&at) {
        path.push(before..=ends.get(&before).copied().unwrap_or(before));
        at = before;
    }
    path.reverse();
    path
}
