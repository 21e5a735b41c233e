//! Instructions of 64-bit Arm as text.

use oxperf_disasm::Arm64;

/// The text of one instruction at 0x1000; 0x2000 is `data`.
fn text(word: u32) -> Option<String> {
    let mut out = String::new();
    let mut names = |address: u64, out: &mut String| {
        out.push_str("data");
        address == 0x2000
    };
    Arm64::default().write(&word.to_le_bytes(), 0x1000, &mut names, &mut out)?;
    Some(out)
}

#[test]
fn instructions_are_text() {
    for (word, expected) in [
        (0xd65f_03c0, "ret"),
        (0xd503_201f, "nop"),
        (0xa9bf_7bfd, "stp     x29, x30, [sp, #-0x10]!"),
        (0x9100_03fd, "mov     x29, sp"),
        (0x9400_0400, "bl      2000 <data>"),
        (0x1400_0004, "b       1010"),
        (0x54ff_ffe1, "b.ne    ffc"),
        (0xb000_0000, "adrp    x0, 2000 <data>"),
        (0xb400_0040, "cbz     x0, 1008"),
    ] {
        assert_eq!(text(word).as_deref(), Some(expected), "{word:08x}");
    }
}

#[test]
fn what_is_no_instruction_appends_nothing() {
    let mut out = String::from("kept");
    for code in [&[][..], &[0, 0, 0], &[0xff; 4]] {
        assert_eq!(
            Arm64::default().write(code, 0, &mut |_, _| true, &mut out),
            None
        );
        assert_eq!(out, "kept");
    }
}

/// No word of a long sequence makes trouble, whatever it means.
#[test]
fn any_word_is_an_instruction_or_none() {
    let mut word = 1u32;
    for _ in 0..100_000 {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let _ = text(word);
        let _ = text(word.rotate_left(13));
    }
}
