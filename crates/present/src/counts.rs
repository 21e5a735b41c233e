//! Counts of events as perf's `stat` shows them: a table of text, CSV or JSON lines.
//!
//! Rows come from [`oxperf_analysis::counts`]; what stands in each is decided there.

mod comparison;
mod csv;
mod document;
mod footer;
mod graph;
mod group;
mod heading;
mod json;
mod metric_lines;
mod metrics;
mod port_lines;
mod text;

use std::time::Duration;

use oxperf_abi::Tid;
use oxperf_analysis::counts::{CountEvent, CountGrouping, CountRow, EventDisplay, MetricCell};

pub use comparison::{ComparisonPage, comparison};
pub use document::{DocumentError, read_runs, write_runs};
pub use footer::{ElapsedTime, footer};
pub use graph::{GraphSize, graph};
pub use heading::{CountSubject, heading, interval_heading};
pub use metric_lines::{MetricLine, MetricPage, metric_heading, metric_lines};
pub use metrics::LastHeading;
pub use port_lines::{PortTraffic, port_heading, port_lines};

/// The form of the output.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum CountForm {
    /// A table for people.
    #[default]
    Text,
    /// Lines of fields between separators.
    Csv {
        /// The separator.
        separator: String,
    },
    /// A JSON object a line.
    Json,
}

/// A thread by which counts are kept apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadLabel {
    /// Its id.
    pub tid: Tid,
    /// Its name.
    pub comm: String,
}

/// What all rows of a measurement have in common.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CountStyle {
    /// The form.
    pub form: CountForm,
    /// What the rows are added up by.
    pub grouping: CountGrouping,
    /// The columns of the longest unit.
    pub unit_width: usize,
    /// The text between groups of three digits.
    pub digit_separator: String,
    /// The measurement is repeated: rows show their deviation.
    pub is_repeated: bool,
    /// There are several core PMUs: headings of metrics say whose they are.
    pub names_core_pmus: bool,
    /// Values of metrics have the colours of their thresholds.
    pub is_coloured: bool,
}

/// The narrowest column of units.
const UNIT_WIDTH: usize = 4;

impl CountStyle {
    /// The width of the column of units: that of the longest of an event that is counted.
    pub fn unit_width(events: &[CountEvent]) -> usize {
        let is_counted = |event: &&CountEvent| event.is_supported && !event.sites.is_empty();
        let counted = events.iter().filter(is_counted);
        let widths = counted.map(|event| event.unit.chars().count());
        widths.max().unwrap_or(0).max(UNIT_WIDTH)
    }
}

/// The moment that rows belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CountMoment {
    /// The whole run.
    #[default]
    Whole,
    /// The end of an interval, since the start.
    Interval(Duration),
    /// The whole run, below its intervals.
    Summary,
}

/// Rows to be shown.
#[derive(Clone, Copy)]
pub struct CountPage<'a> {
    /// The events that rows name.
    pub events: &'a [CountEvent],
    /// The rows.
    pub rows: &'a [CountRow],
    /// For each row the metrics beside it.
    pub metrics: &'a [Vec<MetricCell<'a>>],
    /// The threads that groups name.
    pub threads: &'a [ThreadLabel],
    /// Their moment.
    pub moment: CountMoment,
}

/// Appends the rows of a page; `last` is the heading of metrics that stands above.
pub fn rows(out: &mut Vec<u8>, page: &CountPage<'_>, style: &CountStyle, last: &mut LastHeading) {
    for (index, row) in page.rows.iter().enumerate() {
        let Some(event) = page.events.get(row.event) else {
            continue;
        };
        let metrics = page.metrics.get(index).map_or(&[][..], Vec::as_slice);
        if !is_shown(event.display, metrics) {
            continue;
        }
        let cells = Cells {
            page,
            style,
            event,
            row,
            metrics,
        };
        match &style.form {
            CountForm::Text => text::row(out, cells, last),
            CountForm::Csv { separator } => csv::row(out, cells, separator, last),
            CountForm::Json => json::row(out, cells, last),
        }
        out.push(b'\n');
    }
}

fn is_shown(display: EventDisplay, metrics: &[MetricCell<'_>]) -> bool {
    match display {
        EventDisplay::Count => true,
        EventDisplay::WithMetrics | EventDisplay::MetricsAlone => !metrics.is_empty(),
        EventDisplay::Nothing => false,
    }
}

/// A row with everything that its cells depend on.
#[derive(Clone, Copy)]
struct Cells<'a> {
    page: &'a CountPage<'a>,
    style: &'a CountStyle,
    event: &'a CountEvent,
    row: &'a CountRow,
    metrics: &'a [MetricCell<'a>],
}

impl<'a> Cells<'a> {
    /// Returns whether the metrics stand alone, without the count.
    fn is_without_count(&self) -> bool {
        self.event.display == EventDisplay::MetricsAlone
    }

    /// The metrics below their headings.
    fn sections(&self, last: &mut LastHeading) -> Vec<metrics::Section<'a>> {
        metrics::sections(self.metrics, self.event, self.style.names_core_pmus, last)
    }

    /// The value in the event's unit; the words for none where nothing was counted.
    fn value(&self) -> Result<f64, &'static str> {
        if !self.event.is_supported {
            Err("<not supported>")
        } else if !self.row.total.is_counted() {
            Err("<not counted>")
        } else {
            Ok(self.row.total.value * self.event.scale)
        }
    }

    /// Digits after the point: counts that are scaled by no whole number have two.
    fn decimals(&self) -> usize {
        if self.event.scale.fract() == 0.0 {
            0
        } else {
            2
        }
    }

    /// The share of the time in which the event counted, in percent, exactly; everything where it was never enabled.
    fn running_share(&self) -> f64 {
        let total = self.row.total;
        if total.enabled == 0 {
            return 100.0;
        }
        100.0 * total.running as f64 / total.enabled as f64
    }

    /// The same as whole percent, rounded down.
    fn whole_running_share(&self) -> u64 {
        let total = self.row.total;
        (u128::from(total.running) * 100)
            .checked_div(total.enabled.into())
            .map_or(100, |share| u64::try_from(share).unwrap_or(u64::MAX))
    }
}
