//! Lists as JSON: an array of objects, a key a line.

use std::io::{self, Write};

use oxperf_inventory::{CountableEvent, ListedMetric, MetricFilter};
use oxperf_ordered::write_in_order;

use super::ListFormat;
use crate::json::string;
use crate::text::number::general;

/// A list as JSON.
#[derive(Default)]
pub struct JsonList {
    has_entries: bool,
}

impl ListFormat for JsonList {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"[\n");
    }

    /// Objects are written by all threads: most of the text is that of thousands of tracepoints.
    fn events(&mut self, events: &[&CountableEvent], out: &mut dyn Write) -> io::Result<()> {
        let is_first = !self.has_entries;
        self.has_entries |= !events.is_empty();
        write_in_order(out, events.len(), |range, text| {
            for index in range {
                write_event(events[index], is_first && index == 0, text);
            }
        })
    }

    fn metric(&mut self, metric: &ListedMetric, _: &MetricFilter, out: &mut Vec<u8>) {
        let keys = [
            ("MetricGroup", Some(&*metric.group)),
            ("MetricName", Some(&*metric.name)),
            ("MetricExpr", Some(&*metric.expression)),
            ("MetricThreshold", metric.threshold.as_deref()),
            ("ScaleUnit", metric.scale_unit.as_deref()),
            ("BriefDescription", metric.brief.as_deref()),
            ("PublicDescription", metric.long.as_deref()),
            ("Unit", Some(&*metric.unit)),
        ];
        write_object(&keys, !self.has_entries, out);
        self.has_entries = true;
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if self.has_entries {
            out.push(b'\n');
        }
        out.extend_from_slice(b"]\n");
    }
}

fn write_event(event: &CountableEvent, is_first: bool, out: &mut Vec<u8>) {
    let scale_unit = event.scale_unit.as_ref();
    let scale_unit = scale_unit.map(|(scale, unit)| general(*scale) + unit);
    // As perf has it: a description has blanks for tabs.
    let long = event.long.as_ref().map(|text| text.replace('\t', " "));
    let keys = [
        ("Unit", event.unit.as_deref()),
        ("Topic", event.topic.as_deref()),
        ("EventName", Some(&*event.name)),
        ("EventAlias", event.alias.as_deref()),
        ("ScaleUnit", scale_unit.as_deref()),
        ("EventType", Some(event.category.title())),
        ("Deprecated", event.is_deprecated.then_some("1")),
        ("BriefDescription", event.brief.as_deref()),
        ("PublicDescription", long.as_deref()),
        ("Encoding", event.encoding.as_deref()),
    ];
    write_object(&keys, is_first, out);
}

/// Writes an object of the keys that have a value.
fn write_object(keys: &[(&str, Option<&str>)], is_first: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if is_first { b"{\n" } else { b",\n{\n" });
    let given = keys
        .iter()
        .filter_map(|(key, value)| Some((key, (*value)?)));
    for (index, (key, value)) in given.enumerate() {
        if index > 0 {
            out.extend_from_slice(b",\n");
        }
        out.extend_from_slice(b"\t\"");
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"\": ");
        string::write(value, out);
    }
    out.extend_from_slice(b"\n}");
}
