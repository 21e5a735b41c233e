//! Expressions in template arguments and `decltype`.

use super::cursor::Parser;
use super::node::{Node, NodeId};
use super::operator::{Arity, OPERATORS};

impl<'a> Parser<'a> {
    /// Any expression.
    pub(super) fn expression(&mut self) -> Option<NodeId> {
        self.nested(Self::any_expression)
    }

    fn any_expression(&mut self) -> Option<NodeId> {
        match (self.peek(), self.peek_at(1)) {
            (b'L', _) => self.primary(),
            (b'T', _) => self.template_parameter(),
            (b's', b'r') => self.resolved_name(),
            (b's', b'p') => self.expansion(),
            (b's', b'Z') => self.pack_size(),
            (b's', b't') => self.of_type("sizeof "),
            (b's', b'z') => self.keyword("sizeof "),
            (b'a', b't') => self.of_type("alignof "),
            (b'a', b'z') => self.keyword("alignof "),
            (b'n', b'x') => self.keyword("noexcept"),
            (b't', b'i') => self.of_type("typeid "),
            (b't', b'e') => self.keyword("typeid "),
            (b'f', b'p') => self.function_parameter(),
            (b'o', b'n') => self.operator_reference(),
            (b'c', b'v') => self.cast(),
            (b'c', b'l') => self.call(),
            (b't', b'l') => self.list(true),
            (b'i', b'l') => self.list(false),
            (b's', b'c') => self.named_cast("static_cast"),
            (b'd', b'c') => self.named_cast("dynamic_cast"),
            (b'c', b'c') => self.named_cast("const_cast"),
            (b'r', b'c') => self.named_cast("reinterpret_cast"),
            (b'i', b'x') => self.index(),
            (b'0'..=b'9', _) => self.plain_name(),
            _ => self.operation(),
        }
    }

    /// `sr <scope> <name> [arguments]`; the arguments belong to the whole name.
    fn resolved_name(&mut self) -> Option<NodeId> {
        self.expect("sr")?;
        let scope = self.scope()?;
        let name = self.unqualified_name()?;
        let whole = self.add(Node::Qualified(scope, name));
        self.with_value_arguments(whole)
    }

    /// A type, or identifiers up to an `E` that are not yet known to name one.
    fn scope(&mut self) -> Option<NodeId> {
        if !self.peek().is_ascii_digit() {
            return self.type_();
        }
        let mut scope = self.plain_name()?;
        while self.peek().is_ascii_digit() {
            let before = self.rest();
            let level = self.plain_name()?;
            if matches!(self.peek(), b'E' | b'0'..=b'9') {
                scope = self.add(Node::Qualified(scope, level));
            } else {
                self.rewind(before);
                break;
            }
        }
        self.eat("E");
        Some(scope)
    }

    fn plain_name(&mut self) -> Option<NodeId> {
        let name = self.unqualified_name()?;
        self.with_value_arguments(name)
    }

    fn operator_reference(&mut self) -> Option<NodeId> {
        self.expect("on")?;
        let name = self.unqualified_name()?;
        self.with_value_arguments(name)
    }

    fn with_value_arguments(&mut self, name: NodeId) -> Option<NodeId> {
        if self.peek() != b'I' {
            return Some(name);
        }
        let arguments = self.template_arguments()?;
        Some(self.add(Node::Template(name, arguments)))
    }

    fn expansion(&mut self) -> Option<NodeId> {
        self.expect("sp")?;
        let pattern = self.expression()?;
        Some(self.add(Node::Expansion(pattern)))
    }

    fn pack_size(&mut self) -> Option<NodeId> {
        self.expect("sZ")?;
        let pack = self.expression()?;
        Some(self.add(Node::PackSize(pack)))
    }

    fn of_type(&mut self, text: &'static str) -> Option<NodeId> {
        self.take(2)?;
        let type_ = self.type_()?;
        Some(self.add(Node::OfType(text, type_)))
    }

    fn keyword(&mut self, text: &'static str) -> Option<NodeId> {
        self.take(2)?;
        let operand = self.expression()?;
        Some(self.add(Node::Unary(text, operand)))
    }

    /// `fp [qualifiers] [number] _`, or `fpT` for `this`. Parameters of outer functions (`fL`) are not shown.
    fn function_parameter(&mut self) -> Option<NodeId> {
        if self.eat("fpT") {
            return Some(self.add(Node::FunctionParameter(0)));
        }
        self.expect("fp")?;
        self.qualifiers();
        let number = self.compact_number()?.checked_add(1)?;
        Some(self.add(Node::FunctionParameter(number)))
    }

    /// `cv <type> <expression>` or `cv <type> _ <expression>... E`.
    fn cast(&mut self) -> Option<NodeId> {
        self.expect("cv")?;
        let target = self.type_()?;
        let operands = if self.eat("_") {
            self.expressions()?
        } else {
            vec![self.expression()?]
        };
        Some(self.add(Node::Cast(target, operands)))
    }

    fn call(&mut self) -> Option<NodeId> {
        self.expect("cl")?;
        let callee = self.expression()?;
        let arguments = self.expressions()?;
        Some(self.add(Node::Call(callee, arguments)))
    }

    fn list(&mut self, typed: bool) -> Option<NodeId> {
        self.take(2)?;
        let target = if typed { Some(self.type_()?) } else { None };
        let items = self.expressions()?;
        Some(self.add(Node::List(target, items)))
    }

    /// Expressions up to an `E`.
    fn expressions(&mut self) -> Option<Vec<NodeId>> {
        let mut list = Vec::new();
        while !self.eat("E") {
            list.push(self.expression()?);
        }
        Some(list)
    }

    fn named_cast(&mut self, text: &'static str) -> Option<NodeId> {
        self.take(2)?;
        let target = self.type_()?;
        let operand = self.expression()?;
        Some(self.add(Node::NamedCast(text, target, operand)))
    }

    fn index(&mut self) -> Option<NodeId> {
        self.expect("ix")?;
        let base = self.expression()?;
        let index = self.expression()?;
        Some(self.add(Node::Index(base, index)))
    }

    fn operation(&mut self) -> Option<NodeId> {
        let code = self.take(2)?;
        let found = OPERATORS.iter().find(|operator| operator.code == code)?;
        match found.arity {
            Arity::One => {
                // `pp_` is the operator before its operand, `pp` the one behind it.
                if matches!(code, "pp" | "mm") {
                    self.eat("_");
                }
                let operand = self.expression()?;
                Some(self.add(Node::Unary(found.text, operand)))
            }
            Arity::Two => {
                let (left, right) = (self.expression()?, self.expression()?);
                Some(self.add(Node::Binary(found.text, left, right)))
            }
            Arity::Three if code == "qu" => {
                let (condition, yes, no) =
                    (self.expression()?, self.expression()?, self.expression()?);
                Some(self.add(Node::Condition(condition, yes, no)))
            }
            Arity::Three | Arity::Keyword => None,
        }
    }
}
