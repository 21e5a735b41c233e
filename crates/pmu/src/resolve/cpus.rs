//! `cpu=`: the CPUs on which an event is counted, by number, by list, or as those of a PMU.

use super::value::value_position;
use crate::SyntaxProblem;
use crate::catalogue::Pmu;
use crate::syntax::{Term, parse_number};
use std::sync::Arc;

/// The CPUs that a term names, as a list; `None` for all that the event's PMU counts on.
pub(super) fn wanted_cpus(
    pmu: &Pmu<'_>,
    term: &Term<'_>,
) -> Result<Option<Arc<str>>, SyntaxProblem> {
    let problem = |message| SyntaxProblem::new(value_position(term), message);
    let text = term.value.map_or("1", |value| value.text);
    if let Some(cpu) = parse_number(text) {
        let is_there = pmu.cpu_limit().is_none_or(|limit| cpu < u64::from(limit));
        return is_there
            .then(|| Some(cpu.to_string().into()))
            .ok_or_else(|| problem("too big"));
    }
    if is_list(text) {
        return Ok(Some(text.into()));
    }
    let cpus = pmu.cpus_of_pmu(text);
    cpus.ok_or_else(|| problem("not a valid PMU or CPU number"))
}

/// Numbers and ranges. Those that make no sense are for the reader of the list to refuse.
fn is_list(text: &str) -> bool {
    let is_in_list = |byte: u8| byte.is_ascii_digit() || b"-,".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_digit()) && text.bytes().all(is_in_list)
}
