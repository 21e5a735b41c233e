//! Names of code that was made at run time: the text files that interpreters write as `/tmp/perf-PID.map`.
//!
//! A line is `START SIZE NAME`, numbers in hex, the name to the end of the line. Addresses are virtual addresses of that
//! process.

use std::collections::BTreeMap;

use oxperf_objects::elf::SymbolBinding;

use crate::builder::build;
use crate::demangle::Demangling;
use crate::entry::{SymbolEntry, SymbolName};
use crate::kallsyms::hex;
use crate::table::SymbolTable;

/// Reads such a file. Lines that are none are skipped. A line takes the place of those before it that begin inside of
/// its code: the interpreter used the place again.
pub fn perf_map_table(text: &[u8]) -> SymbolTable {
    let mut known: BTreeMap<u64, SymbolEntry<'_>> = BTreeMap::new();
    for entry in text.split(|&byte| byte == b'\n').filter_map(parse) {
        let end = entry.start.saturating_add(entry.size.unwrap_or(0));
        while let Some((replaced, _)) = known.range(entry.start..end).next() {
            let replaced = *replaced;
            known.remove(&replaced);
        }
        known.insert(entry.start, entry);
    }
    build(known.into_values().collect(), Demangling::Off)
}

fn parse(line: &[u8]) -> Option<SymbolEntry<'_>> {
    let (start, rest) = split_word(line)?;
    let (size, name) = split_word(rest)?;
    let start = hex(start.strip_prefix(b"0x").unwrap_or(start))?;
    let size = hex(size.strip_prefix(b"0x").unwrap_or(size))?;
    let known = !name.is_empty();
    known.then_some(SymbolEntry {
        start,
        size: Some(size),
        name: SymbolName::plain(name),
        binding: SymbolBinding::Global,
        is_data: false,
    })
}

fn split_word(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = line.iter().position(|&byte| byte == b' ')?;
    Some((line.get(..end)?, line.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_line_of_a_place_names_it() {
        let table = perf_map_table(b"1000 20 old name\n1020 10 kept\nnonsense\n1000 10 new name\n");
        let name = |address| Some(table.symbol(table.lookup(address)?)?.name);
        assert_eq!(name(0x1000), Some("new name"));
        assert_eq!(name(0x1010), None);
        assert_eq!(name(0x102f), Some("kept"));
    }

    #[test]
    fn code_that_covers_older_code_takes_its_place() {
        let table =
            perf_map_table(b"1010 10 inside\n1030 20 across\n1000 40 all of it\n0 0 nothing\n");
        let name = |address| Some(table.symbol(table.lookup(address)?)?.name);
        assert_eq!(
            [0x1018, 0x103f, 0x1040].map(name),
            [Some("all of it"), Some("all of it"), None]
        );
    }
}
