//! Call chains drawn one by one: as columns or as lines.

use oxperf_analysis::hist::CallTree;

use super::labels::GraphLabels;
use crate::text::number::pad;

/// Appends every chain as its weight and a frame a line. As in perf the weight counts longer chains that begin with it, while
/// their order does not.
pub(super) fn flat(labels: &GraphLabels<'_>, buffer: &mut Vec<u8>, tree: &CallTree) {
    for &end in chains(labels, tree) {
        let Some(branch) = tree.branch(end) else {
            continue;
        };
        pad(buffer, 11);
        labels.number(buffer, branch.total, labels.total);
        buffer.push(b'\n');
        for frame in tree.path(end) {
            pad(buffer, 16);
            labels.name(buffer, frame);
            buffer.push(b'\n');
        }
        buffer.push(b'\n');
    }
}

/// Appends every chain as its weight and its frames on one line.
pub(super) fn folded(labels: &GraphLabels<'_>, buffer: &mut Vec<u8>, tree: &CallTree) {
    for &end in chains(labels, tree) {
        let Some(branch) = tree.branch(end) else {
            continue;
        };
        labels.number(buffer, branch.own, labels.total);
        for (nth, frame) in tree.path(end).into_iter().enumerate() {
            buffer.extend_from_slice(if nth == 0 { b" " } else { labels.separator });
            labels.name(buffer, frame);
        }
        buffer.push(b'\n');
    }
}

fn chains<'t>(labels: &GraphLabels<'_>, tree: &'t CallTree) -> &'t [u32] {
    let ends = tree.ends();
    &ends[..labels.text.limit.unwrap_or(usize::MAX).min(ends.len())]
}
