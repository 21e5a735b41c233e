//! Terms that any event takes and that say how to sample it, not what to count.

use super::branch_filter;
use super::metric_id;
use super::value::{fitting, number_or_one, switch, text, value_position};
use crate::SyntaxProblem;
use crate::syntax::Term;
use oxperf_abi::BranchSampleType;

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

/// The effect of an event on the trace of its group's leader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuxAction {
    /// The trace begins stopped: a term of the tracing event itself.
    StartPaused,
    /// The trace stops.
    Pause,
    /// The trace goes on.
    Resume,
}

/// The sampling that an event's terms ask for; `None` leaves it to the recording's options.
#[derive(Clone, PartialEq, Debug, Default)]
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
    /// `nr=`: whoever shows events one by one stops after so many.
    pub max_events: Option<u64>,
    /// `branch_type=`: the branches of each sample.
    pub branches: Option<BranchSampleType>,
    /// `percore`: counts of the threads of a core are added up.
    pub percore: bool,
    /// `metric-id=`: the name by which a metric knows the event.
    pub metric_id: Option<String>,
    /// `aux-sample-size=`: bytes of trace in each sample.
    pub aux_sample_size: Option<u32>,
    /// `aux-output`: samples go into the trace of the group's leader.
    pub aux_output: Option<bool>,
    /// `aux-action=`.
    pub aux_action: Option<AuxAction>,
    /// `ratio-to-prev=`: the period as a part of that of the event before, above 0.
    pub ratio_to_previous: Option<f64>,
}

impl SampleTerms {
    /// The names that [`SampleTerms::take`] knows.
    pub(super) const NAMES: [&'static str; 18] = [
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
        "percore",
        "aux-output",
        "aux-action",
        "aux-sample-size",
        "metric-id",
        "ratio-to-prev",
    ];

    /// Takes the term in if it is one of these; false if it is not.
    pub(super) fn take(&mut self, term: &Term<'_>) -> Result<bool, SyntaxProblem> {
        match term.name {
            "period" => self.rate = Some(RateTerm::Period(number_or_one(term)?)),
            "freq" => self.rate = Some(RateTerm::Frequency(number_or_one(term)?)),
            "call-graph" => self.call_graph = call_graph(text(term)?),
            "stack-size" => self.stack_size = Some(fitting(term)?),
            "max-stack" => self.max_stack = Some(fitting(term)?),
            "time" => self.time = Some(switch(term)?),
            "inherit" => self.inherit = Some(number_or_one(term)? != 0),
            "no-inherit" => self.inherit = Some(number_or_one(term)? == 0),
            "overwrite" => self.overwrite = Some(number_or_one(term)? != 0),
            "no-overwrite" => self.overwrite = Some(number_or_one(term)? == 0),
            "nr" => self.max_events = Some(number_or_one(term)?),
            "branch_type" => self.branches = Some(branch_filter::with(self.branches, term)?),
            _ => return self.take_rare(term),
        }
        Ok(true)
    }

    fn take_rare(&mut self, term: &Term<'_>) -> Result<bool, SyntaxProblem> {
        match term.name {
            "percore" => self.percore = switch(term)?,
            metric_id::NAME => self.metric_id = Some(metric_id::decoded(text(term)?)),
            "aux-sample-size" => self.aux_sample_size = Some(fitting(term)?),
            "aux-output" => self.aux_output = Some(number_or_one(term)? != 0),
            "aux-action" => self.aux_action = Some(aux_action(term)?),
            "ratio-to-prev" => self.ratio_to_previous = Some(ratio(term)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A way that is not known leaves the choice to the recording's options, as in perf.
fn call_graph(way: &str) -> Option<CallGraphTerm> {
    match way {
        "no" => Some(CallGraphTerm::Off),
        "fp" => Some(CallGraphTerm::FramePointer),
        "dwarf" => Some(CallGraphTerm::Dwarf),
        "lbr" => Some(CallGraphTerm::BranchRecords),
        _ => None,
    }
}

fn aux_action(term: &Term<'_>) -> Result<AuxAction, SyntaxProblem> {
    match text(term)? {
        "start-paused" => Ok(AuxAction::StartPaused),
        "pause" => Ok(AuxAction::Pause),
        "resume" => Ok(AuxAction::Resume),
        other => Err(
            SyntaxProblem::new(value_position(term), format!("Bad aux-action '{other}'"))
                .with_help("valid values: start-paused, pause, resume"),
        ),
    }
}

fn ratio(term: &Term<'_>) -> Result<f64, SyntaxProblem> {
    let ratio = text(term)?.parse::<f64>().ok();
    ratio
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .ok_or_else(|| SyntaxProblem::new(value_position(term), "zero or negative"))
}
