//! Metrics alone: a column for each, a line for each group, an object for each line of JSON.

use oxperf_analysis::counts::{CountEvent, CountGroup, CountRow, CountTotal, MetricCell};

use super::group::column;
use super::text::CGROUP_WIDTH;
use super::{
    Cells, CountForm, CountMoment, CountPage, CountStyle, ThreadLabel, csv, json, metrics, text,
};
use crate::text::{put, sanitize};

/// The narrowest column.
const WIDTH: usize = 20;
/// The width of a number, all of which has the colour.
const NUMBER_WIDTH: usize = 8;

/// The metrics of one group.
#[derive(Clone, PartialEq, Debug)]
pub struct MetricLine<'a> {
    /// The group.
    pub group: CountGroup,
    /// The control group that was counted in, where there are such.
    pub cgroup: Option<&'a str>,
    /// The number of counters of the first event.
    pub counters: usize,
    /// A cell for each column; none where nothing is counted for it.
    pub cells: Vec<Option<MetricCell<'a>>>,
}

/// Lines of metrics.
#[derive(Clone, Copy)]
pub struct MetricPage<'a> {
    /// The labels of the columns.
    pub labels: &'a [&'a str],
    /// The lines.
    pub lines: &'a [MetricLine<'a>],
    /// The threads that groups name.
    pub threads: &'a [ThreadLabel],
    /// Their moment.
    pub moment: CountMoment,
}

impl MetricPage<'_> {
    fn has_cgroups(&self) -> bool {
        self.lines.iter().any(|line| line.cgroup.is_some())
    }
}

/// Appends the labels of the columns; JSON has them in every object.
pub fn metric_heading(out: &mut Vec<u8>, page: &MetricPage<'_>, style: &CountStyle) {
    let is_interval = matches!(page.moment, CountMoment::Interval(_));
    match &style.form {
        CountForm::Text => {
            text_beginning(out, style, is_interval);
            if page.has_cgroups() && !is_interval {
                put!(out, "{:1$}", "", CGROUP_WIDTH + " ".len());
            }
            for label in page.labels {
                put!(out, "{:>WIDTH$} ", sanitize(label));
            }
        }
        CountForm::Csv { separator } => {
            csv_beginning(out, style, separator, is_interval);
            if page.has_cgroups() {
                put!(out, "cgroup{separator}");
            }
            for label in page.labels {
                put!(out, "{}{separator}", sanitize(label));
            }
        }
        CountForm::Json => return,
    }
    out.push(b'\n');
}

fn text_beginning(out: &mut Vec<u8>, style: &CountStyle, is_interval: bool) {
    if is_interval {
        return super::heading::interval_groups(out, style);
    }
    put!(out, " ");
    if let Some(column) = column(style.grouping) {
        put!(out, "{:1$}", "", column.width);
    }
}

fn csv_beginning(out: &mut Vec<u8>, style: &CountStyle, separator: &str, is_interval: bool) {
    if is_interval {
        put!(out, "time{separator}");
    }
    if let Some(column) = column(style.grouping) {
        put!(out, "{}{separator}", column.key);
    }
    if style.grouping.is_by_place() {
        put!(out, "ctrs{separator}");
    }
}

/// Appends the lines.
pub fn metric_lines(out: &mut Vec<u8>, page: &MetricPage<'_>, style: &CountStyle) {
    // These lines do not say that they are a summary.
    let moment = match page.moment {
        CountMoment::Summary => CountMoment::Whole,
        moment => moment,
    };
    let counts = CountPage {
        events: &[],
        rows: &[],
        metrics: &[],
        threads: page.threads,
        moment,
    };
    let event = CountEvent::default();
    for line in page.lines {
        let row = CountRow {
            event: 0,
            group: line.group,
            total: CountTotal {
                counters: line.counters,
                ..CountTotal::default()
            },
        };
        let cells = Cells {
            page: &counts,
            style,
            event: &event,
            row: &row,
            metrics: &[],
        };
        match &style.form {
            CountForm::Text => text_line(out, page, cells, line),
            CountForm::Csv { separator } => csv_line(out, cells, line, separator),
            CountForm::Json => json_line(out, cells, line),
        }
        out.push(b'\n');
    }
}

/// The cells up to the last that is there.
fn filled<'a, 'b>(line: &'b MetricLine<'a>) -> &'b [Option<MetricCell<'a>>] {
    let last = line.cells.iter().rposition(Option::is_some);
    &line.cells[..last.map_or(0, |last| last + 1)]
}

fn text_line(out: &mut Vec<u8>, page: &MetricPage<'_>, cells: Cells<'_>, line: &MetricLine<'_>) {
    text::push_beginning(out, cells);
    if let Some(cgroup) = line.cgroup {
        put!(out, " {:CGROUP_WIDTH$}", sanitize(cgroup));
    }
    for (label, cell) in page.labels.iter().zip(filled(line)) {
        let width = sanitize(label).chars().count().max(WIDTH);
        let number = cell.as_ref().map_or_else(String::new, metrics::number);
        let number = format!("{number:>NUMBER_WIDTH$}");
        let fill = width.saturating_sub(number.chars().count());
        put!(out, "{:fill$}", "");
        match cell {
            Some(cell) => text::push_coloured(out, cells, cell, &number),
            None => put!(out, "{number}"),
        }
    }
}

fn csv_line(out: &mut Vec<u8>, cells: Cells<'_>, line: &MetricLine<'_>, separator: &str) {
    csv::push_beginning(out, cells, separator);
    if let Some(cgroup) = line.cgroup {
        put!(out, "{}{separator}", sanitize(cgroup));
    }
    for cell in filled(line) {
        let number = cell.as_ref().map_or_else(String::new, csv::number);
        put!(out, "{number}{separator}");
    }
}

fn json_line(out: &mut Vec<u8>, cells: Cells<'_>, line: &MetricLine<'_>) {
    let mut object = json::Object::begin(out, cells);
    if let Some(cgroup) = line.cgroup {
        object.text("cgroup", cgroup);
    }
    let mut is_empty = true;
    for cell in line.cells.iter().flatten() {
        is_empty = false;
        match cell.value.is_nan() {
            true => object.text(cell.label, metrics::NO_VALUE),
            false => object.text(cell.label, &metrics::number(cell)),
        }
    }
    if is_empty {
        object.text("metric-value", metrics::NO_VALUE);
    }
    object.end();
}

#[cfg(test)]
mod tests {
    use oxperf_analysis::counts::CountGrouping;

    use super::*;

    fn cell(label: &'static str, value: f64) -> Option<MetricCell<'static>> {
        Some(MetricCell {
            label,
            has_unit: true,
            value,
            verdict: None,
            heading: None,
        })
    }

    fn shown(form: CountForm, cgroup: Option<&str>) -> String {
        let style = CountStyle {
            form,
            grouping: CountGrouping::All,
            unit_width: 4,
            digit_separator: String::new(),
            is_repeated: false,
            names_core_pmus: false,
            is_coloured: false,
        };
        let line = MetricLine {
            group: CountGroup::All,
            cgroup,
            counters: 1,
            cells: vec![cell("GHz  a", 1.5), None, cell("%  b", f64::NAN), None],
        };
        let page = MetricPage {
            labels: &["GHz  a", "a label that takes more room", "%  b", "c"],
            lines: &[line],
            threads: &[],
            moment: CountMoment::Whole,
        };
        let mut out = Vec::new();
        metric_heading(&mut out, &page, &style);
        metric_lines(&mut out, &page, &style);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_value_stands_below_its_label() {
        let text = shown(CountForm::Text, None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1].len(), 20 + 28 + 20);
        assert!(lines[1].starts_with("                 1.5 ") && lines[1].ends_with(" -"));
        let separator = ",".to_owned();
        assert_eq!(
            shown(CountForm::Csv { separator }, None),
            "GHz  a,a label that takes more room,%  b,c,\n1.5,,,\n"
        );
        assert_eq!(
            shown(CountForm::Json, None),
            "{\"GHz  a\" : \"1.5\", \"%  b\" : \"none\"}\n"
        );
    }

    #[test]
    fn a_line_names_its_control_group() {
        let text = shown(CountForm::Text, Some("web"));
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[1].starts_with(" web                              1.5 "),
            "{text}"
        );
        // As with perf, a label ends one column behind its values.
        assert_eq!(
            lines[0].find("GHz  a"),
            lines[1].find("1.5").map(|at| at - 2)
        );
        let separator = ",".to_owned();
        assert_eq!(
            shown(CountForm::Csv { separator }, Some("web")),
            "cgroup,GHz  a,a label that takes more room,%  b,c,\nweb,1.5,,,\n"
        );
        assert_eq!(
            shown(CountForm::Json, Some("web")),
            "{\"cgroup\" : \"web\", \"GHz  a\" : \"1.5\", \"%  b\" : \"none\"}\n"
        );
    }
}
