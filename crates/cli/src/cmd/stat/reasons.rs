//! The reasons why events were not counted, for below the table.

use std::fmt::Write;

use oxperf_capture::count::CountedEvent;
use oxperf_present::text::sanitize;

/// A line for each reason, with the events that it is the reason of.
pub(super) fn text<'a>(events: impl Iterator<Item = &'a CountedEvent>) -> String {
    let mut reasons: Vec<(String, Vec<&'a str>)> = Vec::new();
    for event in events {
        let Some(reason) = reason(event) else {
            continue;
        };
        let name = event.replaces.as_deref().unwrap_or(&event.request().name);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let mut text = String::new();
    for (reason, names) in reasons {
        let _ = writeln!(
            text,
            "Not counted: {}: {}",
            sanitize(&names.join(", ")),
            sanitize(&reason)
        );
    }
    text
}

/// The reason why an event was not counted, or why another took its place.
pub(super) fn reason(event: &CountedEvent) -> Option<String> {
    let reason = |refusal: &oxperf_capture::explain::Explanation| refusal.reason.to_string();
    match (&event.replaces, &event.refusal) {
        (Some(_), _) => Some(format!(
            "this machine has no counter for it; {} counts time instead",
            event.request().name
        )),
        (None, Some(refusal)) => Some(reason(refusal).lines().collect::<Vec<_>>().join(" ")),
        (None, None) => None,
    }
}
