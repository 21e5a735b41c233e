//! The options of `annotate` as values.

use oxperf_disasm::Syntax;
use oxperf_present::annotate::AnnotateText;
use oxperf_query::RecordOrder;

use crate::disasm_source::CodeOptions;
use crate::recording_options::RecordingOptions;

/// The functions, or types of data, that are shown, and how.
pub(super) struct AnnotateOptions {
    /// The recording.
    pub(super) recording: RecordingOptions,
    /// Records are shown in this order, and no code.
    pub(super) dump: Option<RecordOrder>,
    /// The one function to show.
    pub(super) symbol: Option<String>,
    /// The objects whose functions are shown; all if empty.
    pub(super) objects: Vec<String>,
    pub(super) full_paths: bool,
    /// All events in one listing, though they were not recorded as a group.
    pub(super) group: bool,
    pub(super) min_percent: f64,
    pub(super) skip_missing: bool,
    pub(super) code: CodeOptions,
    /// Name source lines.
    pub(super) print_lines: bool,
    pub(super) syntax: Syntax,
    pub(super) text: AnnotateText,
    /// Short lines.
    pub(super) compact: bool,
    /// The type whose fields are shown in the place of functions, by its name; all types if empty.
    pub(super) data_type: Option<String>,
    pub(super) statistics: StatisticsOptions,
}

/// The statistics of types of data that are shown.
#[derive(Clone, Copy)]
pub(super) struct StatisticsOptions {
    pub(super) by_reason: bool,
    pub(super) by_instruction: bool,
}
