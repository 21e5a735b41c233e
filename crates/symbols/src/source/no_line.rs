//! The source files of code without lines, by the symbols that name files: the compiler and the assembler put one before
//! the symbols of each file that they made.
//!
//! The answer of `addr2line`, which perf asks, decides between them. Behind the last file's symbols the linker puts
//! those that it made local itself, after one without a name: their file is known by no name.

use std::cmp::Reverse;
use std::sync::Arc;

use oxperf_objects::Elf;
use oxperf_objects::elf::{ElfSection, ElfSymbol, SymbolBinding, SymbolKind, SymbolSection};

/// `STT_FILE`: the symbol names a source file.
const FILE: SymbolKind = SymbolKind::Other(object::elf::STT_FILE);

/// The functions of a file, each with the source file that it came from.
#[derive(Debug, Default)]
pub(super) struct Unlined {
    files: Vec<Arc<str>>,
    /// Ascending by start; of several at one address the last holds.
    functions: Vec<Function>,
}

#[derive(Clone, Copy, Debug)]
struct Function {
    start: u64,
    /// The end of its section.
    end: u64,
    /// The number of its file, where that is known.
    file: Option<u32>,
}

impl Unlined {
    /// The functions of a file that has symbols.
    pub(super) fn read(elf: &Elf<'_>) -> Unlined {
        let mut read = Unlined::default();
        let Some(table) = elf.section_of_kind(object::elf::SHT_SYMTAB) else {
            return read;
        };
        let mut seen = Seen::default();
        let mut found: Vec<(Function, Fitness)> = Vec::new();
        for symbol in elf.symbols(table) {
            if symbol.kind == FILE {
                seen.file = u32::try_from(read.files.len()).ok();
                seen.is_one_of_many |= seen.has_symbols;
                read.files.push(String::from_utf8_lossy(symbol.name).into());
                continue;
            }
            seen.has_symbols = true;
            if let Some(section) = section_of(&symbol, elf) {
                let end = section.address.saturating_add(section.size);
                let function = Function {
                    start: symbol.value,
                    end,
                    file: seen.file_of(&symbol),
                };
                found.push((function, fitness(&symbol)));
            }
        }
        found.sort_by_key(|(function, fitness)| (function.start, *fitness));
        read.functions = found.into_iter().map(|(function, _)| function).collect();
        read
    }

    /// The source file of the function at an address or closest before it in its section, which may have no name; `None`
    /// where none is known.
    pub(super) fn file(&self, address: u64) -> Option<Arc<str>> {
        let after = self
            .functions
            .partition_point(|function| function.start <= address);
        let function = self.functions.get(after.checked_sub(1)?)?;
        let file = function.file.filter(|_| address < function.end)?;
        self.files.get(file as usize).cloned()
    }
}

/// The symbols before a symbol.
#[derive(Default)]
struct Seen {
    /// The last file.
    file: Option<u32>,
    has_symbols: bool,
    /// True if a file came after other symbols: it is one of several then, and symbols that are not local, which stand
    /// behind all files, may come from any of them.
    is_one_of_many: bool,
}

impl Seen {
    fn file_of(&self, symbol: &ElfSymbol<'_>) -> Option<u32> {
        self.file
            .filter(|_| symbol.binding == SymbolBinding::Local || !self.is_one_of_many)
    }
}

/// The section of a symbol that may be a function.
fn section_of<'e, 'a>(symbol: &ElfSymbol<'_>, elf: &'e Elf<'a>) -> Option<&'e ElfSection<'a>> {
    let is_code = match symbol.kind {
        SymbolKind::Function | SymbolKind::IndirectFunction => true,
        SymbolKind::Label => {
            !(symbol.hidden && symbol.size == 0 && symbol.binding == SymbolBinding::Local)
        }
        SymbolKind::Object | SymbolKind::Other(_) => false,
    };
    match symbol.place {
        SymbolSection::Section(index) if is_code => elf.sections().get(usize::from(index)),
        _ => None,
    }
}

/// The fitness of one of several symbols at an address to name it: functions before labels, the smallest before larger
/// ones.
type Fitness = (bool, Reverse<u64>);

fn fitness(symbol: &ElfSymbol<'_>) -> Fitness {
    (symbol.kind != SymbolKind::Label, Reverse(symbol.size))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &[u8] = include_bytes!("../../tests/unlined/unlined.so");

    /// The file that this function comes from.
    fn file(name: &str) -> Option<String> {
        let elf = Elf::parse(LIBRARY).unwrap();
        let table = elf.section_of_kind(object::elf::SHT_SYMTAB).unwrap();
        let symbol = elf
            .symbols(table)
            .find(|symbol| symbol.name == name.as_bytes())
            .unwrap();
        let unlined = Unlined::read(&elf);
        let [first, last] = [0, symbol.size - 1].map(|within| unlined.file(symbol.value + within));
        assert_eq!(first, last);
        Some(first?.to_string())
    }

    #[test]
    fn local_functions_come_from_the_file_named_before_them() {
        assert_eq!(
            [file("inner").as_deref(), file("own").as_deref()],
            [Some("stranger.c"), Some("label.o")]
        );
    }

    #[test]
    fn what_the_linker_made_local_comes_from_a_file_without_a_name() {
        assert_eq!(file("hidden").as_deref(), Some(""));
    }

    #[test]
    fn what_several_files_may_have_made_comes_from_none() {
        assert_eq!([file("stranger"), file("label")], [None, None]);
    }

    #[test]
    fn a_section_ends_its_last_function() {
        let elf = Elf::parse(LIBRARY).unwrap();
        let text = elf.section(b".text").unwrap();
        let unlined = Unlined::read(&elf);
        let end = text.address + text.size;
        assert_eq!(unlined.file(end - 1).as_deref(), Some("label.o"));
        assert_eq!([unlined.file(end), unlined.file(0)], [None, None]);
    }
}
