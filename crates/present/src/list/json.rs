//! Lists as JSON: an array of objects, a key a line.

use oxperf_inventory::{CountableEvent, ListedMetric, MetricFilter};

use super::ListFormat;
use crate::json::string;
use crate::text::number::general;

/// A list as JSON.
#[derive(Default)]
pub struct JsonList {
    has_entries: bool,
}

impl JsonList {
    /// Writes an object of the keys that have a value.
    fn object(&mut self, keys: &[(&str, Option<&str>)], out: &mut Vec<u8>) {
        if self.has_entries {
            out.extend_from_slice(b",\n");
        }
        self.has_entries = true;
        out.extend_from_slice(b"{\n");
        let given = keys
            .iter()
            .filter_map(|(key, value)| Some((key, (*value)?)));
        for (index, (key, value)) in given.enumerate() {
            if index > 0 {
                out.extend_from_slice(b",\n");
            }
            out.extend_from_slice(format!("\t\"{key}\": ").as_bytes());
            string::write(value, out);
        }
        out.extend_from_slice(b"\n}");
    }
}

impl ListFormat for JsonList {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"[\n");
    }

    fn event(&mut self, event: &CountableEvent, out: &mut Vec<u8>) {
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
        self.object(&keys, out);
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
        self.object(&keys, out);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if self.has_entries {
            out.push(b'\n');
        }
        out.extend_from_slice(b"]\n");
    }
}
