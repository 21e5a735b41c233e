//! The kernel's own list of symbols (`/proc/kallsyms`), by absolute address.
//!
//! A line is `ffffffff81000000 T _text`, with a tab and `[module]` behind it for symbols of modules.

mod cached;
mod running;

use oxperf_objects::elf::SymbolBinding;

use crate::builder::build;
use crate::demangle::Demangling;
use crate::entry::{SymbolEntry, SymbolName};
use crate::reference_symbol::ReferenceSymbol;
use crate::table::SymbolTable;

pub(crate) use running::RunningKernel;

use self::cached::{CachedKallsyms, REFERENCES};

/// Modules end at page borders.
const PAGE: u64 = 4096;

/// Reads a kallsyms text. Lines that are none are skipped.
///
/// The text may come from another boot of the same kernel, which then lay elsewhere: `reference` says where one symbol was
/// when the recording was made, and everything moves with it. A text whose addresses are hidden (all zero) gives no symbol.
pub fn kallsyms_table(
    text: &[u8],
    reference: Option<&ReferenceSymbol<'_>>,
    demangling: Demangling,
) -> SymbolTable {
    let lines: Vec<Line<'_>> = lines(text).collect();
    let shift = reference.and_then(|reference| {
        Some(
            reference
                .address
                .wrapping_sub(address_of(&lines, reference.symbol)?),
        )
    });
    table_of(lines, shift.unwrap_or(0), demangling)
}

/// Reads the list of the kernel that runs here: without programs (BPF) that somebody has loaded by now. Recordings tell of
/// those that were loaded then, with the times.
fn running_table(text: &[u8], demangling: Demangling) -> CachedKallsyms {
    let lines: Vec<Line<'_>> = lines(text)
        .filter(|line| line.module != Some(b"[bpf]"))
        .collect();
    let references = REFERENCES.map(|symbol| address_of(&lines, symbol));
    CachedKallsyms {
        table: table_of(lines, 0, demangling),
        references,
    }
}

fn table_of(mut lines: Vec<Line<'_>>, shift: u64, demangling: Demangling) -> SymbolTable {
    lines.retain(|line| line.is_kept());
    if lines.iter().all(|line| line.address == 0) {
        return SymbolTable::default();
    }
    lines.sort_by_key(|line| line.address);
    let nexts = lines.iter().skip(1).map(Some).chain([None]);
    let entries = lines
        .iter()
        .zip(nexts)
        .map(|(line, next)| line.entry(next, shift))
        .collect();
    build(entries, demangling)
}

/// The address of a symbol of the kernel itself.
fn address_of(lines: &[Line<'_>], symbol: &[u8]) -> Option<u64> {
    lines
        .iter()
        .find(|line| line.name == symbol && line.module.is_none())
        .map(|line| line.address)
}

/// The lines of a text, in its order.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = Line<'_>> + Clone {
    text.split(|&byte| byte == b'\n').filter_map(parse)
}

/// One line of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) address: u64,
    pub(crate) kind: u8,
    name: &'a [u8],
    module: Option<&'a [u8]>,
}

fn parse(line: &[u8]) -> Option<Line<'_>> {
    let (address, rest) = word(line)?;
    let (kind, rest) = word(rest)?;
    let (name, rest) = word(rest)?;
    let [kind] = *kind else { return None };
    Some(Line {
        address: hex(address)?,
        kind,
        name,
        module: word(rest).map(|(module, _)| module),
    })
}

/// The first word of a line, and what is behind it.
fn word(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.trim_ascii_start();
    let end = line
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(line.len());
    (end > 0).then(|| line.split_at(end))
}

/// The value of hexadecimal digits.
pub(crate) fn hex(digits: &[u8]) -> Option<u64> {
    let value = digits.iter().try_fold(0u64, |value, &digit| {
        let digit = char::from(digit).to_digit(16)?;
        Some(value.checked_mul(16)? | u64::from(digit))
    });
    value.filter(|_| !digits.is_empty())
}

impl<'a> Line<'a> {
    /// Code and data are kept; read-only data and absolute numbers are not, nor what the kernel made for itself.
    fn is_kept(&self) -> bool {
        let made_up = self
            .module
            .is_some_and(|module| module.starts_with(b"[__builtin__"));
        !made_up && matches!(self.kind.to_ascii_uppercase(), b'T' | b'W' | b'D' | b'B')
    }

    /// A symbol ends where the next one starts, but not in another module.
    fn entry(&self, next: Option<&Line<'a>>, shift: u64) -> SymbolEntry<'a> {
        let last_of_module =
            next.is_some_and(|next| next.module.is_some() != self.module.is_some());
        let to_page = self
            .address
            .saturating_add(PAGE)
            .checked_next_multiple_of(PAGE);
        SymbolEntry {
            start: self.address.wrapping_add(shift),
            size: to_page
                .filter(|_| last_of_module)
                .map(|end| end - self.address),
            name: SymbolName::plain(self.name),
            binding: self.binding(),
            is_data: !self.is_function(),
        }
    }

    /// Returns whether it names code.
    pub(crate) fn is_function(&self) -> bool {
        matches!(self.kind.to_ascii_uppercase(), b'T' | b'W')
    }

    /// Returns whether it has this name, which may say the module behind a tab.
    pub(crate) fn is_called(&self, name: &[u8]) -> bool {
        match name.strip_prefix(self.name) {
            Some([]) => true,
            Some([b'\t', module @ ..]) => self.module == Some(module),
            _ => false,
        }
    }

    /// The name as the list writes it, with the module.
    pub(crate) fn name_with_module(&self) -> String {
        let name = String::from_utf8_lossy(self.name);
        let module = self.module.map(String::from_utf8_lossy);
        module.map_or_else(|| name.to_string(), |module| format!("{name}\t{module}"))
    }

    fn binding(&self) -> SymbolBinding {
        match self.kind {
            b'W' | b'w' => SymbolBinding::Weak,
            kind if kind.is_ascii_uppercase() => SymbolBinding::Global,
            _ => SymbolBinding::Local,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"0000000000000000 A fixed_percpu_data\n\
        ffffffff81000000 T _stext\n\
        ffffffff81000000 T _text\n\
        not a line\n\
        ffffffff81000100 t local\n\
        ffffffff81000180 R read_only\n\
        ffffffffc0201000 t ftrace_trampoline\t[__builtin__ftrace]\n\
        ffffffffc0300000 t in_module\t[ext4]\n";

    fn name_at(table: &SymbolTable, address: u64) -> Option<&str> {
        Some(table.symbol(table.lookup(address)?)?.name)
    }

    #[test]
    fn the_last_name_of_an_address_stays() {
        let table = kallsyms_table(TEXT, None, Demangling::Off);
        assert_eq!(name_at(&table, 0xffff_ffff_8100_0000), Some("_text"));
        assert_eq!(name_at(&table, 0xffff_ffff_8100_00ff), Some("_text"));
        assert_eq!(name_at(&table, 0xffff_ffff_80ff_ffff), None);
    }

    #[test]
    fn the_kernel_ends_a_page_behind_its_last_symbol_where_modules_follow() {
        let table = kallsyms_table(TEXT, None, Demangling::Off);
        assert_eq!(name_at(&table, 0xffff_ffff_8100_0190), Some("local"));
        assert_eq!(name_at(&table, 0xffff_ffff_8100_1fff), Some("local"));
        assert_eq!(name_at(&table, 0xffff_ffff_8100_2000), None);
        assert_eq!(name_at(&table, 0xffff_ffff_c030_0010), Some("in_module"));
        assert_eq!(name_at(&table, 0xffff_ffff_c020_1000), None);
    }

    #[test]
    fn another_boot_moves_everything_with_the_reference() {
        let reference = ReferenceSymbol {
            symbol: b"_text",
            address: 0xffff_ffff_9200_0000,
        };
        let table = kallsyms_table(TEXT, Some(&reference), Demangling::Off);
        assert_eq!(name_at(&table, 0xffff_ffff_9200_0101), Some("local"));
        assert_eq!(name_at(&table, 0xffff_ffff_8100_0101), None);
    }

    #[test]
    fn programs_that_are_loaded_now_tell_nothing_of_what_ran_then() {
        let text = b"ffffffff81000000 T _text\nffffffffc0400000 t bpf_prog_1234_new\t[bpf]\n";
        let running = running_table(text, Demangling::Off);
        assert_eq!(running.references, [Some(0xffff_ffff_8100_0000), None]);
        assert_eq!(name_at(&running.table, 0xffff_ffff_c040_0000), None);
        let copied = kallsyms_table(text, None, Demangling::Off);
        assert_eq!(
            name_at(&copied, 0xffff_ffff_c040_0000),
            Some("bpf_prog_1234_new")
        );
    }

    #[test]
    fn hidden_addresses_name_nothing() {
        let table = kallsyms_table(
            b"0000000000000000 T _text\n0000000000000000 t local\n",
            None,
            Demangling::Off,
        );
        assert!(table.is_empty());
    }
}
