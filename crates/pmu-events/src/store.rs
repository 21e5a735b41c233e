//! Events and metrics of one source, all their text in one piece.

use crate::entry::{ScaleUnit, TableEvent, TableMetric};
use std::collections::{BTreeMap, HashMap};

/// A part of a store's text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    length: u32,
}

impl Span {
    pub(crate) fn is_empty(self) -> bool {
        self.length == 0
    }

    /// The part of this part from `start` to `end`, which lie in it.
    pub(crate) fn part(self, start: usize, end: usize) -> Option<Span> {
        let (first, behind) = (u32::try_from(start).ok()?, u32::try_from(end).ok()?);
        let is_inside = behind <= self.length;
        Some(Span {
            start: self.start.checked_add(first)?,
            length: behind.checked_sub(first)?,
        })
        .filter(|_| is_inside)
    }
}

/// [`TableEvent`] with places instead of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventRow {
    pub(crate) name: Span,
    pub(crate) pmu: Span,
    pub(crate) terms: Span,
    pub(crate) topic: Span,
    pub(crate) counters: Option<Span>,
    pub(crate) scale_unit: Option<Span>,
    pub(crate) compat: Option<Span>,
    pub(crate) brief: Option<Span>,
    pub(crate) long: Option<Span>,
    pub(crate) precise: Option<u8>,
    pub(crate) deprecated: bool,
    pub(crate) per_package: bool,
}

/// [`TableMetric`] with places instead of text.
#[derive(Clone, Copy, Debug)]
struct MetricRow {
    name: Span,
    pmu: Span,
    groups: Span,
    expression: Span,
    threshold: Option<Span>,
    scale_unit: Option<Span>,
    apart_in: Option<Span>,
    constraint: Option<Span>,
    default_group: Option<Span>,
    aggregation: Option<Span>,
    compat: Option<Span>,
    brief: Option<Span>,
    long: Option<Span>,
}

/// Events by name and PMU, and metrics by name and PMU.
#[derive(Debug, Default)]
pub(crate) struct Store {
    text: String,
    events: Vec<EventRow>,
    metrics: Vec<MetricRow>,
    /// Descriptions of groups of metrics by name.
    groups: BTreeMap<String, String>,
}

impl Store {
    /// All events, by name and PMU.
    pub(crate) fn events(&self) -> impl Iterator<Item = TableEvent<'_>> {
        self.events.iter().map(|row| self.event(row))
    }

    /// All metrics, by name and PMU.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = TableMetric<'_>> {
        self.metrics.iter().map(|row| self.metric(row))
    }

    /// The events with this name in lower case, by PMU.
    pub(crate) fn events_named(&self, name: &str) -> impl Iterator<Item = TableEvent<'_>> {
        let first = self
            .events
            .partition_point(|row| self.text(row.name) < name);
        let behind = self.events.get(first..).unwrap_or_default();
        let count = behind.partition_point(|row| self.text(row.name) == name);
        behind[..count].iter().map(|row| self.event(row))
    }

    /// The metrics with this name, by PMU.
    pub(crate) fn metrics_named(&self, name: &str) -> impl Iterator<Item = TableMetric<'_>> {
        let first = self
            .metrics
            .partition_point(|row| self.text(row.name) < name);
        let behind = self.metrics.get(first..).unwrap_or_default();
        let count = behind.partition_point(|row| self.text(row.name) == name);
        behind[..count].iter().map(|row| self.metric(row))
    }

    /// The groups of metrics that have a description, and the description.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&str, &str)> {
        let groups = self.groups.iter();
        groups.map(|(name, description)| (name.as_str(), description.as_str()))
    }

    fn text(&self, span: Span) -> &str {
        let start = span.start as usize;
        &self.text[start..start + span.length as usize]
    }

    fn optional(&self, span: Option<Span>) -> Option<&str> {
        span.map(|span| self.text(span))
    }

    fn scale_unit(&self, span: Option<Span>) -> Option<ScaleUnit<'_>> {
        self.optional(span).map(|text| ScaleUnit { text })
    }

    fn event(&self, row: &EventRow) -> TableEvent<'_> {
        TableEvent {
            name: self.text(row.name),
            pmu: self.text(row.pmu),
            terms: self.text(row.terms),
            topic: self.text(row.topic),
            deprecated: row.deprecated,
            per_package: row.per_package,
            counters: self.optional(row.counters),
            precise: row.precise,
            scale_unit: self.scale_unit(row.scale_unit),
            compat: self.optional(row.compat),
            brief: self.optional(row.brief),
            long: self.optional(row.long),
        }
    }

    fn metric(&self, row: &MetricRow) -> TableMetric<'_> {
        TableMetric {
            name: self.text(row.name),
            pmu: self.text(row.pmu),
            groups: self.text(row.groups),
            expression: self.text(row.expression),
            threshold: self.optional(row.threshold),
            scale_unit: self.scale_unit(row.scale_unit),
            apart_in: self.optional(row.apart_in),
            constraint: self.optional(row.constraint),
            default_group: self.optional(row.default_group),
            aggregation: self.optional(row.aggregation),
            compat: self.optional(row.compat),
            brief: self.optional(row.brief),
            long: self.optional(row.long),
        }
    }
}

/// A store while it is filled. Text that repeats is kept once.
#[derive(Debug, Default)]
pub(crate) struct StoreBuilder {
    store: Store,
    repeated: HashMap<String, Span>,
}

impl StoreBuilder {
    /// Takes an event in. Its name is one of a kind as a rule, the rest repeats. An event beyond 4 GB of text is dropped.
    pub(crate) fn event(&mut self, event: &TableEvent<'_>) {
        if let Some(row) = self.event_row(event) {
            self.store.events.push(row);
        }
    }

    /// Takes a metric in. A metric beyond 4 GB of text is dropped.
    pub(crate) fn metric(&mut self, metric: &TableMetric<'_>) {
        if let Some(row) = self.metric_row(metric) {
            self.store.metrics.push(row);
        }
    }

    /// Takes the description of a group of metrics in.
    pub(crate) fn group(&mut self, name: &str, description: &str) {
        let groups = &mut self.store.groups;
        groups.insert(name.to_owned(), description.to_owned());
    }

    /// Makes room for so many events more.
    pub(crate) fn expect_rows(&mut self, count: usize) {
        self.store.events.reserve(count);
    }

    /// Takes an event in whose text is in the store.
    pub(crate) fn row(&mut self, row: EventRow) {
        self.store.events.push(row);
    }

    /// The store. Of several events, or metrics, with one name and PMU the last one stays.
    pub(crate) fn finish(self) -> Store {
        let Store {
            text,
            events,
            metrics,
            groups,
        } = self.store;
        let at = |span: Span| &text[span.start as usize..(span.start + span.length) as usize];
        let events = last_of_each(events, |row| (at(row.name), at(row.pmu)));
        let metrics = last_of_each(metrics, |row| (at(row.name), at(row.pmu)));
        Store {
            text,
            events,
            metrics,
            groups,
        }
    }

    fn event_row(&mut self, event: &TableEvent<'_>) -> Option<EventRow> {
        Some(EventRow {
            name: self.append(event.name)?,
            pmu: self.intern(event.pmu)?,
            terms: self.intern(event.terms)?,
            topic: self.intern(event.topic)?,
            counters: self.intern_some(event.counters)?,
            scale_unit: self.intern_some(event.scale_unit.map(|unit| unit.text))?,
            compat: self.intern_some(event.compat)?,
            brief: self.intern_some(event.brief)?,
            long: self.intern_some(event.long)?,
            precise: event.precise,
            deprecated: event.deprecated,
            per_package: event.per_package,
        })
    }

    fn metric_row(&mut self, metric: &TableMetric<'_>) -> Option<MetricRow> {
        Some(MetricRow {
            name: self.append(metric.name)?,
            pmu: self.intern(metric.pmu)?,
            groups: self.intern(metric.groups)?,
            expression: self.append(metric.expression)?,
            threshold: self.intern_some(metric.threshold)?,
            scale_unit: self.intern_some(metric.scale_unit.map(|unit| unit.text))?,
            apart_in: self.intern_some(metric.apart_in)?,
            constraint: self.intern_some(metric.constraint)?,
            default_group: self.intern_some(metric.default_group)?,
            aggregation: self.intern_some(metric.aggregation)?,
            compat: self.intern_some(metric.compat)?,
            brief: self.intern_some(metric.brief)?,
            long: self.intern_some(metric.long)?,
        })
    }

    /// Adds text; `None` beyond 4 GB.
    pub(crate) fn append(&mut self, text: &str) -> Option<Span> {
        let start = u32::try_from(self.store.text.len()).ok()?;
        let length = u32::try_from(text.len()).ok()?;
        start.checked_add(length)?;
        self.store.text.push_str(text);
        Some(Span { start, length })
    }

    /// Adds text, the first without a copy; `None` beyond 4 GB.
    pub(crate) fn append_all(&mut self, text: String) -> Option<Span> {
        if !self.store.text.is_empty() {
            return self.append(&text);
        }
        let length = u32::try_from(text.len()).ok()?;
        self.store.text = text;
        Some(Span { start: 0, length })
    }

    fn intern(&mut self, text: &str) -> Option<Span> {
        if let Some(span) = self.repeated.get(text) {
            return Some(*span);
        }
        let span = self.append(text)?;
        self.repeated.insert(text.to_owned(), span);
        Some(span)
    }

    /// `None` without room; `Some(None)` without text.
    fn intern_some(&mut self, text: Option<&str>) -> Option<Option<Span>> {
        text.map_or(Some(None), |text| self.intern(text).map(Some))
    }
}

/// The rows by key, the last of each key.
fn last_of_each<'t, R>(mut rows: Vec<R>, key: impl Fn(&R) -> (&'t str, &'t str)) -> Vec<R> {
    if rows.is_sorted_by(|a, b| key(a) < key(b)) {
        return rows;
    }
    // Stable: the last of equal keys comes first in the reversed list.
    rows.reverse();
    rows.sort_by(|a, b| key(a).cmp(&key(b)));
    rows.dedup_by(|later, kept| key(later) == key(kept));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter;

    const EVENT: TableEvent<'_> = TableEvent {
        name: "a",
        pmu: "cpu",
        terms: "event=1",
        topic: "other",
        deprecated: false,
        per_package: false,
        counters: None,
        precise: None,
        scale_unit: None,
        compat: None,
        brief: Some("Counts a."),
        long: None,
    };

    const METRIC: TableMetric<'_> = TableMetric {
        name: "ratio",
        pmu: "cpu",
        groups: "one;two",
        expression: "a / b",
        threshold: Some("ratio > 1"),
        scale_unit: Some(ScaleUnit { text: "100%" }),
        apart_in: None,
        constraint: None,
        default_group: None,
        aggregation: None,
        compat: None,
        brief: None,
        long: None,
    };

    #[test]
    fn entries_come_back_in_order_and_the_last_of_a_name_stays() {
        let mut builder = StoreBuilder::default();
        let (b, on_atom) = (
            TableEvent { name: "b", ..EVENT },
            TableEvent {
                pmu: "cpu_atom",
                ..EVENT
            },
        );
        let again = TableEvent {
            terms: "event=2",
            ..EVENT
        };
        for event in [b, EVENT, on_atom, again] {
            builder.event(&event);
        }
        let other = TableMetric {
            expression: "b / a",
            ..METRIC
        };
        for metric in [
            METRIC,
            TableMetric {
                name: "x",
                ..METRIC
            },
            other,
        ] {
            builder.metric(&metric);
        }
        let store = builder.finish();
        assert_eq!(store.events().collect::<Vec<_>>(), [again, on_atom, b]);
        assert_eq!(
            store.events_named("a").collect::<Vec<_>>(),
            [again, on_atom]
        );
        assert_eq!(
            store.events_named("c").count() + store.events_named("").count(),
            0
        );
        assert!(store.metrics_named("ratio").eq(iter::once(other)));
        assert_eq!(store.metrics().count(), 2);
    }
}
