//! A `feature` line: which bit, and its bytes.

use crate::bytes::{Bytes, Endian};
use crate::error::Read;
use crate::line::Line;
use crate::number;

/// The feature names of the header, by bit; bit 0 is reserved.
const NAMES: &[&str] = &[
    "",
    "tracing_data",
    "build_id",
    "hostname",
    "osrelease",
    "version",
    "arch",
    "nrcpus",
    "cpudesc",
    "cpuid",
    "total_mem",
    "cmdline",
    "event_desc",
    "cpu_topology",
    "numa_topology",
    "branch_stack",
    "pmu_mappings",
    "group_desc",
    "auxtrace",
    "stat",
    "cache",
    "sample_time",
    "mem_topology",
    "clockid",
    "dir_format",
    "bpf_prog_info",
    "bpf_btf",
    "compressed",
    "cpu_pmu_caps",
    "clock_data",
    "hybrid_topology",
    "pmu_caps",
    "cpu_domain_info",
    "e_machine",
    "cln_size",
];

/// Bits of the header's bitmap.
const BITS: u8 = u8::MAX;

/// One feature section.
#[derive(Clone, Debug)]
pub(crate) struct Feature {
    pub(crate) bit: u8,
    pub(crate) bytes: Vec<u8>,
}

impl Feature {
    /// A stand-in for the features that every recorder writes: TOTAL_MEM of 0 KiB.
    pub(crate) fn of_any_recorder(endian: Endian) -> Feature {
        const TOTAL_MEM: u8 = 10;
        let mut out = Bytes::new(endian);
        out.u64(0);
        Feature {
            bit: TOTAL_MEM,
            bytes: out.into_vec(),
        }
    }

    pub(crate) fn parse(line: &mut Line, endian: Endian) -> Read<Feature> {
        let bit = bit(&line.word("the feature's name")?)?;
        let mut out = Bytes::new(endian);
        for (key, value) in line.drain_fields() {
            content(&key, &value, &mut out)?;
        }
        Ok(Feature {
            bit,
            bytes: out.into_vec(),
        })
    }
}

fn bit(name: &str) -> Read<u8> {
    let known = NAMES.iter().position(|known| *known == name);
    let bit = known.map_or_else(|| number::number(name), Ok)?;
    u8::try_from(bit)
        .ok()
        .filter(|bit| *bit < BITS)
        .ok_or_else(|| format!("there is no feature bit {bit}"))
}

fn content(key: &str, value: &str, out: &mut Bytes) -> Read<()> {
    match key {
        "string" => string(value, out),
        "u32" => number::list(value)?
            .into_iter()
            .for_each(|word| out.u32(word)),
        "u64" => number::list(value)?
            .into_iter()
            .for_each(|word| out.u64(word)),
        "bytes" => out.raw(&number::hex(value)?),
        _ => return Err(format!("{key}= is no content of a feature")),
    }
    Ok(())
}

/// A 32-bit length, then the text with its NUL in a multiple of 64 bytes.
fn string(text: &str, out: &mut Bytes) {
    out.u32((text.len() + 1).next_multiple_of(64) as u32);
    out.text(text, 64);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feature(text: &str) -> Read<Feature> {
        let (_, mut line) = Line::parse(text)?.ok_or("no line")?;
        Feature::parse(&mut line, Endian::Big)
    }

    #[test]
    fn contents_stand_in_order() {
        let cmdline = feature("feature cmdline u32=1 string=x bytes=ff").unwrap();
        assert_eq!((cmdline.bit, cmdline.bytes.len()), (11, 4 + 4 + 64 + 1));
        assert_eq!(cmdline.bytes[..10], [0, 0, 0, 1, 0, 0, 0, 64, b'x', 0]);
        assert_eq!(cmdline.bytes[72], 0xff);
    }

    #[test]
    fn unknown_bits_go_by_number() {
        assert_eq!(feature("feature 200").unwrap().bit, 200);
        assert!(feature("feature 256").is_err());
        assert!(feature("feature hostnaem").is_err());
    }
}
