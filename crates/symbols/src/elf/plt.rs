//! Names for the stubs through which a program calls other objects: `getpid@plt`.
//!
//! No symbol table names them. The relocations of the linkage table say which function each stub calls: the stubs stand in
//! the order of the relocations, or (in `.plt.got`) each says by its jump which relocated word it goes through.

use std::cmp::Ordering;
use std::collections::HashMap;

use object::elf;
use oxperf_objects::Elf;
use oxperf_objects::elf::{ElfSection, Relocation, SymbolBinding};

use crate::builder::compare_aliases;
use crate::demangle::Demangling;
use crate::entry::{Suffix, SymbolEntry, SymbolName};

/// A stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stub<'a> {
    /// Offset of its first byte in the file.
    pub start: u64,
    /// Size in bytes; 0 where the file does not say.
    pub size: u64,
    /// The function that it is for.
    pub target: StubTarget<'a>,
}

/// The function that a stub calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StubTarget<'a> {
    /// The head of `.plt`, which looks functions up.
    Lookup,
    /// The function of that name.
    Function(&'a [u8]),
    /// A function that the code at this virtual address chooses at load time.
    Chosen(i64),
}

/// The stubs of a linked file.
pub fn linkage_stubs<'a>(image: &Elf<'a>) -> Vec<Stub<'a>> {
    let mut stubs = Vec::new();
    add_ordered(image, &mut stubs);
    add_decoded(image, &mut stubs);
    stubs
}

/// The stubs as symbols, by file offset. `known` are the symbols found so far: a stub for code that is chosen at load
/// time is called like the code that chooses.
pub(super) fn entries<'a>(image: &Elf<'a>, known: &[SymbolEntry<'a>]) -> Vec<SymbolEntry<'a>> {
    let stubs = linkage_stubs(image);
    let choosers = choosers(image, &stubs, known);
    let named = stubs.iter().filter_map(|stub| {
        let name = match stub.target {
            StubTarget::Lookup => SymbolName::plain(b".plt"),
            StubTarget::Function(name) => SymbolName {
                linkage: name,
                suffix: Suffix::Plt,
            },
            StubTarget::Chosen(by) => SymbolName {
                linkage: choosers.get(&by)?,
                suffix: Suffix::Plt,
            },
        };
        let size = (stub.size > 0).then_some(stub.size);
        Some(SymbolEntry {
            start: stub.start,
            size,
            name,
            binding: SymbolBinding::Global,
            is_data: false,
        })
    });
    named.collect()
}

/// The names of the code that chooses, by its address.
fn choosers<'a>(
    image: &Elf<'a>,
    stubs: &[Stub<'a>],
    known: &[SymbolEntry<'a>],
) -> HashMap<i64, &'a [u8]> {
    let wanted: HashMap<u64, i64> = stubs
        .iter()
        .filter_map(|stub| match stub.target {
            StubTarget::Chosen(by) => Some((image.address_to_offset(by as u64)?, by)),
            _ => None,
        })
        .collect();
    let mut best: HashMap<i64, &SymbolEntry<'a>> = HashMap::new();
    for entry in known.iter().filter(|_| !wanted.is_empty()) {
        let Some(by) = wanted.get(&entry.start) else {
            continue;
        };
        let kept = best.entry(*by).or_insert(entry);
        if compare_aliases(kept, entry, Demangling::Off) == Ordering::Less {
            *kept = entry;
        }
    }
    best.into_iter()
        .map(|(by, entry)| (by, entry.name.linkage))
        .collect()
}

/// Size of the head of `.plt` and of one stub.
struct Shape {
    head: u64,
    stub: u64,
}

/// The layout of the stubs in `plt` whose relocations are in `table`.
fn shape(image: &Elf<'_>, plt: &ElfSection<'_>, table: Option<&ElfSection<'_>>) -> Shape {
    match image.machine() {
        elf::EM_ARM => Shape { head: 20, stub: 12 },
        elf::EM_AARCH64 => Shape { head: 32, stub: 16 },
        elf::EM_X86_64 | elf::EM_386 => {
            let stub = match (plt.entry_size, plt.alignment) {
                (size @ (8 | 16), _) | (_, size @ 8) => size,
                _ => 16,
            };
            // The head calls the loader, which a static program has not.
            let symbols = table.and_then(|table| linked(image, table));
            let is_static = symbols.is_some_and(|symbols| symbols.kind != elf::SHT_DYNSYM);
            Shape {
                head: if is_static { 0 } else { stub },
                stub,
            }
        }
        _ => Shape {
            head: plt.entry_size,
            stub: plt.entry_size,
        },
    }
}

/// The symbols that relocations refer to.
fn linked<'s, 'a>(image: &'s Elf<'a>, relocations: &ElfSection<'_>) -> Option<&'s ElfSection<'a>> {
    image
        .sections()
        .get(usize::try_from(relocations.link).ok()?)
}

/// `.plt` and `.plt.sec`: stubs in the order of the relocations of the linkage table.
fn add_ordered<'a>(image: &Elf<'a>, stubs: &mut Vec<Stub<'a>>) {
    let Some(plt) = image.section(b".plt") else {
        return;
    };
    let table = relocations_of_linkage(image);
    let Shape { head, stub: size } = shape(image, plt, table);
    if head > 0 {
        stubs.push(Stub {
            start: plt.offset,
            size: head,
            target: StubTarget::Lookup,
        });
    }
    let (section, first) = match image.section(b".plt.sec") {
        Some(second) => (second, second.offset),
        None => (plt, plt.offset.saturating_add(head)),
    };
    let limit = section.offset.saturating_add(section.size);
    let Some(table) = table else { return };
    let mut relocations = image.relocations(table);
    relocations.sort_by_key(|relocation| relocation.address);
    let targets = Targets::of(image, table);
    let mut start = first;
    for relocation in relocations {
        if size == 0 || start >= limit {
            return;
        }
        if let Some(target) = targets.of_relocation(&relocation) {
            stubs.push(Stub {
                start,
                size,
                target,
            });
        }
        start = start.saturating_add(size);
    }
}

/// `.plt.got`: each stub says by its jump which word it goes through.
fn add_decoded<'a>(image: &Elf<'a>, stubs: &mut Vec<Stub<'a>>) {
    let (Some(section), Some(table)) = (image.section(b".plt.got"), dynamic_relocations(image))
    else {
        return;
    };
    let Some(code) = image.bytes_of(section).filter(|_| image.is_x86()) else {
        return;
    };
    let size = if code.starts_with(ENDBR) { 16 } else { 8 };
    let jumps = (0..).zip(code.chunks(size)).filter_map(|(index, stub)| {
        let at = index * size as u64;
        Some((at, jump_target(stub, section.address.wrapping_add(at))?))
    });
    let jumps: Vec<(u64, u64)> = jumps.collect();
    // Of the relocations, which may be many, few fill words that stubs jump through. Of several for one word the last counts.
    let mut by_word: HashMap<u64, Option<Relocation>> =
        jumps.iter().map(|(_, word)| (*word, None)).collect();
    if by_word.is_empty() {
        return;
    }
    for relocation in image.relocations(table) {
        if let Some(slot) = by_word.get_mut(&relocation.address) {
            *slot = Some(relocation);
        }
    }
    let targets = Targets::of(image, table);
    for (at, word) in jumps {
        let relocation = by_word
            .get(&word)
            .copied()
            .flatten()
            .filter(|relocation| relocation.symbol != 0);
        if let Some(target) = relocation.and_then(|relocation| targets.of_relocation(&relocation)) {
            stubs.push(Stub {
                start: section.offset.saturating_add(at),
                size: size as u64,
                target,
            });
        }
    }
}

const ENDBR: &[u8] = &[0xf3, 0x0f, 0x1e, 0xfa];

/// The address of the word that an x86-64 stub jumps through: `[endbr64] [bnd] jmp *disp32(%rip)`.
fn jump_target(stub: &[u8], address: u64) -> Option<u64> {
    let code = stub.strip_prefix(ENDBR).unwrap_or(stub);
    let code = code.strip_prefix(&[0xf2]).unwrap_or(code);
    let displacement = i32::from_le_bytes(*code.strip_prefix(&[0xff, 0x25])?.first_chunk::<4>()?);
    let after = (stub.len() - code.len()) as u64 + 6;
    Some(
        address
            .wrapping_add(after)
            .wrapping_add_signed(displacement.into()),
    )
}

fn relocations_of_linkage<'s, 'a>(image: &'s Elf<'a>) -> Option<&'s ElfSection<'a>> {
    image
        .section(b".rela.plt")
        .or_else(|| image.section(b".rel.plt"))
}

fn dynamic_relocations<'s, 'a>(image: &'s Elf<'a>) -> Option<&'s ElfSection<'a>> {
    image
        .section(b".rela.dyn")
        .or_else(|| image.section(b".rel.dyn"))
}

/// The names that relocations refer to: each is read when it is asked for.
struct Targets<'i, 'a> {
    image: &'i Elf<'a>,
    symbols: Option<&'i ElfSection<'a>>,
}

impl<'i, 'a> Targets<'i, 'a> {
    fn of(image: &'i Elf<'a>, relocations: &ElfSection<'a>) -> Targets<'i, 'a> {
        Targets {
            image,
            symbols: linked(image, relocations),
        }
    }

    fn of_relocation(&self, relocation: &Relocation) -> Option<StubTarget<'a>> {
        if relocation.symbol == 0 {
            return Some(StubTarget::Chosen(relocation.addend));
        }
        let symbol = self.image.symbol_at(self.symbols?, relocation.symbol)?;
        Some(symbol.name)
            .filter(|name| !name.is_empty())
            .map(StubTarget::Function)
    }
}
