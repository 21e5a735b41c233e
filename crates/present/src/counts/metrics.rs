//! The cells of metrics: their numbers and labels, and the headings above those that stand together.

use oxperf_analysis::counts::{CountEvent, MetricCell};
use oxperf_metric::ThresholdVerdict;

/// The heading that was shown last. It is shown once above all that belongs below it, whatever stands between.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LastHeading(Option<String>);

impl LastHeading {
    /// Returns whether `heading` is another one than the last, and keeps it.
    fn is_new(&mut self, heading: &str) -> bool {
        let is_new = self.0.as_deref() != Some(heading);
        if is_new {
            self.0 = Some(heading.to_owned());
        }
        is_new
    }
}

/// Metrics of one event below one heading.
pub(super) struct Section<'a> {
    /// The heading, where it is to be shown.
    pub(super) heading: Option<String>,
    pub(super) cells: &'a [MetricCell<'a>],
}

/// The metrics of an event by their headings. On a machine with several core PMUs a heading names the event's, if
/// `names_pmu`.
pub(super) fn sections<'a>(
    cells: &'a [MetricCell<'a>],
    event: &CountEvent,
    names_pmu: bool,
    last: &mut LastHeading,
) -> Vec<Section<'a>> {
    let alike = cells.chunk_by(|a, b| a.heading == b.heading);
    let section = |cells: &'a [MetricCell<'a>]| {
        let heading = cells.first().and_then(|cell| cell.heading);
        let heading = heading.map(|heading| match names_pmu {
            true => format!("{heading} ({})", event.pmu),
            false => heading.to_owned(),
        });
        Section {
            heading: heading.filter(|heading| last.is_new(heading)),
            cells,
        }
    };
    alike.map(section).collect()
}

/// What JSON has for a metric without a value.
pub(super) const NO_VALUE: &str = "none";

/// The value as text: with a unit one digit after the point, else two; a dash where there is none.
pub(super) fn number(cell: &MetricCell<'_>) -> String {
    if cell.value.is_nan() {
        return "-".to_owned();
    }
    let decimals = if cell.has_unit { 1 } else { 2 };
    format!("{:.decimals$}", cell.value)
}

/// The word for what a threshold says; none where it says nothing.
pub(super) fn verdict(cell: &MetricCell<'_>) -> Option<&'static str> {
    match cell.verdict? {
        ThresholdVerdict::Good => Some("good"),
        ThresholdVerdict::Bad => Some("bad"),
        ThresholdVerdict::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(heading: &'static str, value: f64) -> MetricCell<'static> {
        MetricCell {
            label: "%  a",
            has_unit: true,
            value,
            verdict: None,
            heading: Some(heading),
        }
    }

    #[test]
    fn a_heading_is_shown_once() {
        let event = CountEvent {
            pmu: "cpu_core".to_owned(),
            ..CountEvent::default()
        };
        let cells = [cell("L1", 1.0), cell("L1", 2.0), cell("L2", 3.0)];
        let mut last = LastHeading::default();
        let mut shown = |cells| -> Vec<(Option<String>, usize)> {
            let sections = sections(cells, &event, true, &mut last);
            let section = |own: Section<'_>| (own.heading, own.cells.len());
            sections.into_iter().map(section).collect()
        };
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(
            shown(&cells),
            [(named("L1 (cpu_core)"), 2), (named("L2 (cpu_core)"), 1)]
        );
        assert_eq!(shown(&cells[2..]), [(None, 1)]);
    }

    #[test]
    fn numbers() {
        assert_eq!(number(&cell("", f64::NAN)), "-");
        assert_eq!(number(&cell("", -0.25)), "-0.2");
    }
}
