//! Tracing data from tracefs: what a recorder writes for the tracepoints it recorded.

use super::{SystemFormat, TracingData};
use crate::bytes::{ByteOrder, WordSize};
use crate::error::TracepointError;
use crate::tracefs::Tracefs;

impl TracingData {
    /// Reads the texts that belong to `events` (`(system, event)`, doubles allowed) of this machine.
    ///
    /// # Errors
    /// A header or an event's format cannot be read. Without `printk_formats` the section has none.
    pub fn collect(
        tracefs: &dyn Tracefs,
        events: &[(&str, &str)],
        page_size: u32,
    ) -> Result<TracingData, TracepointError> {
        Ok(TracingData {
            order: ByteOrder::NATIVE,
            word: WordSize::NATIVE,
            page_size,
            header_page: tracefs.header_page()?,
            header_event: tracefs.header_event()?,
            ftrace: Vec::new(),
            systems: systems(tracefs, events)?,
            kallsyms: Vec::new(),
            printk_formats: tracefs.printk_formats().unwrap_or_default(),
            cmdlines: Some(Vec::new()),
        })
    }
}

/// The events' formats, each once, systems and events in the order they are first named.
fn systems(
    tracefs: &dyn Tracefs,
    events: &[(&str, &str)],
) -> Result<Vec<SystemFormat>, TracepointError> {
    let mut systems: Vec<SystemFormat> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for &(system, event) in events.iter().filter(|event| seen.insert(**event)) {
        let text = tracefs.format(system, event)?;
        match systems.iter_mut().find(|known| known.system == system) {
            Some(known) => known.formats.push(text),
            None => systems.push(SystemFormat {
                system: system.to_owned(),
                formats: vec![text],
            }),
        }
    }
    Ok(systems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryTracefs;

    #[test]
    fn each_event_is_collected_once_under_its_system() {
        let mut tracefs = MemoryTracefs::new(b"page", b"event", b"");
        tracefs.add("sched", "a", b"name: a\nID: 2\n");
        tracefs.add("irq", "b", b"name: b\nID: 3\n");
        tracefs.add("sched", "c", b"name: c\nID: 4\n");
        let events = [("sched", "a"), ("irq", "b"), ("sched", "c"), ("sched", "a")];
        let data = TracingData::collect(&tracefs, &events, 4096).expect("collected");
        let names: Vec<_> = data
            .systems
            .iter()
            .map(|s| (s.system.as_str(), s.formats.len()))
            .collect();
        assert_eq!(names, [("sched", 2), ("irq", 1)]);
        assert!(TracingData::collect(&tracefs, &[("sched", "x")], 4096).is_err());
    }
}
