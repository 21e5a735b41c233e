//! Lists of what can be counted, in perf's layouts: text to read, and JSON.

mod json;
mod text;
mod wrap;

pub use json::JsonList;
pub use text::{ListTextOptions, TextList};

use std::io::{self, Write};

use oxperf_inventory::{CountableEvent, Inventory, ListSection, ListedMetric, MetricFilter};

/// A form of lists. Entries come in the order of the list.
pub trait ListFormat {
    /// Writes what stands before all entries.
    fn begin(&mut self, out: &mut Vec<u8>);

    /// Writes events.
    ///
    /// # Errors
    /// Those of `out`.
    fn events(&mut self, events: &[&CountableEvent], out: &mut dyn Write) -> io::Result<()>;

    /// Writes a metric of one of its groups, as far as the filter shows such.
    fn metric(&mut self, metric: &ListedMetric, filter: &MetricFilter, out: &mut Vec<u8>);

    /// Writes what stands behind all entries.
    fn end(&mut self, out: &mut Vec<u8>);
}

/// Writes the sections of an inventory.
///
/// # Errors
/// Those of `out`.
pub fn write(
    inventory: &Inventory<'_>,
    sections: &[ListSection],
    format: &mut dyn ListFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut edge = Vec::new();
    format.begin(&mut edge);
    out.write_all(&edge)?;
    for section in sections {
        write_section(inventory, section, format, out)?;
    }
    edge.clear();
    format.end(&mut edge);
    out.write_all(&edge)
}

fn write_section(
    inventory: &Inventory<'_>,
    section: &ListSection,
    format: &mut dyn ListFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (events, filter) = match section {
        ListSection::Events(filter) => (inventory.events(), filter),
        ListSection::Sdt(filter) => (inventory.sdt(), filter),
        ListSection::Forms(filter) => (inventory.forms(), filter),
        ListSection::Metrics(filter) => {
            let metrics = inventory.metrics().iter();
            let mut text = Vec::new();
            for metric in metrics.filter(|metric| filter.admits(metric)) {
                format.metric(metric, filter, &mut text);
            }
            return out.write_all(&text);
        }
    };
    let events = events.iter().filter(|event| filter.admits(event));
    let events: Vec<&CountableEvent> = events.collect();
    format.events(&events, out)
}
