//! Damaged debug information: fewer answers, never a panic, never an endless walk.

use oxperf_symbols::{DebugInfo, Demangling};

const PROGRAM: &[u8] = include_bytes!("../../cli/tests/golden/inlined/src/inlined");
/// The program's code in its file.
const CODE: std::ops::Range<u64> = 0x1000..0x1062;

fn ask(bytes: Vec<u8>) -> usize {
    let Some(info) = DebugInfo::in_memory(bytes, Demangling::default()) else {
        return 0;
    };
    assert!(info.lines_between(CODE.start, CODE.end).len() < 10_000);
    CODE.map(|offset| info.frames(offset).len()).sum()
}

#[test]
fn a_whole_program_knows_what_was_inlined() {
    let info = DebugInfo::in_memory(PROGRAM.to_vec(), Demangling::default()).unwrap();
    let frames = info.frames(0x101a);
    let shown: Vec<String> = frames
        .iter()
        .map(|frame| {
            let line = frame.line.as_ref().unwrap();
            format!(
                "{} {}:{}",
                frame.function.as_deref().unwrap(),
                line.file,
                line.line
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "mix /src/inlined.c:4",
            "twice /src/inlined.c:10",
            "work /src/inlined.c:19"
        ]
    );
}

#[test]
fn every_damaged_byte_is_survived() {
    let whole = ask(PROGRAM.to_vec());
    assert!(whole > 150);
    for at in (0..PROGRAM.len()).step_by(23) {
        for value in [0, 0x7f, 0xff] {
            let mut damaged = PROGRAM.to_vec();
            damaged[at] = value;
            ask(damaged);
        }
    }
}

#[test]
fn every_cut_is_survived() {
    for end in (0..PROGRAM.len()).step_by(13) {
        ask(PROGRAM[..end].to_vec());
    }
}
