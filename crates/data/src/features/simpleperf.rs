//! The features of simpleperf, Android's profiler, which writes this file format with additions of its own.

mod debug_unwind;
mod file;
mod file2;
mod meta_info;
mod proto;
mod recorded_file;
mod text;

pub use debug_unwind::{DebugUnwind, DebugUnwindFile};
pub use file::SimpleperfFiles;
pub use file2::SimpleperfFiles2;
pub use meta_info::MetaInfo;
pub use recorded_file::{FileDetail, FileKind, RecordedFile, RecordedSymbol};
