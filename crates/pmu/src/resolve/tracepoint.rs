//! `SYSTEM:EVENT`, where both may be patterns.

use super::event::{ResolvedEvent, TracepointName};
use super::sample_terms::SampleTerms;
use crate::glob;
use crate::syntax::EventSpec;
use crate::{SyntaxProblem, TracepointSource};
use oxperf_abi::EventType;
use std::io;

/// Appends every tracepoint that matches, in the order of their numbers within a system.
pub(super) fn resolve(
    event: &EventSpec<'_>,
    system: &str,
    name: &str,
    source: &dyn TracepointSource,
    found: &mut Vec<ResolvedEvent>,
) -> Result<(), Vec<SyntaxProblem>> {
    let terms = sample_terms(event).map_err(|problem| vec![problem])?;
    let tracepoints = find(system, name, source)
        .map_err(|error| vec![refusal(event, system, name, source, &error)])?;
    let tracepoints = tracepoints.into_iter();
    found.extend(tracepoints.map(|(tracepoint, id)| resolved(tracepoint, id, &terms)));
    Ok(())
}

fn resolved(tracepoint: TracepointName, id: u64, terms: &SampleTerms) -> ResolvedEvent {
    let name = format!("{}:{}", tracepoint.system, tracepoint.event);
    let mut event = ResolvedEvent::new(name, "tracepoint".into());
    event.attr.kind = EventType::TRACEPOINT;
    event.attr.config = id;
    event.tracepoint = Some(tracepoint);
    event.terms = terms.clone();
    event
}

/// A tracepoint has no config to describe and a name of its own: only some of the sampling terms make sense.
fn sample_terms(event: &EventSpec<'_>) -> Result<SampleTerms, SyntaxProblem> {
    const TAKEN: [&str; 11] = [
        "nr",
        "aux-output",
        "aux-action",
        "aux-sample-size",
        "call-graph",
        "stack-size",
        "max-stack",
        "inherit",
        "no-inherit",
        "overwrite",
        "no-overwrite",
    ];
    let mut terms = SampleTerms::default();
    for term in &event.terms {
        if !TAKEN.contains(&term.name) || !terms.take(term)? {
            let message = format!("a tracepoint has no term '{}'", term.name);
            return Err(SyntaxProblem::new(term.position, message)
                .with_help(format!("valid terms: {}", TAKEN.join(","))));
        }
    }
    Ok(terms)
}

fn find(
    system: &str,
    event: &str,
    source: &dyn TracepointSource,
) -> io::Result<Vec<(TracepointName, u64)>> {
    let is_pattern = glob::is_pattern(event);
    let mut found = Vec::new();
    for system in expand(system, || source.systems())? {
        let Ok(events) = expand(event, || source.events(&system)) else {
            continue;
        };
        let mut of_system = Vec::new();
        for event in events {
            let id = match source.id(&system, &event) {
                // A pattern means those alone that can be opened.
                Err(error) if is_pattern && error.kind() == io::ErrorKind::NotFound => continue,
                id => id?,
            };
            of_system.push((
                TracepointName {
                    system: system.clone(),
                    event,
                },
                id,
            ));
        }
        of_system.sort_by_key(|(_, id)| *id);
        found.append(&mut of_system);
    }
    if found.is_empty() {
        Err(io::ErrorKind::NotFound.into())
    } else {
        Ok(found)
    }
}

/// The name itself, or every listed name that it matches as a pattern.
fn expand(
    pattern: &str,
    list: impl FnOnce() -> io::Result<Vec<String>>,
) -> io::Result<Vec<String>> {
    if !glob::is_pattern(pattern) {
        return Ok(vec![pattern.to_owned()]);
    }
    Ok(list()?
        .into_iter()
        .filter(|name| glob::matches(pattern, name))
        .collect())
}

fn refusal(
    event: &EventSpec<'_>,
    system: &str,
    name: &str,
    source: &dyn TracepointSource,
    error: &io::Error,
) -> SyntaxProblem {
    let root = source.root();
    let path = format!("{root}/events/{system}/{name}");
    if error.kind() == io::ErrorKind::PermissionDenied {
        let help = format!(
            "Error:\tNo permissions to read {path}\nHint:\tTry 'sudo mount -o remount,mode=755 {root}/'"
        );
        return SyntaxProblem::new(event.position, "can't access trace events").with_help(help);
    }
    let hint = if system.starts_with("sdt_") {
        format!("An SDT event has to be made a probe first: 'perf probe {system}:{name}'.")
    } else {
        "This kernel may be built without it, or its module is not loaded.".to_owned()
    };
    let help = format!("Error:\tFile {path} not found.\nHint:\t{hint}");
    SyntaxProblem::new(event.position, "unknown tracepoint").with_help(help)
}
