//! The places that records go to.
//!
//! A [`Recording`] takes whole records, compresses them where that is wanted and keeps count of them. It writes into a
//! [`Container`](container::Container): a file or a stream. A directory is a file with the header and a
//! [`RecordingPart`] for each ring; a recording that rotates is a [`RecordingSeries`]: it ends one recording and begins
//! the next.

mod compression;
mod container;
mod file;
mod packing;
mod part;
mod recording;
mod series;
mod stamp;
mod stream;

use oxperf_data::WriteError;

pub use compression::Volume;
pub(crate) use container::is_stream;
pub(crate) use part::RecordingPart;
pub(crate) use recording::Recording;
pub(crate) use series::{FinishedFile, RecordingSeries};

/// The output of a drain.
pub trait RecordOutput {
    /// Takes whole records as the kernel wrote them.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError>;

    /// Ends a pass over the rings: takes the mark that ends a round, if it ends one, and shows readers everything so far.
    ///
    /// # Errors
    /// As [`RecordOutput::kernel_records`].
    fn end_pass(&mut self, mark: Option<&[u8]>) -> Result<(), WriteError>;
}
