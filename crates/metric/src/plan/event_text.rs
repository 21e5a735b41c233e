//! Events in the notation of `-e`, each with its name in expressions as the term `metric-id`.

use std::fmt::Write;

use super::EventBatch;

/// The events of the PMU `tool`, which take no counter.
pub(super) const TOOL_EVENTS: [&str; 13] = [
    "duration_time",
    "user_time",
    "system_time",
    "has_pmem",
    "num_cores",
    "num_cpus",
    "num_cpus_online",
    "num_dies",
    "num_packages",
    "smt_on",
    "system_tsc_freq",
    "core_wide",
    "target_cpu",
];

pub(super) fn is_tool_event(id: &str) -> bool {
    TOOL_EVENTS.contains(&id)
}

impl EventBatch {
    /// The events as `-e` takes them: `{branch-misses/metric-id=branch!1misses/,branches/metric-id=branches/}:W,duration_time`.
    pub fn text(&self) -> String {
        let modifier = self.modifier.as_deref().unwrap_or_default();
        let mut text = String::new();
        for id in &self.events {
            separate(&mut text);
            text += &event(id);
            text += modifier;
        }
        if self.grouped && !text.is_empty() {
            text = format!("{{{text}}}:W");
        }
        for tool in &self.tools {
            separate(&mut text);
            text += tool;
        }
        text
    }
}

fn separate(text: &mut String) {
    if !text.is_empty() {
        text.push(',');
    }
}

/// One event. `pmu@terms@` becomes `pmu/terms,metric-id=.../`, `event:mods` becomes `event/metric-id=.../mods`.
fn event(id: &str) -> String {
    let encoded = encoded(id);
    if let Some((pmu, rest)) = id.split_once('@') {
        let (terms, modifiers) = rest.rsplit_once('@').unwrap_or((rest, ""));
        return format!("{pmu}/{terms},metric-id={encoded}/{modifiers}");
    }
    let (name, modifiers) = id.split_once(':').unwrap_or((id, ""));
    format!("{name}/metric-id={encoded}/{modifiers}")
}

/// A name without the characters that mean something between the slashes of an event.
fn encoded(id: &str) -> String {
    let mut encoded = String::with_capacity(id.len());
    for character in id.chars() {
        match ",-=@".find(character) {
            Some(code) => {
                let _ = write!(encoded, "!{code}");
            }
            None => encoded.push(character),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(events: &[&str], tools: &[&str], grouped: bool) -> EventBatch {
        EventBatch {
            events: events.iter().map(|event| event.to_string()).collect(),
            tools: tools.iter().map(|tool| tool.to_string()).collect(),
            grouped,
            modifier: None,
        }
    }

    #[test]
    fn texts_are_perfs() {
        // `perf7 stat -vv -M ...` on made-up machines.
        assert_eq!(
            event("topdown-retiring"),
            "topdown-retiring/metric-id=topdown!1retiring/"
        );
        assert_eq!(
            event("cpu@UOPS_DECODED.DEC0,cmask=1@"),
            "cpu/UOPS_DECODED.DEC0,cmask=1,metric-id=cpu!3UOPS_DECODED.DEC0!0cmask!21!3/"
        );
        assert_eq!(
            event("cpu-cycles:kHh"),
            "cpu-cycles/metric-id=cpu!1cycles:kHh/kHh"
        );
    }

    #[test]
    fn tool_events_stay_outside_of_the_group() {
        let text = |events: &[&str], grouped| batch(events, &["duration_time"], grouped).text();
        assert_eq!(
            text(&["a", "b"], true),
            "{a/metric-id=a/,b/metric-id=b/}:W,duration_time"
        );
        assert_eq!(text(&["a"], false), "a/metric-id=a/,duration_time");
        assert_eq!(text(&[], true), "duration_time");
    }
}
