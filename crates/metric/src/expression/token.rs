//! Text to tokens: the longest token wins, a number before a name of the same length.

use crate::{ExpressionError, ExpressionProblem};

/// One token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Number(f64),
    /// A name without its escapes.
    Id(String),
    /// `#name`, without the `#`.
    Constant(String),
    Keyword(Keyword),
    /// An operator, a parenthesis or a comma.
    Sign(char),
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keyword {
    If,
    Else,
    Min,
    Max,
    Ratio,
    SourceCount,
    HasEvent,
    CpuidMatches,
}

impl Keyword {
    const ALL: [Keyword; 8] = [
        Keyword::If,
        Keyword::Else,
        Keyword::Min,
        Keyword::Max,
        Keyword::Ratio,
        Keyword::SourceCount,
        Keyword::HasEvent,
        Keyword::CpuidMatches,
    ];

    fn text(self) -> &'static str {
        match self {
            Keyword::If => "if",
            Keyword::Else => "else",
            Keyword::Min => "min",
            Keyword::Max => "max",
            Keyword::Ratio => "d_ratio",
            Keyword::SourceCount => "source_count",
            Keyword::HasEvent => "has_event",
            Keyword::CpuidMatches => "strcmp_cpuid_str",
        }
    }
}

impl Token {
    /// The token in words, for a message.
    pub(super) fn words(&self) -> String {
        match self {
            Token::Number(number) => format!("{number}"),
            Token::Id(id) => format!("name {id:?}"),
            Token::Constant(name) => format!("constant {name:?}"),
            Token::Keyword(keyword) => format!("'{}'", keyword.text()),
            Token::Sign(sign) => format!("'{sign}'"),
            Token::End => "the end".to_owned(),
        }
    }
}

/// A token, its byte offset, and the offset behind it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Placed {
    pub(super) offset: usize,
    pub(super) token: Token,
    pub(super) end: usize,
}

/// The first token at or behind a byte offset.
pub(super) fn next_token(text: &str, from: usize) -> Result<Placed, ExpressionError> {
    let blank = |byte: u8| byte.is_ascii_whitespace();
    let offset = from + length_of(&text[from..], blank);
    let Some(first) = text[offset..].chars().next() else {
        return Ok(Placed {
            offset,
            token: Token::End,
            end: offset,
        });
    };
    let (token, length) = token(&text[offset..], first).ok_or(ExpressionError {
        offset,
        problem: ExpressionProblem::Character(first),
    })?;
    Ok(Placed {
        offset,
        token,
        end: offset + length,
    })
}

/// The token at the start of `text` and its length in bytes.
fn token(text: &str, first: char) -> Option<(Token, usize)> {
    if "|^&<>+-*/%(),".contains(first) {
        return Some((Token::Sign(first), 1));
    }
    if first == '#' {
        let length = 1 + length_of(&text[1..], |byte| {
            byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
        });
        return (length > 1).then(|| (Token::Constant(text[1..length].to_owned()), length));
    }
    let (number, name) = (number_length(text), name_length(text));
    if number > 0 && number >= name {
        let value = text[..number].parse().ok()?;
        return Some((Token::Number(value), number));
    }
    (name > 0).then(|| (word(&text[..name]), name))
}

fn word(text: &str) -> Token {
    if text == "NaN" {
        return Token::Number(f64::NAN);
    }
    // The older name of the function.
    let text = if text == "aggr_nr" {
        "source_count"
    } else {
        text
    };
    let keyword = Keyword::ALL
        .into_iter()
        .find(|keyword| keyword.text() == text);
    keyword.map_or_else(|| Token::Id(without_escapes(text)), Token::Keyword)
}

fn length_of(text: &str, matches: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| matches(*byte)).count()
}

/// The length of `12`, `1.5`, `.5`, `1e9`, `1.5e-3` at the start.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| length_of(&text[from..], |byte| byte.is_ascii_digit());
    let whole = digits(0);
    let mut length = whole;
    if text[length..].starts_with('.') {
        let fraction = digits(length + 1);
        if whole + fraction > 0 {
            length += 1 + fraction;
        }
    }
    if length == 0 || !text[length..].starts_with('e') {
        return length;
    }
    let sign = usize::from(text[length + 1..].starts_with('-'));
    match digits(length + 1 + sign) {
        0 => length,
        exponent => length + 1 + sign + exponent,
    }
}

/// The length of a name at the start: letters, digits, `_ . : @ ?`, and `-`, `,`, `=` behind a backslash. Published tables
/// leave the backslash out before a `=` between two `@`.
fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut in_terms) = (0, false);
    while let Some(byte) = bytes.get(at) {
        in_terms ^= *byte == b'@';
        if byte.is_ascii_alphanumeric() || b"_.:@?".contains(byte) || (in_terms && *byte == b'=') {
            at += 1;
        } else if *byte == b'\\' && bytes.get(at + 1).is_some_and(|next| b"-,=".contains(next)) {
            at += 2;
        } else {
            break;
        }
    }
    at
}

fn without_escapes(text: &str) -> String {
    text.replace('\\', "")
}
