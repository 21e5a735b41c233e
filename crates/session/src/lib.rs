//! The records of a recording in time order, applied to a machine, the samples handed to a sink.
//!
//! For commands that look at samples: [`Session::run`] walks a recording once, orders records by time as the
//! recorder's rounds allow, applies sideband records to the [`Machine`](oxperf_machine::Machine), and calls the
//! [`Sink`] for each sample when everything that happened before it is known. Broken data is no error: it is counted
//! in [`Diagnostics`]. What an address is called, and what is done with a sample, is not known here.
//!
//! ```
//! use std::ops::ControlFlow;
//! use oxperf_data::{FeatureSet, Reader, Writer, WriterEvent};
//! use oxperf_machine::Machine;
//! use oxperf_session::{NoSink, SampleEvent, Session, Sink};
//!
//! struct Count(usize);
//! impl Sink for Count {
//!     type Inner = NoSink;
//!     fn inner(&mut self) -> Option<&mut NoSink> {
//!         None
//!     }
//!     fn sample(&mut self, _: &mut Machine, _: &SampleEvent<'_>) -> ControlFlow<()> {
//!         self.0 += 1;
//!         ControlFlow::Continue(())
//!     }
//! }
//!
//! let file = Writer::begin(Vec::new(), &[WriterEvent { attr: Default::default(), name: "cycles".into(), ids: vec![] }])?
//!     .finish(&FeatureSet::new())?;
//! let reader = Reader::open(&file)?;
//! let mut count = Count(0);
//! let session = Session::new(&reader).run(&mut count)?;
//! assert_eq!((count.0, session.diagnostics.lost_samples), (0, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod counts;
mod deferred;
mod deliver;
mod diagnostics;
mod events;
mod group_read;
mod jit;
mod order;
mod prefetch;
mod progress;
mod queued;
mod rewrite;
mod sample_prefix;
mod session;
mod sink;
mod stats;
mod traced;

pub use oxperf_abi::SampleFlags;

pub use check::{
    CheckedEvent, LostCounts, RecordCounts, RecorderInfo, RecordingCheck, RecordingForm, Tool,
};
pub use counts::{
    CountCollector, CountSettings, CounterPlace, LostCountRecords, RecordedCounter, RecordedEvent,
    RecordedThread,
};
pub use diagnostics::{AuxLosses, Diagnostics, UndecodableRecord};
pub use events::{EventIndex, EventTable, SessionEvent};
pub use jit::{JitTrouble, is_jit_log};
pub use progress::ProgressObserver;
pub use rewrite::{RewriteError, Rewritten, rewrite};
pub use session::{Finished, Session};
pub use sink::{NoSink, SampleEvent, SidebandEvent, Sink};
pub use stats::{EventStats, RecordStats};
pub use traced::{CodeWidth, EventDatum, Payload, Progress, SampleTextWriter, Traced, TracedCode};
