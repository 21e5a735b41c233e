//! From an event that was looked up to one that can be planned.

use oxperf_pmu::{CallGraphTerm, RateTerm, ResolvedEvent, SampleTerms};
use oxperf_sys::cpus;

use super::EventRequest;
use crate::options::{CallGraph, Rate};

/// A term of an event that this recorder does not honour; recording without it would surprise.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("event '{event}': the term {term} is not supported yet")]
pub struct UnsupportedTerm {
    /// The event.
    pub event: String,
    /// The term.
    pub term: &'static str,
}

impl EventRequest {
    /// Takes an event as it was looked up.
    ///
    /// # Errors
    /// One of its terms asks for what is not recorded yet.
    pub fn from_resolved(event: ResolvedEvent) -> Result<EventRequest, UnsupportedTerm> {
        refuse_unsupported(&event)?;
        let call_graph = event.terms.call_graph.map(|term| match term {
            CallGraphTerm::FramePointer => CallGraph::FramePointers {
                max_stack: event.terms.max_stack,
            },
            CallGraphTerm::Off | CallGraphTerm::Dwarf | CallGraphTerm::BranchRecords => {
                CallGraph::Off
            }
        });
        Ok(EventRequest {
            name: event.name,
            attr: event.attr,
            pmu: event.pmu,
            tracepoint: event.tracepoint.map(|name| (name.system, name.event)),
            leader: event.leader,
            group_name: event.group_name,
            weak_group: event.weak_group,
            sample_read: event.sample_read,
            max_precise: event.max_precise,
            rate: event.terms.rate.map(rate),
            usual_period: event.table_period,
            call_graph,
            max_stack: event.terms.max_stack,
            time: event.terms.time,
            inherit: event.terms.inherit,
            // A list that makes no sense leaves the choice to the kernel.
            cpus: event
                .cpus
                .and_then(|list| cpus::parse_list(&list).ok())
                .filter(|cpus| !cpus.is_empty()),
            unit: event.unit,
            scale: event.scale,
        })
    }
}

fn rate(term: RateTerm) -> Rate {
    match term {
        RateTerm::Period(events) => Rate::Period(events),
        RateTerm::Frequency(hertz) => Rate::Frequency(hertz),
    }
}

fn refuse_unsupported(event: &ResolvedEvent) -> Result<(), UnsupportedTerm> {
    let SampleTerms {
        call_graph,
        stack_size,
        overwrite,
        max_events,
        branch_type,
        ..
    } = &event.terms;
    let asked = [
        (
            *call_graph == Some(CallGraphTerm::Dwarf),
            "call-graph=dwarf",
        ),
        (
            *call_graph == Some(CallGraphTerm::BranchRecords),
            "call-graph=lbr",
        ),
        (stack_size.is_some(), "stack-size"),
        (*overwrite == Some(true), "overwrite"),
        (max_events.is_some(), "nr"),
        (branch_type.is_some(), "branch_type"),
    ];
    match asked.into_iter().find(|(asked, _)| *asked) {
        Some((_, term)) => Err(UnsupportedTerm {
            event: event.name.clone(),
            term,
        }),
        None => Ok(()),
    }
}
