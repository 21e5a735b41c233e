//! Call chains drawn one by one: as columns or as lines.

use oxperf_analysis::hist::CallTree;

use super::graph::{Graphs, blanks};

/// Every chain as its weight and a frame a line. As in perf the weight counts longer chains that begin with it, while
/// their order does not.
pub(super) fn flat(graphs: &Graphs<'_>, buffer: &mut Vec<u8>, tree: &CallTree) {
    for &end in chains(graphs, tree) {
        let Some(branch) = tree.branch(end) else {
            continue;
        };
        blanks(buffer, 11);
        graphs.number(buffer, branch.total, graphs.total());
        buffer.push(b'\n');
        for frame in tree.path(end) {
            blanks(buffer, 16);
            graphs.name(buffer, frame);
            buffer.push(b'\n');
        }
        buffer.push(b'\n');
    }
}

/// Every chain as its weight and its frames on one line.
pub(super) fn folded(graphs: &Graphs<'_>, buffer: &mut Vec<u8>, tree: &CallTree) {
    for &end in chains(graphs, tree) {
        let Some(branch) = tree.branch(end) else {
            continue;
        };
        graphs.number(buffer, branch.own, graphs.total());
        for (nth, frame) in tree.path(end).into_iter().enumerate() {
            buffer.extend_from_slice(if nth == 0 { b" " } else { graphs.separator });
            graphs.name(buffer, frame);
        }
        buffer.push(b'\n');
    }
}

fn chains<'t>(graphs: &Graphs<'_>, tree: &'t CallTree) -> &'t [u32] {
    let ends = tree.ends();
    &ends[..graphs.text.limit.unwrap_or(usize::MAX).min(ends.len())]
}
