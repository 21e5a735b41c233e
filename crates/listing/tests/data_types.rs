//! The types of data of two small programs, instruction by instruction, beside what perf says; and damaged ones.

use std::ops::Range;

use oxperf_listing::{CodeIndex, CodeNames, DataAccess, DataLayout, DataTypes, Miss};
use oxperf_objects::Elf;
use oxperf_symbols::{DebugInfo, Demangling, elf_table};

const DWARF_4: &[u8] = include_bytes!("types/dwarf-4");
const DWARF_5: &[u8] = include_bytes!("types/dwarf-5");
const EXPECTED: &str = include_str!("types/expected.tsv");

/// The code of a function, by virtual address.
fn function(image: &Elf<'_>, name: &str) -> Range<u64> {
    let table = elf_table(image, image, Vec::new(), Demangling::Off);
    let mut symbols = table.ids().filter_map(|id| table.symbol(id));
    let symbol = symbols.find(|symbol| symbol.name == name).expect("the function");
    let start = image.offset_to_address(symbol.start).expect("an address");
    start..start + (symbol.end - symbol.start)
}

/// What the instruction at an offset of a function works on, in words.
fn words(types: &mut DataTypes<'_>, function: Range<u64>, offset: u64) -> String {
    let address = function.start + offset;
    match types.at(function, address) {
        DataAccess::Unknown(_) => "(unknown)".to_owned(),
        DataAccess::Stack => "(stack operation)".to_owned(),
        DataAccess::Canary => "(stack canary)".to_owned(),
        DataAccess::Data { ty, offset } => {
            let layout = DataLayout::of(types.reader().expect("types"), ty);
            let field = layout.field_at(offset).unwrap_or_else(|| "no field".to_owned());
            let offset = if offset == 0 { "0".to_owned() } else { format!("{offset:#x}") };
            format!("{} +{offset} ({field})", layout.name)
        }
    }
}

fn check(program: &[u8], expected: &str) {
    let image = Elf::parse(program).expect("an ELF file");
    let info = DebugInfo::in_memory(program.to_vec(), Demangling::Off).expect("an ELF file");
    let index = CodeIndex::new(&image, None);
    let names = CodeNames::new(&index, &image, None, Demangling::Off);
    let mut types = DataTypes::new(&image, names, Some(&info));
    for line in expected.lines() {
        let cells: Vec<&str> = line.trim_start_matches('+').split('\t').collect();
        let [function, offset, expected] = cells[..] else { panic!("{line}") };
        let offset = u64::from_str_radix(offset.trim_start_matches("0x"), 16).expect("an offset");
        let range = self::function(&image, function);
        assert_eq!(words(&mut types, range, offset), expected, "{function}+{offset:#x}");
    }
}

#[test]
fn types_are_those_that_perf_finds() {
    check(DWARF_5, EXPECTED);
    check(DWARF_4, &EXPECTED.replace("few:3", "few"));
}

/// What nobody asks about where there is no debug information, and what lies outside of the code.
#[test]
fn what_is_not_told_is_not_known() {
    let image = Elf::parse(DWARF_5).expect("an ELF file");
    let index = CodeIndex::new(&image, None);
    let names = CodeNames::new(&index, &image, None, Demangling::Off);
    let mut types = DataTypes::new(&image, names, None);
    // The first instruction of the loop reads `n->key`.
    let walk = function(&image, "walk");
    assert_eq!(types.at(walk.clone(), walk.start + 0x10), DataAccess::Unknown(Miss::NoDebugInfo));
    assert_eq!(types.at(walk.clone(), walk.start + 0x11), DataAccess::Unknown(Miss::NoInstruction));
    assert_eq!(types.at(0..9, 0), DataAccess::Unknown(Miss::NoInstruction));
}

/// Entries that refer to each other in circles, sizes and offsets beyond all bounds: every byte of the debug information
/// takes values that it never had.
#[test]
fn damage_ends_nothing() {
    let image = Elf::parse(DWARF_5).expect("an ELF file");
    let index = CodeIndex::new(&image, None);
    let names = CodeNames::new(&index, &image, None, Demangling::Off);
    let places = [("walk", 0x10), ("chase", 0xa), ("globals", 0xd), ("returned", 5), ("local", 0x19)];
    let places = places.map(|(name, offset)| (function(&image, name), offset));
    for section in [&b".debug_info"[..], b".debug_abbrev", b".debug_loclists", b".debug_frame"] {
        let section = image.section(section).expect("debug information");
        for nth in (0..section.size).step_by(3) {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = DWARF_5.to_vec();
                damaged[(section.offset + nth) as usize] = value;
                let info = DebugInfo::in_memory(damaged, Demangling::Off).expect("an ELF file");
                let mut types = DataTypes::new(&image, names, Some(&info));
                for (function, offset) in &places {
                    words(&mut types, function.clone(), *offset);
                }
            }
        }
    }
}
