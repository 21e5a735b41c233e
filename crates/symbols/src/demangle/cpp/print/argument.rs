//! Template parameters: what they stand for depends on the function around them.

use super::super::DEPTH_LIMIT;
use super::super::node::{Node, NodeId};
use super::{Done, Printer};

/// The meaning of a template parameter.
pub(super) enum Argument<'n> {
    One(NodeId),
    All(&'n [NodeId]),
}

impl<'n, 'a> Printer<'n, 'a> {
    /// The meaning of a parameter: one argument, or all of a pack outside of an expansion.
    pub(super) fn argument(&self, node: &Node<'a>, level: usize) -> Option<Argument<'n>> {
        let id = self.argument_id(node, level)?;
        match (self.node(id)?, self.pack_index) {
            (Node::Pack(list), Some(index)) => list.get(index).copied().map(Argument::One),
            (Node::Pack(list), None) => Some(Argument::All(list)),
            _ => Some(Argument::One(id)),
        }
    }

    pub(super) fn argument_id(&self, node: &Node<'a>, level: usize) -> Option<NodeId> {
        let Node::Parameter(number) = node else {
            return None;
        };
        let scope = *self.scopes.get(level.checked_sub(1)?)?;
        let Some(Node::Arguments(list)) = self.node(scope) else {
            return None;
        };
        list.get(*number as usize).copied()
    }

    /// Writes an argument: parameters in it belong to the next function around.
    pub(super) fn outside(&mut self, step: impl FnOnce(&mut Self) -> Done) -> Done {
        let level = self.level;
        self.level = level.saturating_sub(1);
        let done = step(self);
        self.level = level;
        done
    }

    /// Writes a function: parameters in it stand for these arguments.
    pub(super) fn inside(
        &mut self,
        arguments: NodeId,
        step: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let hidden = self.scopes.split_off(self.level);
        self.scopes.push(arguments);
        self.level += 1;
        let done = step(self);
        self.level -= 1;
        self.scopes.truncate(self.level);
        self.scopes.extend(hidden);
        done
    }

    /// The part itself, or the argument that it stands for.
    pub(super) fn resolved(&self, mut id: NodeId) -> Option<(NodeId, &'n Node<'a>)> {
        let mut level = self.level;
        loop {
            match self.node(id)? {
                node @ Node::Parameter(_) => match self.argument(node, level)? {
                    Argument::One(argument) => (id, level) = (argument, level.checked_sub(1)?),
                    Argument::All(_) => return Some((id, node)),
                },
                node => return Some((id, node)),
            }
        }
    }

    /// The pattern once for every element of the pack in it.
    pub(super) fn expansion(&mut self, pattern: NodeId) -> Done {
        let Some(count) = self.pack_size(pattern, 0) else {
            self.whole(pattern)?;
            return self.write("...");
        };
        let outer = self.pack_index;
        for index in 0..count {
            if index > 0 {
                self.write(", ")?;
            }
            self.pack_index = Some(index);
            self.whole(pattern)?;
        }
        self.pack_index = outer;
        Some(())
    }

    /// Number of elements that the first pack inside a pattern has.
    pub(super) fn pack_size(&self, id: NodeId, depth: u32) -> Option<usize> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        let search = |id: &NodeId| self.pack_size(*id, depth + 1);
        match self.node(id)? {
            node @ Node::Parameter(_) => match self.node(self.argument_id(node, self.level)?)? {
                Node::Pack(list) => Some(list.len()),
                _ => None,
            },
            Node::Qualified(a, b)
            | Node::Local(a, b)
            | Node::Template(a, b)
            | Node::Member(a, b) => search(a).or_else(|| search(b)),
            Node::Binary(_, a, b) | Node::Index(a, b) | Node::NamedCast(_, a, b) => {
                search(a).or_else(|| search(b))
            }
            Node::Arguments(list) => list.iter().find_map(search),
            Node::Call(callee, list) | Node::Cast(callee, list) => {
                search(callee).or_else(|| list.iter().find_map(search))
            }
            Node::Function(function) => function
                .result
                .iter()
                .chain(&function.parameters)
                .find_map(search),
            Node::Pointer(a)
            | Node::Reference(a, _)
            | Node::Suffixed(a, _)
            | Node::VendorQualified(a, _) => search(a),
            Node::Array(a, _) | Node::Decltype(a) | Node::Unary(_, a) | Node::OfType(_, a) => {
                search(a)
            }
            _ => None,
        }
    }
}
