//! Columns about branches.

use std::borrow::Cow;
use std::io::Write;

use oxperf_abi::BranchEntry;
use oxperf_analysis::hist::{BranchKey, Row};
use oxperf_profile::{BranchEnd, Level, SampleBranch};

use super::cells::{pad, push_cut, push_nameless, push_padded};
use super::names::NameTexts;
use super::{ADDRESS_WIDTH, CellSlot};
use crate::text::padding::Left;
use crate::text::sanitize;

pub(super) fn branch_heading(key: BranchKey) -> &'static str {
    match key {
        BranchKey::DsoFrom => "Source Shared Object",
        BranchKey::DsoTo => "Target Shared Object",
        BranchKey::SymbolFrom => "Source Symbol",
        BranchKey::SymbolTo => "Target Symbol",
        BranchKey::AddressFrom => "Source Address",
        BranchKey::AddressTo => "Target Address",
        BranchKey::LineFrom => "From Source:Line",
        BranchKey::LineTo => "To Source:Line",
        BranchKey::Mispredicted => "Branch Mispredicted",
        BranchKey::InTransaction => "Branch in transaction",
        BranchKey::Abort => "Transaction abort",
        BranchKey::Cycles => "Basic Block Cycles",
    }
}

/// The cell of a row that is about no branch.
const NO_BRANCH: &str = "N/A";

fn branch_of<'p>(names: &NameTexts<'p>, row: &Row) -> Option<&'p SampleBranch> {
    names.profile.branches.get(row.branch?.index())
}

/// Appends the cell of a key, at least as wide as its column.
pub(super) fn cell(
    names: &NameTexts<'_>,
    buffer: &mut Vec<u8>,
    key: BranchKey,
    row: &Row,
    slot: CellSlot,
) {
    let width = slot.width;
    let Some(branch) = branch_of(names, row) else {
        return push_padded(buffer, NO_BRANCH, width);
    };
    let letter = |bit, set: &'static str| if branch.is(bit) { set } else { "." };
    match key {
        BranchKey::DsoFrom => push_cut(
            buffer,
            names.dso(branch.from.frame).unwrap_or("[unknown]"),
            width,
        ),
        BranchKey::DsoTo => push_cut(
            buffer,
            names.dso(branch.to.frame).unwrap_or("[unknown]"),
            width,
        ),
        BranchKey::SymbolFrom => branch_symbol(names, buffer, branch.from, width),
        BranchKey::SymbolTo => branch_symbol(names, buffer, branch.to, width),
        BranchKey::AddressFrom => branch_address(names, buffer, row.level, branch.from, slot),
        BranchKey::AddressTo => branch_address(names, buffer, row.level, branch.to, slot),
        BranchKey::LineFrom => push_padded(buffer, &branch_line(names, branch.from), width),
        BranchKey::LineTo => push_padded(buffer, &branch_line(names, branch.to), width),
        BranchKey::Mispredicted => push_padded(buffer, prediction(branch), width),
        BranchKey::InTransaction => {
            push_padded(buffer, letter(BranchEntry::IN_TRANSACTION, "T"), width);
        }
        BranchKey::Abort => push_padded(buffer, letter(BranchEntry::ABORT, "A"), width),
        BranchKey::Cycles => match branch.cycles() {
            0 => push_padded(buffer, "-", width),
            // Writing to a vector cannot fail.
            cycles => drop(write!(buffer, "{}", Left(cycles, width))),
        },
    }
}

fn branch_symbol(names: &NameTexts<'_>, buffer: &mut Vec<u8>, end: BranchEnd, width: usize) {
    let Some(frame) = names.profile.frames.get(end.frame.index()) else {
        return;
    };
    let start = buffer.len();
    let address = end
        .address
        .map_or(frame.dso_address, |(_, in_object)| in_object);
    names.push_origin(buffer, end.frame, address);
    buffer.extend_from_slice(&[b'[', frame.level.letter() as u8, b']', b' ']);
    match names.symbol_name(end.frame) {
        Some(name) => buffer.extend_from_slice(name.as_bytes()),
        None => push_nameless(buffer, frame.dso_address),
    }
    pad(buffer, start, width);
}

/// The name is cut to the column, the distance from the symbol's beginning is not. The last column is not filled up.
fn branch_address(
    names: &NameTexts<'_>,
    buffer: &mut Vec<u8>,
    level: Level,
    end: BranchEnd,
    slot: CellSlot,
) {
    let Some(frame) = names.profile.frames.get(end.frame.index()) else {
        return;
    };
    let (_, address) = end.address.unwrap_or((frame.address, frame.dso_address));
    let start = buffer.len();
    buffer.extend_from_slice(&[b'[', level.letter() as u8, b']', b' ']);
    let symbol = frame
        .symbol
        .and_then(|symbol| names.profile.symbols.get(symbol.index()));
    match (symbol, names.symbol_name(end.frame)) {
        (Some(symbol), Some(name)) => {
            let room = slot.width.saturating_sub(LEVEL_WIDTH);
            push_cut(buffer, name, room.min(name.len()));
            match address.wrapping_sub(symbol.start) {
                0 => {}
                // Writing to a vector cannot fail.
                distance => drop(write!(buffer, "+{distance:#x}")),
            }
        }
        _ => push_nameless(buffer, address),
    }
    pad(buffer, start, slot.filled());
}

fn branch_line<'p>(names: &NameTexts<'p>, end: BranchEnd) -> Cow<'p, str> {
    sanitize(names.profile.branch_line(end).unwrap_or_default())
}

/// True for a cell that shows an address in the place of a name.
pub(super) fn is_address(names: &NameTexts<'_>, key: BranchKey, row: &Row) -> bool {
    let nameless = |end: BranchEnd| names.symbol_name(end.frame).is_none();
    branch_of(names, row).is_some_and(|branch| match key {
        BranchKey::SymbolFrom => nameless(branch.from),
        BranchKey::SymbolTo => nameless(branch.to),
        BranchKey::AddressFrom | BranchKey::AddressTo => true,
        _ => false,
    })
}

/// Width of a level and the blank behind it.
const LEVEL_WIDTH: usize = "[k] ".len();

fn prediction(branch: &SampleBranch) -> &'static str {
    match (
        branch.is(BranchEntry::PREDICTED),
        branch.is(BranchEntry::MISPREDICTED),
    ) {
        (false, true) => "Y",
        _ => "N",
    }
}

/// The widths that rows need for columns about branches; of both ends, the source's first.
#[derive(Default)]
pub(super) struct WidestBranch {
    dso: [usize; 2],
    symbol: [usize; 2],
    address: [usize; 2],
    line: [usize; 2],
}

impl WidestBranch {
    /// `None` where the row is about none. An object without a symbol gets the width `unresolved`, whatever it is called.
    pub(super) fn of_row(
        names: &NameTexts<'_>,
        row: &Row,
        unresolved: usize,
    ) -> Option<WidestBranch> {
        let branch = branch_of(names, row)?;
        let ends = [branch.from, branch.to];
        let symbol = |end: BranchEnd| names.symbol_name(end.frame);
        let dso = |end: BranchEnd| names.dso(end.frame).map_or(0, str::len);
        Some(WidestBranch {
            dso: ends.map(|end| {
                if symbol(end).is_some() {
                    dso(end)
                } else {
                    unresolved
                }
            }),
            symbol: ends.map(|end| {
                symbol(end).map_or(ADDRESS_WIDTH, |name| name.len() + names.around_names())
            }),
            address: ends.map(|end| symbol(end).map_or(ADDRESS_WIDTH, |_| 0)),
            line: ends.map(|end| branch_line(names, end).len()),
        })
    }

    pub(super) fn with(self, other: WidestBranch) -> WidestBranch {
        let wider =
            |one: [usize; 2], other: [usize; 2]| [one[0].max(other[0]), one[1].max(other[1])];
        WidestBranch {
            dso: wider(self.dso, other.dso),
            symbol: wider(self.symbol, other.symbol),
            address: wider(self.address, other.address),
            line: wider(self.line, other.line),
        }
    }

    pub(super) fn of_key(&self, key: BranchKey) -> usize {
        match key {
            BranchKey::DsoFrom => self.dso[0],
            BranchKey::DsoTo => self.dso[1],
            BranchKey::SymbolFrom => self.symbol[0],
            BranchKey::SymbolTo => self.symbol[1],
            BranchKey::AddressFrom => self.address[0],
            BranchKey::AddressTo => self.address[1],
            BranchKey::LineFrom => self.line[0],
            BranchKey::LineTo => self.line[1],
            BranchKey::Mispredicted
            | BranchKey::InTransaction
            | BranchKey::Abort
            | BranchKey::Cycles => 0,
        }
    }
}
