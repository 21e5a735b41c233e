//! Source lines and inlined functions of this very test program, whose compiler knows the answers.

use oxperf_objects::{Elf, ObjectKind, ObjectQuery};
use oxperf_symbols::{CacheEntry, DebugInfo, StoreOptions, SymbolStore};

/// The innermost of three functions; its address is asked for.
#[inline(never)]
fn oxperf_source_test_outer(value: u32) -> u32 {
    middle(std::hint::black_box(value)) + 1
}

const MIDDLE_LINE: u32 = line!() + 5;
const OUTER_LINE: u32 = MIDDLE_LINE - 8;

#[inline(always)]
fn middle(value: u32) -> u32 {
    inner(value) ^ 5
}

const INNER_LINE: u32 = line!() + 4;

#[inline(always)]
fn inner(value: u32) -> u32 {
    std::hint::black_box(value.wrapping_mul(77)) + std::hint::black_box(value)
}

fn own() -> (std::sync::Arc<DebugInfo>, (u64, u64)) {
    let store = SymbolStore::new(StoreOptions::default());
    let path = std::env::current_exe().unwrap();
    let wanted = ObjectQuery {
        path: path.as_os_str().as_encoded_bytes(),
        build_id: None,
        kind: ObjectKind::User,
        process: None,
    };
    let table = store.object(&wanted).unwrap();
    let of_name = |id| {
        table
            .symbol(id)
            .filter(|symbol| symbol.name.ends_with("oxperf_source_test_outer"))
    };
    let symbol = table.ids().find_map(of_name).unwrap();
    let range = (symbol.start, symbol.end);
    assert!(
        Elf::parse(&std::fs::read(&path).unwrap())
            .unwrap()
            .has_debug_section(".debug_info")
    );
    (store.source(&wanted).unwrap(), range)
}

#[test]
fn inlined_functions_stand_in_each_other_with_the_lines_of_their_calls() {
    assert_eq!(oxperf_source_test_outer(1), ((77 + 1) ^ 5) + 1);
    let (info, (start, end)) = own();
    let described = |offset| {
        let frames = info.frames(offset);
        let frames = frames.iter().map(|frame| {
            let name = frame.function.as_deref().unwrap_or("?");
            let line = frame.line.as_ref().map_or(0, |line| line.line);
            format!("{}:{line}", name.rsplit("::").next().unwrap_or(name))
        });
        frames.collect::<Vec<_>>().join(" ")
    };
    let expected =
        format!("inner:{INNER_LINE} middle:{MIDDLE_LINE} oxperf_source_test_outer:{OUTER_LINE}");
    let found: Vec<String> = (start..end).map(described).collect();
    assert!(found.contains(&expected), "{expected} in {found:#?}");
    assert!(
        found
            .iter()
            .all(|frames| frames.contains("oxperf_source_test_outer:"))
    );
}

#[test]
fn lines_come_by_address_and_for_a_whole_function() {
    let (info, (start, end)) = own();
    let line = info.line(start).unwrap();
    assert!(line.file.ends_with("tests/source.rs"), "{}", line.file);
    let lines = info.lines_between(start, end);
    assert!(lines.is_sorted_by_key(|(offset, _)| *offset));
    assert!(
        lines
            .iter()
            .all(|(offset, line)| info.line(*offset).as_ref() == Some(line))
    );
    assert!(lines.iter().any(|(_, line)| line.line == INNER_LINE));
}

#[test]
fn only_units_that_were_asked_about_are_read() {
    let (info, (start, _)) = own();
    let (all, none) = info.units();
    assert!(all > 1 && none == 0);
    info.frames(start);
    assert_eq!(info.units(), (all, 1));
    assert!(info.frames(u64::MAX).is_empty());
}

/// The store of the next run, which finds the answers of the last.
fn next_run(learned: Vec<CacheEntry>) -> SymbolStore {
    let store = SymbolStore::new(StoreOptions::default());
    store.remember(move |id, topic| {
        let found = learned
            .iter()
            .find(|learned| (learned.of, learned.topic) == (id, topic));
        found.map(|learned| learned.bytes.clone())
    });
    store
}

#[test]
fn another_run_need_not_read_what_one_has_learned() {
    let path = std::env::current_exe().unwrap();
    let wanted = ObjectQuery {
        path: path.as_os_str().as_encoded_bytes(),
        build_id: None,
        kind: ObjectKind::User,
        process: None,
    };
    let (info, (start, end)) = own();
    let first = SymbolStore::new(StoreOptions::default());
    let asked = first.source(&wanted).unwrap();
    let known: Vec<_> = (start..end).map(|offset| asked.frames(offset)).collect();
    let lines = asked.lines_between(start, end);
    assert!(!lines.is_empty());
    let learned = first.learned();
    assert_eq!(learned.len(), 1);
    let second = next_run(learned);
    let remembered = second.source(&wanted).unwrap();
    assert_eq!(remembered.lines_between(start, end), lines);
    assert_eq!(
        (start..end)
            .map(|offset| remembered.frames(offset))
            .collect::<Vec<_>>(),
        known
    );
    assert!(second.learned().is_empty(), "nothing new");
    assert_eq!(remembered.units().1, 0, "no unit was read");
    assert_eq!(info.frames(start), known[0]);
}

/// A program that was made from `/src/inlined.c`.
const PROGRAM: &[u8] = include_bytes!("../../cli/tests/golden/inlined/src/inlined");

#[test]
fn a_program_without_a_build_id_is_remembered_until_it_is_built_again() {
    let path = std::env::temp_dir().join(format!("oxperf-rebuilt-{}", std::process::id()));
    let name = path.as_os_str().as_encoded_bytes();
    let wanted = ObjectQuery {
        path: name,
        build_id: None,
        kind: ObjectKind::User,
        process: None,
    };
    let file = |store: &SymbolStore| store.source(&wanted).unwrap().line(0x101a).unwrap().file;
    let program = with(PROGRAM, b"\x03\0\0\0GNU\0", b"\x03\0\0\0ABC\0");
    assert!(Elf::parse(&program).unwrap().build_id().is_none());

    std::fs::write(&path, &program).unwrap();
    let first = next_run(Vec::new());
    assert_eq!(&*file(&first), "/src/inlined.c");
    let learned = first.learned();
    assert_eq!(learned.len(), 1);
    let second = next_run(learned.clone());
    assert_eq!(&*file(&second), "/src/inlined.c");
    assert_eq!(
        second.source(&wanted).unwrap().units().1,
        0,
        "no unit was read"
    );

    std::fs::write(&path, with(&program, b"inlined.c", b"rebuilt.c")).unwrap();
    assert_eq!(&*file(&next_run(learned)), "/src/rebuilt.c");
    std::fs::remove_file(&path).unwrap();
}

/// These bytes with others wherever the old ones stood.
fn with<const N: usize>(bytes: &[u8], old: &[u8; N], new: &[u8; N]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(old) {
            bytes[at..at + N].copy_from_slice(new);
        }
    }
    bytes
}
