//! A line for each row of a table of counts, drawn over the last intervals, with the last count and its rate beside it.

use std::time::Duration;

use oxperf_analysis::counts::{CountRow, RateHistory, RateSeries};

use super::text::{digits, grouped};
use super::{Cells, CountMoment, CountPage, CountStyle, group};
use crate::text::padding::{Left, Right, first};
use crate::text::{put, sanitize};

/// The heights of a point of a line, from the lowest.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A point where nothing was counted.
const GAP: char = ' ';
/// The columns of a name at most.
const NAME_WIDTH: usize = 32;
/// The columns of a count.
const VALUE_WIDTH: usize = 18;
/// The columns of a rate.
const RATE_WIDTH: usize = 14;
/// The fewest columns of a line.
const LEAST_WIDTH: usize = 8;

/// The size of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GraphSize {
    /// The columns of the terminal.
    pub columns: usize,
    /// The lines of the terminal.
    pub lines: usize,
}

impl GraphSize {
    /// The rows that are drawn where there are so many: a line says the time, and the cursor needs one.
    fn rows(self, rows: usize) -> usize {
        let room = self.lines.saturating_sub(2).max(1);
        if rows <= room {
            rows
        } else {
            room.saturating_sub(1).max(1)
        }
    }
}

/// Appends a picture of the rows; returns its lines. Rows that the terminal has no room for are counted in its last one.
pub fn graph(
    out: &mut Vec<u8>,
    page: &CountPage<'_>,
    style: &CountStyle,
    history: &RateHistory,
    size: GraphSize,
) -> usize {
    let shown = size.rows(page.rows.len());
    let names: Vec<String> = page.rows.iter().map(|row| name(page, style, row)).collect();
    let longest = names
        .iter()
        .take(shown)
        .map(|name| name.chars().count())
        .max();
    let name_width = longest.unwrap_or(0).min(NAME_WIDTH);
    heading(out, page.moment, size);
    for (row, name) in page.rows.iter().zip(&names).take(shown) {
        let Some(event) = page.events.get(row.event) else {
            continue;
        };
        let cells = Cells {
            page,
            style,
            event,
            row,
            metrics: &[],
        };
        let rates = history.of(row);
        let beside = beside(cells, rates);
        let taken = name_width + beside.chars().count() + 3;
        let width = size.columns.saturating_sub(taken + 1).max(LEAST_WIDTH);
        let line = rates.map_or_else(String::new, |rates| line(rates, width));
        let name = Left(first(name, name_width), name_width);
        let text = format!(" {name} {} {beside}", Left(line, width));
        put!(out, "{}\n", first(text.trim_end(), size.columns));
    }
    let left_out = page.rows.len() - shown;
    if left_out == 0 {
        return shown + 1;
    }
    put!(out, " and {left_out} more that there is no room for\n");
    shown + 2
}

fn heading(out: &mut Vec<u8>, moment: CountMoment, size: GraphSize) {
    let moment = match moment {
        CountMoment::Interval(moment) => moment,
        CountMoment::Whole | CountMoment::Summary => Duration::ZERO,
    };
    let text = format!("#{:12.3} s", moment.as_secs_f64());
    put!(out, "{}\n", first(&text, size.columns));
}

fn name(page: &CountPage<'_>, style: &CountStyle, row: &CountRow) -> String {
    let Some(event) = page.events.get(row.event) else {
        return String::new();
    };
    let cells = Cells {
        page,
        style,
        event,
        row,
        metrics: &[],
    };
    let mut name = String::new();
    if let Some(label) = group::label(cells) {
        name = format!("{} ", label.name);
    }
    name += &sanitize(&event.name);
    if let Some(cgroup) = &event.cgroup {
        name += &format!(" {}", sanitize(cgroup));
    }
    name
}

/// The count of the last interval and its rate.
fn beside(cells: Cells<'_>, rates: Option<&RateSeries>) -> String {
    let value = match cells.value() {
        Ok(value) => {
            let digits = digits(value, cells.decimals());
            grouped(digits, &cells.style.digit_separator)
        }
        Err(words) => words.to_owned(),
    };
    let unit = sanitize(&cells.event.unit);
    let unit_width = cells.style.unit_width;
    let last = rates.and_then(|rates| *rates.back()?);
    let rate = last.map_or_else(String::new, |rate| format!("{}/s", short(rate)));
    format!(
        "{} {} {}",
        Right(value, VALUE_WIDTH),
        Left(unit, unit_width),
        Right(rate, RATE_WIDTH)
    )
}

/// A number with a letter for thousands.
fn short(value: f64) -> String {
    let steps = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let step = steps.iter().find(|(step, _)| value >= *step);
    match step {
        Some((step, letter)) => format!("{:.2} {letter}", value / step),
        None => format!("{value:.2}"),
    }
}

/// The last rates that there is room for, between 0 and the greatest of them.
fn line(rates: &RateSeries, width: usize) -> String {
    let shown = rates.iter().skip(rates.len().saturating_sub(width));
    let greatest = shown.clone().flatten().copied().fold(0.0, f64::max);
    let point = |rate: &Option<f64>| match rate {
        None => GAP,
        Some(rate) => height(*rate, greatest),
    };
    shown.map(point).collect()
}

fn height(rate: f64, greatest: f64) -> char {
    let share = if greatest > 0.0 { rate / greatest } else { 0.0 };
    let step = (share * (HEIGHTS.len() - 1) as f64).round();
    HEIGHTS[(step.max(0.0) as usize).min(HEIGHTS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use oxperf_analysis::counts::{CountEvent, CountGroup, CountTotal};

    use super::*;

    fn row(event: usize, value: f64) -> CountRow {
        CountRow {
            event,
            group: CountGroup::All,
            total: CountTotal {
                value,
                enabled: 1,
                running: u64::from(value > 0.0),
                ..CountTotal::default()
            },
        }
    }

    fn event(name: &str) -> CountEvent {
        CountEvent {
            name: name.to_owned(),
            scale: 1.0,
            is_supported: true,
            ..CountEvent::default()
        }
    }

    fn drawn(counts: &[[f64; 2]], size: GraphSize) -> (String, usize) {
        let events = [event("cycles"), event("faults\u{1b}[2J")];
        let mut history = RateHistory::new(100);
        let style = CountStyle {
            unit_width: 4,
            digit_separator: ",".to_owned(),
            ..CountStyle::default()
        };
        let (mut rows, mut moment) = (Vec::new(), Duration::ZERO);
        for counts in counts {
            moment += Duration::from_secs(1);
            rows = vec![row(0, counts[0]), row(1, counts[1])];
            history.push(&rows, &events, moment);
        }
        let page = CountPage {
            events: &events,
            rows: &rows,
            metrics: &[],
            threads: &[],
            moment: CountMoment::Interval(moment),
        };
        let mut out = Vec::new();
        let lines = graph(&mut out, &page, &style, &history, size);
        (String::from_utf8(out).unwrap(), lines)
    }

    #[test]
    fn a_line_for_each_event_with_count_and_rate() {
        let counts = [[7000.0, 0.0], [0.0, 1.0], [3500.0, 1.0], [1234.0, 0.0]];
        let size = GraphSize {
            columns: 72,
            lines: 24,
        };
        let (text, lines) = drawn(&counts, size);
        let expected = "\
#       4.000 s
 cycles        █ ▅▂                           1,234            1.23 k/s
 faults\\x1b[2J  ██                    <not counted>
";
        assert_eq!((text.as_str(), lines), (expected, 3));
    }

    #[test]
    fn no_line_is_longer_than_the_terminal_and_no_picture_higher() {
        let counts = vec![[5.0, 6.0]; 90];
        let size = GraphSize {
            columns: 20,
            lines: 3,
        };
        let (text, lines) = drawn(&counts, size);
        assert_eq!(text.lines().count(), lines);
        assert!(
            text.ends_with(" and 1 more that there is no room for\n"),
            "{text}"
        );
        let wide = GraphSize {
            columns: 200,
            lines: 24,
        };
        let (text, _) = drawn(&counts, wide);
        assert!(
            text.lines().all(|line| line.chars().count() < 200),
            "{text}"
        );
        assert_eq!(text.matches('█').count(), 180);
    }

    #[test]
    fn rates_have_a_letter_for_thousands() {
        let texts = [0.0, 999.0, 1000.0, 2.5e6, 3e9, 4e13].map(short);
        assert_eq!(
            texts,
            ["0.00", "999.00", "1.00 k", "2.50 M", "3.00 G", "40.00 T"]
        );
    }
}
