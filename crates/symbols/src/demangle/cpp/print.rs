//! The text of a parsed name.
//!
//! A declarator stands around its name (`int (*name)(char)`), so each type has a left and a right part.

mod argument;
mod expression;

use super::node::{Function, Node, NodeId, Qualifiers, Reference};
use super::{DEPTH_LIMIT, OUTPUT_LIMIT};
use argument::Argument;

/// The text of `root`; `None` when it grows or nests without bound.
pub(super) fn print(nodes: &[Node<'_>], root: NodeId) -> Option<String> {
    let mut printer = Printer {
        nodes,
        text: String::new(),
        last: '\0',
        pack_index: None,
        scopes: Vec::new(),
        level: 0,
        in_lambda: false,
        depth: 0,
        steps: 0,
    };
    printer.whole(root)?;
    Some(printer.text)
}

/// Steps after which a name counts as endless; shared parts can stand for a text of any length.
const STEP_LIMIT: u32 = 1 << 16;

struct Printer<'n, 'a> {
    nodes: &'n [Node<'a>],
    text: String,
    /// The last character written. An empty pack takes its comma back from the text, but not from here.
    last: char,
    /// The element of packs that an expansion is at.
    pack_index: Option<usize>,
    /// The template arguments of the functions around, the innermost last.
    scopes: Vec<NodeId>,
    /// Number of them that count here: an argument itself belongs to what is around its function.
    level: usize,
    /// True if a lambda's parameters are being written: template parameters are its own there.
    in_lambda: bool,
    depth: u32,
    steps: u32,
}

type Done = Option<()>;

impl<'n, 'a> Printer<'n, 'a> {
    fn write(&mut self, text: &str) -> Done {
        if self.text.len() + text.len() > OUTPUT_LIMIT {
            return None;
        }
        self.text.push_str(text);
        if let Some(last) = text.chars().next_back() {
            self.last = last;
        }
        Some(())
    }

    fn nested(&mut self, step: impl FnOnce(&mut Self) -> Done) -> Done {
        self.steps += 1;
        if self.depth >= DEPTH_LIMIT * 2 || self.steps > STEP_LIMIT {
            return None;
        }
        self.depth += 1;
        let done = step(self);
        self.depth -= 1;
        done
    }

    fn node(&self, id: NodeId) -> Option<&'n Node<'a>> {
        self.nodes.get(id.0 as usize)
    }

    fn whole(&mut self, id: NodeId) -> Done {
        self.left(id)?;
        self.right(id)
    }

    fn left(&mut self, id: NodeId) -> Done {
        let node = self.node(id)?;
        self.nested(|printer| printer.left_of(node))
    }

    fn left_of(&mut self, node: &'n Node<'a>) -> Done {
        match node {
            Node::Pointer(inner) => self.declarator(*inner, "*"),
            Node::Reference(inner, kind) => {
                let (inner, kind) = self.collapsed(*inner, *kind)?;
                self.declarator(inner, reference_text(kind))
            }
            Node::Member(class, member) => self.member(*class, *member),
            Node::Function(function) => self.result(function),
            Node::Array(element, _) => self.left(*element),
            Node::Suffixed(inner, text) => {
                self.left(*inner)?;
                let already = matches!(self.resolved(*inner), Some((_, Node::Suffixed(_, other))) if other == text);
                if already { Some(()) } else { self.write(text) }
            }
            Node::VendorQualified(inner, qualifier) => {
                self.left(*inner)?;
                self.write(" ")?;
                self.whole(*qualifier)
            }
            Node::Parameter(number) if self.in_lambda => {
                self.write(&format!("auto:{}", number + 1))
            }
            Node::Parameter(_) => match self.argument(node, self.level)? {
                Argument::One(id) => self.outside(|printer| printer.left(id)),
                Argument::All(list) => self.outside(|printer| printer.list(list)),
            },
            other => self.closed(other),
        }
    }

    fn right(&mut self, id: NodeId) -> Done {
        let node = self.node(id)?;
        self.nested(|printer| printer.right_of(node))
    }

    fn right_of(&mut self, node: &'n Node<'a>) -> Done {
        match node {
            Node::Pointer(inner) | Node::Member(_, inner) => self.declarator_end(*inner),
            Node::Reference(inner, kind) => {
                let (inner, _) = self.collapsed(*inner, *kind)?;
                self.declarator_end(inner)
            }
            Node::Function(function) => self.function_end(function),
            Node::Array(element, size) => self.array_end(*element, *size),
            Node::Suffixed(inner, _) | Node::VendorQualified(inner, _) => self.right(*inner),
            Node::Parameter(_) if self.in_lambda => Some(()),
            Node::Parameter(_) => match self.argument(node, self.level)? {
                Argument::One(id) => self.outside(|printer| printer.right(id)),
                Argument::All(_) => Some(()),
            },
            _ => Some(()),
        }
    }

    /// `&` wins where references meet.
    fn collapsed(&self, mut inner: NodeId, mut kind: Reference) -> Option<(NodeId, Reference)> {
        for _ in 0..DEPTH_LIMIT {
            let Some((_, Node::Reference(next, other))) =
                self.resolved(inner).filter(|_| !self.in_lambda)
            else {
                return Some((inner, kind));
            };
            if *other == Reference::Lvalue {
                kind = Reference::Lvalue;
            }
            inner = *next;
        }
        None
    }

    /// Functions and arrays are bracketed when something points to them.
    fn is_bracketed(&self, id: NodeId) -> bool {
        match self.resolved(id) {
            Some((_, Node::Function(_) | Node::Array(..))) => true,
            Some((_, Node::Suffixed(inner, _))) => self.is_bracketed(*inner),
            _ => false,
        }
    }

    fn declarator(&mut self, inner: NodeId, text: &str) -> Done {
        self.left(inner)?;
        if self.is_bracketed(inner) {
            self.open_bracket(inner)?;
        }
        self.write(text)
    }

    /// A function's return type has left a blank where one is due; an array's element has not.
    fn open_bracket(&mut self, id: NodeId) -> Done {
        let is_function = matches!(self.resolved(id), Some((_, Node::Function(_))));
        if !is_function && self.last != ' ' {
            self.write(" ")?;
        }
        self.write("(")
    }

    fn declarator_end(&mut self, inner: NodeId) -> Done {
        if self.is_bracketed(inner) {
            self.write(")")?;
        }
        self.right(inner)
    }

    fn member(&mut self, class: NodeId, member: NodeId) -> Done {
        self.left(member)?;
        if self.is_bracketed(member) {
            self.open_bracket(member)?;
        } else if !matches!(self.last, ' ' | '(' | '*') {
            self.write(" ")?;
        }
        self.whole(class)?;
        self.write("::*")
    }

    /// The left part of the return type.
    fn result(&mut self, function: &Function) -> Done {
        let Some(result) = function.result else {
            return Some(());
        };
        self.left(result)?;
        if self.is_open(result) {
            Some(())
        } else {
            self.write(" ")
        }
    }

    /// Returns whether a type's left part ends inside a bracket, as that of a pointer to a function does.
    fn is_open(&self, id: NodeId) -> bool {
        match self.resolved(id) {
            Some((
                _,
                Node::Pointer(inner) | Node::Reference(inner, _) | Node::Member(_, inner),
            )) => self.is_bracketed(*inner),
            _ => false,
        }
    }

    fn function_end(&mut self, function: &'n Function) -> Done {
        self.write("(")?;
        self.list(&function.parameters)?;
        self.write(")")?;
        self.qualifiers(&function.qualifiers)?;
        if function.noexcept {
            self.write(" noexcept")?;
        }
        function
            .result
            .map_or(Some(()), |result| self.right(result))
    }

    fn qualifiers(&mut self, qualifiers: &Qualifiers) -> Done {
        let Qualifiers {
            restrict,
            volatile,
            constant,
            reference,
        } = *qualifiers;
        for (present, text) in [
            (constant, " const"),
            (volatile, " volatile"),
            (restrict, " restrict"),
        ] {
            if present {
                self.write(text)?;
            }
        }
        match reference {
            Some(Reference::Lvalue) => self.write(" &"),
            Some(Reference::Rvalue) => self.write(" &&"),
            None => Some(()),
        }
    }

    fn array_end(&mut self, element: NodeId, size: Option<NodeId>) -> Done {
        if self.last != ']' {
            self.write(" ")?;
        }
        self.write("[")?;
        if let Some(size) = size {
            self.whole(size)?;
        }
        self.write("]")?;
        self.right(element)
    }

    /// A list with commas. An element that shows nothing (an empty pack) takes its comma away.
    fn list(&mut self, list: &[NodeId]) -> Done {
        for (index, id) in list.iter().enumerate() {
            if index == 0 {
                self.whole(*id)?;
                continue;
            }
            let before = self.text.len();
            self.write(", ")?;
            let written = self.text.len();
            self.whole(*id)?;
            if self.text.len() == written {
                self.text.truncate(before);
            }
        }
        Some(())
    }

    /// Parts without a right side.
    fn closed(&mut self, node: &'n Node<'a>) -> Done {
        match node {
            Node::Text(text) => self.write(text),
            Node::Abbreviation(text) | Node::Builtin(text, _) => self.write(text),
            Node::Qualified(outer, inner) | Node::Local(outer, inner) => {
                self.whole(*outer)?;
                self.write("::")?;
                self.whole(*inner)
            }
            Node::Template(name, arguments) => self.template(*name, *arguments),
            Node::Arguments(list) | Node::Pack(list) => self.list(list),
            Node::Constructor(class) => self.whole(*class),
            Node::Destructor(class) => self.prefixed("~", *class),
            Node::Tagged(name, tag) => {
                self.whole(*name)?;
                self.write("[abi:")?;
                self.write(tag)?;
                self.write("]")
            }
            Node::Encoding(name, function) => self.encoding(*name, function),
            Node::Prefixed(text, target) => self.prefixed(text, *target),
            Node::Temporary(number, target) => {
                self.write(&format!("reference temporary #{number} for "))?;
                self.whole(*target)
            }
            Node::ConstructionTable(base, derived) => {
                self.prefixed("construction vtable for ", *base)?;
                self.prefixed("-in-", *derived)
            }
            Node::Clone(name, suffix) => {
                self.whole(*name)?;
                self.write(" [clone ")?;
                self.write(suffix)?;
                self.write("]")
            }
            other => self.made_up(other),
        }
    }

    /// Names that no source spells: lambdas, unnamed types, operators; and types written like functions.
    fn made_up(&mut self, node: &'n Node<'a>) -> Done {
        match node {
            Node::Unnamed(number) => self.write(&format!("{{unnamed type#{}}}", number + 1)),
            Node::Lambda(parameters, number) => {
                self.write("{lambda(")?;
                let outer = std::mem::replace(&mut self.in_lambda, true);
                self.list(parameters)?;
                self.in_lambda = outer;
                self.write(&format!(")#{}}}", number + 1))
            }
            Node::DefaultArgument(number, name) => {
                self.write(&format!("{{default arg#{}}}::", number + 1))?;
                self.whole(*name)
            }
            Node::Operator(text) => {
                let gap = if text.starts_with(|c: char| c.is_ascii_lowercase()) {
                    " "
                } else {
                    ""
                };
                self.write("operator")?;
                self.write(gap)?;
                self.write(text)
            }
            Node::Conversion(target) | Node::VendorOperator(target) => {
                self.prefixed("operator ", *target)
            }
            Node::LiteralOperator(name) => self.prefixed("operator\"\" ", *name),
            Node::Decltype(expression) => {
                self.prefixed("decltype (", *expression)?;
                self.write(")")
            }
            Node::Vector(element, size) => {
                self.whole(*element)?;
                self.prefixed(" __vector(", *size)?;
                self.write(")")
            }
            Node::Expansion(pattern) => self.expansion(*pattern),
            other => self.expression(other),
        }
    }

    fn prefixed(&mut self, text: &str, target: NodeId) -> Done {
        self.write(text)?;
        self.whole(target)
    }

    /// Neither `<<` nor `>>` may come about.
    fn template(&mut self, name: NodeId, arguments: NodeId) -> Done {
        let outer = self.pack_index;
        self.whole(name)?;
        if self.last == '<' {
            self.write(" ")?;
        }
        self.write("<")?;
        self.whole(arguments)?;
        if self.last == '>' {
            self.write(" ")?;
        }
        self.pack_index = outer;
        self.write(">")
    }

    fn encoding(&mut self, name: NodeId, function: &'n Function) -> Done {
        let signature = |printer: &mut Self| {
            printer.result(function)?;
            printer.whole(name)?;
            printer.function_end(function)
        };
        match self.arguments_of(name) {
            Some(arguments) => self.inside(arguments, signature),
            None => signature(self),
        }
    }

    /// The template arguments that a function's name ends with.
    fn arguments_of(&self, mut name: NodeId) -> Option<NodeId> {
        loop {
            match self.node(name)? {
                Node::Local(_, inner) => name = *inner,
                Node::Template(_, arguments) => return Some(*arguments),
                _ => return None,
            }
        }
    }
}

fn reference_text(kind: Reference) -> &'static str {
    match kind {
        Reference::Lvalue => "&",
        Reference::Rvalue => "&&",
    }
}
