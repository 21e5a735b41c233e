//! Words for what samples say of accesses to memory: where data were found and what that took, sizes of pages.

use oxperf_abi::DataSource;

const OPERATIONS: [&str; 5] = ["N/A", "LOAD", "STORE", "PFETCH", "EXEC"];
const LEVELS: [&str; 11] = [
    "L1",
    "LFB/MAB",
    "L2",
    "L3",
    "Local RAM",
    "Remote RAM (1 hop)",
    "Remote RAM (2 hops)",
    "Remote Cache (1 hop)",
    "Remote Cache (2 hops)",
    "I/O",
    "Uncached",
];
const LEVEL_NUMBERS: [&str; 14] = [
    "L1",
    "L2",
    "L3",
    "L4",
    "L2 MHB",
    "Memory-side Cache",
    "Unknown level 7",
    "Uncached",
    "CXL",
    "I/O",
    "Any cache",
    "LFB/MAB",
    "RAM",
    "PMEM",
];
const HOPS: [&str; 4] = [
    "core, same node",
    "node, same socket",
    "socket, same board",
    "board",
];
const SNOOPS: [&str; 7] = ["N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer"];
const TRANSLATIONS: [&str; 5] = ["N/A", "L1", "L2", "Walker", "Fault"];

/// The operation of an access.
pub fn operation(source: DataSource) -> &'static str {
    first_of(&OPERATIONS, source.operations()).unwrap_or("No")
}

/// The answer of other caches.
pub fn snoop(source: DataSource) -> String {
    match any_of(&SNOOPS, u16::from(source.snoops())) {
        none if none.is_empty() => "N/A".to_owned(),
        said => said,
    }
}

/// The atomicity of an access.
pub fn lock(source: DataSource) -> &'static str {
    ["No", "N/A", "Yes", "N/A"][usize::from(source.locks() & 3)]
}

/// The name of the lowest bit that is set.
fn first_of(names: &[&'static str], bits: u8) -> Option<&'static str> {
    names.get(bits.trailing_zeros() as usize).copied()
}

/// The names of all bits that are set.
fn any_of(names: &[&str], bits: u16) -> String {
    let set = names
        .iter()
        .enumerate()
        .filter(|(bit, _)| bits >> bit & 1 == 1);
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(" or ")
}

/// The level of memory where the data were found.
pub fn level(source: DataSource) -> String {
    let level = match (source.level_number(), source.levels()) {
        (0 | 15, 0) => return "N/A".to_owned(),
        (0 | 15, levels) => any_of(&LEVELS, levels),
        (number, _) => numbered_level(source, number),
    };
    let outcome = match (source.hit(), source.missed()) {
        (true, _) => "hit",
        (false, true) => "miss",
        (false, false) => "",
    };
    format!("{level} {outcome}")
}

fn numbered_level(source: DataSource, number: u8) -> String {
    let remote = if source.remote() { "Remote " } else { "" };
    let hops = usize::from(source.hops())
        .checked_sub(1)
        .and_then(|hops| HOPS.get(hops));
    let hops = hops.map_or_else(String::new, |hops| format!("{hops} "));
    let name = LEVEL_NUMBERS
        .get(usize::from(number) - 1)
        .copied()
        .unwrap_or_default();
    format!("{remote}{hops}{name}")
}

/// The units that translated the address, then the outcome; "N/A" for unknown units.
pub fn translation(source: DataSource) -> String {
    let bits = source.translations();
    let who = bits & 1 | bits >> 2 & 0b1_1110;
    let mut text = if who == 0 {
        "N/A".to_owned()
    } else {
        any_of(&TRANSLATIONS, u16::from(who))
    };
    if bits & 2 != 0 {
        text.push_str(" hit");
    }
    if bits & 4 != 0 {
        text.push_str(" miss");
    }
    text
}

/// The reason why the load waited.
pub fn block(source: DataSource) -> &'static str {
    match source.blocks() {
        0b010 => " Data",
        0b100 => " Addr",
        0b110 => " Data Addr",
        _ => " N/A",
    }
}

/// A size in the largest unit of which it has at least two.
pub fn push_size(mut size: u64, out: &mut Vec<u8>) {
    if size == 0 {
        return out.extend_from_slice(b"N/A");
    }
    let mut units = b"BKMG".iter();
    while size / 1024 > 1 && units.len() > 1 {
        size /= 1024;
        units.next();
    }
    out.extend_from_slice(size.to_string().as_bytes());
    out.extend(units.next());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_pages() {
        for (size, expected) in [
            (0, "N/A"),
            (1024, "1024B"),
            (4096, "4K"),
            (1 << 21, "2M"),
            (1 << 30, "1024M"),
        ] {
            let mut out = Vec::new();
            push_size(size, &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
