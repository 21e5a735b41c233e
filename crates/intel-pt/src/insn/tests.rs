//! Lengths and classes of single instructions, by hand; `tests/insn.rs` compares with another decoder.

use super::*;
use crate::packet::ExecMode::{self, Bits16, Bits32, Bits64};

/// Checks the class of `bytes`, that they are one instruction, and that fewer of them are none.
fn is(bytes: &[u8], mode: ExecMode, class: Class) {
    let found = classify(bytes, mode).map(|found| (found.length, found.class));
    assert_eq!(
        found,
        Some((bytes.len() as u8, class)),
        "{bytes:02x?} {mode:?}"
    );
    for length in 0..bytes.len() {
        assert_eq!(
            classify(&bytes[..length], mode),
            None,
            "{length} of {bytes:02x?}"
        );
    }
}

#[test]
fn classes() {
    is(&[0x90], Bits64, Class::Other);
    is(&[0x74, 0x10], Bits64, Class::Conditional);
    is(&[0x0f, 0x84, 0, 0, 0, 0], Bits64, Class::Conditional);
    is(&[0xe2, 0x10], Bits64, Class::Loop);
    is(&[0x67, 0xe3, 0x10], Bits64, Class::Conditional);
    is(&[0xeb, 0x10], Bits64, Class::Jump);
    is(&[0xff, 0x25, 0, 0, 0, 0], Bits64, Class::JumpIndirect);
    is(&[0xff, 0x24, 0xc5, 0, 0, 0, 0], Bits64, Class::JumpIndirect);
    is(&[0xf2, 0xff, 0xd0], Bits64, Class::CallIndirect);
    is(&[0x41, 0xff, 0x54, 0x24, 0x08], Bits64, Class::CallIndirect);
    is(&[0xc2, 0x08, 0x00], Bits64, Class::Return);
    is(&[0xf3, 0xc3], Bits64, Class::Return);
    is(&[0x48, 0xcf], Bits64, Class::InterruptReturn);
    is(&[0xcd, 0x80], Bits32, Class::Interrupt);
    is(&[0x0f, 0x05], Bits64, Class::Syscall);
    is(&[0x0f, 0x34], Bits32, Class::Syscall);
    is(&[0x48, 0x0f, 0x07], Bits64, Class::SysReturn);
    is(&[0x48, 0x0f, 0x35], Bits64, Class::SysReturn);
    is(&[0x0f, 0x01, 0xc2], Bits64, Class::VmEntry);
    is(&[0x0f, 0x01, 0xc3], Bits64, Class::VmEntry);
    is(
        &[0xf2, 0x0f, 0x01, 0xca],
        Bits64,
        Class::EventReturnSupervisor,
    );
    is(&[0xf3, 0x0f, 0x01, 0xca], Bits64, Class::EventReturnUser);
    is(&[0xf3, 0x0f, 0x01, 0xec], Bits64, Class::InterruptReturn);
    is(&[0x0f, 0x01, 0xca], Bits64, Class::Other);
    is(&[0xf3, 0x48, 0x0f, 0xae, 0xe0], Bits64, Class::PtWrite);
    is(&[0x66, 0x0f, 0xae, 0xe0], Bits64, Class::Other);
}

#[test]
fn sizes_follow_the_mode() {
    is(&[0xe8, 0, 0], Bits16, Class::Call);
    is(&[0x66, 0xe8, 0, 0, 0, 0], Bits16, Class::Call);
    is(&[0x66, 0xe8, 0, 0], Bits32, Class::Call);
    is(&[0x66, 0xe8, 0, 0, 0, 0], Bits64, Class::Call);
    is(&[0x9a, 0, 0, 0, 0], Bits16, Class::CallIndirect);
    is(&[0xea, 0, 0, 0, 0, 0, 0], Bits32, Class::JumpIndirect);
    is(&[0x40], Bits32, Class::Other);
    is(&[0xff, 0x26, 0, 0], Bits16, Class::JumpIndirect);
    is(&[0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0], Bits64, Class::Other);
    is(&[0xa1, 0, 0, 0, 0, 0, 0, 0, 0], Bits64, Class::Other);
    is(&[0x67, 0xa1, 0, 0, 0, 0], Bits64, Class::Other);
}

#[test]
fn integer_instructions_with_new_prefixes() {
    is(
        &[0xd5, 0x00, 0xa1, 0, 0, 0, 0, 0, 0, 0, 0],
        Bits64,
        Class::JumpIndirect,
    );
    is(&[0xd5, 0x10, 0x03, 0xc0], Bits64, Class::Other);
    is(&[0xd5, 0x90, 0xaf, 0xc0], Bits64, Class::Other);
    is(
        &[0x62, 0xf4, 0x7c, 0x08, 0x81, 0xc0, 0, 0, 0, 0],
        Bits64,
        Class::Other,
    );
    is(
        &[0x62, 0xf4, 0x7d, 0x08, 0x81, 0xc0, 0, 0],
        Bits64,
        Class::Other,
    );
}

#[test]
fn what_64_bit_code_does_not_have() {
    is(&[0x06], Bits64, Class::Other);
    is(&[0x9a], Bits64, Class::CallIndirect);
    is(&[0xce], Bits64, Class::Interrupt);
    is(&[0xea], Bits64, Class::JumpIndirect);
    is(&[0x0f, 0x04], Bits64, Class::Other);
}

#[test]
fn distances_have_a_sign() {
    let relative = |bytes: &[u8], mode| classify(bytes, mode).unwrap().relative;
    assert_eq!(relative(&[0xeb, 0xfe], Bits64), -2);
    assert_eq!(relative(&[0xe9, 0xfb, 0xff, 0xff, 0xff], Bits64), -5);
    assert_eq!(relative(&[0xe9, 0xfd, 0xff], Bits16), -3);
    assert_eq!(relative(&[0x0f, 0x85, 0, 1, 0, 0], Bits64), 256);
    assert_eq!(relative(&[0xc2, 0xff, 0xff], Bits64), 0);
}

#[test]
fn vector_prefixes_make_no_branches() {
    assert_eq!(
        classify(
            &[
                0x62, 0xf1, 0x8e, 0x8e, 0x8e, 0x8e, 0x8e, 0x8e, 0x8e, 0x8e, 0x8e, 0x8e
            ],
            Bits32
        ),
        None
    );
    assert_eq!(classify(&[0xc5, 0xf8, 0x05], Bits64), None);
    is(&[0xc5, 0xf8, 0x77], Bits64, Class::Other);
}

#[test]
fn more_than_fifteen_bytes_are_none() {
    let mut long = [0x66; 16];
    long[14] = 0x90;
    assert_eq!(classify(&long, Bits64).map(|found| found.length), Some(15));
    long[14] = 0x66;
    long[15] = 0x90;
    assert_eq!(classify(&long, Bits64), None);
}

#[test]
fn an_emulated_ptwrite_is_a_jump_over_its_mark() {
    let jump = classify(&[0xeb, 0x10], Bits64).unwrap();
    assert!(announces_emulated_ptwrite(
        jump,
        b"\x0f\x0bperf,ptwrite  \x90"
    ));
    assert!(!announces_emulated_ptwrite(
        jump,
        b"\x0f\x0bperf,ptwrite \x90\x90"
    ));
    assert!(!announces_emulated_ptwrite(jump, b"\x0f\x0bperf"));
    assert!(!announces_emulated_ptwrite(
        classify(&[0x74, 0x10], Bits64).unwrap(),
        b"\x0f\x0bperf,ptwrite  "
    ));
}
