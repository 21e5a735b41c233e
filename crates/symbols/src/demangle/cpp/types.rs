//! Types.

use super::cursor::Parser;
use super::node::{Function, Node, NodeId, Qualifiers, Reference};

impl<'a> Parser<'a> {
    /// Any type.
    pub(super) fn type_(&mut self) -> Option<NodeId> {
        self.nested(Self::any_type)
    }

    fn any_type(&mut self) -> Option<NodeId> {
        match self.peek() {
            b'r' | b'V' | b'K' => self.qualified_type(),
            b'P' => self.compound("P", Node::Pointer),
            b'R' => self.compound("R", |inner| Node::Reference(inner, Reference::Lvalue)),
            b'O' => self.compound("O", |inner| Node::Reference(inner, Reference::Rvalue)),
            b'C' => self.compound("C", |inner| Node::Suffixed(inner, " _Complex")),
            b'G' => self.compound("G", |inner| Node::Suffixed(inner, " _Imaginary")),
            b'F' => self.function_type(Qualifiers::default()),
            b'A' => self.array_type(),
            b'M' => self.member_type(),
            b'T' => self.parameter_type(),
            b'S' => self.substituted_type(),
            b'U' if !matches!(self.peek_at(1), b'l' | b't') => self.vendor_qualified(),
            b'u' => self.vendor_type(),
            b'D' => self.extended_type(),
            b'a'..=b'z' => self.builtin(),
            _ => self.class_type(),
        }
    }

    fn compound(&mut self, letter: &str, node: impl FnOnce(NodeId) -> Node<'a>) -> Option<NodeId> {
        self.expect(letter)?;
        let inner = self.type_()?;
        let id = self.add(node(inner));
        Some(self.remember(id))
    }

    /// Qualifiers before a function type belong behind its parameters.
    fn qualified_type(&mut self) -> Option<NodeId> {
        let (restrict, volatile, constant) = (self.eat("r"), self.eat("V"), self.eat("K"));
        let qualifiers = Qualifiers {
            restrict,
            volatile,
            constant,
            reference: None,
        };
        if self.at_function_type() {
            return self.function_type(qualifiers);
        }
        let mut id = self.type_()?;
        for (present, text) in [
            (constant, " const"),
            (volatile, " volatile"),
            (restrict, " restrict"),
        ] {
            if present {
                id = self.add(Node::Suffixed(id, text));
            }
        }
        Some(self.remember(id))
    }

    fn at_function_type(&self) -> bool {
        self.peek() == b'F'
            || (self.peek() == b'D' && matches!(self.peek_at(1), b'o' | b'O' | b'x'))
    }

    /// `[Do] F [Y] <result> <parameters> [R|O] E`.
    fn function_type(&mut self, mut qualifiers: Qualifiers) -> Option<NodeId> {
        let noexcept = self.eat("Do");
        self.eat("Dx");
        self.expect("F")?;
        self.eat("Y");
        let result = Some(self.type_()?);
        let parameters = self.parameters()?;
        qualifiers.reference = match self.take(1)? {
            "E" => None,
            "R" => self.eat("E").then_some(Some(Reference::Lvalue))?,
            "O" => self.eat("E").then_some(Some(Reference::Rvalue))?,
            _ => return None,
        };
        let id = self.add(Node::Function(Function {
            result,
            parameters,
            qualifiers,
            noexcept,
        }));
        Some(self.remember(id))
    }

    /// `A [size] _ <type>`.
    fn array_type(&mut self) -> Option<NodeId> {
        self.expect("A")?;
        let size = match self.peek() {
            b'_' => None,
            b'0'..=b'9' => {
                let digits = self.take_while(|byte| byte.is_ascii_digit());
                Some(self.add(Node::Text(digits)))
            }
            _ => Some(self.expression()?),
        };
        self.expect("_")?;
        let element = self.type_()?;
        let id = self.add(Node::Array(element, size));
        Some(self.remember(id))
    }

    fn member_type(&mut self) -> Option<NodeId> {
        self.expect("M")?;
        let class = self.type_()?;
        let member = self.type_()?;
        let id = self.add(Node::Member(class, member));
        Some(self.remember(id))
    }

    fn parameter_type(&mut self) -> Option<NodeId> {
        if matches!(self.peek_at(1), b's' | b'u' | b'e') {
            self.take(2)?;
            return self.class_type();
        }
        let parameter = self.template_parameter()?;
        self.remember(parameter);
        self.with_type_arguments(parameter, false)
    }

    /// Adds template arguments where they follow; `is_new` says whether the bare name can be referred to.
    fn with_type_arguments(&mut self, name: NodeId, is_new: bool) -> Option<NodeId> {
        if self.peek() != b'I' {
            return Some(if is_new { self.remember(name) } else { name });
        }
        let arguments = self.template_arguments()?;
        let id = self.add(Node::Template(name, arguments));
        Some(self.remember(id))
    }

    fn substituted_type(&mut self) -> Option<NodeId> {
        if self.peek_at(1) == b't' {
            return self.class_type();
        }
        let name = self.substitution(false)?;
        self.with_type_arguments(name, false)
    }

    fn vendor_qualified(&mut self) -> Option<NodeId> {
        self.expect("U")?;
        let mut qualifier = self.source_name()?;
        if self.peek() == b'I' {
            let arguments = self.template_arguments()?;
            qualifier = self.add(Node::Template(qualifier, arguments));
        }
        let inner = self.type_()?;
        let id = self.add(Node::VendorQualified(inner, qualifier));
        Some(self.remember(id))
    }

    fn vendor_type(&mut self) -> Option<NodeId> {
        self.expect("u")?;
        let name = self.source_name()?;
        self.with_type_arguments(name, true)
    }

    /// A class or enumeration.
    fn class_type(&mut self) -> Option<NodeId> {
        let id = self.name()?.id;
        Some(self.remember(id))
    }

    /// `DF16_` and its like.
    fn sized_float(&mut self) -> Option<NodeId> {
        let (code, text) = SIZED_FLOATS
            .iter()
            .find(|(code, _)| self.rest().starts_with(code))?;
        self.expect(code)?;
        Some(self.add(Node::Builtin(text, 0)))
    }

    fn builtin(&mut self) -> Option<NodeId> {
        let letter = self.peek();
        let (_, text) = *BUILTINS.iter().find(|(known, _)| *known == letter)?;
        self.take(1)?;
        Some(self.add(Node::Builtin(text, letter)))
    }

    /// Types of two letters.
    fn extended_type(&mut self) -> Option<NodeId> {
        if let Some((_, text)) = EXTENDED
            .iter()
            .find(|(code, _)| self.rest().starts_with(code))
        {
            self.take(2)?;
            return Some(self.add(Node::Builtin(text, 0)));
        }
        match self.peek_at(1) {
            b't' | b'T' => {
                let id = self.decltype()?;
                Some(self.remember(id))
            }
            b'p' => {
                self.expect("Dp")?;
                let pattern = self.type_()?;
                let id = self.add(Node::Expansion(pattern));
                Some(self.remember(id))
            }
            b'v' => self.vector_type(),
            b'F' => self.sized_float(),
            b'o' | b'O' | b'x' => self.function_type(Qualifiers::default()),
            _ => None,
        }
    }

    fn vector_type(&mut self) -> Option<NodeId> {
        self.expect("Dv")?;
        let size = if self.eat("_") {
            self.expression()?
        } else {
            let digits = self.take_while(|byte| byte.is_ascii_digit());
            self.add(Node::Text(digits))
        };
        self.expect("_")?;
        let element = self.type_()?;
        let id = self.add(Node::Vector(element, size));
        Some(self.remember(id))
    }

    /// `Dt <expression> E` or `DT <expression> E`.
    pub(super) fn decltype(&mut self) -> Option<NodeId> {
        self.take(2)?;
        let expression = self.expression()?;
        self.expect("E")?;
        Some(self.add(Node::Decltype(expression)))
    }
}

const BUILTINS: &[(u8, &str)] = &[
    (b'v', "void"),
    (b'w', "wchar_t"),
    (b'b', "bool"),
    (b'c', "char"),
    (b'a', "signed char"),
    (b'h', "unsigned char"),
    (b's', "short"),
    (b't', "unsigned short"),
    (b'i', "int"),
    (b'j', "unsigned int"),
    (b'l', "long"),
    (b'm', "unsigned long"),
    (b'x', "long long"),
    (b'y', "unsigned long long"),
    (b'n', "__int128"),
    (b'o', "unsigned __int128"),
    (b'f', "float"),
    (b'd', "double"),
    (b'e', "long double"),
    (b'g', "__float128"),
    (b'z', "..."),
];

const EXTENDED: &[(&str, &str)] = &[
    ("Da", "auto"),
    ("Dc", "decltype(auto)"),
    ("Dd", "decimal64"),
    ("De", "decimal128"),
    ("Df", "decimal32"),
    ("Dh", "half"),
    ("Di", "char32_t"),
    ("Ds", "char16_t"),
    ("Du", "char8_t"),
    ("Dn", "decltype(nullptr)"),
];

const SIZED_FLOATS: &[(&str, &str)] = &[
    ("DF16_", "_Float16"),
    ("DF16b", "std::bfloat16_t"),
    ("DF32_", "_Float32"),
    ("DF32x", "_Float32x"),
    ("DF64_", "_Float64"),
    ("DF64x", "_Float64x"),
    ("DF128_", "_Float128"),
];
