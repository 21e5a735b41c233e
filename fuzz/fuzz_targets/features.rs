//! Each feature in either byte order: what was decoded must be written alike after it was written and read again.

#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use oxperf_data::Feature;
use oxperf_data::features::*;
use oxperf_wire::{Cursor, Encoder, Endian};

/// Reads a feature, writes it and reads it again. What a writer says in another way than the recorder did, such as the
/// size of a build id, it says alike from then on.
fn round<F: Feature + PartialEq + Debug>(bytes: &[u8], endian: Endian) {
    let context = FeatureContext {
        cpus_available: Some(2),
    };
    let Ok(feature) = F::decode(&mut Cursor::new(bytes, endian), &context) else {
        return;
    };
    let written = write(&feature, endian);
    let again = F::decode(&mut Cursor::new(&written, endian), &context).expect("what was written");
    assert_eq!(write(&again, endian), written);
}

fn write<F: Feature>(feature: &F, endian: Endian) -> Vec<u8> {
    let mut encoder = Encoder::new(endian);
    feature.encode(&mut encoder);
    encoder.into_bytes()
}

fuzz_target!(|input: (u8, bool, &[u8])| {
    let (which, big, bytes) = input;
    let endian = if big { Endian::Big } else { Endian::Little };
    match which % 20 {
        0 => round::<BuildIds>(bytes, endian),
        1 => round::<CpuCaches>(bytes, endian),
        2 => round::<CmdLine>(bytes, endian),
        3 => round::<CpuTopology>(bytes, endian),
        4 => round::<EventDesc>(bytes, endian),
        5 => round::<GroupDesc>(bytes, endian),
        6 => round::<MemTopology>(bytes, endian),
        7 => round::<NumaTopology>(bytes, endian),
        8 => round::<PmuCaps>(bytes, endian),
        9 => round::<CpuPmuCaps>(bytes, endian),
        10 => round::<PmuMappings>(bytes, endian),
        11 => round::<HybridTopology>(bytes, endian),
        12 => round::<CpuDomainInfo>(bytes, endian),
        13 => round::<AuxtraceIndex>(bytes, endian),
        14 => round::<BpfProgInfo>(bytes, endian),
        15 => round::<BpfBtf>(bytes, endian),
        16 => round::<ClockData>(bytes, endian),
        17 => round::<Compression>(bytes, endian),
        18 => round::<Hostname>(bytes, endian),
        _ => round::<SampleTime>(bytes, endian),
    }
});
