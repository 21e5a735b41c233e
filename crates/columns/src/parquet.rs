//! Tables as Parquet files in a folder.
//!
//! A file appears under its name when it is whole, and never in the place of another: what a folder holds is added to. Only
//! types and encodings are used that every engine reads.

mod column;
mod file;
mod folder;
mod known;
mod schema;

pub use folder::{Folder, WrittenFile};
pub use known::{ExportedRecording, StackNumbers};
