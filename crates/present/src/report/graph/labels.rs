//! The texts of a call graph: names of frames, weights of branches.

use std::io::Write;

use oxperf_analysis::hist::Table;
use oxperf_profile::{BranchStepTotals, Frame, FrameId, Profile, ProfileSymbol, SampleTotals};

use super::{GraphText, GraphValue};
use crate::report::branch_steps;
use crate::report::percent::{colour, end_of};
use crate::text::sanitize;

/// The texts of the call graphs of one table.
pub(in crate::report) struct GraphLabels<'a> {
    pub(super) profile: &'a Profile,
    pub(super) text: &'a GraphText,
    /// The text between the frames of a chain on one line.
    pub(super) separator: &'a [u8],
    /// The sum of all periods of the leading event.
    pub(super) total: u64,
}

impl<'a> GraphLabels<'a> {
    /// Labels as `text` wants them; `separator` stands between columns, if it is not blanks.
    pub(in crate::report) fn new(
        profile: &'a Profile,
        table: &Table,
        text: &'a GraphText,
        separator: Option<&'a str>,
    ) -> GraphLabels<'a> {
        let separator = separator.unwrap_or(";").as_bytes();
        let leader = table
            .events
            .first()
            .and_then(|&event| profile.events.get(event));
        GraphLabels {
            profile,
            text,
            separator,
            total: leader.map_or(0, |leader| leader.period_total),
        }
    }

    /// Appends a weight as the options want it shown; percentages are of `whole`.
    pub(in crate::report) fn number(&self, buffer: &mut Vec<u8>, weight: SampleTotals, whole: u64) {
        let percent = if whole == 0 {
            0.0
        } else {
            weight.period as f64 * 100.0 / whole as f64
        };
        // Writing to a vector cannot fail.
        let _ = match self.text.value {
            GraphValue::Percent => {
                let colour = if self.text.coloured {
                    colour(percent)
                } else {
                    b""
                };
                buffer.extend_from_slice(colour);
                let written = write!(buffer, "{percent:.2}%");
                buffer.extend_from_slice(end_of(colour));
                written
            }
            GraphValue::Period => write!(buffer, "{}", weight.period),
            GraphValue::Count => write!(buffer, "{}", weight.samples),
        };
    }

    /// Appends a frame, and the facts of the branches that pass it.
    pub(super) fn line(
        &self,
        buffer: &mut Vec<u8>,
        frame: FrameId,
        passed: Option<&BranchStepTotals>,
    ) {
        self.name(buffer, frame);
        passed
            .iter()
            .for_each(|passed| branch_steps::write(buffer, passed));
        buffer.push(b'\n');
    }

    /// Appends the source line of a frame with a symbol: the distance from the symbol where no line is known.
    fn source(&self, buffer: &mut Vec<u8>, frame: &Frame, symbol: &ProfileSymbol) {
        let text = frame
            .source
            .and_then(|source| self.profile.sources.get(source.line.index()));
        let Some(text) = text.filter(|_| self.text.with_source) else {
            return;
        };
        let distance = text
            .strip_prefix(&symbol.name)
            .filter(|rest| rest.starts_with('+'));
        buffer.push(b' ');
        buffer.extend_from_slice(sanitize(distance.unwrap_or(text)).as_bytes());
    }

    /// Appends a frame's symbol, or its address as it was recorded.
    pub(in crate::report) fn name(&self, buffer: &mut Vec<u8>, frame: FrameId) {
        let frame = self.profile.frames.get(frame.index());
        let symbol = frame.and_then(|frame| self.profile.symbols.get(frame.symbol?.index()));
        match (symbol, frame.map_or(0, |frame| frame.address)) {
            (Some(symbol), _) => {
                buffer.extend_from_slice(sanitize(&symbol.name).as_bytes());
                frame
                    .iter()
                    .for_each(|frame| self.source(buffer, frame, symbol));
                buffer.extend_from_slice(if symbol.inlined { b" (inlined)" } else { b"" });
            }
            // As C does it, zero goes without 0x.
            (None, 0) => buffer.push(b'0'),
            // Writing to a vector cannot fail.
            (None, address) => drop(write!(buffer, "{address:#x}")),
        }
    }
}
