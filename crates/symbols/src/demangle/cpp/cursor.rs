//! The state of a parse: the rest of the input, the parts made so far, what `S_` stands for.

use super::DEPTH_LIMIT;
use super::node::{Node, NodeId};

/// Parses one name. Every step returns `None` where the input does not follow the grammar.
pub(super) struct Parser<'a> {
    rest: &'a str,
    nodes: Vec<Node<'a>>,
    /// The parts that `S_`, `S0_`, ... stand for. stand for.
    pub(super) substitutions: Vec<NodeId>,
    /// The last identifier: constructors are called like it.
    pub(super) last_name: Option<NodeId>,
    depth: u32,
}

impl<'a> Parser<'a> {
    pub(super) fn new(rest: &'a str) -> Parser<'a> {
        Parser {
            rest,
            nodes: Vec::new(),
            substitutions: Vec::new(),
            last_name: None,
            depth: 0,
        }
    }

    pub(super) fn nodes(&self) -> &[Node<'a>] {
        &self.nodes
    }

    pub(super) fn add(&mut self, node: Node<'a>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        id
    }

    pub(super) fn node(&self, id: NodeId) -> Option<&Node<'a>> {
        self.nodes.get(id.0 as usize)
    }

    /// Adds a part that later `S` references may mean.
    pub(super) fn remember(&mut self, id: NodeId) -> NodeId {
        self.substitutions.push(id);
        id
    }

    /// Runs a step that may nest, unless it nests too deep.
    pub(super) fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= DEPTH_LIMIT {
            return None;
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }

    /// The next byte; 0 at the end, which no name holds.
    pub(super) fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> u8 {
        self.rest.as_bytes().get(ahead).copied().unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Goes back to where `rest` was the rest.
    pub(super) fn rewind(&mut self, rest: &'a str) {
        self.rest = rest;
    }

    /// Takes `text` if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn expect(&mut self, text: &str) -> Option<()> {
        self.eat(text).then_some(())
    }

    /// Takes `size` bytes.
    pub(super) fn take(&mut self, size: usize) -> Option<&'a str> {
        let (taken, rest) = self.rest.split_at_checked(size)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let size = self.rest.bytes().take_while(|&byte| belongs(byte)).count();
        self.take(size).unwrap_or_default()
    }

    /// A decimal number.
    pub(super) fn number(&mut self) -> Option<u32> {
        self.take_while(|byte| byte.is_ascii_digit()).parse().ok()
    }

    /// `_` is 0, `0_` is 1, ...: the numbering of parameters, lambdas and unnamed types.
    pub(super) fn compact_number(&mut self) -> Option<u32> {
        if self.eat("_") {
            return Some(0);
        }
        let number = self.number()?.checked_add(1)?;
        self.expect("_")?;
        Some(number)
    }
}
