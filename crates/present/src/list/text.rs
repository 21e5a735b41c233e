//! Lists as text.

use std::collections::HashSet;
use std::io::{self, Write};

use oxperf_inventory::{CountableEvent, ListedMetric, MetricFilter};

use super::ListFormat;
use super::wrap::{bracketed, indented};
use crate::text::push_name;

/// The column of an entry's kind.
const KIND_COLUMN: usize = 53;

/// What is shown beside names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListTextOptions {
    /// Descriptions.
    pub descriptions: bool,
    /// Long descriptions, where there are any.
    pub long: bool,
    /// Encodings, expressions and thresholds.
    pub details: bool,
    /// Names alone, all on one line, for programs that complete command lines.
    pub names_only: bool,
    /// The width of the terminal.
    pub columns: usize,
}

/// A list as text.
pub struct TextList {
    options: ListTextOptions,
    topic: String,
    /// The last group of metrics; `None` before the first metric.
    group: Option<String>,
    /// Metrics whose names are written, where each is written once.
    metrics: HashSet<String>,
}

impl TextList {
    /// A list of which nothing is written yet.
    pub fn new(options: ListTextOptions) -> TextList {
        TextList {
            options,
            topic: String::new(),
            group: None,
            metrics: HashSet::new(),
        }
    }

    /// Writes the heading of a topic where a new one begins.
    fn enter_topic(&mut self, topic: Option<&str>, out: &mut Vec<u8>) {
        if self.topic == topic.unwrap_or_default() {
            return;
        }
        self.topic = topic.unwrap_or_default().to_owned();
        if topic.is_some() {
            out.push(b'\n');
            push_name(out, self.topic.as_bytes());
            out.extend_from_slice(b":\n");
        }
    }

    /// Writes the descriptions and the encoding of an event.
    fn describe(&self, event: &CountableEvent, out: &mut Vec<u8>) {
        let options = &self.options;
        if let Some(text) = self.description(event) {
            bracketed(out, &text, options.columns);
        }
        if let Some(encoding) = event.encoding.as_deref().filter(|_| options.details) {
            indented(out, encoding, options.columns);
        }
    }

    /// The description that is shown, with the PMU.
    fn description(&self, event: &CountableEvent) -> Option<String> {
        let (brief, long) = (event.brief.as_deref(), event.long.as_deref());
        let text = match self.options.long {
            true => long.or(brief),
            false => brief.filter(|_| self.options.descriptions),
        };
        let Some(unit) = &event.unit else {
            return text.map(str::to_owned);
        };
        match text {
            Some(text) if text.ends_with('.') => Some(format!("{text} Unit: {unit}")),
            Some(text) => Some(format!("{text}. Unit: {unit}")),
            // An event of a table without descriptions is shown by its name alone, which other PMUs may have, too.
            None if event.is_undescribed() && self.options.descriptions => {
                Some(format!("Unit: {unit}"))
            }
            None => None,
        }
    }

    /// Writes the heading of metrics before the first of them.
    fn begin_metrics(&mut self, filter: &MetricFilter, out: &mut Vec<u8>) {
        if self.group.is_some() || self.options.names_only {
            return;
        }
        out.extend_from_slice(match (filter.groups, filter.metrics) {
            (true, true) => b"\nMetric Groups:\n",
            (true, false) => b"\nMetric Groups:\n\n",
            (false, _) => b"\nMetrics:\n\n",
        });
    }

    /// Writes the name of a group where a new one begins.
    fn enter_group(&mut self, group: &str, filter: &MetricFilter, out: &mut Vec<u8>) {
        if self.group.as_deref() == Some(group) {
            return;
        }
        self.group = Some(group.to_owned());
        if !filter.groups {
            return;
        }
        if self.options.names_only {
            return push_word(out, group);
        }
        if filter.metrics {
            out.push(b'\n');
        }
        push_name(out, group.as_bytes());
        out.extend_from_slice(if filter.metrics { b":\n" } else { b"\n" });
    }

    fn describe_metric(&self, metric: &ListedMetric, out: &mut Vec<u8>) {
        let options = &self.options;
        let (brief, long) = (metric.brief.as_deref(), metric.long.as_deref());
        let text = match options.long {
            true => long.or(brief),
            false => brief.filter(|_| options.descriptions),
        };
        let details = [Some(&*metric.expression), metric.threshold.as_deref()];
        let details = details
            .into_iter()
            .map(|text| text.filter(|_| options.details));
        for text in std::iter::once(text).chain(details).flatten() {
            bracketed(out, text, options.columns);
        }
    }
}

impl TextList {
    fn event(&mut self, event: &CountableEvent, out: &mut Vec<u8>) {
        if self.options.names_only {
            return push_word(out, event.alias.as_deref().unwrap_or(&event.name));
        }
        self.enter_topic(event.topic.as_deref(), out);
        let start = out.len();
        out.extend_from_slice(b"  ");
        push_name(out, event.name.as_bytes());
        if let Some(alias) = &event.alias {
            out.extend_from_slice(b" OR ");
            push_name(out, alias.as_bytes());
        }
        if event.topic.is_none() {
            let width = (start + KIND_COLUMN).max(out.len());
            out.resize(width, b' ');
            out.extend_from_slice(format!("[{}]", event.category.title()).as_bytes());
        }
        out.push(b'\n');
        self.describe(event, out);
    }
}

impl ListFormat for TextList {
    fn begin(&mut self, _: &mut Vec<u8>) {}

    fn events(&mut self, events: &[&CountableEvent], out: &mut dyn Write) -> io::Result<()> {
        let mut text = Vec::new();
        events.iter().for_each(|event| self.event(event, &mut text));
        out.write_all(&text)
    }

    fn metric(&mut self, metric: &ListedMetric, filter: &MetricFilter, out: &mut Vec<u8>) {
        self.begin_metrics(filter, out);
        self.enter_group(&metric.group, filter, out);
        if !filter.metrics {
            return;
        }
        if self.options.names_only {
            if self.metrics.insert(metric.name.clone()) {
                push_word(out, &metric.name);
            }
            return;
        }
        out.extend_from_slice(b"  ");
        push_name(out, metric.name.as_bytes());
        out.push(b'\n');
        self.describe_metric(metric, out);
    }

    fn end(&mut self, _: &mut Vec<u8>) {}
}

fn push_word(out: &mut Vec<u8>, word: &str) {
    push_name(out, word.as_bytes());
    out.push(b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(group: &str, name: &str) -> ListedMetric {
        ListedMetric {
            group: group.into(),
            name: name.into(),
            expression: "a / b".into(),
            threshold: Some("a > 2".into()),
            scale_unit: None,
            brief: Some("As many".into()),
            long: None,
            unit: "default_core".into(),
        }
    }

    fn written(options: ListTextOptions, words: &str) -> String {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let (mut list, mut out) = (TextList::new(options), Vec::new());
        for section in oxperf_inventory::sections(&words, &Default::default()) {
            let oxperf_inventory::ListSection::Metrics(filter) = section else {
                continue;
            };
            for metric in [metric("One", "m"), metric("Two", "m")] {
                list.metric(&metric, &filter, &mut out);
            }
        }
        String::from_utf8(out).unwrap()
    }

    const OPTIONS: ListTextOptions = ListTextOptions {
        descriptions: true,
        long: false,
        details: false,
        names_only: false,
        columns: 78,
    };

    #[test]
    fn metrics_stand_below_their_groups() {
        let both =
            "\nMetric Groups:\n\nOne:\n  m\n       [As many]\n\nTwo:\n  m\n       [As many]\n";
        assert_eq!(written(OPTIONS, ""), both);
        assert_eq!(
            written(OPTIONS, "metricgroup"),
            "\nMetric Groups:\n\nOne\nTwo\n"
        );
        let details = ListTextOptions {
            descriptions: false,
            details: true,
            ..OPTIONS
        };
        let one = "  m\n       [a / b]\n       [a > 2]\n";
        assert_eq!(
            written(details, "metric"),
            format!("\nMetrics:\n\n{one}{one}")
        );
    }

    #[test]
    fn names_alone_come_once() {
        let names = ListTextOptions {
            names_only: true,
            ..OPTIONS
        };
        assert_eq!(written(names, "metric"), "m ");
        assert_eq!(written(names, "metricgroup"), "One Two ");
    }
}
