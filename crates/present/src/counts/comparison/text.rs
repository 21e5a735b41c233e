//! A comparison as a table for people.

use oxperf_analysis::counts::{ComparedCount, CountChange, MeanTest, MeasuredRuns, MeasuredSide};

use super::{ComparisonPage, missing};
use crate::counts::text::grouped;
use crate::text::{put, sanitize};

/// Cells of a line.
const CELLS: usize = 6;
/// The column whose cells begin at the left, beside the first one.
const VERDICT: usize = CELLS - 1;
/// Below this a probability is not told exactly.
const LEAST_PROBABILITY: f64 = 0.001;

type Line = [String; CELLS];

/// Appends the two measurements, what their surroundings have not in common, and a line for each event and time.
pub(super) fn table(out: &mut Vec<u8>, page: &ComparisonPage<'_>) {
    out.push(b'\n');
    measurement(out, 'A', page.before_name, page.before);
    measurement(out, 'B', page.after_name, page.after);
    surroundings(out, page);
    out.push(b'\n');
    let heading = ["", "A", "B", "difference", "", ""].map(str::to_owned);
    let rows = page.comparison.counts.iter();
    let rows = rows.map(|count| line(count, page.digit_separator));
    put_lines(out, &[heading].into_iter().chain(rows).collect::<Vec<_>>());
    out.push(b'\n');
    reasons(out, page);
}

fn measurement(out: &mut Vec<u8>, letter: char, name: &str, runs: &MeasuredRuns) {
    let (name, subject) = (sanitize(name), sanitize(&runs.origin.subject));
    let number = runs.runs.len();
    let word = if number == 1 { "run" } else { "runs" };
    put!(out, " {letter}  {name}: {subject} ({number} {word})\n");
}

/// Names what may explain a difference beside the program itself.
fn surroundings(out: &mut Vec<u8>, page: &ComparisonPage<'_>) {
    let (before, after) = (&page.before.origin, &page.after.origin);
    let facts = [
        ("processors", &before.processor, &after.processor),
        ("kernels", &before.kernel, &after.kernel),
        ("hosts", &before.host, &after.host),
    ];
    for (what, before, after) in facts {
        if let (Some(before), Some(after)) = (before, after)
            && before != after
        {
            let (before, after) = (sanitize(before), sanitize(after));
            put!(out, "    The {what} differ: {before}; {after}\n");
        }
    }
}

fn line(count: &ComparedCount, separator: &str) -> Line {
    let decimals = decimals(count);
    let side = |side: &Option<MeasuredSide>| match (missing(side.as_ref()), side) {
        (None, Some(side)) => mean(side, decimals, separator),
        (words, _) => words.unwrap_or_default().to_owned(),
    };
    let change = count.change.as_ref();
    let difference = |change: &CountChange| {
        let sign = if change.difference < 0.0 { '-' } else { '+' };
        let digits = format!("{:.decimals$}", change.difference.abs());
        format!("{sign}{}", grouped(digits, separator))
    };
    let percent = |change: &CountChange| change.percent.map(|percent| format!("{percent:+.2}%"));
    [
        name(count),
        side(&count.before),
        side(&count.after),
        change.map(difference).unwrap_or_default(),
        change.and_then(percent).unwrap_or_default(),
        change
            .map(|change| verdict(change.test))
            .unwrap_or_default(),
    ]
}

fn name(count: &ComparedCount) -> String {
    let mut name = sanitize(&count.name).into_owned();
    if let Some(cgroup) = &count.cgroup {
        name += &format!(" {}", sanitize(cgroup));
    }
    if !count.unit.is_empty() {
        name += &format!(" [{}]", sanitize(&count.unit));
    }
    name
}

fn mean(side: &MeasuredSide, decimals: usize, separator: &str) -> String {
    let mean = format!("{:.decimals$}", side.statistics.mean());
    let mean = grouped(mean, separator);
    if side.statistics.number() < 2 {
        return mean;
    }
    let error = format!("{:.decimals$}", side.statistics.standard_error());
    format!("{mean} +- {}", grouped(error, separator))
}

/// Digits after the point: two of the smaller error. Where there is none, whole numbers have none, and others six.
fn decimals(count: &ComparedCount) -> usize {
    const MOST: usize = 9;
    const WITHOUT_ERROR: usize = 6;
    let sides = || [&count.before, &count.after].into_iter().flatten();
    let errors = sides().map(|side| side.statistics.standard_error());
    let least = errors.filter(|error| *error > 0.0).min_by(f64::total_cmp);
    match least {
        Some(error) => ((1.0 - error.log10().floor()).max(0.0) as usize).min(MOST),
        None if sides().all(|side| side.statistics.mean().fract() == 0.0) => 0,
        None => WITHOUT_ERROR,
    }
}

fn verdict(test: MeanTest) -> String {
    let probability = |probability: f64| match probability < LEAST_PROBABILITY {
        true => format!("p < {LEAST_PROBABILITY}"),
        false => format!("p = {probability:.3}"),
    };
    match test {
        MeanTest::TooFewRuns => "too few runs to tell".to_owned(),
        MeanTest::NoSpread { is_equal: true } => "the same in all runs".to_owned(),
        MeanTest::NoSpread { is_equal: false } => "more than chance, no run differs".to_owned(),
        MeanTest::Welch {
            probability: found, ..
        } => match test.is_more_than_chance() {
            Some(true) => format!("more than chance, {}", probability(found)),
            _ => format!("chance, {}", probability(found)),
        },
    }
}

/// Appends lines whose cells stand below each other: names and verdicts from the left, numbers from the right.
fn put_lines(out: &mut Vec<u8>, lines: &[Line]) {
    let width = |cell: usize| {
        let widths = lines.iter().map(|line| line[cell].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: [usize; CELLS] = std::array::from_fn(width);
    for line in lines {
        let mut text = format!(" {:1$}", line[0], widths[0]);
        for cell in 1..VERDICT {
            text += &format!("  {:>1$}", line[cell], widths[cell]);
        }
        text += &format!("  {}", line[VERDICT]);
        put!(out, "{}\n", text.trim_end());
    }
}

/// A line for each reason why events were not counted in one of the two or in both.
fn reasons(out: &mut Vec<u8>, page: &ComparisonPage<'_>) {
    let mut reasons: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for count in &page.comparison.counts {
        let of = |side: &'_ Option<MeasuredSide>| side.as_ref()?.reason.clone();
        let sides = match (of(&count.before), of(&count.after)) {
            (Some(before), Some(after)) if before == after => [Some(("A and B", before)), None],
            (before, after) => [
                before.map(|reason| ("A", reason)),
                after.map(|reason| ("B", reason)),
            ],
        };
        for (letters, reason) in sides.into_iter().flatten() {
            let mut known = reasons.iter_mut();
            match known.find(|known| known.0 == letters && known.1 == reason) {
                Some((_, _, names)) => names.push(&count.name),
                None => reasons.push((letters, reason, vec![&count.name])),
            }
        }
    }
    for (letters, reason, names) in reasons {
        let (names, reason) = (names.join(", "), sanitize(&reason).into_owned());
        put!(
            out,
            " Not counted in {letters}: {}: {reason}\n",
            sanitize(&names)
        );
    }
}
