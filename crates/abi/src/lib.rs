//! The kernel's interface of performance events, as plain values.
//!
//! For everybody who speaks `perf_event_open(2)` or reads `perf.data`: attributes, flag words, record numbers,
//! event ids, branch and data-source words. Nothing here reads a byte, opens a file or calls the kernel; numbers
//! that are unknown to this crate stay what they are.
//!
//! Source of the numbers: the kernel's UAPI header `perf_event.h` and the `perf.data` user records of perf 7.2.
//!
//! ```
//! use oxperf_abi::{EventAttr, EventType, HardwareId, SampleType};
//! let attr = EventAttr { kind: EventType::HARDWARE, config: HardwareId::Instructions as u64, ..EventAttr::default() };
//! assert!(!attr.sample_type.contains(SampleType::IP));
//! ```

mod attr;
mod bits;
mod branch;
mod branch_filter;
mod build_id;
mod callchain;
mod count;
mod data_source;
mod event;
mod event_name;
mod flags;
mod ids;
mod record;
mod sample;
mod sample_flags;

pub use attr::EventAttr;
pub use branch::{BranchEntry, BranchSampleType};
pub use build_id::BuildId;
pub use callchain::CallchainContext;
pub use count::CountReading;
pub use data_source::DataSource;
pub use event::{CacheId, CacheOp, CacheResult, EventType, HardwareId, SoftwareId};
pub use flags::AttrFlags;
pub use ids::{Cpu, EventId, FileOffset, PerfTime, Pid, Tid};
pub use record::{CpuMode, KERNEL_START, Misc, RecordType};
pub use sample::{ReadFormat, SampleType};
pub use sample_flags::SampleFlags;
