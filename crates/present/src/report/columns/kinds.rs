//! Columns of kinds of accesses to memory: one for several shares, under a heading of two lines.

use std::io::Write;

use oxperf_analysis::hist::{AccessKinds, Extra, Measure, Table};

use super::cells::pad;
use super::{Column, Columns, Field};
use crate::text::padding::Right;

/// Width of one share.
const PART_WIDTH: usize = 7;

/// The kinds in their order.
fn names(kinds: AccessKinds) -> &'static [&'static str] {
    match kinds {
        AccessKinds::Operation => &["Load", "Store", "Ld+St", "Pfetch", "Exec", "Other"],
        AccessKinds::Cache => &["L1", "L2", "L3", "L4", "L1-buf", "L2-buf", "Other"],
        AccessKinds::Memory => &["RAM", "MSC", "Uncach", "CXL", "IO", "PMEM", "Other"],
        AccessKinds::Snoop => &["Hit", "HitM", "Miss", "Other"],
        AccessKinds::Translation => &["L1-Hit", "L2-Hit", "L?-Hit", "Miss", "Other"],
    }
}

/// The word above all of them.
pub(super) fn title(kinds: AccessKinds) -> &'static str {
    match kinds {
        AccessKinds::Operation => "Mem Op",
        AccessKinds::Cache => "Cache",
        AccessKinds::Memory => "Memory",
        AccessKinds::Snoop => "Snoop",
        AccessKinds::Translation => "D-TLB",
    }
}

/// The kinds that samples of the table's leading event have: the others are not shown.
pub(super) fn met(table: &Table, kinds: AccessKinds) -> Vec<usize> {
    let mut sums = vec![0u64; kinds.count()];
    let places = table.hierarchy();
    for place in (0..table.len()).filter(|&place| places.get(place).is_none_or(|row| row.leaf)) {
        let Some(by_kind) = table
            .extras(place)
            .first()
            .and_then(|extra| extra.by_kind.as_ref())
        else {
            continue;
        };
        sums.iter_mut()
            .zip(by_kind.of(kinds))
            .for_each(|(sum, more)| *sum = sum.saturating_add(*more));
    }
    (0..sums.len()).filter(|&kind| sums[kind] > 0).collect()
}

/// The width of a column that has room for so many.
pub(super) const fn width(met: usize) -> usize {
    met * PART_WIDTH
}

impl Columns<'_> {
    /// The first line of headings, where there are two: words that stand above several columns.
    pub(super) fn upper_heading<'c>(
        &self,
        buffer: &mut Vec<u8>,
        margin: usize,
        columns: impl Iterator<Item = &'c Column<'c>> + Clone,
    ) {
        if !columns.clone().any(|column| kinds_of(column).is_some()) {
            return;
        }
        buffer.extend_from_slice(b"# ");
        buffer.resize(buffer.len() + margin, b' ');
        for (nth, column) in columns.enumerate() {
            buffer.extend_from_slice(if nth == 0 { b"" } else { self.between() });
            let start = buffer.len();
            match kinds_of(column) {
                Some(kinds) if column.kinds.len() > 1 => {
                    let (word, width) = (format!(" {} ", title(kinds)), column.width);
                    // Writing to a vector cannot fail.
                    let _ = write!(buffer, "{word:-^width$}");
                }
                Some(kinds) => {
                    let (word, width) = (title(kinds), column.width);
                    // Writing to a vector cannot fail.
                    let _ = write!(buffer, "{}", Right(word, width));
                }
                None => pad(buffer, start, column.width),
            }
        }
        buffer.push(b'\n');
    }

    /// The shares of a row's kinds.
    pub(super) fn kinds_cell(
        &self,
        buffer: &mut Vec<u8>,
        kinds: AccessKinds,
        extra: Option<&Extra>,
        met: &[usize],
    ) {
        let Some(by_kind) = extra.and_then(|extra| extra.by_kind.as_ref()) else {
            return;
        };
        for sum in met.iter().filter_map(|&kind| by_kind.of(kinds).get(kind)) {
            let share = self
                .percents
                .first()
                .map_or(0.0, |percents| percents.of(*sum));
            // Writing to a vector cannot fail.
            let _ = write!(buffer, "{share:6.1}%");
        }
    }
}

/// The names of the kinds that have a place, as wide as their shares.
pub(super) fn heading(kinds: AccessKinds, met: &[usize]) -> String {
    let names = met.iter().filter_map(|&kind| names(kinds).get(kind));
    names.map(|name| format!("{name:>PART_WIDTH$}")).collect()
}

/// The kinds that a column is about, if it is one of these.
pub(super) fn kinds_of(column: &Column<'_>) -> Option<AccessKinds> {
    match column.field {
        Field::Measure(Measure::Kinds(kinds)) => Some(kinds),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_name() {
        for kinds in [
            AccessKinds::Operation,
            AccessKinds::Cache,
            AccessKinds::Memory,
            AccessKinds::Snoop,
            AccessKinds::Translation,
        ] {
            assert_eq!(names(kinds).len(), kinds.count());
            assert_eq!(heading(kinds, &[0, kinds.count() - 1]).len(), width(2));
        }
    }
}
