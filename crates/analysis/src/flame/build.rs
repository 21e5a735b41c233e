//! From a profile's chains to merged nodes.
//!
//! A chain is followed outwards only until a caller that an earlier chain of the same thread name went through, so the
//! work grows with the distinct chains and not with their lengths.

use rustc_hash::FxHashMap;

use super::{FlameDso, FlameFrame, FlameKind, FlameNode, FlameTree, FlameWeight};
use oxperf_profile::{CommId, ContextTree, DsoId, FrameId, Level, NodeId, Profile, SampleGroup};

/// Name of code that no symbol covers.
const UNKNOWN: &str = "[unknown]";

pub(super) struct Builder<'a> {
    profile: &'a Profile,
    tree: FlameTree,
    names: FxHashMap<&'a str, u32>,
    frames: FxHashMap<FlameFrame, u32>,
    /// The merged frame of each of the profile's frames, once it was met.
    merged: Vec<Option<u32>>,
    /// The node of (caller, frame).
    children: FxHashMap<(Option<u32>, u32), u32>,
    /// The node of each chain below the outermost node that first came with it: nearly all there are.
    chains: Vec<Option<Placed>>,
    /// The node of (outermost node, chain) for the others.
    other_chains: FxHashMap<(u32, NodeId), u32>,
    /// Scratch: the runs of a chain that have no node yet.
    pending: Vec<(NodeId, &'a [FrameId])>,
}

/// Where a chain stands in the merged tree.
#[derive(Clone, Copy)]
struct Placed {
    root: u32,
    node: u32,
}

impl<'a> Builder<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        Builder {
            profile,
            tree: FlameTree {
                dsos: dsos(profile),
                ..FlameTree::default()
            },
            names: FxHashMap::default(),
            frames: FxHashMap::default(),
            merged: vec![None; profile.frames.len()],
            children: FxHashMap::default(),
            chains: vec![None; profile.chains.node_count()],
            other_chains: FxHashMap::default(),
            pending: Vec::new(),
        }
    }

    /// Adds samples that share a chain; gives their node.
    pub(super) fn add(&mut self, group: &SampleGroup) -> Option<u32> {
        let root = self.thread(group.comm)?;
        let node = match group.chain {
            ContextTree::ROOT => self.own_address(root, group.frame),
            chain => self.chain(root, chain),
        };
        let weight = FlameWeight {
            value: group.period,
            samples: group.samples,
        };
        self.tree.nodes.get_mut(node as usize)?.own.add(weight);
        Some(node)
    }

    /// The tree, with totals still to be summed.
    pub(super) fn finish(self) -> FlameTree {
        self.tree
    }

    /// The outermost node of a thread's name.
    fn thread(&mut self, comm: CommId) -> Option<u32> {
        let name = self
            .profile
            .comms
            .get(comm.index())
            .map_or(UNKNOWN, String::as_str);
        let name = self.name(name)?;
        let frame = self.frame(FlameFrame {
            name,
            dso: None,
            kind: FlameKind::Thread,
        })?;
        self.child(None, frame)
    }

    /// The node of a sample without a chain.
    fn own_address(&mut self, root: u32, frame: FrameId) -> u32 {
        self.merged_frame(frame)
            .and_then(|frame| self.child(Some(root), frame))
            .unwrap_or(root)
    }

    /// The node of a chain below `root`; new ones are made for callers not met before.
    fn chain(&mut self, root: u32, chain: NodeId) -> u32 {
        let mut node = self.nearest_known(root, chain);
        while let Some((context, run)) = self.pending.pop() {
            node = run
                .iter()
                .fold(node, |node, &frame| self.called(node, frame));
            self.remember(root, context, node);
        }
        node
    }

    fn called(&mut self, caller: u32, frame: FrameId) -> u32 {
        self.merged_frame(frame)
            .and_then(|frame| self.child(Some(caller), frame))
            .unwrap_or(caller)
    }

    fn remember(&mut self, root: u32, context: NodeId, node: u32) {
        match self.chains.get_mut(context.index()) {
            Some(place @ None) => *place = Some(Placed { root, node }),
            _ => {
                self.other_chains.insert((root, context), node);
            }
        }
    }

    fn known(&self, root: u32, context: NodeId) -> Option<u32> {
        match self.chains.get(context.index())? {
            None => None,
            Some(placed) if placed.root == root => Some(placed.node),
            Some(_) => self.other_chains.get(&(root, context)).copied(),
        }
    }

    /// The node of the innermost caller that already has one; the runs inside it are left in `pending`.
    fn nearest_known(&mut self, root: u32, chain: NodeId) -> u32 {
        self.pending.clear();
        let mut context = chain;
        loop {
            if let Some(node) = self.known(root, context) {
                return node;
            }
            let Some((caller, run)) = self.profile.chains.node(context) else {
                return root;
            };
            self.pending.push((context, run));
            context = caller;
        }
    }

    /// The node of `frame` called from `parent`; `None` when the tree is as large as ids can tell.
    fn child(&mut self, parent: Option<u32>, frame: u32) -> Option<u32> {
        let next = u32::try_from(self.tree.nodes.len()).ok()?;
        let node = *self.children.entry((parent, frame)).or_insert(next);
        if node == next {
            let (own, total) = (FlameWeight::default(), FlameWeight::default());
            self.tree.nodes.push(FlameNode {
                parent,
                frame,
                own,
                total,
            });
        }
        Some(node)
    }

    /// The merged frame of a located address.
    fn merged_frame(&mut self, id: FrameId) -> Option<u32> {
        if let Some(&Some(frame)) = self.merged.get(id.index()) {
            return Some(frame);
        }
        let frame = self.describe(id)?;
        let frame = self.frame(frame)?;
        if let Some(merged) = self.merged.get_mut(id.index()) {
            *merged = Some(frame);
        }
        Some(frame)
    }

    fn describe(&mut self, id: FrameId) -> Option<FlameFrame> {
        let frame = self.profile.frames.get(id.index());
        let symbol = frame
            .and_then(|f| f.symbol)
            .and_then(|s| self.profile.symbols.get(s.index()));
        let dso = symbol.map(|s| s.dso).or_else(|| frame.and_then(|f| f.dso));
        let kind = if symbol.is_some() {
            FlameKind::Function
        } else {
            FlameKind::Unresolved
        };
        let name = self.name(symbol.map_or(UNKNOWN, |s| s.name.as_str()))?;
        Some(FlameFrame {
            name,
            dso: dso.map(|d| d.0),
            kind,
        })
    }

    fn name(&mut self, text: &'a str) -> Option<u32> {
        let next = u32::try_from(self.tree.names.len()).ok()?;
        let name = *self.names.entry(text).or_insert(next);
        if name == next {
            self.tree.names.push(text.to_owned());
        }
        Some(name)
    }

    fn frame(&mut self, frame: FlameFrame) -> Option<u32> {
        let next = u32::try_from(self.tree.frames.len()).ok()?;
        let index = *self.frames.entry(frame).or_insert(next);
        if index == next {
            self.tree.frames.push(frame);
        }
        Some(index)
    }
}

/// The profile's objects; those that kernel code ran from are marked.
fn dsos(profile: &Profile) -> Vec<FlameDso> {
    let mut dsos: Vec<FlameDso> = profile
        .dsos
        .iter()
        .map(|dso| FlameDso {
            name: dso.short.clone(),
            path: dso.long.clone(),
            kernel: false,
        })
        .collect();
    for frame in &profile.frames {
        if is_kernel(frame.level)
            && let Some(dso) = frame.dso.and_then(|DsoId(dso)| dsos.get_mut(dso as usize))
        {
            dso.kernel = true;
        }
    }
    dsos
}

fn is_kernel(level: Level) -> bool {
    matches!(
        level,
        Level::Kernel | Level::GuestKernel | Level::Hypervisor
    )
}
