//! Words for the flags of a branch.

use oxperf_abi::BranchEntry;

/// The kind of a branch; empty where the CPU does not record it.
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

/// The speculation of a branch, and its path; `None` where the CPU does not record it.
pub fn speculation_name(branch: &BranchEntry) -> Option<&'static str> {
    match branch.flags >> 24 & 3 {
        0 => None,
        1 => Some("SPEC_WRONG_PATH"),
        2 => Some("NON_SPEC_CORRECT_PATH"),
        _ => Some("SPEC_CORRECT_PATH"),
    }
}

/// The prediction of a branch: `P` right, `M` wrong, and an `N` behind it if it was not taken; `-` where nothing is recorded.
pub fn prediction(branch: &BranchEntry) -> &'static str {
    let known =
        branch.is(BranchEntry::MISPREDICTED | BranchEntry::PREDICTED | BranchEntry::NOT_TAKEN);
    match (
        branch.is(BranchEntry::PREDICTED),
        branch.is(BranchEntry::NOT_TAKEN),
    ) {
        _ if !known => "-",
        (true, true) => "PN",
        (true, false) => "P",
        (false, true) => "MN",
        (false, false) => "M",
    }
}
