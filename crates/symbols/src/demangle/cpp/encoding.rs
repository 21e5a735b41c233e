//! Whole entities: functions with parameters, data, and what the compiler makes itself (tables, thunks, guards).

use super::cursor::Parser;
use super::node::{Function, Node, NodeId, Qualifiers};

/// Facts that a parsed name states about the function it names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) id: NodeId,
    pub(super) qualifiers: Qualifiers,
    /// True if the name ends with template arguments: then the return type is part of the mangling.
    pub(super) has_result: bool,
}

impl<'a> Parser<'a> {
    /// `<encoding> [.<clone>]...` to the end of the input.
    pub(super) fn mangled_name(&mut self) -> Option<NodeId> {
        let mut whole = self.encoding()?;
        while let Some(suffix) = self.clone_suffix() {
            whole = self.add(Node::Clone(whole, suffix));
        }
        self.rest().is_empty().then_some(whole)
    }

    /// `.word[.digits]...`; words are of small letters, digits and `_`, such as `avx2`.
    fn clone_suffix(&mut self) -> Option<&'a str> {
        let bytes = self.rest().as_bytes();
        let is_word = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        let (&b'.', tail) = bytes.split_first()? else {
            return None;
        };
        let word = tail.iter().take_while(|byte| is_word(byte)).count();
        let mut size = if word == 0 { 0 } else { 1 + word };
        while let Some(digits) = bytes.get(size..).and_then(dotted_digits) {
            size += digits;
        }
        if size == 0 { None } else { self.take(size) }
    }

    /// A function with its parameters, data, or a special name.
    pub(super) fn encoding(&mut self) -> Option<NodeId> {
        self.nested(|parser| {
            if matches!(parser.peek(), b'G' | b'T') {
                return parser.special_name();
            }
            parser.function_or_data()
        })
    }

    fn function_or_data(&mut self) -> Option<NodeId> {
        let named = self.name()?;
        if matches!(self.peek(), 0 | b'E') {
            return Some(self.qualified_data(named));
        }
        let result = if named.has_result {
            Some(self.type_()?)
        } else {
            None
        };
        let parameters = self.parameters()?;
        let function = Function {
            result,
            parameters,
            qualifiers: named.qualifiers,
            noexcept: false,
        };
        Some(self.add(Node::Encoding(named.id, function)))
    }

    /// A name without parameters keeps its qualifiers.
    fn qualified_data(&mut self, named: Named) -> NodeId {
        let mut id = named.id;
        let Qualifiers {
            restrict,
            volatile,
            constant,
            ..
        } = named.qualifiers;
        for (present, text) in [
            (restrict, " restrict"),
            (volatile, " volatile"),
            (constant, " const"),
        ] {
            if present {
                id = self.add(Node::Suffixed(id, text));
            }
        }
        id
    }

    /// Types to the end of the list; one `void` is an empty list.
    pub(super) fn parameters(&mut self) -> Option<Vec<NodeId>> {
        let mut parameters = Vec::new();
        while !matches!(self.peek(), 0 | b'E' | b'.' | b'Q') && !self.at_function_reference() {
            parameters.push(self.type_()?);
        }
        if let [only] = parameters.as_slice()
            && matches!(self.node(*only), Some(Node::Builtin("void", _)))
        {
            return Some(Vec::new());
        }
        (!parameters.is_empty()).then_some(parameters)
    }

    /// `RE` and `OE` end a function type.
    fn at_function_reference(&self) -> bool {
        matches!(self.peek(), b'R' | b'O') && self.peek_at(1) == b'E'
    }

    fn special_name(&mut self) -> Option<NodeId> {
        let kind = self.take(2)?;
        match kind {
            "TV" => self.prefixed_type("vtable for "),
            "TT" => self.prefixed_type("VTT for "),
            "TI" => self.prefixed_type("typeinfo for "),
            "TS" => self.prefixed_type("typeinfo name for "),
            "TF" => self.prefixed_type("typeinfo fn for "),
            "Th" => self.thunk("non-virtual thunk to ", Self::fixed_offset),
            "Tv" => self.thunk("virtual thunk to ", Self::virtual_offset),
            "Tc" => self.thunk("covariant return thunk to ", Self::two_offsets),
            "TC" => self.construction_table(),
            "TH" => self.prefixed_name("TLS init function for "),
            "TW" => self.prefixed_name("TLS wrapper function for "),
            "TA" => {
                let argument = self.template_argument()?;
                Some(self.add(Node::Prefixed("template parameter object for ", argument)))
            }
            "GV" => self.prefixed_name("guard variable for "),
            "GR" => self.temporary(),
            "GA" => {
                let whole = self.encoding()?;
                Some(self.add(Node::Prefixed("hidden alias for ", whole)))
            }
            "GT" => self.transaction_clone(),
            _ => None,
        }
    }

    fn prefixed_type(&mut self, text: &'static str) -> Option<NodeId> {
        let target = self.type_()?;
        Some(self.add(Node::Prefixed(text, target)))
    }

    fn prefixed_name(&mut self, text: &'static str) -> Option<NodeId> {
        let target = self.name()?.id;
        Some(self.add(Node::Prefixed(text, target)))
    }

    fn thunk(&mut self, text: &'static str, offset: fn(&mut Self) -> Option<()>) -> Option<NodeId> {
        offset(self)?;
        let target = self.encoding()?;
        Some(self.add(Node::Prefixed(text, target)))
    }

    fn fixed_offset(&mut self) -> Option<()> {
        self.eat("n");
        self.number()?;
        self.expect("_")
    }

    fn virtual_offset(&mut self) -> Option<()> {
        self.fixed_offset()?;
        self.fixed_offset()
    }

    fn two_offsets(&mut self) -> Option<()> {
        for _ in 0..2 {
            match self.take(1)? {
                "h" => self.fixed_offset()?,
                "v" => self.virtual_offset()?,
                _ => return None,
            }
        }
        Some(())
    }

    fn construction_table(&mut self) -> Option<NodeId> {
        let derived = self.type_()?;
        self.number()?;
        self.expect("_")?;
        let base = self.type_()?;
        Some(self.add(Node::ConstructionTable(base, derived)))
    }

    fn temporary(&mut self) -> Option<NodeId> {
        let target = self.name()?.id;
        let number = self.number().unwrap_or(0);
        Some(self.add(Node::Temporary(number, target)))
    }

    fn transaction_clone(&mut self) -> Option<NodeId> {
        let text = match self.take(1)? {
            "n" => "non-transaction clone for ",
            _ => "transaction clone for ",
        };
        let target = self.encoding()?;
        Some(self.add(Node::Prefixed(text, target)))
    }
}

/// The length of `.digits` at the start, where it stands there.
fn dotted_digits(bytes: &[u8]) -> Option<usize> {
    let count = bytes
        .strip_prefix(b".")?
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    (count > 0).then_some(count + 1)
}
