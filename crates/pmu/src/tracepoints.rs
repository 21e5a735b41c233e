//! The sources of tracepoints.

use std::io;

/// The tracepoints of a system. The implementation over tracefs belongs to whoever reads format files.
pub trait TracepointSource {
    /// The folder of the events, for messages: `/sys/kernel/tracing`.
    fn root(&self) -> String;

    /// The systems (`sched`, `irq`).
    ///
    /// # Errors
    /// They cannot be listed.
    fn systems(&self) -> io::Result<Vec<String>>;

    /// The events of a system; some may have no number.
    ///
    /// # Errors
    /// `NotFound` without such a system; otherwise why they cannot be listed.
    fn events(&self, system: &str) -> io::Result<Vec<String>>;

    /// The number of an event, which an attribute's `config` holds.
    ///
    /// # Errors
    /// `NotFound` without such an event; otherwise why it cannot be read.
    fn id(&self, system: &str, event: &str) -> io::Result<u64>;
}

/// Tracepoints in memory, for tests and for systems that are not this one.
#[derive(Clone, Debug, Default)]
pub struct MemoryTracepoints {
    events: Vec<(String, String, u64)>,
    refused: bool,
}

impl MemoryTracepoints {
    /// Adds an event.
    #[must_use]
    pub fn with(mut self, system: &str, event: &str, id: u64) -> MemoryTracepoints {
        self.events.push((system.to_owned(), event.to_owned(), id));
        self
    }

    /// A tracefs that may not be read.
    pub fn refused() -> MemoryTracepoints {
        MemoryTracepoints {
            events: Vec::new(),
            refused: true,
        }
    }

    fn readable(&self) -> io::Result<&[(String, String, u64)]> {
        if self.refused {
            Err(io::ErrorKind::PermissionDenied.into())
        } else {
            Ok(&self.events)
        }
    }
}

impl TracepointSource for MemoryTracepoints {
    fn root(&self) -> String {
        "/sys/kernel/tracing".to_owned()
    }

    fn systems(&self) -> io::Result<Vec<String>> {
        let mut systems: Vec<String> = self
            .readable()?
            .iter()
            .map(|(system, ..)| system.clone())
            .collect();
        systems.dedup();
        Ok(systems)
    }

    fn events(&self, system: &str) -> io::Result<Vec<String>> {
        let of_system = self.readable()?.iter().filter(|(name, ..)| name == system);
        let events: Vec<String> = of_system.map(|(_, event, _)| event.clone()).collect();
        if events.is_empty() {
            Err(io::ErrorKind::NotFound.into())
        } else {
            Ok(events)
        }
    }

    fn id(&self, system: &str, event: &str) -> io::Result<u64> {
        let found = self
            .readable()?
            .iter()
            .find(|(s, e, _)| s == system && e == event);
        found
            .map(|(.., id)| *id)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
