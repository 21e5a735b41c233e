//! Functions with and without frame pointers, counted by their tables.

use oxperf_objects::Elf;
use oxperf_unwind::FrameSurvey;

use crate::elf;
use crate::tables::{Function, eh_frame, rule};

const X86_64: u16 = 62;
const AARCH64: u16 = 183;

fn survey(machine: u16, functions: &[Function<'_>]) -> Option<FrameSurvey> {
    let return_register = if machine == X86_64 { 16 } else { 30 };
    let table = eh_frame("zR", return_register, functions);
    let sections = [elf::loaded(".eh_frame", 1, 0x1000, table)];
    let mut file = elf::file(3, (0, 0, 0x10_0000), &sections);
    file[18..20].copy_from_slice(&machine.to_le_bytes());
    FrameSurvey::of(&Elf::parse(&file).unwrap())
}

/// The frame's address is 16 above this register, and the frame pointer is saved where x86-64 saves it.
fn frame_from(register: u8, pointer: u8) -> Vec<Vec<u8>> {
    vec![rule::frame(register, 16), rule::below(pointer, 2)]
}

#[test]
fn functions_of_x86_point_to_their_frames_or_not() {
    let (kept, lost) = (frame_from(6, 6), frame_from(7, 6));
    let both = survey(X86_64, &[(0, 8, &kept), (8, 8, &lost), (16, 8, &[])]).unwrap();
    assert_eq!(both, FrameSurvey { framed: 2, kept: 1 });
    assert!(!both.keeps_frame_pointers());
    let alone = survey(X86_64, &[(0, 8, &kept), (16, 8, &[])]).unwrap();
    assert!(alone.keeps_frame_pointers());
}

/// Counted from the stack pointer, with the frame pointer saved.
#[test]
fn functions_of_arm64_save_theirs() {
    let kept = frame_from(31, 29);
    let found = survey(AARCH64, &[(0, 8, &kept)]).unwrap();
    assert_eq!(found, FrameSurvey { framed: 1, kept: 1 });
    let lost = frame_from(31, 28);
    let found = survey(AARCH64, &[(0, 8, &lost)]).unwrap();
    assert_eq!(found, FrameSurvey { framed: 1, kept: 0 });
}

/// Stubs of the linker say nothing of the compiler, and an object of stubs alone says nothing at all.
#[test]
fn stubs_do_not_count() {
    let stub = [rule::frame(7, 16), rule::frame_expression(&[0x77, 8])];
    let found = survey(X86_64, &[(0, 8, &stub)]).unwrap();
    assert_eq!(found, FrameSurvey::default());
    assert!(!found.keeps_frame_pointers());
    assert_eq!(survey(8, &[]), None);
}
