//! The options of `diff` as values.

use std::path::PathBuf;

use oxperf_analysis::diff::DiffOptions;
use oxperf_analysis::hist::SortKey;
use oxperf_collect::{CollectOptions, MergeThreads};
use oxperf_present::diff::DiffText;
use oxperf_query::RecordOrder;

use crate::cmd::report::row_filter::RowFilter;
use crate::recording_options::RecordingOptions;

/// The recordings that are compared, and how.
pub(super) struct Comparison {
    /// The options that all recordings share.
    pub(super) recording: RecordingOptions,
    /// Records are shown before, in this order.
    pub(super) dump: Option<RecordOrder>,
    /// The recordings, the baseline first.
    pub(super) files: Vec<String>,
    pub(super) diff: DiffOptions,
    pub(super) collect: CollectOptions,
    pub(super) text: DiffText,
    /// The windows of time of each recording.
    pub(super) times: Vec<Option<String>>,
    /// The samples that count, by their names.
    pub(super) shown: RowFilter,
    /// Source files are shown with their whole paths.
    pub(super) whole_paths: bool,
    pub(super) json: bool,
    /// Hot streams are compared, and no rows.
    pub(super) streams: bool,
    pub(super) flame_graph: Option<PathBuf>,
}

impl Comparison {
    /// The threads that are one, as neither a column nor a filter keeps them apart.
    pub(super) fn merge_threads(&self, shown: &RowFilter) -> MergeThreads {
        let has = |key: SortKey| self.diff.keys.contains(&key);
        if has(SortKey::Thread) || has(SortKey::Process) || shown.selects_threads() {
            return MergeThreads::Never;
        }
        let selects_names =
            has(SortKey::Comm) || shown.selects_names() || self.flame_graph.is_some();
        if selects_names {
            MergeThreads::ByComm
        } else {
            MergeThreads::Always
        }
    }
}
