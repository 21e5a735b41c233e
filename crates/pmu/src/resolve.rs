//! Events as written to events that can be opened.

mod apply;
mod branch_filter;
mod breakpoint;
mod cpus;
mod event;
mod legacy;
mod metric_id;
mod modifiers;
mod regroup;
mod sample_terms;
mod tracepoint;
mod value;

pub use event::{ResolvedEvent, TracepointName};
pub use sample_terms::{AuxAction, CallGraphTerm, RateTerm, SampleTerms};

use crate::catalogue::{Catalogue, Pmu};
use crate::syntax::{EventForm, EventList, EventSpec, GroupSpec, ListItem, Term};
use crate::{SyntaxError, SyntaxProblem};
use oxperf_abi::EventType;

/// Looks every event up. One written event can become several: one for each PMU or tracepoint that matches. Their
/// order is that of the text; leaders are named by their index in the result.
///
/// # Errors
/// The first event that is not there or whose terms do not fit.
pub fn resolve(
    list: &EventList,
    catalogue: &Catalogue<'_>,
) -> Result<Vec<ResolvedEvent>, SyntaxError> {
    let mut resolved = Vec::new();
    for item in &list.items {
        match item {
            ListItem::Event(event) => {
                resolve_event(event, catalogue).map(|events| resolved.extend(events))
            }
            ListItem::Group(group) => resolve_group(group, resolved.len(), catalogue)
                .map(|events| resolved.extend(events)),
        }
        .map_err(|problems| SyntaxError::new(&list.text, problems))?;
    }
    let mut events = regroup::regroup(resolved, catalogue);
    // Who writes a pattern expects that its PMUs are told apart.
    if list.specs().any(|event| is_wildcard(event, catalogue)) {
        events.iter_mut().for_each(|event| event.regrouped = false);
    }
    Ok(events)
}

fn is_wildcard(event: &EventSpec, catalogue: &Catalogue<'_>) -> bool {
    matches!(&event.form, EventForm::WithTerms(name) if catalogue.is_wildcard(name))
}

type Found = Result<Vec<ResolvedEvent>, Vec<SyntaxProblem>>;

fn resolve_event(event: &EventSpec, catalogue: &Catalogue<'_>) -> Found {
    let mut found = look_up(event, catalogue)?;
    for resolved in &mut found {
        modifiers::apply(resolved, event.modifiers);
    }
    Ok(found)
}

/// Members after the first follow the leader at index `leader`.
fn resolve_group(group: &GroupSpec, leader: usize, catalogue: &Catalogue<'_>) -> Found {
    let mut members = Vec::new();
    for event in &group.events {
        let combined = modifiers::combine(event, group).map_err(|problem| vec![problem])?;
        for mut member in look_up(event, catalogue)? {
            let first = members.is_empty();
            modifiers::apply(
                &mut member,
                modifiers::for_member(combined, event.modifiers, first),
            );
            member.leader = (!first).then_some(leader);
            member.group_name = group.name.clone().filter(|_| first);
            member.weak_group = group.modifiers.weak;
            members.push(member);
        }
    }
    Ok(members)
}

fn look_up(event: &EventSpec, catalogue: &Catalogue<'_>) -> Found {
    match &event.form {
        EventForm::Name(name) => named(event, name, catalogue),
        EventForm::WithTerms(name) => with_terms(event, name, catalogue),
        EventForm::Raw(config) => raw(event, *config, catalogue),
        EventForm::Numeric { kind, config } => numeric(event, *kind, *config, catalogue),
        EventForm::Tracepoint {
            system,
            event: name,
        } => tracepoint::resolve(event, system, name, catalogue.tracepoints()),
        EventForm::Breakpoint {
            address,
            length,
            access,
        } => breakpoint::resolve(event, *address, *length, *access).map(|event| vec![event]),
    }
}

fn named(event: &EventSpec, name: &str, catalogue: &Catalogue<'_>) -> Found {
    let headline = Headline {
        message: "Bad event name",
        help: "Unable to find event on a PMU of",
    };
    let found = on_pmus_with_event(event, name, catalogue);
    headline.over(found, event, name, catalogue)
}

/// A name before a slash is a PMU's (or, as a pattern or without its number, that of several); else an event's.
fn with_terms(event: &EventSpec, name: &str, catalogue: &Catalogue<'_>) -> Found {
    let headline = Headline {
        message: "Bad event or PMU",
        help: "Unable to find PMU or event on a PMU of",
    };
    let matching = catalogue.matching(name);
    let found = if matching.is_empty() {
        on_pmus_with_event(event, name, catalogue)
    } else {
        Some(on_each(&matching, event, &event.terms))
    };
    headline.over(found, event, name, catalogue)
}

/// The general finding that stands before those about details.
struct Headline {
    message: &'static str,
    /// The sentence before the name.
    help: &'static str,
}

impl Headline {
    /// The events that were found, or the findings with the general one first. A name that nothing has gets near ones.
    fn over(
        self,
        found: Option<Found>,
        event: &EventSpec,
        name: &str,
        catalogue: &Catalogue<'_>,
    ) -> Found {
        let headline = |help| SyntaxProblem::new(event.position, self.message).with_help(help);
        let help = || format!("{} '{name}'", self.help);
        match found {
            Some(Ok(events)) => Ok(events),
            Some(Err(mut problems)) => {
                problems.insert(0, headline(help()));
                Err(problems)
            }
            None => {
                let near = catalogue.suggestion(name);
                let lines: Vec<String> = std::iter::once(help()).chain(near).collect();
                Err(vec![headline(lines.join("\n"))])
            }
        }
    }
}

/// The event of this name on every PMU that has it; `None` when none has. The name is then one more term.
fn on_pmus_with_event(event: &EventSpec, name: &str, catalogue: &Catalogue<'_>) -> Option<Found> {
    let pmus = catalogue.with_event(name);
    if let Some(term) = event.terms.iter().find(|term| legacy::is_term(term)) {
        return Some(Err(vec![legacy::without_core_pmu(term)]));
    }
    if pmus.is_empty() {
        return None;
    }
    let named = Term {
        name: name.to_owned(),
        position: event.position,
        value: None,
    };
    let terms = [event.terms.as_slice(), &[named]].concat();
    Some(on_each(&pmus, event, &terms))
}

/// The event on each PMU that takes its terms; the problem of the first refused one when none does.
fn on_each(pmus: &[&Pmu<'_>], event: &EventSpec, terms: &[Term]) -> Found {
    let (mut found, mut refused) = (Vec::with_capacity(pmus.len()), None);
    for pmu in pmus {
        match apply::on_pmu(pmu, event, terms) {
            Ok(event) => found.push(event),
            Err(problem) => refused = refused.or(Some(problem)),
        }
    }
    match refused {
        Some(problem) if found.is_empty() => Err(vec![problem]),
        _ => Ok(found),
    }
}

fn raw(event: &EventSpec, config: u64, catalogue: &Catalogue<'_>) -> Found {
    // Of several kinds of cores, the one that has the kernel's number for raw codes.
    let owner = catalogue.cores().find(|pmu| pmu.kind() == EventType::RAW);
    let Some(pmu) = owner.or_else(|| catalogue.cores().next()) else {
        return Ok(Vec::new());
    };
    let mut resolved = apply::with_sample_terms(pmu, event).map_err(|problem| vec![problem])?;
    resolved.attr.kind = EventType::RAW;
    resolved.attr.config = config;
    Ok(vec![resolved])
}

fn numeric(event: &EventSpec, kind: u32, config: u64, catalogue: &Catalogue<'_>) -> Found {
    let pmu = catalogue.of_kind(kind);
    let mut resolved = apply::with_sample_terms(&pmu, event).map_err(|problem| vec![problem])?;
    resolved.attr.kind = EventType(kind);
    resolved.attr.config = config;
    resolved.set_unit_of_clock();
    Ok(vec![resolved])
}

#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
