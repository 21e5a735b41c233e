//! Memory that this process shares with the kernel.
//!
//! - [`data`] carries records, all of them: the kernel waits for the reader.
//! - [`backward`] carries the newest records: the kernel overwrites the oldest.
//! - [`counter`] is the page of one event: its count without a call.
//! - [`aux`] carries the trace of hardware, either way.
//! - [`writer`] is the kernel's side of all these, for the fake kernel.

mod aux;
mod backward;
mod counter;
mod data;
mod page;
mod positions;
mod region;
mod writer;

pub use aux::{AuxPages, AuxRing, AuxSnapshotRing};
pub(crate) use aux::{anonymous_aux, anonymous_aux_snapshot, map_aux, map_aux_snapshot};
pub use backward::BackwardRing;
pub(crate) use counter::CounterPageWriter;
pub use counter::{CounterPage, CounterRegisters, FakePage, FakePageClock, UserCount};
pub(crate) use data::ConsumeListener;
pub use data::{DataRing, RingError, RingPages};
pub use page::TimeConversion;
pub(crate) use writer::{RecordWriter, TraceWriter};
