//! A symbol table as bytes for the next run, its names where they stand in the files.

use std::sync::Arc;

use oxperf_objects::Found;
use oxperf_objects::elf::SymbolBinding;

use super::{pull, push};
use crate::builder::with_spans;
use crate::demangle::Demangling;
use crate::display_names::DisplayNames;
use crate::entry::Suffix;
use crate::names::{NameTexts, StoredName};
use crate::table::{Stored, SymbolId, SymbolTable};

/// Appends a table.
pub(crate) fn encode(table: &SymbolTable, out: &mut Vec<u8>) {
    out.reserve(table.names.own.len() + 16 * table.symbols.len());
    push(out, table.symbols.len() as u64);
    let mut aliases = table.aliases.iter().peekable();
    let mut last = 0;
    for (id, symbol) in (0..).map(SymbolId).zip(&table.symbols) {
        push(out, symbol.start.wrapping_sub(last));
        last = symbol.start;
        push(out, symbol.end.wrapping_sub(symbol.start));
        push(
            out,
            u64::from(binding_number(symbol.binding)) << 1 | u64::from(symbol.is_data),
        );
        let mut others = Vec::new();
        while let Some((_, name)) = aliases.next_if(|(of, _)| *of == id) {
            others.push(*name);
        }
        push(out, others.len() as u64);
        push_name(out, symbol.name);
        others.into_iter().for_each(|name| push_name(out, name));
    }
    push(out, table.names.own.len() as u64);
    out.extend_from_slice(&table.names.own);
}

fn push_name(out: &mut Vec<u8>, name: StoredName) {
    let is_stub = name.suffix == Suffix::Plt;
    push(out, u64::from(name.file()) << 1 | u64::from(is_stub));
    push(out, name.at.into());
    push(out, name.size.into());
}

/// The table in such bytes, whose names may stand in these files; `None` where they are damaged.
pub(crate) fn decode(
    mut rest: &[u8],
    files: Vec<Arc<Found>>,
    demangling: Demangling,
) -> Option<SymbolTable> {
    // A symbol takes seven bytes at least.
    let count = usize::try_from(pull(&mut rest)?)
        .ok()
        .filter(|count| *count <= rest.len() / 7)?;
    let mut table = SymbolTable {
        symbols: Vec::with_capacity(count),
        names: NameTexts::in_files(files),
        shown: DisplayNames::of(count),
        demangling,
        ..SymbolTable::default()
    };
    let mut last = None;
    for id in (0..u32::try_from(count).ok()?).map(SymbolId) {
        let distance = pull(&mut rest)?;
        let start = last.map_or(Some(distance), |last: u64| {
            last.checked_add(distance.max(1))
        })?;
        last = Some(start);
        let end = start.wrapping_add(pull(&mut rest)?);
        let flags = pull(&mut rest)?;
        let others = pull(&mut rest)?;
        let (binding, is_data) = (binding_of(flags >> 1)?, flags & 1 != 0);
        table.symbols.push(Stored {
            start,
            end,
            name: pull_name(&mut rest)?,
            binding,
            is_data,
        });
        for _ in 0..others {
            table.aliases.push((id, pull_name(&mut rest)?));
        }
    }
    let own = pull(&mut rest)?;
    table.names.own = rest.to_vec();
    (table.names.own.len() as u64 == own).then(|| with_spans(table))
}

fn pull_name(rest: &mut &[u8]) -> Option<StoredName> {
    let kind = pull(rest)?;
    let (at, size) = (
        u32::try_from(pull(rest)?).ok()?,
        u32::try_from(pull(rest)?).ok()?,
    );
    let suffix = if kind & 1 != 0 {
        Suffix::Plt
    } else {
        Suffix::None
    };
    Some(StoredName::in_file(
        u8::try_from(kind >> 1).ok()?,
        at,
        size,
        suffix,
    ))
}

/// A byte, so that a binding keeps its number.
fn binding_number(binding: SymbolBinding) -> u16 {
    match binding {
        SymbolBinding::Local => 0,
        SymbolBinding::Global => 1,
        SymbolBinding::Weak => 2,
        SymbolBinding::Other(number) => 3 + u16::from(number),
    }
}

fn binding_of(number: u64) -> Option<SymbolBinding> {
    Some(match number {
        0 => SymbolBinding::Local,
        1 => SymbolBinding::Global,
        2 => SymbolBinding::Weak,
        other => SymbolBinding::Other(u8::try_from(other - 3).ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf_map::perf_map_table;

    /// Whoever gets to write the bytes can seal them, too: nothing in them is believed.
    #[test]
    fn no_bytes_end_the_reading() {
        let table = perf_map_table(b"1000 10 one\n2000 20 two\n3000 8 three\n");
        let mut bytes = Vec::new();
        encode(&table, &mut bytes);
        let names = |bytes: &[u8]| {
            let table = decode(bytes, Vec::new(), Demangling::On)?;
            let names = table
                .ids()
                .map(|id| table.symbol(id).map(|symbol| symbol.name.to_owned()));
            let names: Vec<_> = names.collect();
            let found = [0, 0x1008, 0x2010, u64::MAX].map(|address| table.lookup(address));
            Some((names, found))
        };
        let known =
            names(&bytes).map(|(names, found)| (names.len(), found.map(|found| found.is_some())));
        assert_eq!(known, Some((3, [false, true, true, false])));
        for at in 0..bytes.len() {
            for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                drop(names(&changed));
                changed.insert(at, 0xff);
                drop(names(&changed));
            }
            drop(names(&bytes[..at]));
        }
    }
}
