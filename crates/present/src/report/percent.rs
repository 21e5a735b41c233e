//! Percentages as text, remembered: neighbouring rows mostly weigh the same.

use std::io::Write;

/// Formats parts of one whole.
#[derive(Debug)]
pub(super) struct Percents {
    whole: u64,
    last: Option<(u64, Vec<u8>)>,
}

impl Percents {
    /// For parts of `whole`.
    pub(super) fn new(whole: u64) -> Percents {
        Percents { whole, last: None }
    }

    /// The part in hundredths; 0 of nothing.
    pub(super) fn of(&self, part: u64) -> f64 {
        if self.whole == 0 { 0.0 } else { part as f64 * 100.0 / self.whole as f64 }
    }

    /// Appends a part, with its sign, 8 wide.
    pub(super) fn push(&mut self, buffer: &mut Vec<u8>, part: u64) {
        match &mut self.last {
            Some((known, text)) if *known == part => buffer.extend_from_slice(text),
            _ => {
                let mut text = Vec::with_capacity(8);
                // Writing to a vector cannot fail.
                let _ = write!(text, "{:7.2}%", self.of(part));
                buffer.extend_from_slice(&text);
                self.last = Some((part, text));
            }
        }
    }
}
