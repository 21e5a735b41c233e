//! Literals in template arguments: `L <type> <value> E`.

use super::cursor::Parser;
use super::node::{Node, NodeId};

impl<'a> Parser<'a> {
    /// A literal, or the entity that an argument refers to.
    pub(super) fn primary(&mut self) -> Option<NodeId> {
        self.expect("L")?;
        if self.eat("_Z") || self.eat("Z") {
            let whole = self.encoding()?;
            self.expect("E")?;
            return Some(whole);
        }
        let type_ = self.type_()?;
        if matches!(
            self.node(type_),
            Some(Node::Builtin("decltype(nullptr)", _))
        ) && self.eat("E")
        {
            return Some(type_);
        }
        let negative = self.eat("n");
        let value = self.take_while(|byte| byte != b'E');
        self.expect("E")?;
        Some(self.add(Node::Literal(type_, negative, value)))
    }
}
