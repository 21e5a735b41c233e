//! Print expressions as tokens.

use super::ctype::IntType;

/// One word of a print expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(u64, IntType),
    /// The text between the quotes, escapes undone.
    Text(Vec<u8>),
    Name(String),
    Symbol(&'static str),
}

/// Longest first, so that `<<` is not two `<`.
const SYMBOLS: [&str; 31] = [
    "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "[", "]", "{", "}", ",", ";",
    "?", ":", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">",
];

/// The tokens of `text`, or `None` when a byte of it begins no token.
pub(super) fn tokens(text: &[u8]) -> Option<Vec<Token>> {
    let mut rest = text.trim_ascii_start();
    let mut tokens = Vec::new();
    while let Some(&first) = rest.first() {
        let (token, after) = match first {
            b'"' => quoted(rest, b'"').map(|(text, after)| (Token::Text(text), after))?,
            b'\'' => character(rest)?,
            b'0'..=b'9' => number(rest)?,
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => name(rest),
            _ => symbol(rest)?,
        };
        tokens.push(token);
        rest = after.trim_ascii_start();
    }
    Some(tokens)
}

/// The text from the quote that `text` begins with to the next one, and what follows.
fn quoted(text: &[u8], quote: u8) -> Option<(Vec<u8>, &[u8])> {
    let mut out = Vec::new();
    let mut rest = text.get(1..)?;
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            _ if byte == quote => return Some((out, rest)),
            b'\\' => {
                let (&escaped, after) = rest.split_first()?;
                out.push(unescape(escaped));
                rest = after;
            }
            _ => out.push(byte),
        }
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        _ => byte,
    }
}

fn character(text: &[u8]) -> Option<(Token, &[u8])> {
    let (inner, after) = quoted(text, b'\'')?;
    match inner.as_slice() {
        [byte] => Some((Token::Number(u64::from(*byte), IntType::INT), after)),
        _ => None,
    }
}

fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text
        .iter()
        .position(|&byte| !byte.is_ascii_alphanumeric() && byte != b'_');
    text.split_at(end.unwrap_or(text.len()))
}

fn name(text: &[u8]) -> (Token, &[u8]) {
    let (word, after) = split_word(text);
    (
        Token::Name(String::from_utf8_lossy(word).into_owned()),
        after,
    )
}

fn symbol(text: &[u8]) -> Option<(Token, &[u8])> {
    let symbol = SYMBOLS
        .into_iter()
        .find(|symbol| text.starts_with(symbol.as_bytes()))?;
    Some((Token::Symbol(symbol), text.get(symbol.len()..)?))
}

fn number(text: &[u8]) -> Option<(Token, &[u8])> {
    let (word, after) = split_word(text);
    let word = std::str::from_utf8(word).ok()?.to_ascii_lowercase();
    let digits = word.trim_end_matches(['u', 'l']);
    let suffix = word.get(digits.len()..)?;
    let (digits, radix) = match digits.strip_prefix("0x") {
        Some(hex) => (hex, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    let value = u64::from_str_radix(digits, radix).ok()?;
    Some((
        Token::Number(value, IntType::of_literal(value, radix != 10, suffix)),
        after,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_symbols_and_numbers_come_apart() {
        let found = tokens(b"\"%d\\n\", REC->a<<0x1fUL 'x'").expect("tokens");
        let expected = [
            Token::Text(b"%d\n".to_vec()),
            Token::Symbol(","),
            Token::Name("REC".into()),
            Token::Symbol("->"),
            Token::Name("a".into()),
            Token::Symbol("<<"),
            Token::Number(0x1f, IntType::new(8, false)),
            Token::Number(120, IntType::INT),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for text in ["\"open", "'ab'", "'", "#", "12x4", "\"\\"] {
            assert_eq!(tokens(text.as_bytes()), None, "{text}");
        }
    }
}
