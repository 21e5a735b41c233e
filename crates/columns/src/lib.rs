//! Profiles as tables.
//!
//! [`schema`] says, as data, which tables there are and what their columns mean. [`SampleRows`] is a sink of samples that
//! makes [`Rows`] of them and of their stacks, piece by piece; a [`RowSink`] takes the pieces: a Parquet file, or an engine
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
pub use column::{Column, Texts, Values};
pub use error::ColumnsError;
pub use recording::{RecordingEnd, RecordingFacts};
pub use rows::{Cell, Rows};
pub use samples::{ROW_GROUP, RowSink, SampleRows, SampleSpan, SamplesEnd, SamplesOf, has_column};
pub use stacks::{StackColumns, Stacks};
pub use tables::{TableOptions, TablesError, Walked, write_tables};
