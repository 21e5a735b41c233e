//! Terms that any event takes and that say how to sample it, not what to count.

use crate::SyntaxProblem;
use crate::syntax::{Term, parse_number};

/// An event's own rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateTerm {
    /// Events between samples.
    Period(u64),
    /// Samples a second.
    Frequency(u64),
}

/// An event's own call chains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallGraphTerm {
    /// None.
    Off,
    /// By frame pointers.
    FramePointer,
    /// From copies of the stack.
    Dwarf,
    /// From the CPU's branch records.
    BranchRecords,
}

/// The sampling that an event's terms ask for; `None` leaves it to the recording's options.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SampleTerms {
    /// `period=` or `freq=`, whichever stands last.
    pub rate: Option<RateTerm>,
    /// `call-graph=`.
    pub call_graph: Option<CallGraphTerm>,
    /// `stack-size=`, bytes of stack for [`CallGraphTerm::Dwarf`].
    pub stack_size: Option<u32>,
    /// `max-stack=`, entries.
    pub max_stack: Option<u16>,
    /// `time=`.
    pub time: Option<bool>,
    /// `inherit` or `no-inherit`.
    pub inherit: Option<bool>,
    /// `overwrite` or `no-overwrite`.
    pub overwrite: Option<bool>,
    /// `nr=`: stop after so many.
    pub max_events: Option<u64>,
    /// `branch_type=`, as `-j` takes it.
    pub branch_type: Option<String>,
}

impl SampleTerms {
    /// The names that [`SampleTerms::take`] knows.
    pub(super) const NAMES: [&'static str; 12] = [
        "period",
        "freq",
        "branch_type",
        "time",
        "call-graph",
        "stack-size",
        "no-inherit",
        "inherit",
        "max-stack",
        "nr",
        "no-overwrite",
        "overwrite",
    ];

    /// Takes the term in if it is one of these; false if it is not.
    pub(super) fn take(&mut self, term: &Term) -> Result<bool, SyntaxProblem> {
        match term.name.as_str() {
            "period" => self.rate = Some(RateTerm::Period(number(term)?)),
            "freq" => self.rate = Some(RateTerm::Frequency(number(term)?)),
            "call-graph" => self.call_graph = Some(call_graph(term)?),
            "stack-size" => self.stack_size = Some(fitting(term)?),
            "max-stack" => self.max_stack = Some(fitting(term)?),
            "time" => self.time = Some(switch(term)?),
            "inherit" => self.inherit = Some(flag(term)?),
            "no-inherit" => self.inherit = Some(!flag(term)?),
            "overwrite" => self.overwrite = Some(flag(term)?),
            "no-overwrite" => self.overwrite = Some(!flag(term)?),
            "nr" => self.max_events = Some(number(term)?),
            "branch_type" => self.branch_type = Some(text(term)?.to_owned()),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The position for a finding about the term's value.
pub(super) fn value_position(term: &Term) -> usize {
    term.value
        .as_ref()
        .map_or(term.position, |value| value.position)
}

/// The term's value as a number.
pub(super) fn number(term: &Term) -> Result<u64, SyntaxProblem> {
    let value = term
        .value
        .as_ref()
        .and_then(|value| parse_number(&value.text));
    value.ok_or_else(|| SyntaxProblem::new(value_position(term), "expected numeric value"))
}

/// The term's value as text.
pub(super) fn text(term: &Term) -> Result<&str, SyntaxProblem> {
    let value = term.value.as_ref().map(|value| value.text.as_str());
    value.ok_or_else(|| SyntaxProblem::new(term.position, "expected string value"))
}

fn fitting<T: TryFrom<u64>>(term: &Term) -> Result<T, SyntaxProblem> {
    T::try_from(number(term)?)
        .map_err(|_| SyntaxProblem::new(value_position(term), "value too big"))
}

fn switch(term: &Term) -> Result<bool, SyntaxProblem> {
    match number(term)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(SyntaxProblem::new(value_position(term), "expected 0 or 1")),
    }
}

/// A bare name means 1.
fn flag(term: &Term) -> Result<bool, SyntaxProblem> {
    if term.value.is_none() {
        Ok(true)
    } else {
        switch(term)
    }
}

fn call_graph(term: &Term) -> Result<CallGraphTerm, SyntaxProblem> {
    match text(term)? {
        "no" => Ok(CallGraphTerm::Off),
        "fp" => Ok(CallGraphTerm::FramePointer),
        "dwarf" => Ok(CallGraphTerm::Dwarf),
        "lbr" => Ok(CallGraphTerm::BranchRecords),
        _ => Err(SyntaxProblem::new(
            value_position(term),
            "expected fp, dwarf, lbr or no",
        )),
    }
}
