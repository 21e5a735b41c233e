//! The cells of a time line as few bytes: in the order of stretch, lane and node.
//!
//! Each stretch is the number of its cells, and each cell, in [`Numbers`]:
//!
//! 1. how many lanes it stands behind the cell before it in the stretch (behind lane 0 for the first);
//! 2. its node as the page numbers it, less that of the cell before it where that is of the same lane (and less 0 for the
//!    first of lane 0);
//! 3. its weight, against the mean period.

use oxperf_analysis::timeline::{Timeline, TimelineCell};

use crate::html::numbers::Numbers;
use crate::html::tree;

/// Cells ready to be put into a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) count: usize,
}

/// Encodes the cells whose nodes are in the encoded tree.
pub(super) fn encode(line: &Timeline, tree: &tree::Encoded) -> Encoded {
    let mut cells: Vec<TimelineCell> = line
        .cells
        .iter()
        .filter_map(|cell| on_page(cell, line, tree))
        .collect();
    cells.sort_unstable_by_key(|cell| (cell.stretch, cell.lane, cell.node));
    let mut numbers = Numbers::with_capacity(cells.len() * 6);
    let mut rest = cells.as_slice();
    for stretch in 0..line.stretches {
        let (now, later) = rest.split_at(rest.partition_point(|cell| cell.stretch <= stretch));
        rest = later;
        put_stretch(now, tree.mean, &mut numbers);
    }
    Encoded {
        bytes: numbers.bytes,
        count: cells.len(),
    }
}

/// The cell with the page's number of its node.
fn on_page(cell: &TimelineCell, line: &Timeline, tree: &tree::Encoded) -> Option<TimelineCell> {
    let node = tree
        .places
        .get(cell.node as usize)
        .copied()
        .filter(|&node| node > 0)?;
    let known = cell.stretch < line.stretches && (cell.lane as usize) < line.lanes.len();
    known.then_some(TimelineCell { node, ..*cell })
}

fn put_stretch(cells: &[TimelineCell], mean: u64, numbers: &mut Numbers) {
    numbers.put(cells.len() as u64);
    let (mut lane, mut node) = (0, 0);
    for cell in cells {
        let base = if cell.lane == lane { node } else { 0 };
        numbers.put(u64::from(cell.lane - lane));
        numbers.put(u64::from(cell.node - base));
        numbers.put_weight(cell.weight, mean);
        (lane, node) = (cell.lane, cell.node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_analysis::flame::FlameWeight;
    use oxperf_analysis::timeline::TimelineLane;

    #[test]
    fn cells_are_small_steps() {
        let cell = |stretch, lane, node, value| TimelineCell {
            stretch,
            lane,
            node,
            weight: FlameWeight { value, samples: 1 },
        };
        let line = Timeline {
            stretches: 3,
            lanes: vec![
                TimelineLane {
                    thread: 0,
                    cpu: None
                };
                2
            ],
            cells: vec![
                cell(0, 0, 2, 10),
                cell(0, 0, 1, 10),
                cell(0, 1, 1, 9),
                cell(2, 1, 0, 10),
                cell(2, 9, 0, 10),
                cell(7, 0, 0, 10),
                cell(2, 0, 77, 10),
            ],
            ..Timeline::default()
        };
        let tree = tree::Encoded {
            bytes: Vec::new(),
            nodes: 3,
            places: vec![1, 3, 2],
            mean: 10,
            frames: Vec::new(),
            names: Vec::new(),
        };
        #[rustfmt::skip]
        let expected = vec![
            3,  0, 2, 2,  0, 1, 2,  1, 3, 3, 1,
            0,
            1,  1, 1, 2,
        ];
        assert_eq!(
            encode(&line, &tree),
            Encoded {
                bytes: expected,
                count: 4
            }
        );
    }
}
