//! The lines around the tables: lost samples, the sampled events, a tip.

use std::io::{self, Write};

use oxperf_analysis::hist::Table;
use oxperf_profile::{EventProfile, Profile};

use super::ReportText;
use crate::text::sanitize;

/// A value that all rows have in common by the user's request: its column is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restriction {
    /// The key's word, such as `comm`.
    pub key: &'static str,
    /// The only value there is.
    pub value: String,
}

/// Writes what all rows have in common. The header or the note about it has been written before.
pub fn restrictions(out: &mut dyn Write, restrictions: &[Restriction]) -> io::Result<()> {
    restrictions
        .iter()
        .try_for_each(|Restriction { key, value }| writeln!(out, "# {key}: {}", sanitize(value)))
}

/// Writes what was lost in the whole recording.
pub fn prologue(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let lost: u64 = profile
        .events
        .iter()
        .fold(0, |sum, event| sum.saturating_add(event.lost));
    write!(out, "#\n# Total Lost Samples: {lost}\n#\n")
}

/// Writes a tip at the end.
pub fn tip(out: &mut dyn Write, tip: &str) -> io::Result<()> {
    write!(out, "#\n# (Tip: {tip})\n#\n")
}

/// Appends the lines about a table's events.
pub(super) fn heading(buffer: &mut Vec<u8>, profile: &Profile, table: &Table, report: &ReportText) {
    let events = || {
        table
            .events
            .iter()
            .filter_map(|&event| profile.events.get(event))
    };
    let samples = events().fold(0u64, |sum, event| sum.saturating_add(event.sample_count));
    let period = events().fold(0u64, |sum, event| sum.wrapping_add(event.period_total));
    let (samples, unit) = with_unit(samples);
    let names: Vec<_> = events().map(|event| sanitize(&event.name)).collect();
    let what = match names.as_slice() {
        // As in perf, the leader of a group that is not shown as one stands for several all the same.
        [name] if !table.grouped && leads(profile, table) => format!("events '{name}'"),
        [name] if !table.grouped => format!("event '{name}'"),
        names => match group_name(events().next()) {
            Some(group) => format!("events '{group} {{ {} }}'", names.join(", ")),
            None => format!("events '{}'", names.join(", ")),
        },
    };
    let times = report
        .times
        .as_deref()
        .map(|times| format!(" (time slices: {})", sanitize(times)))
        .unwrap_or_default();
    let socket = report
        .socket
        .map(|socket| format!("# Processor Socket: {socket}\n"))
        .unwrap_or_default();
    const WITHOUT: &str = "call-graph=no";
    let borrows = report.borrows_chains && names.iter().any(|name| name.contains(WITHOUT));
    let chains = if borrows {
        ", show reference callgraph"
    } else {
        ""
    };
    let total = if report.by_cost {
        "Total weight :"
    } else {
        "Event count (approx.):"
    };
    let keys = report.sort_order.as_deref();
    let keys = keys
        .map(|keys| format!("# Sort order   : {}\n", sanitize(keys)))
        .unwrap_or_default();
    let text = format!(
        "# Samples: {samples}{unit} of {what}{times}{chains}\n# {total} {period}\n{keys}{socket}#\n"
    );
    buffer.extend_from_slice(text.as_bytes());
}

fn leads(profile: &Profile, table: &Table) -> bool {
    let event = table.events.first().copied();
    let group = event.and_then(|event| profile.events.get(event)?.group.as_ref());
    group.is_some_and(|group| Some(group.leader) == event)
}

/// The name of a group that was recorded as one.
fn group_name(leader: Option<&EventProfile>) -> Option<std::borrow::Cow<'_, str>> {
    let group = leader
        .and_then(|leader| leader.group.as_ref())
        .filter(|group| !group.joined)?;
    Some(sanitize(group.name.as_deref().unwrap_or("anon group")))
}

/// A number of at most four digits and the letter for what it counts.
pub(crate) fn with_unit(number: u64) -> (u64, char) {
    let mut shown = number;
    let mut unit = ' ';
    for larger in ['K', 'M', 'G'] {
        if shown <= 1000 {
            break;
        }
        shown /= 1000;
        unit = larger;
    }
    (shown, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_samples_are_short() {
        assert_eq!(with_unit(101), (101, ' '));
        assert_eq!(with_unit(1000), (1000, ' '));
        assert_eq!(with_unit(1001), (1, 'K'));
        assert_eq!(with_unit(650_435), (650, 'K'));
        assert_eq!(with_unit(1_200_000), (1, 'M'));
    }

    #[test]
    fn all_events_count_in_what_was_lost() {
        let event = |lost| EventProfile {
            lost,
            ..EventProfile::default()
        };
        let profile = Profile {
            events: vec![event(2), event(3)],
            ..Profile::default()
        };
        let mut text = Vec::new();
        prologue(&mut text, &profile).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "#\n# Total Lost Samples: 5\n#\n"
        );
    }
}
