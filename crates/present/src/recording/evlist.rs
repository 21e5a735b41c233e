//! The text of `evlist`: the events of a recording.

use std::fmt::Write;

use oxperf_abi::{AttrFlags, EventType};
use oxperf_data::EventEntry;
use oxperf_data::features::GroupEntry;
use oxperf_tracepoint::Formatters;

use crate::text::attr_text::{EventNames, attr_fields};
use crate::text::sanitize;

/// The detail of each event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EvlistDetail {
    /// Its name.
    #[default]
    Name,
    /// Also its period or frequency (`-F`).
    Frequency,
    /// Also its attribute (`-v`).
    Attribute,
    /// Its name, the members of a group on one line (`-g`).
    Group,
}

/// An event with the name to show for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListedEvent<'a> {
    /// The name.
    pub name: &'a str,
    /// The event.
    pub entry: &'a EventEntry,
}

/// Options of a list of events.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventListing<'a> {
    /// The detail of each.
    pub detail: EvlistDetail,
    /// The groups that they form.
    pub groups: &'a [GroupEntry],
    /// The fields of tracepoints' records are listed, too: their formats (`--trace-fields`).
    pub formats: Option<&'a Formatters>,
}

/// Writes the events, and hints at options that would show more.
pub fn write(
    out: &mut String,
    events: &[ListedEvent<'_>],
    listing: &EventListing<'_>,
    names: &dyn EventNames,
) {
    let (detail, groups) = (listing.detail, listing.groups);
    match detail {
        EvlistDetail::Group => write_grouped(out, events, groups),
        _ => events
            .iter()
            .for_each(|event| write_event(out, event, listing, names)),
    }
    if listing.formats.is_none() && events.iter().any(is_tracepoint) {
        out.push_str(
            "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n",
        );
    }
    if detail != EvlistDetail::Group && groups.iter().any(|group| group.members > 1) {
        out.push_str("# Tip: use 'perf evlist -g' to show group information\n");
    }
}

fn is_tracepoint(event: &ListedEvent<'_>) -> bool {
    event.entry.stored.attr.kind == EventType::TRACEPOINT
}

fn write_event(
    out: &mut String,
    event: &ListedEvent<'_>,
    listing: &EventListing<'_>,
    names: &dyn EventNames,
) {
    let stored = &event.entry.stored;
    out.push_str(&sanitize(event.name));
    match listing.detail {
        EvlistDetail::Name | EvlistDetail::Group => {}
        EvlistDetail::Frequency => {
            let kind = if stored.attr.flags.contains(AttrFlags::FREQ) {
                "sample_freq"
            } else {
                "sample_period"
            };
            let _ = write!(out, ": {kind}={}", stored.attr.sample_period);
        }
        EvlistDetail::Attribute => {
            let mut separator = ':';
            for field in attr_fields(&stored.attr, stored.size, names) {
                let _ = write!(
                    out,
                    "{separator} {}: {}",
                    field.name,
                    sanitize(&field.value)
                );
                separator = ',';
            }
        }
    }
    if let Some(formats) = listing.formats {
        out.push(if listing.detail == EvlistDetail::Name {
            ':'
        } else {
            ','
        });
        out.push_str(&trace_fields(event, formats));
    }
    out.push('\n');
}

/// The fields that a tracepoint's records have of their own.
fn trace_fields(event: &ListedEvent<'_>, formats: &Formatters) -> String {
    if !is_tracepoint(event) {
        return " (not a tracepoint)".to_owned();
    }
    let Some(formatter) = formats.get(event.entry.stored.attr.config) else {
        return " (no format recorded)".to_owned();
    };
    let fields: Vec<_> = formatter
        .event()
        .fields
        .iter()
        .map(|field| sanitize(&field.name))
        .collect();
    format!(" trace_fields: {}", fields.join(","))
}

fn write_grouped(out: &mut String, events: &[ListedEvent<'_>], groups: &[GroupEntry]) {
    let mut index = 0;
    while let Some(event) = events.get(index) {
        let group = groups
            .iter()
            .find(|group| group.leader as usize == index && group.members > 1);
        let members = group.and_then(|group| events[index..].get(..group.members as usize));
        match (group, members) {
            (Some(group), Some(members)) => {
                let _ = writeln!(
                    out,
                    "{}",
                    group_text(group, members.iter().map(|event| event.name))
                );
                index += members.len();
            }
            _ => {
                let _ = writeln!(out, "{}", sanitize(event.name));
                index += 1;
            }
        }
    }
}

/// A group with its name, if it was given one, and its members.
pub(crate) fn group_text<'a>(group: &GroupEntry, members: impl Iterator<Item = &'a str>) -> String {
    let name = if group.name == GroupEntry::ANONYMOUS {
        ""
    } else {
        &group.name
    };
    let members: Vec<_> = members.collect();
    sanitize(&format!("{name}{{{}}}", members.join(","))).into_owned()
}

#[cfg(test)]
mod tests {
    use oxperf_abi::EventAttr;
    use oxperf_data::{FeatureSet, Reader, Writer, WriterEvent};
    use oxperf_tracepoint::{ByteOrder, TracingData, WordSize};

    use super::*;
    use crate::text::attr_text::NoEventNames;

    /// The text for events of the given names and types.
    fn listed(events: &[(&str, u32)], groups: &[GroupEntry], detail: EvlistDetail) -> String {
        listed_with(events, groups, detail, None)
    }

    fn listed_with(
        events: &[(&str, u32)],
        groups: &[GroupEntry],
        detail: EvlistDetail,
        formats: Option<&Formatters>,
    ) -> String {
        let attr = |kind| EventAttr {
            kind: EventType(kind),
            sample_period: 4000,
            ..EventAttr::default()
        };
        let events = events.iter().map(|(name, kind)| WriterEvent {
            attr: attr(*kind),
            name: (*name).into(),
            ids: vec![],
        });
        let writer = Writer::begin(Vec::new(), &events.collect::<Vec<_>>()).unwrap();
        let file = writer.finish(&FeatureSet::new()).unwrap();
        let reader = Reader::open(&file).unwrap();
        // Without data there are no features, so the names are found from their places.
        let names = ["a", "b", "c", "d"];
        let entries = reader.events().iter().zip(names);
        let listed: Vec<_> = entries
            .map(|(entry, name)| ListedEvent { name, entry })
            .collect();
        let mut out = String::new();
        write(
            &mut out,
            &listed,
            &EventListing {
                detail,
                groups,
                formats,
            },
            &NoEventNames,
        );
        out
    }

    fn with_format(text: &str) -> TracingData {
        TracingData {
            order: ByteOrder::Little,
            word: WordSize::Eight,
            page_size: 4096,
            header_page: vec![],
            header_event: vec![],
            ftrace: vec![text.into()],
            systems: vec![],
            kallsyms: vec![],
            printk_formats: vec![],
            cmdlines: None,
        }
    }

    fn group(name: &str, leader: u32, members: u32) -> GroupEntry {
        GroupEntry {
            name: name.into(),
            leader,
            members,
        }
    }

    #[test]
    fn names_periods_and_attributes() {
        let events = [("a", 1)];
        assert_eq!(listed(&events, &[], EvlistDetail::Name), "a\n");
        assert_eq!(
            listed(&events, &[], EvlistDetail::Frequency),
            "a: sample_period=4000\n"
        );
        let expected = "a: type: 1 (PERF_TYPE_SOFTWARE), size: 64, config: 0 (PERF_COUNT_SW_CPU_CLOCK), \
            { sample_period, sample_freq }: 4000\n";
        assert_eq!(listed(&events, &[], EvlistDetail::Attribute), expected);
    }

    #[test]
    fn fields_of_tracepoints() {
        let field =
            |name: &str, offset| format!("\tfield:{name};\toffset:{offset};\tsize:4;\tsigned:1;\n");
        let fields = [field("int cpu", 8), field("pid_t pid", 12)].concat();
        let common = field("int common_pid", 4);
        let text =
            format!("name: x\nID: 0\nformat:\n{common}\n{fields}\nprint fmt: \"%d\", REC->cpu\n");
        let formats = Formatters::new(&with_format(&text));
        let list = |detail| listed_with(&[("a", 2), ("b", 1)], &[], detail, Some(&formats));
        assert_eq!(
            list(EvlistDetail::Name),
            "a: trace_fields: cpu,pid\nb: (not a tracepoint)\n"
        );
        assert_eq!(
            list(EvlistDetail::Frequency),
            "a: sample_period=4000, trace_fields: cpu,pid\nb: sample_period=4000, (not a tracepoint)\n"
        );
        assert_eq!(
            listed_with(
                &[("a", 2)],
                &[],
                EvlistDetail::Name,
                Some(&Formatters::default())
            ),
            "a: (no format recorded)\n"
        );
    }

    #[test]
    fn groups_on_one_line() {
        let events = [("a", 1), ("b", 1), ("c", 1), ("d", 2)];
        let groups = [group("{anon_group}", 0, 2)];
        let trace =
            "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n";
        let tip = "# Tip: use 'perf evlist -g' to show group information\n";
        assert_eq!(
            listed(&events, &groups, EvlistDetail::Group),
            format!("{{a,b}}\nc\nd\n{trace}")
        );
        assert_eq!(
            listed(&events, &groups, EvlistDetail::Name),
            format!("a\nb\nc\nd\n{trace}{tip}")
        );
        assert_eq!(
            listed(&events[..2], &[group("g", 0, 2)], EvlistDetail::Group),
            "g{a,b}\n"
        );
        // A group that goes past the events is none.
        assert_eq!(
            listed(&events[..2], &[group("g", 1, 9)], EvlistDetail::Group),
            "a\nb\n"
        );
    }
}
