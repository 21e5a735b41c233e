//! What a sample says of an access to memory: where the data came from, what it cost, on which pages it was.

use oxperf_abi::DataSource;

use super::{FieldSet, pad, push_hex, push_number};
use crate::text::mem_text::{block, level, lock, operation, push_size, snoop, translation};

/// One access. What was not recorded is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// The source of the data.
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
        for (_, size) in sizes
            .into_iter()
            .filter(|(field, _)| fields.contains(*field))
        {
            out.push(b' ');
            push_size(size, out);
        }
    }
}

/// No text of a source is longer: perf cuts it here, and only words that no CPU writes have more to say.
const LONGEST_TEXT: usize = 82;

fn source_text(source: DataSource) -> String {
    let mut text = format!(
        "|OP {}|LVL {}|SNP {}|TLB {}|LCK {}|BLK {}",
        operation(source),
        level(source),
        snoop(source),
        translation(source),
        lock(source),
        block(source)
    );
    text.truncate(LONGEST_TEXT);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_in_both_codings() {
        for (word, expected) in [
            (0, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"),
            (
                0x6810_0142,
                "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A",
            ),
            (
                0x118_6810_0242,
                "|OP LOAD|LVL LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A",
            ),
            (
                3 << 43 | 1 << 37 | 13 << 33 | 4 << 5 | 4,
                "|OP STORE|LVL Remote socket, same board RAM miss|SNP N/A|TLB N/A|LCK No|BLK  N/A",
            ),
            (
                6 << 40 | 2 << 24 | 0b11 << 38,
                "|OP No|LVL N/A|SNP Fwd or Peer|TLB N/A|LCK Yes|BLK  Data Addr",
            ),
        ] {
            assert_eq!(source_text(DataSource(word)), expected, "{word:#x}");
        }
    }

    #[test]
    fn the_column_grows_with_its_texts() {
        let mut columns = AccessColumns::default();
        let lengths = [0x6810_0142, 0].map(|word| {
            let mut out = Vec::new();
            let access = Access {
                source: DataSource(word),
                ..Access::default()
            };
            columns.write_source(&access, FieldSet::DATA_SRC, &mut out);
            out.len()
        });
        assert_eq!(lengths, [78, 78]);
    }
}
