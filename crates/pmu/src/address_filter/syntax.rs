//! The text of filters to their parts.
//!
//! Spaces separate, and end symbols and actions; after a number nothing needs to. Between filters commas separate too, and
//! they end the name of a file. Each filter takes at least one byte of the text, and each byte is looked at a few times.

use super::number::{Number, leading};
use super::{AddressFilter, Extent, FilterAction, FilterStart, Occurrence, SymbolReference};

/// The word for all of a file or of the kernel.
const EVERYTHING: &str = "*";

/// A text that is no list of filters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilterSyntaxError {
    /// A part is missing, or is none.
    Malformed,
    /// A number has more than 64 bits.
    TooLarge,
}

/// Reads filters. A text without any character has none.
///
/// # Errors
/// See [`FilterSyntaxError`].
pub fn parse(text: &str) -> Result<Vec<AddressFilter>, FilterSyntaxError> {
    let mut scanner = Scanner { rest: text };
    let mut filters = Vec::new();
    while !scanner.rest.is_empty() {
        filters.push(scanner.filter()?);
    }
    Ok(filters)
}

struct Scanner<'t> {
    rest: &'t str,
}

impl<'t> Scanner<'t> {
    fn filter(&mut self) -> Result<AddressFilter, FilterSyntaxError> {
        self.skip_spaces();
        let word = self.word(&[' '])?;
        let action = FilterAction::of_word(word).ok_or(FilterSyntaxError::Malformed)?;
        let start = match self.place()? {
            Place::Number(address) => FilterStart::Address(address),
            Place::Symbol(symbol) if symbol.name == EVERYTHING => FilterStart::Everything,
            Place::Symbol(symbol) => FilterStart::Symbol(symbol),
        };
        let extent = match self.takes('/') {
            true => Some(match self.place()? {
                Place::Number(bytes) => Extent::Bytes(bytes),
                Place::Symbol(symbol) => Extent::ToEndOf(symbol),
            }),
            false => None,
        };
        let file = match self.takes('@') {
            true => Some(self.file()?.to_owned()),
            false => None,
        };
        self.rest = self.rest.trim_start_matches([' ', ',']);
        Ok(AddressFilter {
            action,
            start,
            extent,
            file,
        })
    }

    fn place(&mut self) -> Result<Place, FilterSyntaxError> {
        self.skip_spaces();
        if let Some(number) = leading(self.rest) {
            return self.take(number).map(Place::Number);
        }
        let name = self.word(&[' '])?.to_owned();
        let occurrence = self.occurrence()?;
        Ok(Place::Symbol(SymbolReference { name, occurrence }))
    }

    fn file(&mut self) -> Result<&'t str, FilterSyntaxError> {
        self.skip_spaces();
        // A file whose name begins with a digit is written with its folder.
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(FilterSyntaxError::Malformed);
        }
        self.word(&[' ', ','])
    }

    fn occurrence(&mut self) -> Result<Occurrence, FilterSyntaxError> {
        if !self.takes('#') {
            return Ok(Occurrence::Only);
        }
        if let Some(rest) = self.rest.strip_prefix(['g', 'G']) {
            self.rest = rest;
            return Ok(Occurrence::Global);
        }
        self.rest = self.rest.trim_ascii_start();
        self.rest = self.rest.strip_prefix('+').unwrap_or(self.rest);
        let number = leading(self.rest).ok_or(FilterSyntaxError::Malformed)?;
        // The kernel's and perf's counts are signed.
        match u32::try_from(self.take(number)?) {
            Ok(0) => Ok(Occurrence::Global),
            Ok(nth) if i32::try_from(nth).is_ok() => Ok(Occurrence::Nth(nth)),
            _ => Err(FilterSyntaxError::Malformed),
        }
    }

    fn take(&mut self, number: Number) -> Result<u64, FilterSyntaxError> {
        let Number::Value(value, length) = number else {
            return Err(FilterSyntaxError::TooLarge);
        };
        self.rest = &self.rest[length..];
        Ok(value)
    }

    /// The characters before the next of `ends`, which is skipped.
    fn word(&mut self, ends: &[char]) -> Result<&'t str, FilterSyntaxError> {
        let (word, rest) = self.rest.split_once(ends).unwrap_or((self.rest, ""));
        self.rest = rest;
        match word {
            "" => Err(FilterSyntaxError::Malformed),
            word => Ok(word),
        }
    }

    /// Skips spaces, and a mark behind them; returns whether there is one.
    fn takes(&mut self, mark: char) -> bool {
        self.skip_spaces();
        let behind = self.rest.strip_prefix(mark);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(' ');
    }
}

enum Place {
    Number(u64),
    Symbol(SymbolReference),
}
