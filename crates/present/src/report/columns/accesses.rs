//! Columns about accesses to memory.

use std::io::Write;

use oxperf_analysis::hist::{AccessKey, Row};
use oxperf_profile::{AccessAddress, Level, MemoryAccess, Profile};

use super::CellSlot;
use super::cells::{pad, push_nameless, push_padded};
use super::names::NameTexts;
use crate::text::mem_text::{block, level, lock, push_size, snoop, translation};

/// Width of an address, with the privilege before it and what perf leaves behind it.
const ADDRESS_WIDTH: usize = "[k] ".len() + 16 + 2;

pub(super) fn access_heading(key: AccessKey) -> &'static str {
    match key {
        AccessKey::DataSymbol => "Data Symbol",
        AccessKey::DataObject => "Data Object",
        AccessKey::Locked => "Locked",
        AccessKey::Translation => "TLB access",
        AccessKey::Level => "Memory access",
        AccessKey::Snoop => "Snoop",
        AccessKey::Line => "Data Cacheline",
        AccessKey::CodeSymbol => "Code Symbol",
        AccessKey::PhysicalAddress => "Data Physical Address",
        AccessKey::PageSize => "Data Page Size",
        AccessKey::Blocked => "Blocked",
    }
}

/// Appends the cell of a key; short words are not filled up by themselves, and names only before another column.
pub(super) fn cell(
    names: &NameTexts<'_>,
    buffer: &mut Vec<u8>,
    key: AccessKey,
    row: &Row,
    slot: CellSlot,
) {
    let width = slot.width;
    let Some(access) = names.profile.details.access(row.detail) else {
        return;
    };
    let start = buffer.len();
    let letter = row.level.letter();
    match key {
        AccessKey::DataSymbol => spot(names, buffer, access.data, letter),
        AccessKey::CodeSymbol => spot(names, buffer, access.code, letter),
        AccessKey::DataObject => {
            let object = access.data.and_then(|spot| names.dso(spot.frame));
            buffer.extend_from_slice(object.unwrap_or("[unknown]").as_bytes());
        }
        AccessKey::Locked => return buffer.extend_from_slice(lock(access.source).as_bytes()),
        AccessKey::Translation => push_padded(buffer, &translation(access.source), width),
        AccessKey::Level => push_padded(buffer, &level(access.source), width),
        AccessKey::Snoop => push_padded(buffer, &snoop(access.source), width),
        AccessKey::Blocked => return buffer.extend_from_slice(block(access.source).as_bytes()),
        AccessKey::Line => line(names, buffer, access, row.level),
        AccessKey::PhysicalAddress => {
            push_letter(buffer, letter);
            push_nameless(buffer, access.physical);
        }
        AccessKey::PageSize => push_size(access.page_size, buffer),
    }
    let is_name = matches!(
        key,
        AccessKey::DataSymbol | AccessKey::CodeSymbol | AccessKey::Line
    );
    pad(buffer, start, if is_name { slot.filled() } else { width });
}

/// True for a cell that is never cut: words of the CPU, addresses, and names with a distance behind them.
pub(super) fn is_never_cut(names: &NameTexts<'_>, key: AccessKey, row: &Row) -> bool {
    let access = names.profile.details.access(row.detail);
    let is_function = |spot: Option<AccessAddress>| {
        spot.and_then(|spot| symbol(names.profile, spot))
            .is_some_and(|symbol| !symbol.is_data)
    };
    match key {
        AccessKey::Translation | AccessKey::Level | AccessKey::Snoop => true,
        AccessKey::DataSymbol | AccessKey::Line => {
            !access.is_some_and(|access| is_function(access.data))
        }
        AccessKey::CodeSymbol => !access.is_some_and(|access| is_function(access.code)),
        _ => false,
    }
}

/// Appends the text of an address: a name, of data with the distance from their beginning, or the address itnames.
fn spot(names: &NameTexts<'_>, buffer: &mut Vec<u8>, spot: Option<AccessAddress>, letter: char) {
    let Some(spot) = spot else { return };
    names.push_origin(buffer, spot.frame, spot.address);
    push_letter(buffer, letter);
    push_spot_name(names, buffer, spot, spot.address);
}

/// Appends the same of the first address of a cache line.
fn line(names: &NameTexts<'_>, buffer: &mut Vec<u8>, access: &MemoryAccess, level: Level) {
    let Some((line, spot)) = access.line.zip(access.data) else {
        return;
    };
    let letter = match (line.shared, line.unmapped) {
        (true, _) => 's',
        (false, true) => 'X',
        (false, false) => level.letter(),
    };
    push_letter(buffer, letter);
    push_spot_name(
        names,
        buffer,
        AccessAddress {
            in_object: line.address,
            ..spot
        },
        line.address,
    );
}

/// Appends the name at a spot, of data with the distance from their beginning, or an address where there is none.
fn push_spot_name(names: &NameTexts<'_>, buffer: &mut Vec<u8>, spot: AccessAddress, nameless: u64) {
    let symbol = symbol(names.profile, spot);
    match (spot_name(names, spot), symbol) {
        (Some(name), Some(symbol)) => {
            buffer.extend_from_slice(name.as_bytes());
            if symbol.is_data {
                // Writing to a vector cannot fail.
                let _ = write!(buffer, "+{:#x}", spot.in_object.wrapping_sub(symbol.start));
            }
        }
        _ => push_nameless(buffer, nameless),
    }
}

fn spot_name<'n>(names: &'n NameTexts<'_>, spot: AccessAddress) -> Option<&'n str> {
    names.symbol_name(spot.frame)
}

fn symbol(profile: &Profile, spot: AccessAddress) -> Option<&oxperf_profile::ProfileSymbol> {
    let frame = profile.frames.get(spot.frame.index())?;
    profile.symbols.get(frame.symbol?.index())
}

fn push_letter(buffer: &mut Vec<u8>, letter: char) {
    buffer.extend_from_slice(&[b'[', letter as u8, b']', b' ']);
}

/// The widths that rows need for columns about accesses.
#[derive(Default)]
pub(super) struct WidestAccess {
    data: usize,
    code: usize,
    line: usize,
    object: usize,
}

impl WidestAccess {
    /// `None` where the row is about none. Data in no object get the width `unresolved`.
    pub(super) fn of_row(
        names: &NameTexts<'_>,
        row: &Row,
        unresolved: usize,
    ) -> Option<WidestAccess> {
        let access = names.profile.details.access(row.detail)?;
        let name = |spot: Option<AccessAddress>| Some(spot_name(names, spot?)?.len());
        let symbol = |spot| name(spot).map_or(ADDRESS_WIDTH, |name| name + ADDRESS_WIDTH);
        let object = access.data.and_then(|spot| names.dso(spot.frame));
        Some(WidestAccess {
            data: symbol(access.data),
            code: symbol(access.code),
            line: symbol(access.data) + usize::from(name(access.data).is_some()),
            object: object.map_or(unresolved, str::len),
        })
    }

    pub(super) fn with(self, other: WidestAccess) -> WidestAccess {
        WidestAccess {
            data: self.data.max(other.data),
            code: self.code.max(other.code),
            line: self.line.max(other.line),
            object: self.object.max(other.object),
        }
    }

    pub(super) fn of_key(&self, key: AccessKey) -> usize {
        match key {
            AccessKey::DataSymbol => self.data,
            AccessKey::CodeSymbol => self.code,
            AccessKey::Line => self.line,
            AccessKey::DataObject => self.object,
            AccessKey::PhysicalAddress | AccessKey::PageSize => ADDRESS_WIDTH,
            AccessKey::Locked => 6,
            AccessKey::Translation => 22,
            AccessKey::Level => 39,
            AccessKey::Snoop => 12,
            AccessKey::Blocked => 10,
        }
    }
}
