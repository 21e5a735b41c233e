//! The table of the hottest functions: what `oxperf profile` says at its end.
//!
//! For a reader who wants one answer: where did the time go, can I trust it, and what do I type next. Rows come ready
//! and in their order; whether there is a terminal, how wide it is and whether it takes colours is for the caller to say.

mod columns;

use oxperf_profile::percent;
use std::io::{self, Write};

use crate::text::sanitize;
use columns::{pad, shorten, width};

/// The table and what stands around it.
#[derive(Clone, Copy, Debug)]
pub struct HotTable<'a> {
    /// The event's name.
    pub event: &'a str,
    /// Number of samples of the whole recording.
    pub samples: u64,
    /// Sum of their periods; shares are parts of it.
    pub value: u64,
    /// The rows to show, the heaviest first.
    pub rows: &'a [HotRow],
    /// The sum of the functions without a row; `None` when every function has one.
    pub others: Option<HotOthers>,
    /// A sentence for each kind of loss.
    pub lost: &'a [String],
    /// Commands that look further.
    pub next: &'a [NextStep<'a>],
}

/// A function with what it spent itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotRow {
    /// Number of samples in the function itself.
    pub samples: u64,
    /// Sum of their periods.
    pub value: u64,
    /// The thread's name.
    pub comm: String,
    /// The object's short name.
    pub dso: String,
    /// The letter of the privilege it ran with: `.` user, `k` kernel and so on.
    pub level: char,
    /// The function's name, or its address.
    pub symbol: String,
}

/// Functions without a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotOthers {
    /// Their number.
    pub functions: u64,
    /// Sum of their periods.
    pub value: u64,
}

/// A command to type next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextStep<'a> {
    /// The command line.
    pub command: &'a str,
    /// The text that it shows.
    pub shows: &'a str,
}

/// The look of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotStyle {
    /// Cells in a line; names are cut to fit. `None` when lines may be as long as they like.
    pub width: Option<usize>,
    /// Escape sequences for colour are understood.
    pub colour: bool,
    /// Each share has a bar (which takes a wide line and box characters).
    pub bars: bool,
}

impl HotStyle {
    /// For a file or a pipe: whole names, no colour.
    pub const PLAIN: HotStyle = HotStyle {
        width: None,
        colour: false,
        bars: false,
    };
}

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const BOLD: &str = "\x1b[1m";
const OFF: &str = "\x1b[0m";

/// Shares from which a row stands out, in percent.
const HOT_PERCENT: f64 = 5.0;
const WARM_PERCENT: f64 = 0.5;

/// Cells of a bar, and of a line that has room for one.
const BAR: usize = 10;
const BAR_FROM: usize = 100;

impl HotTable<'_> {
    /// Writes the table.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn write(&self, style: &HotStyle, out: &mut impl Write) -> io::Result<()> {
        self.write_title(style, out)?;
        if self.rows.is_empty() {
            writeln!(
                out,
                "No samples: the program ended too soon, slept, or the event does not count here."
            )?;
        } else {
            let layout = Layout::new(self.rows, style);
            layout.write_head(style, out)?;
            for row in self.rows {
                self.write_row(row, &layout, style, out)?;
            }
            self.write_others(out)?;
        }
        self.write_lost(style, out)?;
        self.write_next(out)
    }

    fn write_title(&self, style: &HotStyle, out: &mut impl Write) -> io::Result<()> {
        let samples = plural(self.samples, "sample");
        let title = format!(
            "Hottest functions by their own time: {samples} of {}",
            sanitize(self.event)
        );
        writeln!(out, "{}\n", painted(&title, BOLD, style))
    }

    fn write_row(
        &self,
        row: &HotRow,
        layout: &Layout,
        style: &HotStyle,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let percent = percent(row.value, self.value);
        let share = format!("{percent:7.2}%");
        let share = match heat(percent) {
            Some(colour) => painted(&share, colour, style),
            None => share,
        };
        let bar = if layout.bar {
            bar(row.value, self.rows.first().map_or(0, |row| row.value))
        } else {
            String::new()
        };
        let samples = format!("{:>width$}", grouped(row.samples), width = layout.samples);
        let (comm, dso) = (
            pad(&sanitize(&row.comm), layout.comm),
            pad(&sanitize(&row.dso), layout.dso),
        );
        let symbol = sanitize(&row.symbol);
        let symbol = layout
            .symbol
            .map_or_else(|| symbol.to_string(), |room| shorten(&symbol, room));
        writeln!(
            out,
            "{share}{bar}  {samples}  {comm}  {dso}  [{}] {symbol}",
            row.level
        )
    }

    fn write_others(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(others) = self.others else {
            return Ok(());
        };
        let percent = percent(others.value, self.value);
        writeln!(
            out,
            "{percent:7.2}%  in {}",
            plural(others.functions, "more function")
        )
    }

    fn write_lost(&self, style: &HotStyle, out: &mut impl Write) -> io::Result<()> {
        if self.lost.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", painted("What is missing:", YELLOW, style))?;
        self.lost
            .iter()
            .try_for_each(|note| writeln!(out, "  {}", sanitize(note)))
    }

    fn write_next(&self, out: &mut impl Write) -> io::Result<()> {
        if self.next.is_empty() {
            return Ok(());
        }
        let room = self
            .next
            .iter()
            .map(|step| width(&sanitize(step.command)))
            .max()
            .unwrap_or(0);
        writeln!(out, "\nLook further:")?;
        self.next.iter().try_for_each(|step| {
            writeln!(
                out,
                "  {}  {}",
                pad(&sanitize(step.command), room),
                sanitize(step.shows)
            )
        })
    }
}

/// Cells of each column.
struct Layout {
    samples: usize,
    comm: usize,
    dso: usize,
    /// `None`: as long as the name is.
    symbol: Option<usize>,
    bar: bool,
}

/// Characters of a line beside the columns that give way: the share, gaps and the level's letter.
const FIXED: usize = 8 + 2 + 2 + 2 + 2 + 4;
/// The least that a name is cut to while another can still give.
const SYMBOL_LEAST: usize = 30;
const DSO_LEAST: usize = 12;
const COMM_LEAST: usize = 7;

impl Layout {
    fn new(rows: &[HotRow], style: &HotStyle) -> Self {
        let widest = |cells: fn(&HotRow) -> usize, head: &str| {
            rows.iter().map(cells).max().unwrap_or(0).max(head.len())
        };
        let bar = style.bars && style.width.is_none_or(|width| width >= BAR_FROM);
        let mut layout = Layout {
            samples: widest(|row| grouped(row.samples).len(), "Samples"),
            comm: widest(|row| width(&sanitize(&row.comm)), "Command"),
            dso: widest(|row| width(&sanitize(&row.dso)), "Object"),
            symbol: None,
            bar,
        };
        if let Some(width) = style.width {
            let symbol = widest(|row| columns::width(&sanitize(&row.symbol)), "Symbol");
            layout.fit(
                width.saturating_sub(FIXED + usize::from(bar) * (BAR + 1)),
                symbol,
            );
        }
        layout
    }

    /// Cuts objects, then thread names, until the symbols have room enough, and the symbols to what is left.
    fn fit(&mut self, room: usize, symbol: usize) {
        let wanted = symbol.min(SYMBOL_LEAST.max(room / 2));
        let over = |layout: &Layout| {
            (layout.samples + layout.comm + layout.dso + wanted).saturating_sub(room)
        };
        self.dso = give(self.dso, DSO_LEAST, over(self));
        self.comm = give(self.comm, COMM_LEAST, over(self));
        let left = room.saturating_sub(self.samples + self.comm + self.dso);
        self.symbol = Some(left.max(DSO_LEAST));
    }

    fn write_head(&self, style: &HotStyle, out: &mut impl Write) -> io::Result<()> {
        let gap = if self.bar {
            " ".repeat(BAR + 1)
        } else {
            String::new()
        };
        let samples = format!("{:>width$}", "Samples", width = self.samples);
        let (comm, dso) = (pad("Command", self.comm), pad("Object", self.dso));
        let head = format!("Overhead{gap}  {samples}  {comm}  {dso}  Symbol");
        writeln!(out, "{}", painted(&head, BOLD, style))
    }
}

/// A width less what it is over, but not below the least it needs.
fn give(width: usize, least: usize, over: usize) -> usize {
    width.saturating_sub(over).max(least.min(width))
}

fn heat(percent: f64) -> Option<&'static str> {
    match percent {
        p if p >= HOT_PERCENT => Some(RED),
        p if p >= WARM_PERCENT => Some(GREEN),
        _ => None,
    }
}

fn painted(text: &str, colour: &str, style: &HotStyle) -> String {
    if style.colour {
        format!("{colour}{text}{OFF}")
    } else {
        text.to_owned()
    }
}

/// A bar of eighths of cells; the heaviest row's is full.
fn bar(value: u64, most: u64) -> String {
    const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    let eighths = (percent(value, most) / 100.0 * (BAR * 8) as f64).round() as usize;
    let mut bar: String = " ".into();
    bar.extend(std::iter::repeat_n(EIGHTHS[7], eighths / 8));
    bar.extend(
        (eighths % 8)
            .checked_sub(1)
            .and_then(|part| EIGHTHS.get(part)),
    );
    pad(&bar, BAR + 1)
}

fn plural(count: u64, word: &str) -> String {
    format!(
        "{} {word}{}",
        grouped(count),
        if count == 1 { "" } else { "s" }
    )
}

/// A number with commas between its thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests;
