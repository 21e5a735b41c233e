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
mod unknown_bits;
mod value;

pub use event::{ResolvedEvent, SideLetters, TracepointName};
pub use sample_terms::{AuxAction, CallGraphTerm, RateTerm, SampleTerms};
pub use unknown_bits::UnknownBits;

use crate::catalogue::{Catalogue, Pmu};
use crate::syntax::{EventForm, EventList, EventSpec, GroupSpec, ListItem, Term};
use crate::{SyntaxError, SyntaxProblem};
use oxperf_abi::EventType;
use unknown_bits::unknown_bits;

/// Looks every event up. One written event can become several: one for each PMU or tracepoint that matches. Their
/// order is that of the text; leaders are named by their index in the result.
///
/// # Errors
/// The first event that is not there or whose terms do not fit.
pub fn resolve(
    list: &EventList<'_>,
    catalogue: &Catalogue<'_>,
) -> Result<Vec<ResolvedEvent>, SyntaxError> {
    let mut resolved = Vec::with_capacity(list.items.len());
    for item in &list.items {
        match item {
            ListItem::Event(event) => resolve_event(event, catalogue, &mut resolved),
            ListItem::Group(group) => resolve_group(group, catalogue, &mut resolved),
        }
        .map_err(|problems| SyntaxError::new(list.text, problems))?;
    }
    let mut events = regroup::regroup(resolved, catalogue);
    // Who writes a pattern expects that its PMUs are told apart.
    if list.specs().any(|event| is_wildcard(event, catalogue)) {
        events.iter_mut().for_each(|event| event.regrouped = false);
    }
    Ok(events)
}

fn is_wildcard(event: &EventSpec<'_>, catalogue: &Catalogue<'_>) -> bool {
    matches!(&event.form, EventForm::WithTerms(name) if catalogue.is_wildcard(name))
}

/// The outcome of a search that appends what it finds.
type Found = Result<(), Vec<SyntaxProblem>>;

fn resolve_event(
    event: &EventSpec<'_>,
    catalogue: &Catalogue<'_>,
    found: &mut Vec<ResolvedEvent>,
) -> Found {
    let first = found.len();
    look_up(event, catalogue, found)?;
    for resolved in &mut found[first..] {
        modifiers::apply(resolved, event.modifiers);
    }
    Ok(())
}

/// Members after the first follow it.
fn resolve_group(
    group: &GroupSpec<'_>,
    catalogue: &Catalogue<'_>,
    found: &mut Vec<ResolvedEvent>,
) -> Found {
    let leader = found.len();
    for event in &group.events {
        let combined = modifiers::combine(event, group).map_err(|problem| vec![problem])?;
        let first = found.len();
        look_up(event, catalogue, found)?;
        for (place, member) in found.iter_mut().enumerate().skip(first) {
            let leads = place == leader;
            modifiers::apply(
                member,
                modifiers::for_member(combined, event.modifiers, leads),
            );
            member.leader = (!leads).then_some(leader);
            member.group_name = group.name.filter(|_| leads).map(str::to_owned);
            member.weak_group = group.modifiers.weak;
        }
    }
    Ok(())
}

fn look_up(
    event: &EventSpec<'_>,
    catalogue: &Catalogue<'_>,
    found: &mut Vec<ResolvedEvent>,
) -> Found {
    let one = match event.form {
        EventForm::Name(name) => return named(event, name, catalogue, found),
        EventForm::WithTerms(name) => return with_terms(event, name, catalogue, found),
        EventForm::Tracepoint {
            system,
            event: name,
        } => return tracepoint::resolve(event, system, name, catalogue.tracepoints(), found),
        EventForm::Raw(config) => raw(event, config, catalogue),
        EventForm::Numeric { kind, config } => numeric(event, kind, config, catalogue).map(Some),
        EventForm::Breakpoint {
            address,
            length,
            access,
        } => breakpoint::resolve(event, address, length, access).map(Some),
    };
    found.extend(one.map_err(|problem| vec![problem])?);
    Ok(())
}

fn named(
    event: &EventSpec<'_>,
    name: &str,
    catalogue: &Catalogue<'_>,
    found: &mut Vec<ResolvedEvent>,
) -> Found {
    let headline = Headline {
        message: "Bad event name",
        help: "Unable to find event on a PMU of",
    };
    let outcome = on_pmus_with_event(event, name, catalogue, found);
    headline.over(outcome, event, name, catalogue)
}

/// A name before a slash is a PMU's (or, as a pattern or without its number, that of several); else an event's.
fn with_terms(
    event: &EventSpec<'_>,
    name: &str,
    catalogue: &Catalogue<'_>,
    found: &mut Vec<ResolvedEvent>,
) -> Found {
    let headline = Headline {
        message: "Bad event or PMU",
        help: "Unable to find PMU or event on a PMU of",
    };
    let matching = catalogue.matching(name);
    let outcome = if matching.is_empty() {
        on_pmus_with_event(event, name, catalogue, found)
    } else {
        Some(on_each(matching, event, &event.terms, found))
    };
    headline.over(outcome, event, name, catalogue)
}

/// The general finding that stands before those about details.
struct Headline {
    message: &'static str,
    /// The sentence before the name.
    help: &'static str,
}

impl Headline {
    /// The findings with the general one first. A name that nothing has gets near ones.
    fn over(
        self,
        outcome: Option<Found>,
        event: &EventSpec<'_>,
        name: &str,
        catalogue: &Catalogue<'_>,
    ) -> Found {
        let headline = |help| SyntaxProblem::new(event.position, self.message).with_help(help);
        let help = || format!("{} '{name}'", self.help);
        match outcome {
            Some(Ok(())) => Ok(()),
            Some(Err(mut problems)) => {
                problems.insert(0, headline(help()));
                Err(problems)
            }
            None => {
                let near = catalogue.suggestion(name);
                let lines: Vec<String> = std::iter::once(help()).chain(near).collect();
                Err(vec![SyntaxProblem {
                    unknown: Some(name.to_owned()),
                    ..headline(lines.join("\n"))
                }])
            }
        }
    }
}

/// The event of this name on every PMU that has it; `None` when none has. The name is then one more term.
fn on_pmus_with_event(
    event: &EventSpec<'_>,
    name: &str,
    catalogue: &Catalogue<'_>,
    found: &mut Vec<ResolvedEvent>,
) -> Option<Found> {
    let pmus = catalogue.with_event(name);
    if let Some(term) = event.terms.iter().find(|term| legacy::is_term(term)) {
        return Some(Err(vec![legacy::without_core_pmu(term)]));
    }
    if pmus.len() == 0 {
        return None;
    }
    let named = [Term {
        name,
        position: event.position,
        value: None,
    }];
    let outcome = match event.terms.as_slice() {
        [] => on_each(pmus, event, &named, found),
        terms => on_each(pmus, event, &[terms, &named].concat(), found),
    };
    Some(outcome)
}

/// The event on each PMU that takes its terms; the problem of the first refused one when none does.
fn on_each<'c, 'a: 'c>(
    pmus: impl IntoIterator<Item = &'c Pmu<'a>>,
    event: &EventSpec<'_>,
    terms: &[Term<'_>],
    found: &mut Vec<ResolvedEvent>,
) -> Found {
    let (first, mut refused) = (found.len(), None);
    for pmu in pmus {
        match apply::on_pmu(pmu, event, terms) {
            Ok(event) => found.push(event),
            Err(problem) => refused = refused.or(Some(problem)),
        }
    }
    match refused {
        Some(problem) if found.len() == first => Err(vec![problem]),
        _ => Ok(()),
    }
}

/// The event of a raw code; none without a PMU of cores.
fn raw(
    event: &EventSpec<'_>,
    config: u64,
    catalogue: &Catalogue<'_>,
) -> Result<Option<ResolvedEvent>, SyntaxProblem> {
    // Of several kinds of cores, the one that has the kernel's number for raw codes.
    let owner = catalogue.cores().find(|pmu| pmu.kind() == EventType::RAW);
    let Some(pmu) = owner.or_else(|| catalogue.cores().next()) else {
        return Ok(None);
    };
    let mut resolved = apply::with_sample_terms(pmu, event)?;
    resolved.attr.kind = EventType::RAW;
    resolved.attr.config = config;
    resolved.unknown_bits = unknown_bits(pmu, &resolved.attr);
    Ok(Some(resolved))
}

fn numeric(
    event: &EventSpec<'_>,
    kind: u32,
    config: u64,
    catalogue: &Catalogue<'_>,
) -> Result<ResolvedEvent, SyntaxProblem> {
    let pmu = catalogue.of_kind(kind);
    let mut resolved = apply::with_sample_terms(&pmu, event)?;
    resolved.attr.kind = EventType(kind);
    resolved.attr.config = config;
    resolved.unknown_bits = unknown_bits(&pmu, &resolved.attr);
    resolved.set_unit_of_clock();
    Ok(resolved)
}

#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
