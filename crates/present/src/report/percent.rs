//! Percentages as text, remembered: neighbouring rows mostly weigh the same.

use std::io::Write;

/// Percentages below this show no digit but 0.
const NOTHING: f64 = 0.005;

/// The colour of a percentage on a terminal: red where much is, green where something is.
pub(super) fn colour(percent: f64) -> &'static [u8] {
    colour_of(percent)[0].as_bytes()
}

/// The colour of a percentage and the text that ends it.
pub(crate) fn colour_of(percent: f64) -> [&'static str; 2] {
    match percent {
        percent if percent >= 5.0 => ["\x1b[31m", "\x1b[m"],
        percent if percent >= 0.5 => ["\x1b[32m", "\x1b[m"],
        _ => [""; 2],
    }
}

/// The text that ends a colour; empty for none.
pub(super) fn end_of(colour: &[u8]) -> &'static [u8] {
    if colour.is_empty() { b"" } else { b"\x1b[m" }
}

/// Formats parts of one whole.
#[derive(Clone, Debug)]
pub(super) struct Percents {
    whole: u64,
    last: u64,
    text: Vec<u8>,
    coloured: bool,
}

impl Percents {
    /// For parts of `whole`.
    pub(super) fn new(whole: u64) -> Percents {
        Percents {
            whole,
            last: 0,
            text: b"   0.00%".to_vec(),
            coloured: false,
        }
    }

    /// Percentages in colours, if `coloured`.
    pub(super) fn coloured(self, coloured: bool) -> Percents {
        Percents { coloured, ..self }
    }

    /// The part in hundredths; 0 of nothing.
    pub(super) fn of(&self, part: u64) -> f64 {
        if self.whole == 0 {
            0.0
        } else {
            part as f64 * 100.0 / self.whole as f64
        }
    }

    /// Parts with the same mark have the same text.
    pub(super) fn mark(&self, part: u64) -> u64 {
        if self.of(part) < NOTHING { 0 } else { part }
    }

    /// Appends a part, with its sign, 8 wide.
    pub(super) fn push(&mut self, buffer: &mut Vec<u8>, part: u64) {
        let percent = self.of(part);
        if percent < NOTHING {
            // Most rows are that small, and what follows is slow.
            return buffer.extend_from_slice(b"   0.00%");
        }
        if self.last != part {
            self.text.clear();
            let colour = if self.coloured { colour(percent) } else { b"" };
            self.text.extend_from_slice(colour);
            // Writing to a vector cannot fail.
            let _ = write!(self.text, "{percent:7.2}%");
            self.text.extend_from_slice(end_of(colour));
            self.last = part;
        }
        buffer.extend_from_slice(&self.text);
    }
}
