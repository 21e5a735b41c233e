//! The code of a function as instructions with what they do.

use std::ops::Range;
use std::rc::Rc;

use object::elf;
use oxperf_disasm::{Disassembler, LineLayout, Operation, Syntax, Width};
use oxperf_objects::Elf;

use crate::CodeNames;
use crate::lines::{code_section, within};

/// Number of bytes of a function that are read.
const SIZE_LIMIT: u64 = 1 << 22;

/// The code of a function.
#[derive(Debug)]
pub(super) struct Code {
    /// Its instructions, in order of their addresses.
    pub(super) list: Vec<Coded>,
}

/// An instruction.
#[derive(Debug)]
pub(super) struct Coded {
    pub(super) address: u64,
    /// Its name in listings, with `lock` before it.
    pub(super) name: Box<str>,
    /// The operation; `None` for bytes that are no instruction.
    pub(super) step: Option<Operation>,
}

impl Coded {
    /// The first word of its name, which is `lock` where another follows.
    pub(super) fn first_word(&self) -> Rc<str> {
        self.name.split(' ').next().unwrap_or_default().into()
    }
}

impl Code {
    /// Reads the code of a function of 64-bit x86; `None` where the image has none there.
    pub(super) fn read(image: &Elf<'_>, names: &CodeNames<'_>, range: Range<u64>) -> Option<Code> {
        if image.machine() != elf::EM_X86_64 {
            return None;
        }
        let range = range.start..range.end.min(range.start.saturating_add(SIZE_LIMIT));
        let (_, section) = code_section(image, range.start)?;
        let code = within(image.bytes_of(section)?, section.address, &range)?;
        let mut words = Disassembler::new(Width::Bits64, Syntax::Att, LineLayout::Listing);
        let (mut list, mut rest, mut address) = (Vec::new(), code, range.start);
        let mut text = String::new();
        while !rest.is_empty() {
            text.clear();
            // Labels within functions end instructions in listings, but no instruction of a program runs over one.
            let mut name = |address, out: &mut String| names.write(address, out);
            let length = words
                .write(rest, address, &mut name, &mut text)
                .unwrap_or(1)
                .clamp(1, rest.len());
            let step = Operation::decode(rest, address);
            list.push(Coded {
                address,
                name: name_in(&text).into(),
                step,
            });
            rest = &rest[length..];
            address = address.wrapping_add(length as u64);
        }
        Some(Code { list })
    }

    /// The number of the instruction at an address.
    pub(super) fn at(&self, address: u64) -> Option<usize> {
        self.list
            .binary_search_by_key(&address, |coded| coded.address)
            .ok()
    }
}

/// The name that a line of a listing begins with.
fn name_in(text: &str) -> &str {
    let end = |text: &str| text.find(' ').unwrap_or(text.len());
    let first = end(text);
    match &text[..first] {
        "lock" => &text[..(first + 1 + end(&text[(first + 1).min(text.len())..])).min(text.len())],
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_first_word() {
        let names = [
            "mov    %rax,%rbx",
            "ret",
            "lock xadd %eax,(%rdi)",
            "lock",
            "lock ",
            "",
        ]
        .map(name_in);
        assert_eq!(names, ["mov", "ret", "lock xadd", "lock", "lock ", ""]);
    }
}
