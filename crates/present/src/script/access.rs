//! What a sample says of an access to memory: where the data came from, what it cost, on which pages it was.

use oxperf_abi::DataSource;

use super::{FieldSet, pad, push_hex, push_number};

/// One access. What was not recorded is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// Where the data came from.
    pub source: DataSource,
    /// Cost, usually the cycles of the access.
    pub weight: u64,
    /// Latency of the instruction, cycles.
    pub ins_lat: u16,
    /// Latency of its retirement, cycles.
    pub retire_lat: u16,
    /// Physical data address.
    pub phys_addr: u64,
    /// Page size of the data address, bytes.
    pub data_page_size: u64,
    /// Page size of the instruction pointer, bytes.
    pub code_page_size: u64,
}

/// The columns of accesses: the text of the source is padded to the longest that was written so far.
#[derive(Debug, Default)]
pub struct AccessColumns {
    longest: usize,
}

impl AccessColumns {
    /// Appends where the data came from and what that cost.
    pub fn write_source(&mut self, access: &Access, fields: FieldSet, out: &mut Vec<u8>) {
        if fields.contains(FieldSet::DATA_SRC) {
            push_hex(out, access.source.0, 16);
            out.push(b' ');
            let text = source_text(access.source);
            self.longest = self.longest.max(text.len());
            out.extend_from_slice(text.as_bytes());
            pad(out, self.longest - text.len());
        }
        if fields.contains(FieldSet::WEIGHT) {
            push_number(out, access.weight, 16, b' ');
        }
        if fields.contains(FieldSet::INS_LAT) {
            push_number(out, u64::from(access.ins_lat), 16, b' ');
        }
        if fields.contains(FieldSet::RETIRE_LAT) {
            push_number(out, u64::from(access.retire_lat), 16, b' ');
        }
    }
}

impl Access {
    /// Appends the physical address and the sizes of pages.
    pub fn write_pages(&self, fields: FieldSet, out: &mut Vec<u8>) {
        if fields.contains(FieldSet::PHYS_ADDR) {
            push_hex(out, self.phys_addr, 16);
        }
        let sizes = [
            (FieldSet::DATA_PAGE_SIZE, self.data_page_size),
            (FieldSet::CODE_PAGE_SIZE, self.code_page_size),
        ];
        for (_, size) in sizes.into_iter().filter(|(field, _)| fields.contains(*field)) {
            out.push(b' ');
            write_size(size, out);
        }
    }
}

/// A size in the largest unit of which it has at least two.
fn write_size(mut size: u64, out: &mut Vec<u8>) {
    if size == 0 {
        return out.extend_from_slice(b"N/A");
    }
    let mut units = b"BKMG".iter();
    while size / 1024 > 1 && units.len() > 1 {
        size /= 1024;
        units.next();
    }
    push_number(out, size, 0, b' ');
    out.extend(units.next());
}

/// No text of a source is longer: perf cuts it here, and only words that no CPU writes have more to say.
const LONGEST_TEXT: usize = 82;

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
const HOPS: [&str; 4] = ["core, same node", "node, same socket", "socket, same board", "board"];
const SNOOPS: [&str; 7] = ["N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer"];
const TRANSLATIONS: [&str; 5] = ["N/A", "L1", "L2", "Walker", "Fault"];

fn source_text(source: DataSource) -> String {
    let operation = first_of(&OPERATIONS, source.operations()).unwrap_or("No");
    let (level, snoop) = (level_text(source), any_of(&SNOOPS, u16::from(source.snoops())));
    let snoop = if snoop.is_empty() { "N/A" } else { &snoop };
    let translation = translation_text(source.translations());
    let lock = ["No", "N/A", "Yes", "N/A"][usize::from(source.locks() & 3)];
    let block = block_text(source.blocks());
    let mut text =
        format!("|OP {operation}|LVL {level}|SNP {snoop}|TLB {translation}|LCK {lock}|BLK {block}");
    text.truncate(LONGEST_TEXT);
    text
}

/// The name of the lowest bit that is set.
fn first_of(names: &[&'static str], bits: u8) -> Option<&'static str> {
    names.get(bits.trailing_zeros() as usize).copied()
}

/// The names of all bits that are set.
fn any_of(names: &[&str], bits: u16) -> String {
    let set = names.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(" or ")
}

fn level_text(source: DataSource) -> String {
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
    let hops = usize::from(source.hops()).checked_sub(1).and_then(|hops| HOPS.get(hops));
    let hops = hops.map_or_else(String::new, |hops| format!("{hops} "));
    let name = LEVEL_NUMBERS.get(usize::from(number) - 1).copied().unwrap_or_default();
    format!("{remote}{hops}{name}")
}

/// Who translated the address, then how that went; that nothing is known counts as one of the first.
fn translation_text(bits: u8) -> String {
    let who = bits & 1 | bits >> 2 & 0b1_1110;
    let mut text = if who == 0 { "N/A".to_owned() } else { any_of(&TRANSLATIONS, u16::from(who)) };
    if bits & 2 != 0 {
        text.push_str(" hit");
    }
    if bits & 4 != 0 {
        text.push_str(" miss");
    }
    text
}

fn block_text(bits: u8) -> &'static str {
    match bits {
        0b010 => " Data",
        0b100 => " Addr",
        0b110 => " Data Addr",
        _ => " N/A",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_in_both_codings() {
        for (word, expected) in [
            (0, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"),
            (0x6810_0142, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"),
            (0x118_6810_0242, "|OP LOAD|LVL LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"),
            (
                3 << 43 | 1 << 37 | 13 << 33 | 4 << 5 | 4,
                "|OP STORE|LVL Remote socket, same board RAM miss|SNP N/A|TLB N/A|LCK No|BLK  N/A",
            ),
            (6 << 40 | 2 << 24 | 0b11 << 38, "|OP No|LVL N/A|SNP Fwd or Peer|TLB N/A|LCK Yes|BLK  Data Addr"),
        ] {
            assert_eq!(source_text(DataSource(word)), expected, "{word:#x}");
        }
    }

    #[test]
    fn the_column_grows_with_its_texts() {
        let mut columns = AccessColumns::default();
        let lengths = [0x6810_0142, 0].map(|word| {
            let mut out = Vec::new();
            let access = Access { source: DataSource(word), ..Access::default() };
            columns.write_source(&access, FieldSet::DATA_SRC, &mut out);
            out.len()
        });
        assert_eq!(lengths, [78, 78]);
    }

    #[test]
    fn sizes_of_pages() {
        for (size, expected) in
            [(0, "N/A"), (1024, "1024B"), (4096, "4K"), (1 << 21, "2M"), (1 << 30, "1024M")]
        {
            let mut out = Vec::new();
            write_size(size, &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
