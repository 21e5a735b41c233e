//! The code of a kernel module as it ran: its linked file, with the calls filled in that lead to the kernel and to other
//! modules, and with the changes that the kernel makes to it at once.

use crate::elf::{Elf, ElfSection, FileType, Relocation, SymbolSection};

/// Section flags: it lies in memory, it is code.
const CODE: u64 = 2 | 4;
/// `SHT_SYMTAB`, `SHT_NOBITS`, `SHT_RELA`.
const SYMTAB: u32 = 2;
const NOBITS: u32 = 8;
const RELA: u32 = 4;
/// `R_X86_64_PC32` and `R_X86_64_PLT32`: how far the target is from the word itself.
const RELATIVE: [u32; 2] = [2, 4];
/// `EM_X86_64`.
const X86_64: u16 = 62;
/// No module of any kernel has more code.
const LARGEST: u64 = 64 << 20;

/// The function that compiled code calls to be traced, if somebody wants that: the kernel puts a long no-op in the
/// place of the call.
const TRACE_CALL: &[u8] = b"__fentry__";
const NO_OP: [u8; 5] = [0x0f, 0x1f, 0x44, 0, 0];
/// The function that compiled code jumps to for a return, on processors that need it; the kernel puts a return in the
/// place of the jump on all others, those that trace branches among them.
const RETURN_JUMP: &[u8] = b"__x86_return_thunk";
const RETURN: [u8; 5] = [0xc3, 0xcc, 0xcc, 0xcc, 0xcc];
const CALL: u8 = 0xe8;
const JUMP: u8 = 0xe9;

/// The code of a module as it lies from `start` on; `file` is its linked file, as [`crate::Locator::image`] gives it.
/// `symbol` tells where the kernel has what the module calls; a call of what is nowhere stays as it is in the file. `None` for
/// what is not linked, or not of 64-bit x86.
pub fn module_code(
    file: &Elf<'_>,
    start: u64,
    symbol: &dyn Fn(&[u8]) -> Option<u64>,
) -> Option<Vec<u8>> {
    if file.file_type() != FileType::Linked || file.machine() != X86_64 {
        return None;
    }
    let mut code = Vec::new();
    for section in file
        .sections()
        .iter()
        .filter(|section| is_kept_code(section))
    {
        let (at, bytes) = (
            usize::try_from(section.address).ok()?,
            file.bytes_of(section)?,
        );
        code.resize(code.len().max(at + bytes.len()), 0);
        code[at..at + bytes.len()].copy_from_slice(bytes);
    }
    let linker = Linker {
        file,
        start,
        symbol,
    };
    for table in file
        .sections()
        .iter()
        .filter(|section| section.kind == RELA)
    {
        linker.relocate(table, &mut code);
    }
    (!code.is_empty()).then_some(code)
}

/// Code begins at 0; what runs only once lies far behind.
fn is_kept_code(section: &ElfSection<'_>) -> bool {
    let end = section.address.checked_add(section.size);
    section.flags & CODE == CODE && section.kind != NOBITS && end.is_some_and(|end| end <= LARGEST)
}

/// Fills in where calls and jumps to elsewhere lead.
struct Linker<'l, 'a> {
    file: &'l Elf<'a>,
    start: u64,
    symbol: &'l dyn Fn(&[u8]) -> Option<u64>,
}

impl Linker<'_, '_> {
    fn relocate(&self, table: &ElfSection<'_>, code: &mut [u8]) {
        let sections = self.file.sections();
        let Some(changed) = sections
            .get(table.info as usize)
            .filter(|section| is_kept_code(section))
        else {
            return;
        };
        let Some(symbols) = sections
            .get(table.link as usize)
            .filter(|symbols| symbols.kind == SYMTAB)
        else {
            return;
        };
        let symbols: Vec<_> = self.file.symbols(symbols).collect();
        for relocation in self.file.relocations(table) {
            let symbol = relocation
                .symbol
                .checked_sub(1)
                .and_then(|index| symbols.get(index as usize));
            let symbol = symbol.filter(|symbol| symbol.place == SymbolSection::Undefined);
            let at = changed
                .address
                .checked_add(relocation.address)
                .and_then(|at| usize::try_from(at).ok());
            let Some((symbol, at)) = symbol
                .filter(|_| RELATIVE.contains(&relocation.kind))
                .zip(at)
            else {
                continue;
            };
            if !patch(code, at, symbol.name)
                && let Some(target) = (self.symbol)(symbol.name)
            {
                self.fill_in(&relocation, at, target, code);
            }
        }
    }

    fn fill_in(&self, relocation: &Relocation, at: usize, target: u64, code: &mut [u8]) {
        let place = self.start.wrapping_add(at as u64);
        let distance = target
            .wrapping_add(relocation.addend.cast_unsigned())
            .wrapping_sub(place);
        if let Some(word) = code
            .get_mut(at..)
            .and_then(|code| code.first_chunk_mut::<4>())
        {
            *word = (distance as u32).to_le_bytes();
        }
    }
}

/// Puts in the place of a call or jump what the kernel puts there; false where it leaves it.
fn patch(code: &mut [u8], at: usize, name: &[u8]) -> bool {
    let (opcode, instead) = match name {
        TRACE_CALL => (CALL, NO_OP),
        RETURN_JUMP => (JUMP, RETURN),
        _ => return false,
    };
    let place = at
        .checked_sub(1)
        .and_then(|at| code.get_mut(at..))
        .and_then(|code| code.first_chunk_mut());
    match place {
        Some(place) if place[0] == opcode => {
            *place = instead;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use oxperf_testkit::Image;

    use super::*;

    const START: u64 = 0xffff_ffff_c000_0000;

    #[test]
    fn code_lies_and_leads_where_the_kernel_puts_it() {
        // f: call __fentry__; call g (elsewhere); jmp __x86_return_thunk
        let text = "elf type=rel
code .text addr=0x0 e800000000e800000000e900000000
code .init.text addr=0x100 c3
code .text.unlikely addr=0x200 e800000000e800000000c3
symbol f at=0x0 size=15
symbol g at=0x205 size=6
reach __fentry__ at=0x1
reach g at=0x6
reach __x86_return_thunk at=0xb
reach printk at=0x201
reach nowhere at=0x206";
        let file = crate::elf::linked(&Image::parse(text).unwrap().to_file()).unwrap();
        let printk = START - 0x1000;
        let symbol = |name: &[u8]| (name == b"printk").then_some(printk);
        let code = module_code(&Elf::parse(&file).unwrap(), START, &symbol).unwrap();
        // Sections are aligned to 16 bytes.
        assert_eq!(code.len(), 0x10 + 11);
        assert_eq!(&code[..5], &NO_OP);
        assert_eq!(&code[5..10], &[0xe8, 0x0b, 0, 0, 0]);
        assert_eq!(&code[10..15], &RETURN);
        let distance = i32::from_le_bytes(code[0x11..0x15].try_into().unwrap());
        assert_eq!(
            START
                .wrapping_add(0x15)
                .wrapping_add_signed(distance.into()),
            printk
        );
        assert_eq!(&code[0x15..], &[0xe8, 0, 0, 0, 0, 0xc3]);
    }

    #[test]
    fn what_is_not_linked_has_no_place() {
        let file = Image::parse("elf type=rel\ncode .text addr=0x0 c3")
            .unwrap()
            .to_file();
        assert_eq!(
            module_code(&Elf::parse(&file).unwrap(), START, &|_| None),
            None
        );
    }
}
