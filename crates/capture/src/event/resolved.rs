//! From an event that was looked up to one that can be planned.

use oxperf_abi::Cpu;
use oxperf_pmu::{CallGraphTerm, RateTerm, ResolvedEvent, SampleTerms};
use oxperf_sys::cpus;

use super::{AuxRequest, EventRequest};
use crate::options::{CallGraph, Rate};

impl EventRequest {
    /// Takes an event as it was looked up.
    pub fn from_resolved(event: ResolvedEvent) -> EventRequest {
        let call_graph = call_graph(&event.terms);
        let cpus = counted_on(&event);
        let chosen_cpus = cpu_list(event.wanted_cpus.as_deref());
        let is_traced = event.is_traced();
        EventRequest {
            name: event.name,
            attr: event.attr,
            pmu: event.pmu,
            tracepoint: event.tracepoint.map(|name| (name.system, name.event)),
            leader: event.leader,
            group_name: event.group_name,
            weak_group: event.weak_group,
            sample_read: event.sample_read,
            is_auxiliary: event.is_auxiliary,
            max_precise: event.max_precise,
            side_letters: event.side_letters,
            rate: event.terms.rate.map(rate),
            usual_period: event.table_period,
            call_graph,
            max_stack: event.terms.max_stack,
            time: event.terms.time,
            branches: event.terms.branches,
            tracks: false,
            watches_system: false,
            aux: AuxRequest {
                sample_size: event.terms.aux_sample_size,
                output: event.terms.aux_output,
                action: event.terms.aux_action,
                is_traced,
                named_bits: event.named_bits,
            },
            retire_latency: event.retire_latency,
            published_latency: None,
            ratio_to_previous: event.terms.ratio_to_previous,
            inherit: event.terms.inherit,
            overwrite: event.terms.overwrite,
            per_core: event.terms.percore,
            cpus,
            chosen_cpus,
            filter: None,
            cgroup: None,
            of_system: event.of_system,
            unit: event.unit,
            scale: event.scale,
            metric_id: event.terms.metric_id,
        }
    }
}

fn rate(term: RateTerm) -> Rate {
    match term {
        RateTerm::Period(events) => Rate::Period(events),
        RateTerm::Frequency(hertz) => Rate::Frequency(hertz),
    }
}

/// A depth alone asks for chains by frame pointers.
fn call_graph(terms: &SampleTerms) -> Option<CallGraph> {
    let by_frame_pointers = CallGraph::FramePointers {
        max_stack: terms.max_stack,
    };
    match terms.call_graph {
        Some(CallGraphTerm::FramePointer) => Some(by_frame_pointers),
        Some(CallGraphTerm::Off) => Some(CallGraph::Off),
        Some(CallGraphTerm::BranchRecords) => Some(CallGraph::BranchRecords),
        Some(CallGraphTerm::Dwarf) => Some(CallGraph::Dwarf {
            stack_size: terms.stack_size.map_or(CallGraph::STACK_SIZE, whole_words),
        }),
        None => terms.max_stack.map(|_| by_frame_pointers),
    }
}

/// The kernel copies words, and no more than a record holds.
fn whole_words(bytes: u32) -> u32 {
    let words = bytes.checked_next_multiple_of(8);
    words.map_or(CallGraph::LARGEST_STACK, |bytes| {
        bytes.clamp(8, CallGraph::LARGEST_STACK)
    })
}

fn cpu_list(list: Option<&str>) -> Option<Vec<Cpu>> {
    let cpus = cpus::parse_list(list?).ok()?;
    (!cpus.is_empty()).then_some(cpus)
}

/// The CPUs of the PMU that the user names, if there are any. A list that makes no sense leaves the choice to the kernel.
fn counted_on(event: &ResolvedEvent) -> Option<Vec<Cpu>> {
    let own = cpu_list(event.cpus.as_deref());
    match (own, cpu_list(event.wanted_cpus.as_deref())) {
        (Some(own), Some(wanted)) => {
            Some(own.into_iter().filter(|cpu| wanted.contains(cpu)).collect())
        }
        (own, wanted) => own.or(wanted),
    }
}
