//! The SQL engine behind `query`. The plain program has none and starts one that has: its `main` hands the engine to
//! [`run_with_engine`](crate::run_with_engine), and has the options, the sources of names and the messages of this one.

use std::path::PathBuf;

use oxperf_data::{DataError, Reader};
use oxperf_query::SymbolOptions;
use oxperf_resolve::{ChainLosses, RecordedSymbols};
use oxperf_session::Diagnostics;
use oxperf_symbols::SymbolStore;

pub use crate::failure::Failure;
pub use crate::input::Input;
use crate::{losses, output, symbol_source};

/// What answers SQL over recordings and their tables.
pub trait SqlEngine: Sync {
    /// Answers what `query` was asked, and prints or writes the result.
    ///
    /// # Errors
    /// The inputs cannot be read, a statement cannot be run, or the result cannot be written.
    fn answer(&self, request: &SqlRequest) -> Result<(), Failure>;
}

/// What `query` was asked.
#[derive(Clone, Debug)]
pub struct SqlRequest {
    /// The statements; `None` asks for them on the terminal.
    pub sql: Option<String>,
    /// Recordings, Parquet files, folders of them, and patterns; never empty.
    pub inputs: Vec<String>,
    /// Recordings of other users are read.
    pub force: bool,
    /// The sources of the names in recordings.
    pub symbols: SymbolOptions,
    /// The form of the result.
    pub format: ResultFormat,
    /// The file that the result goes to; `None` is standard output.
    pub output: Option<PathBuf>,
    /// The file of a flame graph of the result.
    pub flame: Option<PathBuf>,
    /// Columns of the terminal that the result is shown on; `None` where it goes elsewhere.
    pub width: Option<usize>,
}

/// The form of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultFormat {
    /// Columns of text.
    Table,
    /// Comma-separated values with a line of names.
    Csv,
    /// One object, with the rows and what the recordings lost.
    Json,
    /// An object a row.
    JsonLines,
    /// A Parquet file.
    Parquet,
    /// A stream of Arrow's IPC format.
    Arrow,
}

impl ResultFormat {
    /// The formats by their names.
    pub const ALL: [(&'static str, ResultFormat); 6] = [
        ("table", ResultFormat::Table),
        ("csv", ResultFormat::Csv),
        ("json", ResultFormat::Json),
        ("jsonl", ResultFormat::JsonLines),
        ("parquet", ResultFormat::Parquet),
        ("arrow", ResultFormat::Arrow),
    ];

    /// The format of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<ResultFormat> {
        let mut all = ResultFormat::ALL.into_iter();
        all.find_map(|(known, format)| (known == name).then_some(format))
    }

    /// `true` if the format is not text.
    #[must_use]
    pub fn is_binary(self) -> bool {
        matches!(self, ResultFormat::Parquet | ResultFormat::Arrow)
    }
}

/// The message about a recording whose records cannot be had.
pub fn refuse(input: &Input, error: &DataError) -> Failure {
    input.refuse(error)
}

/// Opens a recording.
///
/// # Errors
/// It cannot be opened, or belongs to somebody else and is not to be read all the same.
pub fn open_recording(path: &str, force: bool) -> Result<Input, Failure> {
    Ok(Input::open(path, force)?.without_progress())
}

/// Names for a recording: its own, else those of the files that the options name.
///
/// # Errors
/// The kernel's names cannot be read.
pub fn names(
    options: &SymbolOptions,
    input: &Input,
    reader: &Reader<'_>,
) -> Result<RecordedSymbols<SymbolStore>, Failure> {
    symbol_source::open(options, input, reader)
}

/// Keeps for the next run what was learned while names were looked up, and warns of objects that have none.
pub fn finish_names(names: &RecordedSymbols<SymbolStore>) {
    symbol_source::keep(names);
    symbol_source::report_nameless(names.otherwise());
}

/// Warns of what a recording lost and of what is broken in it.
pub fn report_trouble(found: &Diagnostics, chains: &ChainLosses) {
    losses::report_trouble(found);
    losses::report_chains(chains);
}

/// Writes lines to standard error, harmless whatever names stand in them.
pub fn print_error(text: &str) {
    output::print_error(text);
}
