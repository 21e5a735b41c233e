//! One way from options to the samples of a recording.
//!
//! For commands that look at samples: a [`RecordingFile`] is opened, [`Query`] holds, as typed values, all that decides how a recording is read, and
//! [`Query::start`] wires a session so. Hardware trace joins by [`QueryRun::decode_trace`], and [`QueryRun::run`] hands
//! everything to a [`Sink`](oxperf_session::Sink). [`Filter`] and [`Switching`] say which samples count,
//! [`FilteredSink`] holds the others back. Nothing here prints, reads the environment or knows command lines.
//!
//! ```
//! use std::ops::ControlFlow;
//! use oxperf_data::{FeatureSet, Reader, Writer, WriterEvent};
//! use oxperf_machine::Machine;
//! use oxperf_query::Query;
//! use oxperf_session::{NoSink, SampleEvent, Sink};
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
//! Query::default().start(&reader).run(&mut count)?;
//! assert_eq!(count.0, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod code_paths;
mod error;
mod filter;
mod filtered_sink;
mod guests;
mod part;
mod recorded;
mod recording_file;
mod run;
mod stitch;
mod switching;
mod symbols;
mod time_windows;

pub use error::QueryError;
pub use filter::{Filter, FilterOptions, ThreadFilter, parse_cpus, read_names, require_cpus};
pub use filtered_sink::FilteredSink;
pub use guests::GuestOptions;
pub use part::RecordingPart;
pub use recorded::{formatters, sockets, unwinder};
pub use recording_file::{ReadObserver, ReadReport, RecordingFile, RecordingOpenError};
pub use run::{Query, QueryRun, RecordOrder, TraceOptions};
pub use stitch::{NoLbrCallchain, stitched_registers};
pub use switching::{SwitchOptions, Switching};
pub use symbols::SymbolOptions;
pub use time_windows::TimeWindows;
