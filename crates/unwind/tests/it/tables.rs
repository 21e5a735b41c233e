//! Objects with unwind tables, assembled by hand: call frame information as the DWARF standard writes it.

use crate::elf;
use oxperf_objects::Contents;
use oxperf_unwind::{AddressSpace, Location, ObjectKey, UnwindInfo};

/// The address that the object is mapped at.
pub(crate) const BASE: u64 = 0x7f00_0000_0000;
/// The address of its `.eh_frame`, which is its offset in the file, too.
const TABLES: u64 = 0x1000;

/// Call frame instructions.
pub(crate) mod rule {
    /// The frame's address is a register and so much.
    pub(crate) fn frame(register: u8, distance: u8) -> Vec<u8> {
        vec![0x0c, register, distance]
    }

    /// The frame's address is what an expression gives.
    pub(crate) fn frame_expression(expression: &[u8]) -> Vec<u8> {
        [&[0x0f, expression.len() as u8], expression].concat()
    }

    /// A register lies so many words of eight bytes below the frame's address.
    pub(crate) fn below(register: u8, words: u8) -> Vec<u8> {
        vec![0x80 | register, words]
    }

    /// A register is lost.
    pub(crate) fn undefined(register: u8) -> Vec<u8> {
        vec![0x07, register]
    }

    /// A register lies where an expression says.
    pub(crate) fn at_expression(register: u8, expression: &[u8]) -> Vec<u8> {
        [&[0x10, register, expression.len() as u8], expression].concat()
    }
}

/// A function: its first address in the object, its size, its rules.
pub(crate) type Function<'a> = (u64, u64, &'a [Vec<u8>]);

/// An `.eh_frame` whose return address lies below the frame's address. `augmentation` is `zR` or `zRS`.
pub(crate) fn eh_frame(
    augmentation: &str,
    return_register: u8,
    functions: &[Function<'_>],
) -> Vec<u8> {
    let mut body = vec![0, 0, 0, 0, 1];
    body.extend(augmentation.bytes().chain([0]));
    // Code and data alignment, the register, then the encoding of addresses: as they are.
    body.extend([1, 0x78, return_register, 1, 0]);
    let mut section = entry(body);
    for (start, size, rules) in functions {
        add_function(
            &mut section,
            &start.to_le_bytes(),
            &size.to_le_bytes(),
            rules,
        );
    }
    section.extend([0; 4]);
    section
}

/// Adds a function's entry to an `.eh_frame`, behind the one that all functions share.
fn add_function(section: &mut Vec<u8>, start: &[u8], size: &[u8], rules: &[Vec<u8>]) {
    let back = section.len() as u32 + 4;
    section.extend(entry(
        [&back.to_le_bytes(), start, size, &[0], &rules.concat()].concat(),
    ));
}

/// A `.debug_frame` with the same contents.
pub(crate) fn debug_frame(return_register: u8, functions: &[Function<'_>]) -> Vec<u8> {
    let mut section = entry([&[0xff; 4][..], &[4, 0, 8, 0, 1, 0x78, return_register]].concat());
    for (start, size, rules) in functions {
        let mut body = vec![0; 4];
        body.extend(start.to_le_bytes());
        body.extend(size.to_le_bytes());
        body.extend(rules.concat());
        section.extend(entry(body));
    }
    section
}

fn entry(mut body: Vec<u8>) -> Vec<u8> {
    body.resize((body.len() + 4).next_multiple_of(8) - 4, 0);
    [&(body.len() as u32).to_le_bytes()[..], &body].concat()
}

/// An `.eh_frame` section for addresses of four bytes.
pub(crate) fn eh_frame_32(return_register: u8, functions: &[(u32, u32, &[Vec<u8>])]) -> Vec<u8> {
    // Words are four bytes, too: that is what data alignment says.
    let mut section = entry(vec![
        0,
        0,
        0,
        0,
        1,
        b'z',
        b'R',
        0,
        1,
        0x7c,
        return_register,
        1,
        0,
    ]);
    for (start, size, rules) in functions {
        add_function(
            &mut section,
            &start.to_le_bytes(),
            &size.to_le_bytes(),
            rules,
        );
    }
    section.extend([0; 4]);
    section
}

/// An object for a processor with one section.
pub(crate) fn object(machine: u16, name: &'static str, bytes: Vec<u8>) -> Option<UnwindInfo> {
    let sections = [elf::loaded(name, 1, TABLES, bytes)];
    let mut file = elf::file(3, (0, 0, 0x10_0000), &sections);
    file[18..20].copy_from_slice(&machine.to_le_bytes());
    UnwindInfo::new(Contents::from_memory(file), None)
}

/// An address space with one object at [`BASE`].
pub(crate) struct Mapped(pub(crate) UnwindInfo);

impl AddressSpace for Mapped {
    fn spot(&self, address: u64) -> Location<'_> {
        match address.checked_sub(BASE) {
            Some(offset) if offset < 0x10_0000 => Location::Object {
                key: ObjectKey(0),
                info: &self.0,
                offset,
            },
            _ => Location::Nothing,
        }
    }
}
