//! Names: nested, local, unqualified, abbreviated.

use super::abbreviation::ABBREVIATIONS;
use super::cursor::Parser;
use super::encoding::Named;
use super::node::{Function, Node, NodeId, Qualifiers, Reference};
use super::operator::{Arity, OPERATORS};

impl<'a> Parser<'a> {
    /// Any name.
    pub(super) fn name(&mut self) -> Option<Named> {
        self.nested(|parser| match parser.peek() {
            b'N' => parser.nested_name(),
            b'Z' => parser.local_name(),
            b'S' if parser.peek_at(1) != b't' => parser.abbreviated_name(),
            _ => parser.unscoped_name(),
        })
    }

    fn unscoped_name(&mut self) -> Option<Named> {
        let in_std = self.eat("St");
        let name = self.unqualified_name()?;
        let id = if in_std { self.in_std(name) } else { name };
        if self.peek() != b'I' {
            return Some(plain(id));
        }
        self.remember(id);
        self.with_arguments(id, name)
    }

    fn in_std(&mut self, name: NodeId) -> NodeId {
        let std = self.add(Node::Text("std"));
        self.add(Node::Qualified(std, name))
    }

    fn abbreviated_name(&mut self) -> Option<Named> {
        let id = self.substitution(false)?;
        if self.peek() == b'I' {
            self.with_arguments(id, id)
        } else {
            Some(plain(id))
        }
    }

    /// `<name> <template-args>`; `last` is the name's last part.
    fn with_arguments(&mut self, name: NodeId, last: NodeId) -> Option<Named> {
        let arguments = self.template_arguments()?;
        let has_result = !self.is_without_result(last);
        let id = self.add(Node::Template(name, arguments));
        Some(Named {
            id,
            qualifiers: Qualifiers::default(),
            has_result,
        })
    }

    /// Constructors, destructors and conversions have no return type even as templates.
    fn is_without_result(&self, last: NodeId) -> bool {
        match self.node(last) {
            Some(Node::Constructor(_) | Node::Destructor(_) | Node::Conversion(_)) => true,
            Some(Node::Tagged(inner, _)) => self.is_without_result(*inner),
            _ => false,
        }
    }

    /// `N [qualifiers] <prefix>... E`.
    fn nested_name(&mut self) -> Option<Named> {
        self.expect("N")?;
        self.eat("H");
        let qualifiers = self.qualifiers();
        let mut whole: Option<NodeId> = None;
        let mut last = None;
        let mut has_result = false;
        while !self.eat("E") {
            if whole.is_some() && self.eat("M") {
                // The scope of a member's initializer: nothing is shown for it.
                continue;
            }
            let first = self.peek();
            let id = match (first, whole) {
                (b'I', Some(name)) => {
                    let arguments = self.template_arguments()?;
                    has_result = last.is_some_and(|last| !self.is_without_result(last));
                    self.add(Node::Template(name, arguments))
                }
                _ => {
                    let part = self.prefix_part(first)?;
                    (last, has_result) = (Some(part), false);
                    whole.map_or(part, |outer| self.add(Node::Qualified(outer, part)))
                }
            };
            if first != b'S' && self.peek() != b'E' {
                self.remember(id);
            }
            whole = Some(id);
        }
        Some(Named {
            id: whole?,
            qualifiers,
            has_result,
        })
    }

    fn prefix_part(&mut self, first: u8) -> Option<NodeId> {
        match (first, self.peek_at(1)) {
            (b'S', _) => self.substitution(true),
            (b'T', _) => self.template_parameter(),
            (b'D', b't' | b'T') => self.decltype(),
            _ => self.unqualified_name(),
        }
    }

    pub(super) fn qualifiers(&mut self) -> Qualifiers {
        let (restrict, volatile, constant) = (self.eat("r"), self.eat("V"), self.eat("K"));
        let reference = match self.peek() {
            b'R' if self.eat("R") => Some(Reference::Lvalue),
            b'O' if self.eat("O") => Some(Reference::Rvalue),
            _ => None,
        };
        Qualifiers {
            restrict,
            volatile,
            constant,
            reference,
        }
    }

    /// `Z <encoding> E <name> [discriminator]`.
    fn local_name(&mut self) -> Option<Named> {
        self.expect("Z")?;
        let function = self.encoding()?;
        self.expect("E")?;
        let function = self.without_result(function);
        if self.eat("s") {
            self.discriminator();
            let text = self.add(Node::Text("string literal"));
            return Some(plain(self.add(Node::Local(function, text))));
        }
        let named = if self.eat("d") {
            let number = self.compact_number()?;
            let inner = self.name()?;
            Named {
                id: self.add(Node::DefaultArgument(number, inner.id)),
                ..inner
            }
        } else {
            let inner = self.name()?;
            self.discriminator();
            inner
        };
        Some(Named {
            id: self.add(Node::Local(function, named.id)),
            ..named
        })
    }

    /// The function around a local name is shown without its return type.
    fn without_result(&mut self, function: NodeId) -> NodeId {
        let Some(Node::Encoding(name, shape)) = self.node(function).cloned() else {
            return function;
        };
        self.add(Node::Encoding(
            name,
            Function {
                result: None,
                ..shape
            },
        ))
    }

    /// `_0` or `__10_`: which of several entities of that name. The number may be missing.
    fn discriminator(&mut self) {
        if !self.eat("_") {
            return;
        }
        let long = self.eat("_");
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        if long && digits.len() > 1 {
            self.eat("_");
        }
    }

    /// An identifier, operator, constructor, destructor, lambda or unnamed type, with its tags.
    pub(super) fn unqualified_name(&mut self) -> Option<NodeId> {
        let mut id = match (self.peek(), self.peek_at(1)) {
            (b'0'..=b'9', _) => self.source_name()?,
            (b'L', _) => self.internal_name()?,
            (b'C', _) => self.constructor()?,
            (b'D', b'C') => return None,
            (b'D', _) => self.destructor()?,
            (b'U', b'l') => self.lambda()?,
            (b'U', b't') => self.unnamed()?,
            (b'a'..=b'z', _) => self.operator_name()?,
            _ => return None,
        };
        while self.eat("B") {
            let size = self.number()? as usize;
            let tag = self.take(size)?;
            id = self.add(Node::Tagged(id, tag));
        }
        Some(id)
    }

    pub(super) fn source_name(&mut self) -> Option<NodeId> {
        let size = self.number()? as usize;
        let text = self.take(size).filter(|text| !text.is_empty())?;
        let id = self.add(Node::Text(readable(text)));
        self.last_name = Some(id);
        Some(id)
    }

    /// `L <identifier> [discriminator]`: a name that other files do not see.
    fn internal_name(&mut self) -> Option<NodeId> {
        self.expect("L")?;
        let id = self.source_name()?;
        self.discriminator();
        Some(id)
    }

    fn constructor(&mut self) -> Option<NodeId> {
        self.expect("C")?;
        let inherits = self.eat("I");
        if !matches!(self.take(1)?, "1" | "2" | "3" | "4" | "5") {
            return None;
        }
        let class = self.last_name?;
        if inherits {
            self.type_()?;
        }
        Some(self.add(Node::Constructor(class)))
    }

    fn destructor(&mut self) -> Option<NodeId> {
        self.expect("D")?;
        if !matches!(self.take(1)?, "0" | "1" | "2" | "4" | "5") {
            return None;
        }
        let class = self.last_name?;
        Some(self.add(Node::Destructor(class)))
    }

    /// `Ul <parameters> E [number] _`.
    fn lambda(&mut self) -> Option<NodeId> {
        self.expect("Ul")?;
        let parameters = self.parameters()?;
        self.expect("E")?;
        let number = self.compact_number()?;
        Some(self.add(Node::Lambda(parameters, number)))
    }

    fn unnamed(&mut self) -> Option<NodeId> {
        self.expect("Ut")?;
        let number = self.compact_number()?;
        let id = self.add(Node::Unnamed(number));
        Some(self.remember(id))
    }

    fn operator_name(&mut self) -> Option<NodeId> {
        if self.eat("cv") {
            let target = self.conversion_target()?;
            return Some(self.add(Node::Conversion(target)));
        }
        if self.eat("li") {
            let name = self.source_name()?;
            return Some(self.add(Node::LiteralOperator(name)));
        }
        if self.peek() == b'v' && self.peek_at(1).is_ascii_digit() {
            self.take(2)?;
            let name = self.source_name()?;
            return Some(self.add(Node::VendorOperator(name)));
        }
        let code = self.take(2)?;
        let found = OPERATORS
            .iter()
            .find(|operator| operator.code == code && operator.arity != Arity::Keyword)?;
        Some(self.add(Node::Operator(found.text)))
    }

    /// Arguments behind a bare parameter are the operator's, not the parameter's.
    fn conversion_target(&mut self) -> Option<NodeId> {
        if self.peek() != b'T' {
            return self.type_();
        }
        let parameter = self.template_parameter()?;
        Some(self.remember(parameter))
    }

    /// `S_`, `S0_`, ..., or an abbreviation such as `Sa`. In a prefix an abbreviated class before its own constructor is
    /// written out.
    pub(super) fn substitution(&mut self, in_prefix: bool) -> Option<NodeId> {
        self.expect("S")?;
        if let b'_' | b'0'..=b'9' | b'A'..=b'Z' = self.peek() {
            let digits = self.take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
            self.expect("_")?;
            let index = match digits {
                "" => 0,
                digits => usize::from_str_radix(digits, 36).ok()?.checked_add(1)?,
            };
            return self.substitutions.get(index).copied();
        }
        let found = *ABBREVIATIONS
            .iter()
            .find(|known| known.letter == self.peek())?;
        self.take(1)?;
        let spelled_out = in_prefix && matches!(self.peek(), b'C' | b'D');
        if let Some(class) = found.class {
            self.last_name = Some(self.add(Node::Text(class)));
        }
        let text = if spelled_out { found.full } else { found.short };
        let id = self.add(Node::Abbreviation(text));
        if self.peek() == b'B' {
            self.tagged_abbreviation(id)
        } else {
            Some(id)
        }
    }

    fn tagged_abbreviation(&mut self, mut id: NodeId) -> Option<NodeId> {
        while self.eat("B") {
            let size = self.number()? as usize;
            let tag = self.take(size)?;
            id = self.add(Node::Tagged(id, tag));
        }
        Some(self.remember(id))
    }
}

fn plain(id: NodeId) -> Named {
    Named {
        id,
        qualifiers: Qualifiers::default(),
        has_result: false,
    }
}

/// Compilers name the anonymous namespace `_GLOBAL__N_` and a number.
fn readable(text: &str) -> &str {
    match text.strip_prefix("_GLOBAL_").map(str::as_bytes) {
        Some([b'.' | b'_' | b'$', b'N', ..]) => "(anonymous namespace)",
        _ => text,
    }
}
