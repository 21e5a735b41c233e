//! What several fuzz targets need: programs around sections, folders with files, recordings changed record by record.

mod options;
mod program;
mod records;
mod root;

pub use options::{COMMANDS, Command, Input};
pub use program::program;
pub use records::mutate_records;
pub use root::{PROGRAM, scratch, symfs};
