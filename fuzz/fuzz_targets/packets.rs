//! Trace bytes of Intel PT: reading ends, what was read comes back from its own bytes, and texts stay bounded.
#![no_main]

use intel_pt::insn::classify;
use intel_pt::packet::text::{perf, ptdump};
use intel_pt::packet::{ExecMode, PSB, Packet, PacketReader, encode, find_psb};
use libfuzzer_sys::fuzz_target;

/// No line of a text is longer, per byte of trace.
const LONGEST_LINE: usize = 160;

fuzz_target!(|trace: &[u8]| {
    let packets: Vec<Packet> = PacketReader::new(trace).filter_map(Result::ok).collect();
    assert!(packets.len() <= trace.len());

    let mut encoded = Vec::new();
    packets
        .iter()
        .for_each(|packet| encode(*packet, &mut encoded));
    assert!(encoded.len() <= trace.len());
    assert!(PacketReader::new(&encoded).eq(packets.iter().map(|packet| Ok(*packet))));

    let mut text = Vec::new();
    assert!(!perf::Dump::new(trace).write(usize::MAX, &mut text));
    assert!(!ptdump::Dump::new(trace, ptdump::Options::default()).write(usize::MAX, &mut text));
    assert!(text.len() <= 2 * LONGEST_LINE * trace.len());

    let naive = trace.windows(PSB.len()).position(|window| window == PSB);
    let found = find_psb(trace, 0);
    assert_eq!(found.is_some(), naive.is_some());
    assert!(found.is_none_or(|at| trace[at..].starts_with(&PSB)));

    for mode in [ExecMode::Bits16, ExecMode::Bits32, ExecMode::Bits64] {
        let length = classify(trace, mode).map_or(0, |instruction| instruction.length.into());
        assert!(length <= trace.len().min(15));
    }
});
