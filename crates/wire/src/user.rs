//! The records that recording tools write, one file each.

mod auxtrace;
mod auxtrace_error;
mod auxtrace_info;
mod bpf_metadata;
mod build_id;
mod compressed;
mod cpu_map;
mod event_type_name;
mod event_update;
mod header_attr;
mod header_feature;
mod id_index;
mod order_mark;
mod schedstat_cpu;
mod schedstat_domain;
mod stat;
mod stat_config;
mod stat_round;
mod thread_map;
mod time_conv;
mod tracing_data;

use crate::TranscodeError;
use crate::record_table::{ANY, PATH, record_table};

pub use compressed::Compressed;
pub use event_update::Update;
pub use header_feature::HeaderFeature;
pub use id_index::{IdIndexEntry, IdIndexGuest};
pub use thread_map::ThreadMapEntry;
pub use time_conv::TimeConvExtended;

record_table! {
    HEADER_ATTR => header_attr::HeaderAttr, 64..=ANY;
    HEADER_EVENT_TYPE => event_type_name::EventTypeName, 8..=128;
    HEADER_TRACING_DATA => tracing_data::HeaderTracingData, 4..=8;
    HEADER_BUILD_ID => build_id::BuildIdRecord, 28..=28 + PATH,
        (body, cursor) => BuildIdRecord::decode(body.misc, cursor);
    FINISHED_ROUND | FINISHED_INIT => order_mark::OrderMark, 0..=0;
    ID_INDEX => id_index::IdIndex, 8..=ANY;
    AUXTRACE_INFO => auxtrace_info::AuxtraceInfo, 8..=ANY;
    AUXTRACE => auxtrace::Auxtrace, 40..=40;
    AUXTRACE_ERROR => auxtrace_error::AuxtraceError, 24..=256;
    THREAD_MAP => thread_map::ThreadMap, 8..=ANY;
    CPU_MAP => cpu_map::CpuMap, 2..=ANY,
        (body, cursor) => CpuMap::decode(cursor)?.ok_or(TranscodeError::Unknown(body.kind));
    STAT_CONFIG => stat_config::StatConfig, 8..=ANY;
    STAT => stat::Stat, 40..=40;
    STAT_ROUND => stat_round::StatRound, 16..=16;
    EVENT_UPDATE => event_update::EventUpdate, 16..=ANY,
        (body, cursor) => EventUpdate::decode(cursor)?.known().ok_or(TranscodeError::Unknown(body.kind));
    TIME_CONV => time_conv::TimeConv, 24..=56;
    BPF_METADATA => bpf_metadata::BpfMetadata, 8..=ANY;
    SCHEDSTAT_CPU => schedstat_cpu::SchedstatCpu, 8..=ANY;
    SCHEDSTAT_DOMAIN => schedstat_domain::SchedstatDomain, 8..=ANY;
}
