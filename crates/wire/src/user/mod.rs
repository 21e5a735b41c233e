//! The records that recording tools write, one file each.

mod auxtrace;
mod auxtrace_error;
mod auxtrace_info;
mod bpf_metadata;
mod build_id;
mod compressed;
mod cpu_map;
mod event_update;
mod header_attr;
mod header_feature;
mod id_index;
mod schedstat;
mod stat;
mod stat_config;
mod stat_round;
mod thread_map;
mod time_conv;
mod tracing_data;

pub use auxtrace::Auxtrace;
pub use auxtrace_error::AuxtraceError;
pub use auxtrace_info::AuxtraceInfo;
pub use bpf_metadata::BpfMetadata;
pub use build_id::BuildIdRecord;
pub use compressed::Compressed;
pub use cpu_map::CpuMap;
pub use event_update::{EventUpdate, Update};
pub use header_attr::HeaderAttr;
pub use header_feature::HeaderFeature;
pub use id_index::{IdIndex, IdIndexEntry, IdIndexGuest};
pub use schedstat::{SchedstatCpu, SchedstatDomain};
pub use stat::Stat;
pub use stat_config::StatConfig;
pub use stat_round::StatRound;
pub use thread_map::{ThreadMap, ThreadMapEntry};
pub use time_conv::{TimeConv, TimeConvExtended};
pub use tracing_data::HeaderTracingData;
