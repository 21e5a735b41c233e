//! The text of expressions.

use super::super::node::{Node, NodeId, Qualifiers};
use super::{Done, Printer};

impl<'n, 'a> Printer<'n, 'a> {
    pub(super) fn expression(&mut self, node: &'n Node<'a>) -> Done {
        match node {
            Node::Literal(type_, negative, value) => self.literal(*type_, *negative, value),
            Node::Unary(text, operand) => self.unary(text, *operand),
            Node::Binary(text, left, right) => self.binary(text, *left, *right),
            Node::Index(base, index) => {
                self.operand(*base)?;
                self.prefixed("[", *index)?;
                self.write("]")
            }
            Node::Condition(condition, yes, no) => {
                self.operand(*condition)?;
                self.write("?")?;
                self.operand(*yes)?;
                self.write(" : ")?;
                self.operand(*no)
            }
            other => self.call_or_cast(other),
        }
    }

    /// Writes expressions that look like a call.
    fn call_or_cast(&mut self, node: &'n Node<'a>) -> Done {
        match node {
            Node::Call(callee, arguments) => {
                self.operand(self.without_parameters(*callee))?;
                self.bracketed(arguments)
            }
            Node::Cast(target, operands) => {
                self.prefixed("(", *target)?;
                self.write(")")?;
                match operands.as_slice() {
                    [only] => self.operand(*only),
                    list => self.bracketed(list),
                }
            }
            Node::NamedCast(text, target, operand) => {
                self.write(text)?;
                self.prefixed("<", *target)?;
                self.prefixed(">(", *operand)?;
                self.write(")")
            }
            Node::List(target, items) => {
                if let Some(target) = target {
                    self.whole(*target)?;
                }
                self.write("{")?;
                self.list(items)?;
                self.write("}")
            }
            Node::FunctionParameter(0) => self.write("this"),
            Node::FunctionParameter(number) => self.write(&format!("{{parm#{number}}}")),
            Node::PackSize(pack) => {
                let size = self.pack_size(*pack, 0)?;
                self.write(&size.to_string())
            }
            Node::OfType(text, target) => {
                self.write(text)?;
                self.prefixed("(", *target)?;
                self.write(")")
            }
            // All other kinds have been dealt with; a parameter that was never resolved shows nothing sensible.
            _ => None,
        }
    }

    pub(super) fn bracketed(&mut self, list: &[NodeId]) -> Done {
        self.write("(")?;
        self.list(list)?;
        self.write(")")
    }

    /// An operand in brackets, unless it is a plain name.
    pub(super) fn operand(&mut self, id: NodeId) -> Done {
        let is_plain = matches!(
            self.node(id)?,
            Node::Text(_) | Node::Qualified(..) | Node::List(..) | Node::FunctionParameter(_)
        );
        if is_plain {
            return self.whole(id);
        }
        self.prefixed("(", id)?;
        self.write(")")
    }

    /// A function that is named in an expression is shown without its parameters.
    pub(super) fn without_parameters(&self, id: NodeId) -> NodeId {
        match self.node(id) {
            Some(Node::Encoding(name, _)) => *name,
            _ => id,
        }
    }

    /// The address of a member that has no qualifiers is shown without its parameters, too.
    pub(super) fn plain_member(&self, id: NodeId) -> NodeId {
        match self.node(id) {
            Some(Node::Encoding(name, function))
                if function.qualifiers == Qualifiers::default()
                    && matches!(self.node(*name), Some(Node::Qualified(..))) =>
            {
                *name
            }
            _ => id,
        }
    }

    pub(super) fn unary(&mut self, text: &str, operand: NodeId) -> Done {
        self.write(text)?;
        let operand = if text == "&" {
            self.plain_member(operand)
        } else {
            operand
        };
        self.operand(operand)
    }

    pub(super) fn binary(&mut self, text: &str, left: NodeId, right: NodeId) -> Done {
        // A bare `>` would end the template arguments.
        let guarded = text == ">";
        if guarded {
            self.write("(")?;
        }
        self.operand(left)?;
        self.write(text)?;
        self.operand(right)?;
        if guarded { self.write(")") } else { Some(()) }
    }

    pub(super) fn literal(&mut self, type_: NodeId, negative: bool, value: &str) -> Done {
        let sign = if negative { "-" } else { "" };
        let letter = match self.node(type_)? {
            Node::Builtin(_, letter) => *letter,
            _ => 0,
        };
        let suffix = match letter {
            b'i' => Some(""),
            b'j' => Some("u"),
            b'l' => Some("l"),
            b'm' => Some("ul"),
            b'x' => Some("ll"),
            b'y' => Some("ull"),
            _ => None,
        };
        match (letter, value, suffix) {
            (b'b', "0", _) if !negative => self.write("false"),
            (b'b', "1", _) if !negative => self.write("true"),
            (_, _, Some(suffix)) => {
                self.write(sign)?;
                self.write(value)?;
                self.write(suffix)
            }
            _ => {
                self.prefixed("(", type_)?;
                self.write(")")?;
                self.write(sign)?;
                let is_float = matches!(letter, b'f' | b'd' | b'e' | b'g');
                self.write(if is_float { "[" } else { "" })?;
                self.write(value)?;
                self.write(if is_float { "]" } else { "" })
            }
        }
    }
}
