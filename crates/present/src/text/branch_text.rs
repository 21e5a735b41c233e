//! What the flags of a branch say, as words.

use oxperf_abi::BranchEntry;

/// What kind of branch, as far as the CPU tells.
pub fn kind_name(branch: &BranchEntry) -> &'static str {
    branch.kind().map_or("", name_of_kind)
}

/// The name of a kind by its number; nothing for a kind that is not known.
pub fn name_of_kind(kind: usize) -> &'static str {
    const NAMES: [&str; BranchEntry::KINDS] = [
        "",
        "COND",
        "UNCOND",
        "IND",
        "CALL",
        "IND_CALL",
        "RET",
        "SYSCALL",
        "SYSRET",
        "COND_CALL",
        "COND_RET",
        "ERET",
        "IRQ",
        "SERROR",
        "NO_TX",
        "FAULT_ALGN",
        "FAULT_DATA",
        "FAULT_INST",
        "ARCH_1",
        "ARCH_2",
        "ARCH_3",
        "ARCH_4",
        "ARCH_5",
    ];
    NAMES.get(kind).copied().unwrap_or_default()
}

/// Whether it was speculated, and on which path; `None` where the CPU does not tell.
pub fn speculation_name(branch: &BranchEntry) -> Option<&'static str> {
    match branch.flags >> 24 & 3 {
        0 => None,
        1 => Some("SPEC_WRONG_PATH"),
        2 => Some("NON_SPEC_CORRECT_PATH"),
        _ => Some("SPEC_CORRECT_PATH"),
    }
}

/// How it was guessed: `P` rightly, `M` wrongly, and an `N` behind it where it was not taken; `-` where nothing is told.
pub fn prediction(branch: &BranchEntry) -> &'static str {
    let told =
        branch.is(BranchEntry::MISPREDICTED | BranchEntry::PREDICTED | BranchEntry::NOT_TAKEN);
    match (
        branch.is(BranchEntry::PREDICTED),
        branch.is(BranchEntry::NOT_TAKEN),
    ) {
        _ if !told => "-",
        (true, true) => "PN",
        (true, false) => "P",
        (false, true) => "MN",
        (false, false) => "M",
    }
}
