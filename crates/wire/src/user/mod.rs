//! The records that recording tools write, one file each.

mod build_id;
mod id_index;
mod thread_map;
mod time_conv;

pub use build_id::BuildIdRecord;
pub use id_index::{IdIndex, IdIndexEntry};
pub use thread_map::{ThreadMap, ThreadMapEntry};
pub use time_conv::{TimeConv, TimeConvExtended};
