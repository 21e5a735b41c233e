//! The options of `report` as values: what to show, of which samples, in which form.

use std::path::PathBuf;

use oxperf_collect::{CollectOptions, LineText};
use oxperf_present::recording::thread_counters::CounterLayout;
use oxperf_query::RecordOrder;
#[cfg(feature = "browser")]
use oxperf_tui::Palette;

use super::call_graph::CallGraphSpec;
use super::count_mode::CountOptions;
use super::fields::RequestedFields;
use super::parents::Parents;
use super::row_filter::RowFilterOptions;
use crate::recording_options::RecordingOptions;

/// Everything that the arguments of `report` say.
#[derive(Clone, Debug)]
pub(super) struct ReportOptions {
    /// The recording, and how it is read.
    pub(super) recording: RecordingOptions,
    /// The form of the report.
    pub(super) form: ReportForm,
    /// The header before it.
    pub(super) header: HeaderRequest,
    /// The header shows topologies and caches, too.
    pub(super) full_header: bool,
    /// The units that rows count.
    pub(super) counting: CountOptions,
    /// The table.
    pub(super) table: TableOptions,
    /// The samples and rows that are shown.
    pub(super) rows: RowFilterOptions,
    /// The counters of each thread, below the tables.
    pub(super) thread_counters: Option<CounterLayout>,
    /// A browser on the terminal.
    #[cfg(feature = "browser")]
    pub(super) browser: BrowserOptions,
}

/// The browser as the options and the configuration ask for it.
#[cfg(feature = "browser")]
#[derive(Clone, Debug)]
pub(super) struct BrowserOptions {
    /// Its colours.
    pub(super) palette: Palette,
    /// It shows the names of columns from the beginning.
    pub(super) headings: bool,
    /// Options for the commands that it runs.
    pub(super) passed_on: Vec<String>,
}

/// The form of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ReportForm {
    /// Tables as text.
    Text,
    /// A browser on the terminal.
    Browser,
    /// A page in this file.
    Page(PathBuf),
    /// Tables as JSON.
    Json,
    /// Rows as CSV.
    Csv,
    /// The number of records of each kind.
    RecordCounts,
    /// Threads as a tree, with their mappings or without.
    Tasks {
        /// Mappings are shown below each thread.
        with_maps: bool,
    },
    /// Every record as bytes and in words, in this order.
    Dump(RecordOrder),
}

impl ReportForm {
    /// True for tables that other programs read.
    pub(super) fn is_structured(&self) -> bool {
        matches!(self, ReportForm::Json | ReportForm::Csv)
    }

    /// True for rows as lines of text, for people or for programs.
    pub(super) fn is_text(&self) -> bool {
        !matches!(self, ReportForm::Browser | ReportForm::Page(_))
    }
}

/// The header of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HeaderRequest {
    /// Not shown, and not spoken of.
    Silent,
    /// Not shown; a line says how to see it.
    Hint,
    /// Shown before the tables.
    First,
    /// Shown alone.
    Only,
}

/// The options of a table, before the recording is known.
#[derive(Clone, Debug)]
pub(super) struct TableOptions {
    /// Columns and order.
    pub(super) columns: RequestedFields,
    /// Samples of a recording into a profile; the columns add to it.
    pub(super) collect: CollectOptions,
    /// The text of source lines.
    pub(super) line_text: LineText,
    /// Steps of the sort key time, ns.
    pub(super) time_quantum: u64,
    /// `-v`: whole paths, addresses and origins of names.
    pub(super) verbose: bool,
    /// Records of tracepoints are lists of their fields.
    pub(super) raw_traces: bool,
    /// The part of callers.
    pub(super) children: ChildrenOptions,
    /// Events of a group.
    pub(super) events: EventOptions,
    /// The look of the text.
    pub(super) text: TextOptions,
    /// Code between branches is shown in the place of tables, if branches are counted.
    pub(super) total_cycles: bool,
    /// Rows stand below what they have in common.
    pub(super) hierarchy: bool,
    /// The number of threads that ran is a key of samples.
    pub(super) parallelism: bool,
    /// Rows below this percentage are hidden.
    pub(super) min_percent: f64,
    /// Call graphs.
    pub(super) call_graph: CallGraphSpec,
    /// A call graph was asked for, and is not the usual one.
    pub(super) call_graph_requested: bool,
    /// Callers of certain names.
    pub(super) parents: Parents,
}

/// Functions that count what they called as their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChildrenOptions {
    /// They do, where there are call chains.
    pub(super) counted: bool,
    /// It was asked for, and is not just the default.
    pub(super) requested: bool,
}

/// Events of a group, and those without samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EventOptions {
    /// Events of a group share a table.
    pub(super) group: bool,
    /// Events that were recorded one by one are a group, too.
    pub(super) joins: bool,
    /// Events without samples are shown.
    pub(super) empty: bool,
    /// The event of a group by which rows stand in order.
    pub(super) order_by: usize,
}

/// The look of a table's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TextOptions {
    /// The socket whose samples are shown, for the lines above the table.
    pub(super) socket: Option<u64>,
    /// The windows of time that are shown, for the same lines.
    pub(super) times: Option<String>,
    /// The text between columns, for programs.
    pub(super) separator: Option<String>,
    /// Widths of the first columns; `None` for one that fits.
    pub(super) widths: Vec<Option<usize>>,
    /// Times have all nine digits.
    pub(super) nanoseconds: bool,
    /// Percentages are in colours.
    pub(super) coloured: bool,
    /// Events say whose call chains they borrow.
    pub(super) borrows_chains: bool,
    /// Rows alone, nothing above and below them.
    pub(super) quiet: bool,
}
