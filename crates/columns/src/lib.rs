//! Profiles as tables.
//!
//! [`schema`] says, as data, which tables there are and what their columns mean. [`SampleRows`] is a sink of samples that
//! makes [`TableRows`] of them and of their stacks, piece by piece; a [`RowSink`] takes the pieces: a Parquet file, or an engine
//! that reads a recording in place. A stack's number is the hash of its content ([`stack_id`]), so that numbers of all
//! machines and days agree.

mod calls;
mod clock;
mod column;
pub mod docs;
mod error;
mod host_names;
mod lives;
mod maps;
#[cfg(feature = "parquet")]
pub mod parquet;
mod recording;
mod rows;
mod samples;
pub mod schema;
pub mod stack_id;
mod stacks;
pub mod statements;
mod tables;
pub mod views;

pub use calls::write_calls;
pub use clock::WallClock;
pub use column::{TableColumn, Texts, Values};
pub use error::ColumnsError;
pub use recording::{RecordingEnd, RecordingFacts};
pub use rows::{TableCell, TableRows};
pub use samples::{ROW_GROUP, RowSink, SampleRows, SampleSpan, SamplesEnd, SamplesOf, has_column};
pub use stacks::{StackColumns, StackTable};
pub use tables::{TableOptions, TableWalkError, Walked, write_tables};
