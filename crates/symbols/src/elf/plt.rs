//! Names for the stubs through which a program calls other objects: `getpid@plt`.
//!
//! No symbol table names them. The relocations of the linkage table say which function each stub calls: the stubs stand in
//! the order of the relocations, or (in `.plt.got`) each says by its jump which relocated word it goes through.

use std::cmp::Ordering;
use std::collections::HashMap;

use object::elf;
use oxperf_objects::Elf;
use oxperf_objects::elf::{Relocation, Section, SymbolBinding};

use crate::builder::compare_aliases;
use crate::demangle::Demangling;
use crate::entry::{Entry, Name, Suffix};

/// The stubs of a linked file as symbols, by file offset. `known` are the symbols found so far: a stub for code that is
/// chosen at load time is called like the code that chooses.
pub(super) fn stubs<'a>(image: &Elf<'a>, known: &[Entry<'a>]) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    add_ordered(image, known, &mut entries);
    add_decoded(image, &mut entries);
    entries
}

/// Size of the head of `.plt` and of one stub.
struct Shape {
    head: u64,
    stub: u64,
}

/// What the stubs in `plt` look like whose relocations are in `table`.
fn shape(image: &Elf<'_>, plt: &Section<'_>, table: Option<&Section<'_>>) -> Shape {
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
            Shape { head: if is_static { 0 } else { stub }, stub }
        }
        _ => Shape { head: plt.entry_size, stub: plt.entry_size },
    }
}

/// The symbols that relocations refer to.
fn linked<'s, 'a>(image: &'s Elf<'a>, relocations: &Section<'_>) -> Option<&'s Section<'a>> {
    image.sections().get(usize::try_from(relocations.link).ok()?)
}

/// `.plt` and `.plt.sec`: stubs in the order of the relocations of the linkage table.
fn add_ordered<'a>(image: &Elf<'a>, known: &[Entry<'a>], entries: &mut Vec<Entry<'a>>) {
    let Some(plt) = image.section(b".plt") else { return };
    let table = relocations_of_linkage(image);
    let Shape { head, stub } = shape(image, plt, table);
    if head > 0 {
        entries.push(stub_entry(plt.offset, head, Name::plain(b".plt")));
    }
    let (stubs, first) = match image.section(b".plt.sec") {
        Some(second) => (second, second.offset),
        None => (plt, plt.offset.saturating_add(head)),
    };
    let limit = stubs.offset.saturating_add(stubs.size);
    let Some(table) = table else { return };
    let mut relocations = image.relocations(table);
    relocations.sort_by_key(|relocation| relocation.address);
    let names = Targets::of(image, table).with_choosers(image, &relocations, known);
    let mut at = first;
    for relocation in relocations {
        if stub == 0 || at >= limit {
            return;
        }
        if let Some(name) = names.name(&relocation) {
            entries.push(stub_entry(at, stub, Name { linkage: name, suffix: Suffix::Plt }));
        }
        at = at.saturating_add(stub);
    }
}

/// `.plt.got`: each stub says by its jump which word it goes through.
fn add_decoded<'a>(image: &Elf<'a>, entries: &mut Vec<Entry<'a>>) {
    let (Some(stubs), Some(table)) = (image.section(b".plt.got"), dynamic_relocations(image)) else { return };
    let Some(code) = image.bytes_of(stubs).filter(|_| image.is_x86()) else { return };
    let names = Targets::of(image, table);
    let by_address: HashMap<u64, Relocation> =
        image.relocations(table).into_iter().map(|relocation| (relocation.address, relocation)).collect();
    let stub_size = if code.starts_with(ENDBR) { 16 } else { 8 };
    for (index, stub) in (0..).zip(code.chunks(stub_size)) {
        let at = index * stub_size as u64;
        let target = jump_target(stub, stubs.address.wrapping_add(at));
        let name =
            target.and_then(|target| by_address.get(&target)).and_then(|relocation| names.name(relocation));
        if let Some(name) = name {
            let start = stubs.offset.saturating_add(at);
            entries.push(stub_entry(start, stub_size as u64, Name { linkage: name, suffix: Suffix::Plt }));
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
    Some(address.wrapping_add(after).wrapping_add_signed(displacement.into()))
}

fn stub_entry(start: u64, size: u64, name: Name<'_>) -> Entry<'_> {
    Entry { start, size: (size > 0).then_some(size), name, binding: SymbolBinding::Global }
}

fn relocations_of_linkage<'s, 'a>(image: &'s Elf<'a>) -> Option<&'s Section<'a>> {
    image.section(b".rela.plt").or_else(|| image.section(b".rel.plt"))
}

fn dynamic_relocations<'s, 'a>(image: &'s Elf<'a>) -> Option<&'s Section<'a>> {
    image.section(b".rela.dyn").or_else(|| image.section(b".rel.dyn"))
}

/// The names that relocations refer to.
struct Targets<'a> {
    names: Vec<&'a [u8]>,
    /// Names of the code that chooses at load time, by the relocation's addend.
    choosers: HashMap<i64, &'a [u8]>,
}

impl<'a> Targets<'a> {
    fn of(image: &Elf<'a>, relocations: &Section<'a>) -> Targets<'a> {
        let names = linked(image, relocations)
            .into_iter()
            .flat_map(|table| image.symbols(table))
            .map(|symbol| symbol.name)
            .collect();
        Targets { names, choosers: HashMap::new() }
    }

    /// Looks up the code that relocations without a symbol point to.
    fn with_choosers(
        mut self,
        image: &Elf<'a>,
        relocations: &[Relocation],
        known: &[Entry<'a>],
    ) -> Targets<'a> {
        let unnamed = relocations.iter().filter(|relocation| relocation.symbol == 0);
        let wanted: HashMap<u64, i64> = unnamed
            .filter_map(|relocation| {
                Some((image.address_to_offset(relocation.addend as u64)?, relocation.addend))
            })
            .collect();
        let mut best: HashMap<i64, &Entry<'a>> = HashMap::new();
        for entry in known.iter().filter(|_| !wanted.is_empty()) {
            let Some(addend) = wanted.get(&entry.start) else { continue };
            let kept = best.entry(*addend).or_insert(entry);
            if compare_aliases(kept, entry, Demangling::Off) == Ordering::Less {
                *kept = entry;
            }
        }
        self.choosers = best.into_iter().map(|(addend, entry)| (addend, entry.name.linkage)).collect();
        self
    }

    fn name(&self, relocation: &Relocation) -> Option<&'a [u8]> {
        let Some(index) = relocation.symbol.checked_sub(1) else {
            return self.choosers.get(&relocation.addend).copied();
        };
        let name = self.names.get(usize::try_from(index).ok()?).copied();
        name.filter(|name| !name.is_empty())
    }
}
