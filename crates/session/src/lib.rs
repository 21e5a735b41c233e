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
//! use oxperf_session::{SampleEvent, Session, Sink};
//!
//! struct Count(usize);
//! impl Sink for Count {
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

mod ahead;
mod checkup;
mod deferred;
mod deliver;
mod diagnostics;
mod events;
mod group_read;
mod heads;
mod jit;
mod order;
mod rewrite;
mod session;
mod stats;
mod traced;
mod watch;

pub use oxperf_abi::SampleFlags;

pub use checkup::{CheckedEvent, Checkup, Form, LostCounts, RecordCounts, Recorder, Tool};
pub use diagnostics::{AuxLosses, Diagnostics};
pub use events::{EventIndex, EventTable, SessionEvent};
pub use jit::{JitTrouble, is_jit_log};
pub use rewrite::{RewriteError, Rewritten, rewrite};
pub use session::{Finished, SampleEvent, Session, SidebandEvent, Sink};
pub use stats::{EventStats, RecordStats};
pub use traced::{CodeWidth, EventDatum, Payload, PlaceWriter, Progress, Traced, TracedCode};
pub use watch::Watch;
