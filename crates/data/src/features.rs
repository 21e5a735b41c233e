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
#[cfg(test)]
mod recode_tests;
mod sample_time;
mod set;
mod simpleperf;
mod strings;
mod tracing_data;

pub use auxtrace_index::AuxtraceEntry;
pub use bpf::{BpfFunction, BpfObject, BpfProgram};
pub use build_id::BuildIdEntry;
pub use cache::CacheLevel;
pub use cpu_domain::{CpuDomain, CpuDomains};
pub use cpu_topology::CpuTopologyEntry;
pub use event_desc::NamedEvent;
pub use group_desc::GroupEntry;
pub use hybrid::HybridPmu;
pub use id::{FeatureBits, FeatureId};
pub use mem_topology::MemNode;
pub use numa::NumaNode;
pub use pmu_caps::{Capability, PmuCapsEntry};
pub use pmu_mappings::PmuMapping;
pub use set::FeatureSet;
pub use simpleperf::{
    DebugUnwind, DebugUnwindFile, FileDetail, FileKind, MetaInfo, RecordedFile, RecordedSymbol,
    SimpleperfFiles, SimpleperfFiles2,
};

use oxperf_wire::{Cursor, Encoder};

use crate::FeatureFault;

/// Makes of the rows: the numbers and names of the features, their public types, and [`recode`].
///
/// A row gives the feature's bit, the module and the type of its value, and whether the value can be written in another byte
/// order (`recoded`), or holds bytes of the recorder's kernel, which stay as they are (`opaque`).
macro_rules! feature_table {
    ($($(#[$doc:meta])* $name:ident = $bit:literal, $form:ident $module:ident::$feature:ident;)*) => {
        $(pub use $module::$feature;)*

        impl FeatureId {
            $($(#[$doc])* pub const $name: FeatureId = FeatureId($bit);)*

            /// Every feature known here, in order.
            pub const ALL: &'static [FeatureId] = &[$(FeatureId::$name,)*];

            /// perf's name for it; `None` when unknown here.
            pub fn name(self) -> Option<&'static str> {
                match self { $(FeatureId::$name => Some(stringify!($name)),)* _ => None }
            }
        }

        /// Decodes a feature's bytes at `cursor` and appends them in the byte order of `out`. `None` for a feature that is
        /// not known, or whose bytes are structures of the recorder's kernel.
        pub(crate) fn recode(
            id: FeatureId,
            cursor: &mut Cursor<'_>,
            context: &FeatureContext,
            out: &mut Encoder,
        ) -> Option<Result<(), FeatureFault>> {
            match id {
                $(FeatureId::$name => feature_table!(@$form $feature cursor context out),)*
                _ => None,
            }
        }
    };
    (@recoded $feature:ident $cursor:ident $context:ident $out:ident) => {
        Some($feature::decode($cursor, $context).map(|value| value.encode($out)))
    };
    (@opaque $feature:ident $cursor:ident $context:ident $out:ident) => {
        None
    };
}

feature_table! {
    /// Formats of the tracepoints.
    TRACING_DATA = 1, opaque tracing_data::TracingDataSection;
    /// Build ids of the binaries.
    BUILD_ID = 2, recoded build_id::BuildIds;
    /// Name of the host.
    HOSTNAME = 3, recoded host_text::Hostname;
    /// Release of its kernel.
    OSRELEASE = 4, recoded host_text::OsRelease;
    /// Version of the recorder.
    VERSION = 5, recoded host_text::Version;
    /// Machine type.
    ARCH = 6, recoded host_text::Arch;
    /// Number of CPUs.
    NRCPUS = 7, recoded numbers::NrCpus;
    /// Name of the CPU.
    CPUDESC = 8, recoded host_text::CpuDesc;
    /// Maker, family, model and stepping of the CPU.
    CPUID = 9, recoded host_text::CpuId;
    /// Size of the memory.
    TOTAL_MEM = 10, recoded numbers::TotalMem;
    /// The recorder's command line.
    CMDLINE = 11, recoded strings::CmdLine;
    /// Attributes, names and ids of the events.
    EVENT_DESC = 12, recoded event_desc::EventDesc;
    /// Cores, dies and sockets.
    CPU_TOPOLOGY = 13, recoded cpu_topology::CpuTopology;
    /// Memory nodes with their CPUs.
    NUMA_TOPOLOGY = 14, recoded numa::NumaTopology;
    /// Samples hold branch stacks.
    BRANCH_STACK = 15, recoded flags::BranchStack;
    /// Numbers and names of the PMUs.
    PMU_MAPPINGS = 16, recoded pmu_mappings::PmuMappings;
    /// Groups of events.
    GROUP_DESC = 17, recoded group_desc::GroupDesc;
    /// Places of the AUX data.
    AUXTRACE = 18, recoded auxtrace_index::AuxtraceIndex;
    /// Made by `perf stat record`.
    STAT = 19, recoded flags::StatData;
    /// CPU caches.
    CACHE = 20, recoded cache::CpuCaches;
    /// Time of the first and the last sample.
    SAMPLE_TIME = 21, recoded sample_time::SampleTime;
    /// Memory blocks of each node.
    MEM_TOPOLOGY = 22, recoded mem_topology::MemTopology;
    /// Resolution of the clock.
    CLOCKID = 23, recoded clock::ClockResolution;
    /// Records are in further files.
    DIR_FORMAT = 24, recoded numbers::DirFormat;
    /// BPF programs.
    BPF_PROG_INFO = 25, opaque bpf::BpfProgInfo;
    /// BPF type information.
    BPF_BTF = 26, opaque bpf::BpfBtf;
    /// Records are compressed.
    COMPRESSED = 27, recoded compressed::Compression;
    /// Capabilities of the CPU's PMU.
    CPU_PMU_CAPS = 28, recoded pmu_caps::CpuPmuCaps;
    /// One moment by two clocks.
    CLOCK_DATA = 29, recoded clock::ClockData;
    /// PMUs of the kinds of cores.
    HYBRID_TOPOLOGY = 30, recoded hybrid::HybridTopology;
    /// Capabilities of the PMUs.
    PMU_CAPS = 31, recoded pmu_caps::PmuCaps;
    /// Scheduling domains.
    CPU_DOMAIN_INFO = 32, recoded cpu_domain::CpuDomainInfo;
    /// ELF machine of the recorded programs.
    E_MACHINE = 33, recoded numbers::ElfMachine;
    /// Size of a cache line.
    CLN_SIZE = 34, recoded numbers::CacheLineSize;
}

/// The values of other features that a feature needs to be decoded.
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
    //! Helpers that the tests of every feature share.

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
