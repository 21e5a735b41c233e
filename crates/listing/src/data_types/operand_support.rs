//! The instructions that are looked at: those whose operands perf 7.2 reads, by the names that listings have for them.

/// Ascending.
const PARSED: [&str; 70] = [
    "adc", "add", "addsd", "and", "andpd", "andps", "bsr", "bt", "btr", "bts", "cmovae", "cmovbe",
    "cmove", "cmp", "cmpxchg", "cs", "dec", "divsd", "divss", "imul", "inc", "mov", "movapd",
    "movaps", "movdqa", "movdqu", "movq", "movsbl", "movsbq", "movsbw", "movsd", "movslq", "movss",
    "movswl", "movswq", "movupd", "movups", "movzbl", "movzbq", "movzbw", "movzwl", "movzwq",
    "mulsd", "mulss", "or", "orps", "paddq", "pand", "pcmpeqb", "por", "sbb", "sub", "subsd",
    "test", "tzcnt", "ucomisd", "ucomiss", "vaddsd", "vandpd", "vmovdqa", "vmovq", "vmovsd",
    "vmulsd", "vsubsd", "vucomisd", "xadd", "xchg", "xor", "xorpd", "xorps",
];

/// Letters behind the name of an instruction for the width of its data.
const WIDTHS: [char; 4] = ['b', 'w', 'l', 'q'];

/// Returns whether the operands of an instruction are read.
pub(super) fn is_parsed(name: &str) -> bool {
    let name = name.strip_prefix("lock ").unwrap_or(name);
    let is_known = |name: &str| PARSED.binary_search(&name).is_ok();
    is_known(name) || name.strip_suffix(WIDTHS).is_some_and(is_known)
}

/// Returns whether an instruction counts as one that works on the stack alone: by the beginning of its name, as perf
/// has it.
pub(super) fn moves_stack(name: &str) -> bool {
    ["push", "pop", "call", "ret"]
        .iter()
        .any(|word| name.starts_with(word))
}

/// Returns whether CPUs may run an instruction together with the one `before` it.
pub(super) fn fuse(before: &str, name: &str) -> bool {
    const FIRST: [&str; 9] = [
        "add", "and", "cmp", "dec", "inc", "or", "sub", "test", "xor",
    ];
    !before.starts_with("cmpxchg")
        && !name.starts_with("jmp")
        && FIRST.iter().any(|word| before.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_tell_the_width() {
        assert!(PARSED.is_sorted());
        for name in [
            "mov",
            "movl",
            "addq",
            "cmpb",
            "lock xadd",
            "lock incl",
            "movslq",
            "incw",
        ] {
            assert!(is_parsed(name), "{name}");
        }
        for name in [
            "lea",
            "pxor",
            "addss",
            "negl",
            "movd",
            "lock cmpxchg8b",
            "vmovss",
            "b",
            "",
        ] {
            assert!(!is_parsed(name), "{name}");
        }
    }

    #[test]
    fn comparisons_and_jumps_run_together() {
        assert!(fuse("cmp", "je") && fuse("testb", "sete") && fuse("addsd", "mov"));
        assert!(
            !fuse("cmp", "jmp")
                && !fuse("mov", "je")
                && !fuse("adc", "je")
                && !fuse("cmpxchg", "je")
        );
        assert!(!fuse("lock dec", "je") && !fuse("por", "je"));
    }
}
