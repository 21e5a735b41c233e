//! The picture that `--graph` draws on a terminal, anew with each interval.

use std::time::Duration;

use oxperf_analysis::counts::RateHistory;
use oxperf_present::counts::{CountPage, CountStyle, GraphSize, graph};

use crate::environment;

/// Intervals that are kept: no terminal has more columns for them.
const INTERVALS: usize = 1000;
/// The size of a terminal that does not tell its own.
const USUAL_SIZE: GraphSize = GraphSize {
    columns: 80,
    lines: 24,
};
/// Clears a line to its end.
const CLEAR_LINE: &[u8] = b"\x1b[K";
/// Clears everything below the cursor.
const CLEAR_BELOW: &[u8] = b"\x1b[J";

/// A picture on a terminal.
pub(super) struct Picture {
    history: RateHistory,
    /// The lines that are on the terminal already, above the cursor.
    drawn: usize,
}

impl Default for Picture {
    fn default() -> Picture {
        Picture {
            history: RateHistory::new(INTERVALS),
            drawn: 0,
        }
    }
}

impl Picture {
    /// The bytes that draw the picture in the place of the last one, with an interval that ended at `moment`.
    pub(super) fn draw(
        &mut self,
        page: &CountPage<'_>,
        style: &CountStyle,
        moment: Duration,
    ) -> Vec<u8> {
        self.history.push(page.rows, page.events, moment);
        let mut lines = Vec::new();
        let drawn = graph(&mut lines, page, style, &self.history, size());
        let mut out = Vec::new();
        if self.drawn > 0 {
            out.extend_from_slice(format!("\x1b[{}A\r", self.drawn).as_bytes());
        }
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            out.extend_from_slice(text);
            out.extend_from_slice(CLEAR_LINE);
            out.push(b'\n');
        }
        // The last picture may have been higher.
        out.extend_from_slice(CLEAR_BELOW);
        self.drawn = drawn;
        out
    }
}

fn size() -> GraphSize {
    environment::error_terminal().map_or(USUAL_SIZE, |size| GraphSize {
        columns: size.columns,
        lines: if size.lines == 0 {
            USUAL_SIZE.lines
        } else {
            size.lines
        },
    })
}
