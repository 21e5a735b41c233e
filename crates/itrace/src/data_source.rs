//! Sources of data, as some processors number it in PEBS records.

use oxperf_abi::{EventAttr, EventType};

/// The source of data that is not known.
const UNKNOWN: u64 = 0x1e_0508_0021;

/// The numbering of the sources of data by a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SourceNumbers {
    /// Gracemont, the efficient cores of Alder Lake.
    Gracemont,
    /// Crestmont, of Sierra Forest and Grand Ridge.
    Crestmont,
}

/// The meaning of numbers in the words of `perf_mem_data_src`.
type Meanings = [u64; 16];

/// Level 3 missed; found in level 1, a fill buffer, level 2; in level 3 with the snoops none, hit, modified, modified,
/// forwarded; another node's level 3 modified; memory and another node's, first hit and then without snoop; device,
/// uncached.
const GRACEMONT: Meanings = [
    0x106_6808_0082,
    0x102_6810_0142,
    0x118_6810_0242,
    0x104_6810_0442,
    0x106_6810_0842,
    0x106_6820_0842,
    0x106_6880_0842,
    0x106_6880_0842,
    0x146_6800_0842,
    0x126_6880_8042,
    0x11a_6820_1042,
    0x126_6820_2042,
    0x11a_6850_1042,
    0x13a_6850_2042,
    0x11e_6812_0042,
    0x11e_6814_0042,
];

/// As above to level 3 without snoop; then with the snoops missed, hit, forwarded, modified; another node's level 3
/// modified; memory; another node's with the snoops none, forwarded, modified; device, uncached.
const CRESTMONT: Meanings = [
    0x106_6808_0082,
    0x102_6810_0142,
    0x118_6810_0242,
    0x104_6810_0442,
    0x106_6810_0842,
    0x106_6840_0842,
    0x106_6820_0842,
    0x146_6800_0842,
    0x106_6880_0842,
    0x126_6880_8042,
    0x11a_6810_1042,
    0x13a_6810_0042,
    0x17a_6800_0042,
    0x13a_6880_0042,
    0x11e_6812_0042,
    0x11e_6814_0042,
];

/// The change where the access was locked: from "no" to "yes".
const LOCKED: u64 = 0x200_0000;
/// The change where the address was not in the second TLB: from its hit to a miss.
const TLB_MISSED: u64 = 0x3800_0000;
/// The change where the access was blocked: from "not known" to data and address.
const BLOCKED: u64 = 0x300_0000_0000;

impl SourceNumbers {
    /// The numbers of an Intel processor, if they are known.
    pub(crate) fn of(family: u32, model: u32) -> Option<SourceNumbers> {
        match (family, model) {
            (6, 190) => Some(SourceNumbers::Gracemont),
            (6, 175 | 182) => Some(SourceNumbers::Crestmont),
            _ => None,
        }
    }

    fn meaning(self, number: u64) -> u64 {
        let (meanings, flags) = match self {
            SourceNumbers::Gracemont => (GRACEMONT, number >> 4),
            SourceNumbers::Crestmont => (CRESTMONT, number >> 5),
        };
        let changed = |bit: u32, change: u64| if flags >> bit & 1 == 1 { change } else { 0 };
        let change = changed(0, LOCKED) | changed(1, TLB_MISSED) | changed(2, BLOCKED);
        meanings[(number & 0xf) as usize] ^ change
    }
}

/// The source of the data of an access, by the number in its record.
pub(crate) fn data_source(
    numbers: Option<SourceNumbers>,
    event: &EventAttr,
    number: Option<u64>,
) -> u64 {
    // The events that sample loads and stores with their latency.
    let has_numbers =
        event.kind == EventType::RAW && matches!(event.config & 0xffff, 0x5d0 | 0x6d0);
    match (numbers, number) {
        (Some(numbers), Some(number)) if has_numbers => numbers.meaning(number),
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_mean_what_the_processor_says() {
        let loads = EventAttr {
            kind: EventType::RAW,
            config: 0x1_05d0,
            ..EventAttr::default()
        };
        let source = |model, number| data_source(SourceNumbers::of(6, model), &loads, number);
        assert_eq!(source(190, Some(1)), 0x102_6810_0142);
        // perf 7.2: L1, locked; L3, TLB missed; blocked.
        assert_eq!(source(190, Some(0x11)), 0x102_6a10_0142);
        assert_eq!(source(175, Some(0x44)), 0x106_5010_0842);
        assert_eq!(source(182, Some(0x81)), 0x202_6810_0142);
        assert_eq!([source(190, None), source(151, Some(1))], [UNKNOWN; 2]);
        let cycles = EventAttr::default();
        assert_eq!(
            data_source(SourceNumbers::of(6, 190), &cycles, Some(1)),
            UNKNOWN
        );
    }
}
