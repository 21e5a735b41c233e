//! Template arguments and parameters.

use super::cursor::Parser;
use super::node::{Node, NodeId};

impl<'a> Parser<'a> {
    /// `I <argument>... E`.
    pub(super) fn template_arguments(&mut self) -> Option<NodeId> {
        let list = self.argument_list("I")?;
        Some(self.add(Node::Arguments(list)))
    }

    fn argument_list(&mut self, open: &str) -> Option<Vec<NodeId>> {
        self.expect(open)?;
        let last_name = self.last_name;
        let mut list = Vec::new();
        while !self.eat("E") {
            list.push(self.nested(Self::template_argument)?);
        }
        self.last_name = last_name;
        Some(list)
    }

    pub(super) fn template_argument(&mut self) -> Option<NodeId> {
        match self.peek() {
            b'X' => {
                self.expect("X")?;
                let expression = self.expression()?;
                self.expect("E")?;
                Some(expression)
            }
            b'L' => self.primary(),
            b'I' | b'J' => {
                let open = if self.peek() == b'I' { "I" } else { "J" };
                let list = self.argument_list(open)?;
                Some(self.add(Node::Pack(list)))
            }
            _ => self.type_(),
        }
    }

    /// `T_`, `T0_`, ... What it stands for depends on the function around it.
    pub(super) fn template_parameter(&mut self) -> Option<NodeId> {
        self.expect("T")?;
        let index = self.compact_number()?;
        Some(self.add(Node::Parameter(index)))
    }
}
