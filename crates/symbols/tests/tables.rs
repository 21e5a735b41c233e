//! Tables of small ELF files; the expectations were found by asking perf 7.2 about files like these.

#[path = "../../objects/tests/it/elf.rs"]
#[allow(dead_code)]
mod elf;

use elf::{ElfSection, Symbol, loaded};
use oxperf_objects::Elf;
use oxperf_symbols::{Demangling, ReferenceSymbol, SymbolTable, elf_table, vmlinux_table};

const LOCAL_FUNCTION: u8 = 0x02;
const GLOBAL_FUNCTION: u8 = 0x12;
const WEAK_FUNCTION: u8 = 0x22;
const LOCAL_LABEL: u8 = 0x00;
const LOCAL_OBJECT: u8 = 0x01;
const TEXT: u16 = 1;
const OTHER: u16 = 2;

/// Code at 0x401000, which stands at 0x1000 of the file.
fn program(symbols: &[Symbol]) -> Vec<u8> {
    let (table, strings) = elf::symbol_table(symbols);
    elf::file(
        2,
        (0x401000, 0x1000, 0x10000),
        &[
            loaded(".text", 1, 0x401000, vec![0x90; 0x200]),
            loaded("other", 1, 0x401200, vec![0x90; 0x100]),
            ElfSection {
                link: 4,
                entry_size: 24,
                flags: 0,
                ..loaded(".symtab", 2, 0, table)
            },
            ElfSection {
                flags: 0,
                ..loaded(".strtab", 3, 0, strings)
            },
        ],
    )
}

fn table(symbols: &[Symbol]) -> SymbolTable {
    let bytes = program(symbols);
    let file = Elf::parse(&bytes).expect("an ELF file");
    elf_table(&file, &file, Vec::new(), Demangling::On)
}

fn name_at(table: &SymbolTable, address: u64) -> Option<&str> {
    Some(table.symbol(table.lookup(address)?)?.name)
}

#[test]
fn addresses_are_offsets_into_the_file() {
    let table = table(&[("f", 0x401010, 16, GLOBAL_FUNCTION, TEXT)]);
    assert_eq!(name_at(&table, 0x100f), None);
    assert_eq!(name_at(&table, 0x1010), Some("f"));
    assert_eq!(name_at(&table, 0x101f), Some("f"));
    assert_eq!(name_at(&table, 0x1020), None);
}

#[test]
fn a_symbol_without_a_size_ends_where_the_next_starts() {
    let table = table(&[
        ("first", 0x401000, 0, LOCAL_FUNCTION, TEXT),
        ("last", 0x401040, 0, LOCAL_FUNCTION, TEXT),
    ]);
    assert_eq!(name_at(&table, 0x103f), Some("first"));
    assert_eq!(
        name_at(&table, 0x2fff),
        Some("last"),
        "the last one reaches to the end of the next page"
    );
    assert_eq!(name_at(&table, 0x3000), None);
}

#[test]
fn labels_count_in_text_and_data_only() {
    let table = table(&[
        ("label", 0x401000, 0, LOCAL_LABEL, TEXT),
        ("elsewhere", 0x401200, 0, LOCAL_LABEL, OTHER),
        ("object", 0x401210, 8, LOCAL_OBJECT, OTHER),
    ]);
    assert_eq!(name_at(&table, 0x1200), Some("label"));
    assert_eq!(name_at(&table, 0x1210), Some("object"));
    assert_eq!(table.len(), 2);
}

#[test]
fn one_name_of_an_address_wins() {
    let winner = |symbols: &[(&'static str, u64, u8)]| {
        let symbols: Vec<Symbol> = symbols
            .iter()
            .map(|(name, size, info)| (*name, 0x401000, *size, *info, TEXT))
            .collect();
        name_at(&table(&symbols), 0x1000)
            .expect("a name")
            .to_owned()
    };
    assert_eq!(
        winner(&[
            ("weak_long_name", 16, WEAK_FUNCTION),
            ("local", 16, LOCAL_FUNCTION)
        ]),
        "local"
    );
    assert_eq!(
        winner(&[
            ("local_long_name", 16, LOCAL_FUNCTION),
            ("global", 16, GLOBAL_FUNCTION)
        ]),
        "global"
    );
    assert_eq!(
        winner(&[("_abcdef", 16, LOCAL_FUNCTION), ("abc", 16, LOCAL_FUNCTION)]),
        "abc"
    );
    assert_eq!(
        winner(&[("ab", 16, LOCAL_FUNCTION), ("abc", 8, LOCAL_FUNCTION)]),
        "abc"
    );
    assert_eq!(
        winner(&[("one", 16, LOCAL_FUNCTION), ("two", 16, LOCAL_FUNCTION)]),
        "one"
    );
    assert_eq!(
        winner(&[("long_label", 0, LOCAL_LABEL), ("f", 16, LOCAL_FUNCTION)]),
        "f"
    );
    assert_eq!(
        winner(&[
            ("f_long_nam", 16, LOCAL_FUNCTION),
            ("_Z1fPKc", 16, LOCAL_FUNCTION)
        ]),
        "f(char const*)"
    );
}

#[test]
fn an_inner_symbol_interrupts_the_outer_one() {
    let table = table(&[
        ("outer", 0x401000, 48, LOCAL_FUNCTION, TEXT),
        ("inner", 0x401010, 8, LOCAL_FUNCTION, TEXT),
        ("overlap", 0x401028, 16, LOCAL_FUNCTION, TEXT),
    ]);
    let names: Vec<_> = [
        0x1000, 0x1010, 0x1017, 0x1018, 0x1027, 0x1028, 0x1037, 0x1038,
    ]
    .map(|address| name_at(&table, address))
    .to_vec();
    let expected = [
        "outer", "inner", "inner", "outer", "outer", "overlap", "overlap",
    ]
    .map(Some);
    assert_eq!(names[..7], expected);
    assert_eq!(names[7], None);
}

#[test]
fn names_are_demangled_unless_that_is_off() {
    let bytes = program(&[("_ZN1A1fEi", 0x401000, 16, GLOBAL_FUNCTION, TEXT)]);
    let file = Elf::parse(&bytes).expect("an ELF file");
    assert_eq!(
        name_at(&elf_table(&file, &file, Vec::new(), Demangling::On), 0x1000),
        Some("A::f(int)")
    );
    let plain = elf_table(&file, &file, Vec::new(), Demangling::Off);
    assert_eq!(name_at(&plain, 0x1000), Some("_ZN1A1fEi"));
    let id = plain.lookup(0x1000).expect("a symbol");
    assert_eq!(plain.linkage_name(id), Some(b"_ZN1A1fEi".as_slice()));
}

#[test]
fn a_kernel_image_moves_with_its_reference() {
    let bytes = program(&[
        ("_text", 0x401000, 0, GLOBAL_FUNCTION, TEXT),
        ("schedule", 0x401010, 16, GLOBAL_FUNCTION, TEXT),
    ]);
    let file = Elf::parse(&bytes).expect("an ELF file");
    let reference = ReferenceSymbol {
        symbol: b"_text",
        address: 0xffff_ffff_9200_0000,
    };
    let table = vmlinux_table(&file, Some(&reference), Demangling::Off);
    assert_eq!(name_at(&table, 0xffff_ffff_9200_0011), Some("schedule"));
}

#[test]
fn stubs_are_called_like_what_they_call() {
    let relocation = |address: u64, symbol: u64| {
        [
            address.to_le_bytes(),
            (symbol << 32 | 7).to_le_bytes(),
            [0; 8],
        ]
        .concat()
    };
    let (table, strings) = elf::symbol_table(&[
        ("getpid", 0, 0, GLOBAL_FUNCTION, 0),
        ("_Z1fv", 0, 0, GLOBAL_FUNCTION, 0),
    ]);
    // The second stub belongs to the lower word of the linkage table.
    let relocations = [relocation(0x404020, 1), relocation(0x404018, 2)].concat();
    let bytes = elf::file(
        2,
        (0x401000, 0x1000, 0x10000),
        &[
            loaded(".plt", 1, 0x401000, vec![0x90; 48]),
            ElfSection {
                link: 3,
                entry_size: 24,
                ..loaded(".dynsym", 11, 0x401030, table)
            },
            loaded(".dynstr", 3, 0x401080, strings),
            ElfSection {
                link: 2,
                entry_size: 24,
                ..loaded(".rela.plt", 4, 0x4010a0, relocations)
            },
        ],
    );
    let file = Elf::parse(&bytes).expect("an ELF file");
    let table = elf_table(&file, &file, Vec::new(), Demangling::On);
    let names = [0x1000, 0x1010, 0x1020].map(|address| name_at(&table, address));
    assert_eq!(names, [Some(".plt"), Some("f()@plt"), Some("getpid@plt")]);
}

#[test]
fn stubs_of_a_static_program_are_short_and_have_no_head() {
    let relocation = |address: u64, chooser: u64| {
        [
            address.to_le_bytes(),
            37u64.to_le_bytes(),
            chooser.to_le_bytes(),
        ]
        .concat()
    };
    let (table, strings) = elf::symbol_table(&[
        ("memcpy", 0x401040, 8, GLOBAL_FUNCTION, 1),
        ("strlen", 0x401048, 8, GLOBAL_FUNCTION, 1),
    ]);
    let relocations = [
        relocation(0x404008, 0x401048),
        relocation(0x404000, 0x401040),
    ]
    .concat();
    let bytes = elf::file(
        2,
        (0x401000, 0x1000, 0x10000),
        &[
            ElfSection {
                entry_size: 8,
                ..loaded(".plt", 1, 0x401000, vec![0x90; 16])
            },
            ElfSection {
                link: 3,
                entry_size: 24,
                ..loaded(".symtab", 2, 0, table)
            },
            loaded(".strtab", 3, 0, strings),
            ElfSection {
                link: 2,
                entry_size: 24,
                ..loaded(".rela.plt", 4, 0x4010a0, relocations)
            },
        ],
    );
    let file = Elf::parse(&bytes).expect("an ELF file");
    let table = elf_table(&file, &file, Vec::new(), Demangling::On);
    let names = [0x1000, 0x1008, 0x100f].map(|address| name_at(&table, address));
    assert_eq!(
        names,
        [Some("memcpy@plt"), Some("strlen@plt"), Some("strlen@plt")]
    );
}

#[test]
fn every_cut_of_a_file_gives_a_table_or_none() {
    let whole = program(&[
        ("f", 0x401000, 16, GLOBAL_FUNCTION, TEXT),
        ("g", u64::MAX, u64::MAX, GLOBAL_FUNCTION, TEXT),
    ]);
    for end in (0..whole.len()).step_by(7) {
        if let Ok(file) = Elf::parse(&whole[..end]) {
            let _ = elf_table(&file, &file, Vec::new(), Demangling::On).len();
        }
    }
}
