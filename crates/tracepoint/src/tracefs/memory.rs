//! A tracefs made of given texts, for tests of whoever uses one.

use std::collections::BTreeMap;

use super::Tracefs;
use crate::error::TracepointError;
use crate::format::EventFormat;

/// Events and headers held in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryTracefs {
    header_page: Vec<u8>,
    header_event: Vec<u8>,
    printk_formats: Vec<u8>,
    systems: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
}

impl MemoryTracefs {
    /// A tracefs with these headers and no events.
    pub fn new(header_page: &[u8], header_event: &[u8], printk_formats: &[u8]) -> MemoryTracefs {
        MemoryTracefs {
            header_page: header_page.to_vec(),
            header_event: header_event.to_vec(),
            printk_formats: printk_formats.to_vec(),
            systems: BTreeMap::new(),
        }
    }

    /// Adds an event with the text of its `format` file.
    pub fn add(&mut self, system: &str, event: &str, format: &[u8]) {
        self.systems
            .entry(system.to_owned())
            .or_default()
            .insert(event.to_owned(), format.to_vec());
    }
}

fn unknown(system: &str, event: &str) -> TracepointError {
    TracepointError::Unknown {
        system: system.to_owned(),
        event: event.to_owned(),
    }
}

impl Tracefs for MemoryTracefs {
    fn systems(&self) -> Result<Vec<String>, TracepointError> {
        Ok(self.systems.keys().cloned().collect())
    }

    fn events(&self, system: &str) -> Result<Vec<String>, TracepointError> {
        let events = self
            .systems
            .get(system)
            .ok_or_else(|| unknown(system, "*"))?;
        Ok(events.keys().cloned().collect())
    }

    fn described_systems(&self) -> Result<Vec<String>, TracepointError> {
        self.systems()
    }

    fn described_events(&self, system: &str) -> Result<Vec<String>, TracepointError> {
        self.events(system)
    }

    fn id(&self, system: &str, event: &str) -> Result<u64, TracepointError> {
        Ok(EventFormat::parse(&self.format(system, event)?)?.id)
    }

    fn format(&self, system: &str, event: &str) -> Result<Vec<u8>, TracepointError> {
        self.systems
            .get(system)
            .and_then(|events| events.get(event))
            .cloned()
            .ok_or_else(|| unknown(system, event))
    }

    fn header_page(&self) -> Result<Vec<u8>, TracepointError> {
        Ok(self.header_page.clone())
    }

    fn header_event(&self) -> Result<Vec<u8>, TracepointError> {
        Ok(self.header_event.clone())
    }

    fn printk_formats(&self) -> Result<Vec<u8>, TracepointError> {
        Ok(self.printk_formats.clone())
    }
}
