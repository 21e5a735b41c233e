//! Code as a graph of blocks, decoded when it first runs.
//!
//! A node stands for an address. Its block runs from there to the first instruction whose outcome the trace has to
//! give; direct jumps and calls on the way are followed. Nodes are small numbers, found from addresses by indexing.

mod build;
mod section;
mod space;
mod tnt_cache;

use std::collections::HashMap;

use crate::code::{CodeAddress, CodeSource};
use crate::insn::Class;
use crate::path::{BasicBlock, Located};
use section::Sections;
pub(crate) use space::CodeContext;
use space::{Place, Space};
pub(crate) use tnt_cache::{CachedPlace, NewPath, PathRecorder, TntCache};

/// The end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum End {
    /// Not decoded yet.
    Unknown,
    /// The address is not in the section of its neighbours, or not mapped: it has to be looked up each time.
    Elsewhere,
    /// A conditional branch, to `taken` or `next`.
    Conditional,
    /// A return.
    Return,
    /// An indirect branch; a call among them pushes its return address.
    Indirect,
    /// The block is long and goes on in `next`.
    Continued,
    /// A jump, to `next`, that announces an emulated PTWRITE.
    Announced,
    /// It jumps in a circle, to `next`.
    Endless,
    /// The code at `next` is missing or no instruction.
    Missing,
}

/// A block of the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Its first address.
    pub(crate) ip: u64,
    pub(crate) end: End,
    /// The kind of its last instruction.
    pub(crate) class: Class,
    /// Instructions, up to and with the last.
    pub(crate) count: u32,
    pub(crate) taken: u32,
    pub(crate) next: u32,
    /// Index into all instructions.
    first: u32,
    /// Return addresses that it pushes, as indices into all pushes.
    pushes: (u32, u32),
    /// Direct branches, as indices into all jumps.
    jumps: (u32, u32),
}

/// Sizes at which everything is forgotten and decoded anew, so that memory stays bounded.
#[derive(Clone, Copy, Debug)]
struct Limits {
    nodes: usize,
    instructions: usize,
}

const LIMITS: Limits = Limits {
    nodes: 1 << 20,
    instructions: 4 << 20,
};

/// All blocks that were met.
#[derive(Debug)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    instructions: Vec<Located>,
    jumps: Vec<u16>,
    pushes: Vec<u32>,
    sections: Sections,
    space: Space,
    /// Nodes for addresses that have no section, or are in another one than what leads there.
    elsewhere: HashMap<u64, u32>,
    /// Nodes whose code was missing.
    missing: Vec<u32>,
    /// Return addresses of the block that is being decoded.
    unlinked: Vec<u64>,
    tnt_cache: TntCache,
}

impl Graph {
    pub(crate) fn new() -> Graph {
        Graph {
            nodes: Vec::new(),
            instructions: Vec::new(),
            jumps: Vec::new(),
            pushes: Vec::new(),
            sections: Sections::default(),
            space: Space::default(),
            elsewhere: HashMap::new(),
            missing: Vec::new(),
            unlinked: Vec::new(),
            tnt_cache: TntCache::new(),
        }
    }

    /// True if so much is kept that it should be forgotten.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.nodes.len() >= LIMITS.nodes || self.instructions.len() >= LIMITS.instructions
    }

    /// Follows the meaning of addresses; true if it changed.
    #[inline]
    pub(crate) fn follow_generation(&mut self, generation: u64) -> bool {
        let changed = self.space.follow_generation(generation);
        if changed {
            self.missing
                .drain(..)
                .for_each(|node| self.nodes[node as usize].end = End::Unknown);
        }
        changed
    }

    /// The node of the code at `ip`. An address without code gets one, too.
    #[inline]
    pub(crate) fn node_at(&mut self, ip: u64, context: CodeContext, code: &impl CodeSource) -> u32 {
        match self.place(ip, context, code) {
            Some(place) => self
                .sections
                .node(place.section, place.index, ip, &mut self.nodes),
            None => self.node_elsewhere(ip),
        }
    }

    #[inline]
    fn place(&mut self, ip: u64, context: CodeContext, code: &impl CodeSource) -> Option<Place> {
        self.space
            .find(ip, context)
            .or_else(|| self.new_place(ip, context, code))
    }

    #[cold]
    fn new_place(
        &mut self,
        ip: u64,
        context: CodeContext,
        code: &impl CodeSource,
    ) -> Option<Place> {
        let found = code.code(CodeAddress {
            ip,
            guest: context.guest,
        })?;
        self.space.add(ip, context, &found, &mut self.sections)
    }

    fn node_elsewhere(&mut self, ip: u64) -> u32 {
        let nodes = &mut self.nodes;
        *self
            .elsewhere
            .entry(ip)
            .or_insert_with(|| Node::add(nodes, ip, End::Elsewhere))
    }

    /// A node.
    #[inline]
    pub(crate) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// The address of a node.
    #[inline]
    pub(crate) fn ip(&self, node: u32) -> u64 {
        self.nodes[node as usize].ip
    }

    /// The address of a node; `None` for a number that names none.
    #[inline]
    pub(crate) fn address(&self, node: u32) -> Option<u64> {
        self.nodes.get(node as usize).map(|node| node.ip)
    }

    /// The remembered paths.
    #[inline]
    pub(crate) fn tnt_cache(&self) -> &TntCache {
        &self.tnt_cache
    }

    #[inline]
    pub(crate) fn tnt_cache_mut(&mut self) -> &mut TntCache {
        &mut self.tnt_cache
    }

    /// The instructions of a block, and its jumps.
    #[inline]
    pub(crate) fn block(&self, node: u32) -> BasicBlock<'_> {
        let Some(node) = self.nodes.get(node as usize) else {
            return BasicBlock {
                instructions: &[],
                jumps: &[],
            };
        };
        let first = node.first as usize;
        BasicBlock {
            instructions: &self.instructions[first..first + node.count as usize],
            jumps: &self.jumps[node.jumps.0 as usize..node.jumps.1 as usize],
        }
    }

    /// The return addresses that a block pushes, in order.
    #[inline]
    pub(crate) fn pushes(&self, node: &Node) -> &[u32] {
        &self.pushes[node.pushes.0 as usize..node.pushes.1 as usize]
    }
}

impl Node {
    /// Adds a node that has no block yet.
    fn add(nodes: &mut Vec<Node>, ip: u64, end: End) -> u32 {
        let number = nodes.len() as u32;
        let none = (0, 0);
        let class = Class::Other;
        nodes.push(Node {
            ip,
            end,
            class,
            count: 0,
            taken: 0,
            next: 0,
            first: 0,
            pushes: none,
            jumps: none,
        });
        number
    }
}
