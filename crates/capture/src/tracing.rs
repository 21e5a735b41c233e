//! The formats of the recorded tracepoints, for readers on other machines.

use crate::note::Notes;
use crate::plan::Plan;

/// Reads the formats of the plan's tracepoints; `None` when there are none.
pub(crate) fn collect(plan: &Plan, _notes: &mut dyn Notes) -> Option<Vec<u8>> {
    plan.events.iter().any(|event| event.request.is_tracepoint()).then(Vec::new)
}
