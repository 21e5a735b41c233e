//! Code of 32-bit programs: its instructions, and addresses of eight digits.

#[path = "../../objects/tests/it/elf.rs"]
#[allow(
    dead_code,
    reason = "this test needs less of it than those it was written for"
)]
mod elf;

use oxperf_disasm::Syntax;
use oxperf_listing::{CodeIndex, CodeNames, ListingLine, list};
use oxperf_objects::Elf;
use oxperf_symbols::Demangling;

#[test]
fn addresses_have_the_digits_of_their_machine() {
    let code = elf::ElfSection {
        flags: 6,
        ..elf::loaded(".text", 1, 0x1b30, vec![0x55, 0xc3])
    };
    let mut file = elf::file(3, (0, 0, 0x10_0000), &[code]);
    let expected = [
        (3_u16, 8, ["push   %ebp", "ret"]),
        (62, 16, ["push   %rbp", "ret"]),
    ];
    for (machine, digits, instructions) in expected {
        file[18..20].copy_from_slice(&machine.to_le_bytes());
        let image = Elf::parse(&file).expect("an ELF file");
        let index = CodeIndex::new(&image, None);
        let names = CodeNames::new(&index, &image, None, Demangling::On);
        let listing = list(&image, &names, 0x1b30..0x1b32, Syntax::Att).expect("code");
        let text = |line: &ListingLine| match line {
            ListingLine::Instruction(found) => Some(found.text.clone()),
            _ => None,
        };
        let found: Vec<_> = listing.lines.iter().filter_map(text).collect();
        assert_eq!(
            (listing.address_digits, found),
            (
                digits,
                instructions.iter().map(|text| (*text).to_owned()).collect()
            )
        );
    }
}
