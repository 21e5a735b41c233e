//! Lists of what can be counted, in perf's layouts: text to read, and JSON.

mod json;
mod text;
mod wrap;

pub use json::JsonList;
pub use text::{ListTextOptions, TextList};

use oxperf_inventory::{CountableEvent, Inventory, ListSection, ListedMetric, MetricFilter};

/// A form of lists. Entries come in the order of the list.
pub trait ListFormat {
    /// Writes what stands before all entries.
    fn begin(&mut self, out: &mut Vec<u8>);

    /// Writes an event.
    fn event(&mut self, event: &CountableEvent, out: &mut Vec<u8>);

    /// Writes a metric of one of its groups, as far as the filter shows such.
    fn metric(&mut self, metric: &ListedMetric, filter: &MetricFilter, out: &mut Vec<u8>);

    /// Writes what stands behind all entries.
    fn end(&mut self, out: &mut Vec<u8>);
}

/// Writes the sections of an inventory.
pub fn write(
    inventory: &Inventory<'_>,
    sections: &[ListSection],
    format: &mut dyn ListFormat,
    out: &mut Vec<u8>,
) {
    format.begin(out);
    for section in sections {
        write_section(inventory, section, format, out);
    }
    format.end(out);
}

fn write_section(
    inventory: &Inventory<'_>,
    section: &ListSection,
    format: &mut dyn ListFormat,
    out: &mut Vec<u8>,
) {
    let (events, filter) = match section {
        ListSection::Events(filter) => (inventory.events(), filter),
        ListSection::Sdt(filter) => (inventory.sdt(), filter),
        ListSection::Forms(filter) => (inventory.forms(), filter),
        ListSection::Metrics(filter) => {
            for metric in inventory
                .metrics()
                .iter()
                .filter(|metric| filter.admits(metric))
            {
                format.metric(metric, filter, out);
            }
            return;
        }
    };
    for event in events.iter().filter(|event| filter.admits(event)) {
        format.event(event, out);
    }
}
