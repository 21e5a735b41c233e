//! The types of data of two small programs, instruction by instruction, beside what perf says; and damaged ones.

use std::ops::Range;

use oxperf_listing::{CodeIndex, CodeNames, DataAccess, DataLayout, DataTypes, Miss};
use oxperf_objects::Elf;
use oxperf_symbols::{DebugInfo, Demangling, elf_table};

const DWARF_4: &[u8] = include_bytes!("types/dwarf-4");
const DWARF_5: &[u8] = include_bytes!("types/dwarf-5");
const UNOPTIMISED: &[u8] = include_bytes!("types/unoptimised");
const EXPECTED: &str = include_str!("types/expected.tsv");

/// The code of a function, by virtual address.
fn function(image: &Elf<'_>, name: &str) -> Range<u64> {
    let table = elf_table(image, image, Vec::new(), Demangling::Off);
    let mut symbols = table.ids().filter_map(|id| table.symbol(id));
    let symbol = symbols
        .find(|symbol| symbol.name == name)
        .expect("the function");
    let start = image.offset_to_address(symbol.start).expect("an address");
    start..start + (symbol.end - symbol.start)
}

/// The data that the instruction at an offset of a function works on, in words.
fn words(types: &mut DataTypes<'_>, function: Range<u64>, offset: u64) -> String {
    let address = function.start + offset;
    match types.at(function, address) {
        DataAccess::Unknown(_) => "(unknown)".to_owned(),
        DataAccess::Stack => "(stack operation)".to_owned(),
        DataAccess::Canary => "(stack canary)".to_owned(),
        DataAccess::Data { ty, offset, .. } => {
            let layout = DataLayout::of(types.reader().expect("types"), ty);
            let field = layout
                .field_at(offset)
                .unwrap_or_else(|| "no field".to_owned());
            let offset = if offset == 0 {
                "0".to_owned()
            } else {
                format!("{offset:#x}")
            };
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
        let [function, offset, expected] = cells[..] else {
            panic!("{line}")
        };
        let offset = u64::from_str_radix(offset.trim_start_matches("0x"), 16).expect("an offset");
        let range = self::function(&image, function);
        assert_eq!(
            words(&mut types, range, offset),
            expected,
            "{function}+{offset:#x}"
        );
    }
}

#[test]
fn types_are_those_that_perf_finds() {
    check(DWARF_5, EXPECTED);
    check(DWARF_4, &EXPECTED.replace("few:3", "few"));
}

/// Variables on the stack keep their types when something unknown is stored there, and pointers among them lead on.
#[test]
fn what_lies_on_the_stack_is_followed() {
    let image = Elf::parse(UNOPTIMISED).expect("an ELF file");
    let info = DebugInfo::in_memory(UNOPTIMISED.to_vec(), Demangling::Off).expect("an ELF file");
    let index = CodeIndex::new(&image, None);
    let names = CodeNames::new(&index, &image, None, Demangling::Off);
    let mut types = DataTypes::new(&image, names, Some(&info));
    let sum = function(&image, "sum");
    let known = types.all_of(sum.clone());
    let known = known.into_iter().map(|(address, _)| address - sum.start);
    let known: Vec<_> = known
        .map(|offset| (offset, words(&mut types, sum.clone(), offset)))
        .collect();
    let known: Vec<_> = known
        .iter()
        .map(|(offset, words)| (*offset, words.as_str()))
        .collect();
    let expected = [
        (0x4, "struct node* +0 (no field)"),
        (0x8, "long int +0 (no field)"),
        (0x12, "struct node* +0 (no field)"),
        (0x16, "struct node +0x8 (key)"),
        (0x1a, "long int +0 (no field)"),
        (0x1e, "struct node* +0 (no field)"),
        (0x22, "struct node +0 (next)"),
        (0x25, "struct node* +0 (no field)"),
        (0x29, "struct node* +0 (no field)"),
        (0x30, "long int +0 (no field)"),
    ];
    assert_eq!(known, expected);
}

/// Code without debug information, and addresses outside of the code, have no types.
#[test]
fn what_is_not_told_is_not_known() {
    let image = Elf::parse(DWARF_5).expect("an ELF file");
    let index = CodeIndex::new(&image, None);
    let names = CodeNames::new(&index, &image, None, Demangling::Off);
    let mut types = DataTypes::new(&image, names, None);
    // The first instruction of the loop reads `n->key`.
    let walk = function(&image, "walk");
    assert_eq!(
        types.at(walk.clone(), walk.start + 0x10),
        DataAccess::Unknown(Miss::NoDebugInfo)
    );
    assert!(types.all_of(walk.clone()).is_empty());
    let info = DebugInfo::in_memory(DWARF_5.to_vec(), Demangling::Off).expect("an ELF file");
    let mut types = DataTypes::new(&image, names, Some(&info));
    assert_eq!(
        types.at(walk.clone(), walk.start + 0x11),
        DataAccess::Unknown(Miss::NoInstruction)
    );
    assert!(
        types
            .instructions(walk.clone(), walk.start + 0x11)
            .is_empty()
    );
    assert_eq!(types.at(0..9, 0), DataAccess::Unknown(Miss::NoInstruction));
}

/// An instruction without a place in memory has the one before it to thank for its type, but only where that is asked.
#[test]
fn instructions_before_count_where_samples_are_late() {
    let image = Elf::parse(DWARF_5).expect("an ELF file");
    let info = DebugInfo::in_memory(DWARF_5.to_vec(), Demangling::Off).expect("an ELF file");
    let index = CodeIndex::new(&image, None);
    let names = CodeNames::new(&index, &image, None, Demangling::Off);
    let mut types = DataTypes::new(&image, names, Some(&info));
    let walk = function(&image, "walk");
    let all = types.all_of(walk.clone());
    let mut late = 0;
    for address in walk.clone() {
        let words = types.instructions(walk.clone(), address);
        let itself = all
            .iter()
            .find(|(at, _)| *at == address)
            .map(|(_, access)| *access);
        match types.at(walk.clone(), address) {
            DataAccess::Data { .. } if words.len() > 1 => {
                late += 1;
                assert_eq!(itself, None, "{words:?}");
            }
            access @ DataAccess::Data { .. } => assert_eq!(itself, Some(access), "{words:?}"),
            _ => assert_eq!(itself, None, "{words:?}"),
        }
    }
    assert!(late > 0);
}

/// Entries that refer to each other in circles, sizes and offsets beyond all bounds: every byte of the debug information
/// takes values that it never had.
#[test]
fn damage_ends_nothing() {
    let image = Elf::parse(DWARF_5).expect("an ELF file");
    let index = CodeIndex::new(&image, None);
    let names = CodeNames::new(&index, &image, None, Demangling::Off);
    let places = [
        ("walk", 0x10),
        ("chase", 0xa),
        ("globals", 0xd),
        ("returned", 5),
        ("local", 0x19),
    ];
    let places = places.map(|(name, offset)| (function(&image, name), offset));
    for section in [
        &b".debug_info"[..],
        b".debug_abbrev",
        b".debug_loclists",
        b".debug_frame",
    ] {
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
