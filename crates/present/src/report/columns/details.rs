//! Cells of keys that samples carry themselves: costs, times, sizes, names beside those of code.

use std::borrow::Cow;
use std::io::Write;

use oxperf_analysis::hist::{Row, SortKey, without_digits};
use oxperf_profile::{DataPlace, Detail, NumberCell, NumberKey, Profile, SymbolId};
use rayon::prelude::*;

use super::cells::{fill, pad, push_cut};
use crate::text::mem_text::push_size;
use crate::text::padding::Zeroed;
use crate::text::sanitize;

/// Width of an address with its `0x`.
const ADDRESS_WIDTH: usize = 18;
/// Width of the outcome of transactions where there were any.
const TRANSACTION_WIDTH: usize = 32;
/// Width of a number of a hundred thousand seconds and its fraction.
const TIME_WIDTH: usize = 12;
/// Width of a time with all its digits.
const NANOSECONDS_WIDTH: usize = 16;

/// The outcome of a transaction, lowest bit first.
const TRANSACTION_WORDS: [&str; 8] = [
    "EL ",
    "TX ",
    "SYNC ",
    "ASYNC ",
    "RETRY ",
    "CON ",
    "CAP-WRITE ",
    "CAP-READ ",
];

/// True for a column that is headed by its own name, which stands at its right end.
pub(super) fn is_field(key: SortKey) -> bool {
    matches!(key, SortKey::Field(_))
}

/// The width that rows need, beside the heading's.
pub(super) fn width(profile: &Profile, key: SortKey, rows: &[Row], nanoseconds: bool) -> usize {
    let widest = |text: &(dyn Fn(&Row) -> usize + Sync)| {
        rows.par_iter()
            .with_min_len(4096)
            .map(text)
            .max()
            .unwrap_or(0)
    };
    match key {
        SortKey::CommNoDigit => widest(&|row| {
            let comm = profile
                .threads
                .get(row.thread.index())
                .map_or(row.comm, |thread| thread.comm);
            profile
                .comms
                .get(comm.index())
                .map_or(0, |comm| sanitize(&without_digits(comm)).len())
        }),
        SortKey::Trace | SortKey::Parent => widest(&|row| text(profile, row, key).len()),
        SortKey::Field(number) => {
            let field = profile.details.fields.get(usize::from(number));
            let least = field.map_or(0, |field| field.width);
            match field {
                Some(field) if field.raw => least,
                _ => widest(&|row| text(profile, row, key).len()).max(least),
            }
        }
        SortKey::Cgroup => widest(&|row| cgroup(profile, row).map_or(0, |path| path.len())),
        SortKey::Address => ADDRESS_WIDTH,
        SortKey::Number(key) => key.width,
        SortKey::Time if nanoseconds => NANOSECONDS_WIDTH,
        SortKey::Time => TIME_WIDTH,
        SortKey::Transaction => {
            let any = |row: &Row| number(profile, row, Detail::Transaction) != 0;
            if rows.iter().any(any) {
                TRANSACTION_WIDTH
            } else {
                0
            }
        }
        _ => 0,
    }
}

/// The cell of a row in a column about details of samples.
pub(super) struct DetailCell<'a> {
    pub(super) profile: &'a Profile,
    pub(super) row: &'a Row,
    /// Number of samples that ran in it.
    pub(super) samples: u64,
    /// Width of the column.
    pub(super) width: usize,
}

impl DetailCell<'_> {
    /// Appends a cell.
    pub(super) fn push(&self, buffer: &mut Vec<u8>, key: SortKey, nanoseconds: bool) {
        let (start, width) = (buffer.len(), self.width);
        match key {
            SortKey::Number(key) => self.number_cell(buffer, key),
            SortKey::Trace | SortKey::CgroupId => {
                buffer.extend_from_slice(text(self.profile, self.row, key).as_bytes());
            }
            SortKey::Parent => self.parent(buffer),
            SortKey::Cgroup => buffer.extend_from_slice(self.cgroup().as_bytes()),
            SortKey::Time => self.time(buffer, nanoseconds),
            SortKey::Simd => {}
            SortKey::Field(_) => {
                buffer.extend_from_slice(text(self.profile, self.row, key).as_bytes());
                buffer.truncate(start + width);
                fill(buffer, start, width);
            }
            SortKey::SymbolSize | SortKey::DsoSize => {
                match if key == SortKey::SymbolSize {
                    self.symbol_size()
                } else {
                    self.map_size()
                } {
                    0 => buffer.extend_from_slice(b"unknown"),
                    size => buffer.extend_from_slice(size.to_string().as_bytes()),
                }
                fill(buffer, start, width);
            }
            key => {
                self.padded(buffer, key);
                pad(buffer, start, width);
            }
        }
    }

    /// The cell of a number of samples.
    fn number_cell(&self, buffer: &mut Vec<u8>, key: &'static NumberKey) {
        let (start, width) = (buffer.len(), self.width);
        let value = self
            .profile
            .details
            .value(self.row.detail, Detail::Number(key));
        let number = value.unwrap_or(0);
        // Writing to a vector cannot fail.
        let _ = match key.cell {
            NumberCell::Left | NumberCell::Right => write!(buffer, "{number}"),
            NumberCell::Sum => write!(buffer, "{}", number.wrapping_mul(self.samples)),
            NumberCell::Size => {
                push_size(number, buffer);
                Ok(())
            }
            NumberCell::ZeroFilled { blank } => {
                let digits = width.saturating_sub(blank);
                match value {
                    Some(number) => write!(buffer, "{}", Zeroed(number, digits)),
                    None => write!(buffer, "-{}", Zeroed(1, digits)),
                }
            }
        };
        match key.cell {
            NumberCell::Right | NumberCell::ZeroFilled { .. } => fill(buffer, start, width),
            NumberCell::Left | NumberCell::Sum | NumberCell::Size => pad(buffer, start, width),
        }
    }

    /// A cell that is filled up behind.
    fn padded(&self, buffer: &mut Vec<u8>, key: SortKey) {
        // Writing to a vector cannot fail.
        let _ = match key {
            SortKey::Transaction => return transaction(buffer, self.number(Detail::Transaction)),
            SortKey::Address => {
                let frame = self.profile.frames.get(self.row.frame.index());
                match frame.map_or(0, |frame| frame.address) {
                    // As C does it, zero goes without 0x.
                    0 => write!(buffer, "0"),
                    address => write!(buffer, "{address:#x}"),
                }
            }
            SortKey::DataType | SortKey::DataTypeOffset | SortKey::DataTypeLine => {
                return buffer.extend_from_slice(data_text(self.profile, self.row, key).as_bytes());
            }
            SortKey::NoIpc => write!(buffer, "-      -"),
            SortKey::Ipc => match symbol(self.profile, self.row) {
                Some(symbol) => {
                    let pace = self.profile.ipc.get(&symbol);
                    let (ipc, coverage) = pace.map_or((0.0, 0.0), |pace| (pace.ipc, pace.coverage));
                    write!(buffer, "{ipc:<5.2} [{coverage:5.1}%]")
                }
                None => write!(buffer, "-"),
            },
            _ => Ok(()),
        };
    }

    fn parent(&self, buffer: &mut Vec<u8>) {
        match &*text(self.profile, self.row, SortKey::Parent) {
            "" => push_cut(buffer, "[other]", self.width),
            name => push_cut(buffer, name, self.width),
        }
    }

    /// The size of the row's symbol; 0 without one.
    fn symbol_size(&self) -> u64 {
        let frame = self.profile.frames.get(self.row.frame.index());
        let symbol = frame.and_then(|frame| self.profile.symbols.get(frame.symbol?.index()));
        symbol.map_or(0, |symbol| symbol.end.saturating_sub(symbol.start))
    }

    /// The size of the mapping around the row; 0 without one.
    fn map_size(&self) -> u64 {
        self.profile
            .map_sizes
            .get(self.row.frame.index())
            .copied()
            .flatten()
            .unwrap_or(0)
    }

    fn number(&self, detail: Detail) -> u64 {
        number(self.profile, self.row, detail)
    }

    fn cgroup(&self) -> Cow<'_, str> {
        match self.number(Detail::Cgroup) {
            0 => Cow::Borrowed("N/A"),
            _ => cgroup(self.profile, self.row).unwrap_or(Cow::Borrowed("unknown")),
        }
    }

    fn time(&self, buffer: &mut Vec<u8>, nanoseconds: bool) {
        const SECOND: u64 = 1_000_000_000;
        let time = self.number(Detail::Time);
        let (seconds, part) = (time / SECOND, time % SECOND);
        // Writing to a vector cannot fail.
        let _ = match nanoseconds {
            true => write!(buffer, "{seconds}.{part:09}"),
            false => write!(buffer, "{seconds}.{:06}", part / 1000),
        };
    }
}

/// The data that a row's instructions work on.
fn data_text(profile: &Profile, row: &Row, key: SortKey) -> String {
    let place = profile.data_places.of(row.frame);
    let name = sanitize(place.map_or("(unknown)", |place| &place.name));
    match (key, place.and_then(|place| place.offset)) {
        (SortKey::DataTypeLine, _) => {
            format!("{name}: cache-line {}", place.map_or(0, DataPlace::line))
        }
        (SortKey::DataTypeOffset, Some(offset)) => {
            let field = place
                .and_then(|place| place.field.as_deref())
                .unwrap_or("no field");
            // As C does it, zero goes without 0x.
            let offset = if offset == 0 {
                "0".to_owned()
            } else {
                format!("{offset:#x}")
            };
            format!("{name} +{offset} ({})", sanitize(field))
        }
        _ => name.into_owned(),
    }
}

fn symbol(profile: &Profile, row: &Row) -> Option<SymbolId> {
    profile.frames.get(row.frame.index())?.symbol
}

fn number(profile: &Profile, row: &Row, detail: Detail) -> u64 {
    profile.details.value(row.detail, detail).unwrap_or(0)
}

fn text<'a>(profile: &'a Profile, row: &Row, key: SortKey) -> Cow<'a, str> {
    let text = key
        .detail()
        .and_then(|detail| profile.details.text(row.detail, detail));
    sanitize(text.unwrap_or(""))
}

fn cgroup<'a>(profile: &'a Profile, row: &Row) -> Option<Cow<'a, str>> {
    let path = profile
        .details
        .cgroups
        .get(&number(profile, row, Detail::Cgroup))?;
    Some(sanitize(path))
}

fn transaction(buffer: &mut Vec<u8>, flags: u64) {
    if flags == 0 {
        return;
    }
    let set = TRANSACTION_WORDS
        .iter()
        .zip(0..)
        .filter(|(_, bit)| flags >> bit & 1 == 1);
    set.for_each(|(word, _)| buffer.extend_from_slice(word.as_bytes()));
    const HOW: u64 = 0b1100;
    if flags & HOW == 0 {
        buffer.extend_from_slice(b"NEITHER ");
    }
    if flags >> 32 != 0 {
        // Writing to a vector cannot fail.
        let _ = write!(buffer, ":{:x}", flags >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_in_words() {
        let words = |flags| {
            let mut text = Vec::new();
            transaction(&mut text, flags);
            String::from_utf8(text).unwrap()
        };
        assert_eq!(words(0), "");
        assert_eq!(words(5 << 32 | 1), "EL NEITHER :5");
        assert_eq!(words(0b10100), "SYNC RETRY ");
    }
}
