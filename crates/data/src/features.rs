//! The features behind the data: what the recorder knew about host, events and files.
//!
//! One file for each feature, with its reader, its writer and a round-trip test.

mod auxtrace_index;
mod bpf;
mod btf;
mod build_id;
mod cache;
mod clock;
mod compressed;
mod cpu_domain;
mod cpu_topology;
mod event_desc;
mod flags;
mod group_desc;
mod host_text;
mod hybrid;
mod id;
mod mem_topology;
mod numa;
mod numbers;
mod pmu_caps;
mod pmu_mappings;
mod recode;
mod sample_time;
mod set;
mod simpleperf;
mod strings;
mod tracing_data;

use oxperf_wire::{Cursor, Encoder};

pub use auxtrace_index::{AuxtraceEntry, AuxtraceIndex};
pub use bpf::{BpfBtf, BpfFunction, BpfObject, BpfProgInfo, BpfProgram};
pub use build_id::{BuildIdEntry, BuildIds};
pub use cache::{CacheLevel, CpuCaches};
pub use clock::{ClockData, ClockResolution};
pub use compressed::Compression;
pub use cpu_domain::{CpuDomain, CpuDomainInfo, CpuDomains};
pub use cpu_topology::{CpuTopology, CpuTopologyEntry};
pub use event_desc::{EventDesc, NamedEvent};
pub use flags::{BranchStack, StatData};
pub use group_desc::{GroupDesc, GroupEntry};
pub use host_text::{Arch, CpuDesc, CpuId, Hostname, OsRelease, Version};
pub use hybrid::{HybridPmu, HybridTopology};
pub use id::{FeatureBits, FeatureId};
pub use mem_topology::{MemNode, MemTopology};
pub use numa::{NumaNode, NumaTopology};
pub use numbers::{CacheLineSize, DirFormat, ElfMachine, NrCpus, TotalMem};
pub use pmu_caps::{Capability, CpuPmuCaps, PmuCaps, PmuCapsEntry};
pub use pmu_mappings::{PmuMapping, PmuMappings};
pub(crate) use recode::recode;
pub use sample_time::SampleTime;
pub use set::FeatureSet;
pub use simpleperf::{
    DebugUnwind, DebugUnwindFile, FileDetail, FileKind, MetaInfo, RecordedFile, RecordedSymbol,
    SimpleperfFiles, SimpleperfFiles2,
};
pub use strings::CmdLine;
pub use tracing_data::TracingDataSection;

use crate::FeatureFault;

/// What a feature must know from others to be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FeatureContext {
    /// CPUs that the machine can have, from NRCPUS.
    pub cpus_available: Option<u32>,
}

/// A feature with a meaning: its bit, and its bytes both ways.
pub trait Feature: Sized {
    /// Its bit in the file header.
    const ID: FeatureId;

    /// Reads it from the start of its bytes.
    ///
    /// # Errors
    /// The bytes end too early or hold a value that makes the rest unreadable.
    fn decode(cursor: &mut Cursor<'_>, context: &FeatureContext) -> Result<Self, FeatureFault>;

    /// Appends its bytes.
    fn encode(&self, encoder: &mut Encoder);
}

/// Reads a 32-bit count, then that many items. Memory follows what is really there, not the count.
fn decode_list<T>(
    cursor: &mut Cursor<'_>,
    mut item: impl FnMut(&mut Cursor<'_>) -> Result<T, FeatureFault>,
) -> Result<Vec<T>, FeatureFault> {
    let count = cursor.u32()?;
    let mut items = Vec::new();
    for _ in 0..count {
        items.push(item(cursor)?);
    }
    Ok(items)
}

/// Writes a 32-bit count and the items.
fn encode_list<T>(encoder: &mut Encoder, items: &[T], mut item: impl FnMut(&mut Encoder, &T)) {
    encoder.u32(items.len() as u32);
    for one in items {
        item(encoder, one);
    }
}

#[cfg(test)]
mod testing {
    //! What the tests of every feature share.

    use std::fmt::Debug;

    use oxperf_wire::{Cursor, Encoder, Endian};

    use super::{Feature, FeatureContext};
    use crate::FeatureFault;

    /// Bytes of a feature in little-endian order.
    pub(super) fn little<F: Feature>(feature: &F) -> Vec<u8> {
        let mut encoder = Encoder::new(Endian::Little);
        feature.encode(&mut encoder);
        encoder.into_bytes()
    }

    /// Decodes little-endian bytes for a machine of two CPUs.
    pub(super) fn from_little<F: Feature>(bytes: &[u8]) -> Result<F, FeatureFault> {
        F::decode(
            &mut Cursor::new(bytes, Endian::Little),
            &FeatureContext {
                cpus_available: Some(2),
            },
        )
    }

    /// Checks that a feature comes back in both byte orders, and that no cut of it is taken for something else
    /// without an end.
    pub(super) fn round_trip<F: Feature + PartialEq + Debug>(feature: &F) {
        for endian in [Endian::Little, Endian::Big] {
            let mut encoder = Encoder::new(endian);
            feature.encode(&mut encoder);
            let context = FeatureContext {
                cpus_available: Some(2),
            };
            let bytes = encoder.into_bytes();
            assert_eq!(
                F::decode(&mut Cursor::new(&bytes, endian), &context).as_ref(),
                Ok(feature),
                "{endian:?}"
            );
            for length in 0..bytes.len() {
                let _ = F::decode(&mut Cursor::new(&bytes[..length], endian), &context);
            }
        }
    }
}
