//! One cell of a row as text: numbers, addresses, names, and how they fill their column.

use std::io::Write;

use oxperf_analysis::hist::{Cell, Extra, Measure};

use super::super::percent::Percents;
use super::COUNT_WIDTH;

pub(super) fn push_percents<C>(
    buffer: &mut Vec<u8>,
    percents: &mut [Percents],
    cells: &[C],
    part: impl Fn(&C) -> u64,
) {
    for (percents, cell) in percents.iter_mut().zip(cells) {
        percents.push(buffer, part(cell));
    }
}

/// Appends percentages in a column that is a character too narrow for 100%.
pub(super) fn push_narrow(
    buffer: &mut Vec<u8>,
    percents: &mut [Percents],
    cells: &[Cell],
    part: impl Fn(&Cell) -> u64,
) {
    let start = buffer.len();
    push_percents(buffer, percents, cells, part);
    if buffer[start..].starts_with(b"  ") {
        buffer.remove(start);
    }
}

pub(super) fn push_counts(buffer: &mut Vec<u8>, cells: &[Cell], part: impl Fn(&Cell) -> u64) {
    for cell in cells {
        // Writing to a vector cannot fail.
        let _ = write!(buffer, "{:COUNT_WIDTH$}", part(cell));
    }
}

/// The mean of one of the weights of each event's samples.
pub(super) fn push_means(buffer: &mut Vec<u8>, cells: &[Cell], extras: &[Extra], nth: usize) {
    for (cell, extra) in cells.iter().zip(extras) {
        let sum = extra.weights.get(nth).map_or(0.0, |&sum| sum as f64);
        let mean = if cell.own.samples == 0 {
            0.0
        } else {
            sum / cell.own.samples as f64
        };
        // Writing to a vector cannot fail.
        let _ = write!(buffer, "{mean:8.1}");
    }
}

/// Appends a measure of the branches in a row's chains.
pub(super) fn push_passed(buffer: &mut Vec<u8>, measure: Measure, extra: Option<&Extra>) {
    let passed = extra.map(|extra| extra.passed).unwrap_or_default();
    let times = passed.times.max(1);
    // Writing to a vector cannot fail.
    let _ = match measure {
        Measure::Predicted => write!(
            buffer,
            "{:.1}%",
            passed.predicted as f64 * 100.0 / times as f64
        ),
        Measure::Aborts => write!(buffer, "{}", passed.aborted),
        _ => write!(buffer, "{}", passed.cycles / times),
    };
}

/// Moves a cell to the right end of its column.
pub(super) fn fill(buffer: &mut Vec<u8>, start: usize, width: usize) {
    let missing = width.saturating_sub(buffer.len().saturating_sub(start));
    if missing == 0 {
        return;
    }
    buffer.splice(start..start, std::iter::repeat_n(b' ', missing));
}

/// Writes the numbers of a cell anew: each behind a blank and at least `each` wide, and the rest of the column behind
/// the last.
pub(super) fn spread(buffer: &mut Vec<u8>, start: usize, each: usize, width: usize) {
    let cell = buffer.split_off(start);
    for number in cell
        .split(|&byte| byte == b' ')
        .filter(|number| !number.is_empty())
    {
        buffer.resize(
            buffer.len() + each.saturating_sub(number.len()).max(1),
            b' ',
        );
        buffer.extend_from_slice(number);
    }
    pad(buffer, start, width);
}

/// Cuts a cell to its column, between characters.
pub(super) fn cut(buffer: &mut Vec<u8>, start: usize, width: usize) {
    let cell = buffer.split_off(start);
    push_cut(buffer, &String::from_utf8_lossy(&cell), width);
}

/// A separator within a cell becomes a dot.
pub(super) fn replace(buffer: &mut [u8], start: usize, separator: &str) {
    let cell = buffer.get_mut(start..).unwrap_or_default();
    if let &[separator] = separator.as_bytes() {
        cell.iter_mut()
            .filter(|byte| **byte == separator)
            .for_each(|byte| *byte = b'.');
    }
}

/// Appends an address in the place of a name. As C does it, zero goes without 0x.
pub(super) fn push_nameless(buffer: &mut Vec<u8>, address: u64) {
    match address {
        0 => buffer.extend_from_slice(&[b'0'; 16]),
        _ => push_address(buffer, address),
    }
}

/// Appends `0x` and all 16 digits.
fn push_address(buffer: &mut Vec<u8>, address: u64) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = *b"0x0000000000000000";
    for (digit, place) in text[2..].iter_mut().zip((0..16).rev()) {
        *digit = DIGITS[(address >> (place * 4) & 0xf) as usize];
    }
    buffer.extend_from_slice(&text);
}

/// Appends text that is not narrower than a column.
pub(super) fn push_padded(buffer: &mut Vec<u8>, text: &str, width: usize) {
    let start = buffer.len();
    buffer.extend_from_slice(text.as_bytes());
    pad(buffer, start, width);
}

/// Appends text that is neither narrower nor wider than a column.
pub(super) fn push_cut(buffer: &mut Vec<u8>, text: &str, width: usize) {
    let start = buffer.len();
    let end = (0..=width.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end))
        .unwrap_or(0);
    buffer.extend_from_slice(&text.as_bytes()[..end]);
    pad(buffer, start, width);
}

pub(super) fn pad(buffer: &mut Vec<u8>, start: usize, width: usize) {
    if buffer.len() < start + width {
        buffer.resize(start + width, b' ');
    }
}
