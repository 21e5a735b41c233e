//! Tokens to expressions: C's grammar as far as the kernel's print expressions use it.

use super::ctype::IntType;
use super::expression::{Binary, Expression, Unary};
use super::lexer::Token;
use crate::bytes::WordSize;
use crate::field::{FieldKind, FormatField};
use crate::format::EventFormat;

/// Reads the tokens of one event's print expression.
///
/// Every step answers `None` for what it does not understand: the event is then shown as a list of its fields.
pub(super) struct Parser<'a> {
    tokens: &'a [Token],
    format: &'a EventFormat,
    pub(super) word: WordSize,
    depth: usize,
    /// Number of operators that the current argument or table entry has.
    pub(super) operators: usize,
    /// Number of names without a known value.
    pub(super) unknown: usize,
}

/// Limit of the depth of expressions: an expression is evaluated by recursion, and a hostile one must not use up the
/// stack. The kernel's deepest flag tables have 30 parentheses around each other, at two levels each.
const DEEPEST: usize = 128;
/// Number of operators that an argument or table entry may have, for the same reason; the kernel's have some 40.
const MOST_OPERATORS: usize = 512;

impl<'a> Parser<'a> {
    pub(super) fn new(tokens: &'a [Token], format: &'a EventFormat, word: WordSize) -> Parser<'a> {
        Parser {
            tokens,
            format,
            word,
            depth: 0,
            operators: 0,
            unknown: 0,
        }
    }

    /// One or more string literals side by side, as one text.
    pub(super) fn literal(&mut self) -> Option<Vec<u8>> {
        let mut text = None::<Vec<u8>>;
        while let Some((Token::Text(more), rest)) = self.tokens.split_first() {
            text.get_or_insert_default().extend_from_slice(more);
            self.tokens = rest;
        }
        text
    }

    /// The next argument of the printf format, with its comma.
    pub(super) fn argument(&mut self) -> Option<Expression> {
        self.expect(",")?;
        self.operators = 0;
        self.expression()
    }

    /// Checks the arguments that no directive takes.
    pub(super) fn skip_arguments(&mut self) -> Option<()> {
        while !self.tokens.is_empty() {
            self.argument()?;
        }
        Some(())
    }

    fn next(&mut self) -> Option<&'a Token> {
        let (token, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(token)
    }

    pub(super) fn take(&mut self, symbol: &str) -> bool {
        let found = matches!(self.tokens.first(), Some(Token::Symbol(next)) if *next == symbol);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Option<()> {
        self.take(symbol).then_some(())
    }

    pub(super) fn name(&mut self) -> Option<&'a str> {
        match self.next()? {
            Token::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn expression(&mut self) -> Option<Expression> {
        self.nested(Self::choice)
    }

    /// Runs one step of the grammar one level deeper, unless that is too deep.
    fn nested(&mut self, step: impl FnOnce(&mut Self) -> Option<Expression>) -> Option<Expression> {
        self.depth += 1;
        let found = if self.depth <= DEEPEST {
            step(self)
        } else {
            None
        };
        self.depth -= 1;
        found
    }

    fn choice(&mut self) -> Option<Expression> {
        let condition = self.operation(1)?;
        if !self.take("?") {
            return Some(condition);
        }
        let then = self.expression()?;
        self.expect(":")?;
        let otherwise = self.expression()?;
        Some(Expression::Choice(Box::new([condition, then, otherwise])))
    }

    /// Operands joined by operators that bind at least as tightly as `tightness`.
    fn operation(&mut self, tightness: u8) -> Option<Expression> {
        let mut left = self.nested(Self::unary)?;
        while let Some((op, binds)) = self.operator().filter(|(_, binds)| *binds >= tightness) {
            self.next();
            self.operators += 1;
            let right = self.nested(|parser| parser.operation(binds + 1))?;
            if self.operators > MOST_OPERATORS {
                return None;
            }
            left = Expression::binary(op, left, right);
        }
        Some(left)
    }

    fn operator(&self) -> Option<(Binary, u8)> {
        match self.tokens.first()? {
            Token::Symbol(symbol) => Binary::of(symbol),
            _ => None,
        }
    }

    fn unary(&mut self) -> Option<Expression> {
        let sign = match self.tokens.first()? {
            Token::Symbol("-") => Unary::Negate,
            Token::Symbol("~") => Unary::Invert,
            Token::Symbol("!") => Unary::Not,
            Token::Symbol("+") => return self.after_sign(),
            Token::Symbol("*") => return self.pointee(),
            Token::Symbol("(") => return self.parenthesis(),
            _ => {
                let primary = self.primary()?;
                return self.postfix(primary);
            }
        };
        self.next();
        let operand = self.nested(Self::unary)?;
        Some(Expression::Unary(sign, Box::new(operand)))
    }

    fn after_sign(&mut self) -> Option<Expression> {
        self.next();
        self.nested(Self::unary)
    }

    /// `*pointer` is `pointer[0]`.
    fn pointee(&mut self) -> Option<Expression> {
        self.next();
        let array = self.nested(Self::unary)?;
        self.element(array, Expression::Number(0, IntType::INT))
    }

    /// A cast, or an expression in parentheses.
    fn parenthesis(&mut self) -> Option<Expression> {
        self.expect("(")?;
        if let Some(words) = self.type_words() {
            let kind = IntType::named(&words, self.word);
            let operand = self.nested(Self::unary)?;
            return Some(cast(&words, kind, operand));
        }
        let inner = self.expression()?;
        self.expect(")")?;
        self.postfix(inner)
    }

    /// The words of a type and the `)` behind it, if that is what comes next; nothing is consumed otherwise.
    pub(super) fn type_words(&mut self) -> Option<String> {
        let mut words = String::new();
        let mut names = 0;
        for (count, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Name(name) if name != "REC" && !words.ends_with('*') => {
                    names += 1;
                    words.push_str(if words.is_empty() { "" } else { " " });
                    words.push_str(name);
                }
                Token::Symbol("*") if names > 0 => {
                    words.push_str(if words.ends_with('*') { "*" } else { " *" })
                }
                Token::Symbol(")") if self.is_type(&words, count + 1) => {
                    self.tokens = self.tokens.get(count + 1..)?;
                    return Some(words);
                }
                _ => return None,
            }
        }
        None
    }

    /// Returns whether `words` in parentheses are a type: a known one, or something else with an operand right behind
    /// it.
    fn is_type(&self, words: &str, behind: usize) -> bool {
        let operand_follows = || match self.tokens.get(behind) {
            Some(Token::Symbol(symbol)) => *symbol == "(",
            other => other.is_some(),
        };
        !words.is_empty() && (IntType::named(words, self.word).is_some() || operand_follows())
    }

    pub(super) fn postfix(&mut self, mut value: Expression) -> Option<Expression> {
        while self.take("[") {
            let index = self.expression()?;
            self.expect("]")?;
            value = self.element(value, index)?;
        }
        Some(value)
    }

    fn element(&self, array: Expression, index: Expression) -> Option<Expression> {
        let kind = match &array {
            Expression::Cast(kind, _) => *kind,
            Expression::Field(field) | Expression::Data(field) => {
                IntType::new(field.element(), field.signed)
            }
            _ => return None,
        };
        Some(Expression::Element {
            array: Box::new(array),
            index: Box::new(index),
            kind,
        })
    }

    fn primary(&mut self) -> Option<Expression> {
        if let Some(text) = self.literal() {
            return Some(Expression::Literal(text));
        }
        match self.next()? {
            Token::Number(value, kind) => Some(Expression::Number(*value, *kind)),
            Token::Name(name) if name == "REC" => self.record_field(),
            Token::Name(name) if self.take("(") => self.call(name),
            Token::Name(name) => Some(self.constant(name)),
            _ => None,
        }
    }

    /// A constant by name. The kernel writes the enum constants it is told of as numbers; of the others a few are
    /// known, and the rest counts as 0.
    fn constant(&mut self, name: &str) -> Expression {
        let value = named_constant(name);
        self.unknown += usize::from(value.is_none());
        Expression::Number(value.unwrap_or(0), IntType::INT)
    }

    fn record_field(&mut self) -> Option<Expression> {
        self.expect("->")?;
        let name = self.name()?;
        // perf shows a field that does not exist as nothing.
        Some(
            self.field(name)
                .map_or(Expression::Literal(Vec::new()), |field| {
                    Expression::Field(Box::new(field))
                }),
        )
    }

    pub(super) fn field(&self, name: &str) -> Option<FormatField> {
        self.format.field(name).cloned()
    }
}

/// Constants that older kernels left in their formats by name.
fn named_constant(name: &str) -> Option<u64> {
    const SOFTIRQS: [&str; 10] = [
        "HI_SOFTIRQ",
        "TIMER_SOFTIRQ",
        "NET_TX_SOFTIRQ",
        "NET_RX_SOFTIRQ",
        "BLOCK_SOFTIRQ",
        "IRQ_POLL_SOFTIRQ",
        "TASKLET_SOFTIRQ",
        "SCHED_SOFTIRQ",
        "HRTIMER_SOFTIRQ",
        "RCU_SOFTIRQ",
    ];
    match name {
        "NULL" | "false" | "HRTIMER_NORESTART" => Some(0),
        "true" | "HRTIMER_RESTART" => Some(1),
        "BLOCK_IOPOLL_SOFTIRQ" => Some(5),
        _ => SOFTIRQS
            .iter()
            .position(|softirq| *softirq == name)
            .map(|number| number as u64),
    }
}

/// A cast to a number; a cast to a pointer or an unknown type changes no value, but may say what is pointed to.
fn cast(words: &str, kind: Option<IntType>, operand: Expression) -> Expression {
    if !words.ends_with('*') {
        return match kind {
            Some(kind) => Expression::Cast(kind, Box::new(operand)),
            None => operand,
        };
    }
    let pointee = IntType::named(words.trim_end_matches('*').trim(), WordSize::Eight);
    match (pointee, &operand) {
        (Some(pointee), Expression::Data(field) | Expression::Field(field))
            if field.kind != FieldKind::Pointer =>
        {
            retyped(field, pointee)
        }
        _ => operand,
    }
}

/// The field with elements of another type.
fn retyped(field: &FormatField, pointee: IntType) -> Expression {
    let mut field = Box::new(field.clone());
    field.signed = pointee.signed();
    field.kind = match field.kind {
        FieldKind::DynamicText(anchor) | FieldKind::DynamicArray { anchor, .. } => {
            FieldKind::DynamicArray {
                anchor,
                element: pointee.size(),
            }
        }
        FieldKind::Text | FieldKind::Array { .. } => FieldKind::Array {
            element: pointee.size(),
        },
        other => other,
    };
    if field.is_dynamic() {
        Expression::Data(field)
    } else {
        Expression::Field(field)
    }
}
