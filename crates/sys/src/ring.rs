//! Memory that this process shares with the kernel.
//!
//! - [`data`] carries records, all of them: the kernel waits for the reader.
//! - [`backward`] carries the newest records: the kernel overwrites the oldest.
//! - [`aux`] carries the trace of hardware, either way.

mod aux;
mod backward;
mod data;
mod page;
mod positions;
mod region;

pub use aux::{AuxPages, AuxRing, AuxSnapshotRing};
pub(crate) use aux::{anonymous_aux, anonymous_aux_snapshot, map_aux, map_aux_snapshot};
pub use backward::BackwardRing;
pub use data::{DataRing, RingError, RingPages};
pub use page::TimeConversion;
