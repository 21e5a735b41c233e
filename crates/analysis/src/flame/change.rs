//! Two call trees as one, so that a page can show what changed.
//!
//! Recordings differ in length: the old one's weights are scaled so that both weigh the same. A node's own value is the
//! sum of both; what the old one gave to it stands beside the tree.

use rustc_hash::FxHashMap;

use super::{FlameFrame, FlameNode, FlameTree, FlameWeight};

/// The nodes of two trees, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedTree {
    /// The nodes of both trees, with the weights of both.
    pub tree: FlameTree,
    /// What of each node's own value is the old tree's, scaled.
    pub before: Vec<u64>,
}

impl ChangedTree {
    /// Joins two trees by the names of functions and objects.
    pub fn new(old: &FlameTree, new: &FlameTree) -> ChangedTree {
        let scale = (old.total().value, new.total().value);
        let mut joining = Joining::default();
        joining.add(old, |own, before| {
            *before = scaled(own, scale);
            *before
        });
        joining.add(new, |own, _| own);
        let mut tree = joining.tree;
        tree.folded = new.folded.or(old.folded);
        tree.sum_totals();
        ChangedTree {
            tree,
            before: joining.before,
        }
    }
}

/// A value of the old tree in the new one's measure. A tree without any weight is not scaled.
fn scaled(value: u64, (old, new): (u64, u64)) -> u64 {
    if old == 0 || new == 0 {
        return value;
    }
    let scaled = u128::from(value) * u128::from(new) / u128::from(old);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[derive(Default)]
struct Joining {
    tree: FlameTree,
    before: Vec<u64>,
    names: FxHashMap<String, u32>,
    dsos: FxHashMap<String, u32>,
    frames: FxHashMap<FlameFrame, u32>,
    children: FxHashMap<(Option<u32>, u32), u32>,
}

impl Joining {
    /// Adds a tree; `weigh` gives what a node's own value adds, and may note it as the old tree's.
    fn add(&mut self, tree: &FlameTree, weigh: impl Fn(u64, &mut u64) -> u64) {
        let dsos: Vec<u32> = tree.dsos.iter().map(|dso| self.dso(dso)).collect();
        let frames: Vec<u32> = tree
            .frames
            .iter()
            .map(|frame| self.frame(tree, frame, &dsos))
            .collect();
        let mut moved: Vec<u32> = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let parent = node
                .parent
                .and_then(|parent| moved.get(parent as usize).copied());
            let frame = frames.get(node.frame as usize).copied().unwrap_or(0);
            let index = self.node(parent, frame);
            moved.push(index);
            let (own, before) = (
                &mut self.tree.nodes[index as usize].own,
                &mut self.before[index as usize],
            );
            own.add(FlameWeight {
                value: weigh(node.own.value, before),
                samples: node.own.samples,
            });
        }
    }

    /// The object of this name: builds of one program lie in different places.
    fn dso(&mut self, dso: &super::FlameDso) -> u32 {
        let next = self.tree.dsos.len() as u32;
        let index = *self.dsos.entry(dso.name.clone()).or_insert(next);
        if index == next {
            self.tree.dsos.push(dso.clone());
        }
        index
    }

    fn frame(&mut self, tree: &FlameTree, frame: &FlameFrame, dsos: &[u32]) -> u32 {
        let text = tree.name_of(frame);
        let next = self.tree.names.len() as u32;
        let name = *self.names.entry(text.to_owned()).or_insert(next);
        if name == next {
            self.tree.names.push(text.to_owned());
        }
        let dso = frame.dso.and_then(|dso| dsos.get(dso as usize).copied());
        let frame = FlameFrame {
            name,
            dso,
            kind: frame.kind,
        };
        let next = self.tree.frames.len() as u32;
        let index = *self.frames.entry(frame).or_insert(next);
        if index == next {
            self.tree.frames.push(frame);
        }
        index
    }

    fn node(&mut self, parent: Option<u32>, frame: u32) -> u32 {
        let next = self.tree.nodes.len() as u32;
        let index = *self.children.entry((parent, frame)).or_insert(next);
        if index == next {
            let (own, total) = (FlameWeight::default(), FlameWeight::default());
            self.tree.nodes.push(FlameNode {
                parent,
                frame,
                own,
                total,
            });
            self.before.push(0);
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flame::{FlameDso, FlameKind};

    /// `main` calls the functions; each weighs what stands beside it.
    fn tree(path: &str, called: &[(&str, u64)]) -> FlameTree {
        let dsos = vec![FlameDso {
            name: "a".into(),
            path: path.into(),
            kernel: false,
        }];
        let names: Vec<String> = std::iter::once("main")
            .chain(called.iter().map(|call| call.0))
            .map(str::to_owned)
            .collect();
        let frame = |name| FlameFrame {
            name,
            dso: Some(0),
            kind: FlameKind::Function,
        };
        let node = |parent, frame, value| FlameNode {
            parent,
            frame,
            own: FlameWeight { value, samples: 1 },
            total: FlameWeight::default(),
        };
        let nodes = called
            .iter()
            .zip(1..)
            .map(|(call, frame)| node(Some(0), frame, call.1));
        let mut tree = FlameTree {
            frames: (0..names.len() as u32).map(frame).collect(),
            nodes: std::iter::once(node(None, 0, 0)).chain(nodes).collect(),
            names,
            dsos,
            folded: None,
        };
        tree.sum_totals();
        tree
    }

    #[test]
    fn both_weigh_the_same_and_meet_by_name() {
        let changed = ChangedTree::new(
            &tree("/1/a", &[("f", 10), ("gone", 10)]),
            &tree("/2/a", &[("new", 10), ("f", 30)]),
        );
        let name = |node: &FlameNode| {
            changed.tree.names[changed.tree.frames[node.frame as usize].name as usize].as_str()
        };
        let rows: Vec<_> = changed.tree.nodes.iter().zip(&changed.before).collect();
        let rows: Vec<_> = rows
            .iter()
            .map(|(node, before)| (name(node), node.own.value, **before))
            .collect();
        assert_eq!(
            rows,
            [
                ("main", 0, 0),
                ("f", 50, 20),
                ("gone", 20, 20),
                ("new", 10, 0)
            ]
        );
        assert_eq!(changed.tree.total().value, 80);
        assert_eq!(changed.tree.dsos.len(), 1);
    }
}
