//! PMUs in memory, for tests and for systems that are not this one.

use super::PmuSource;
use std::collections::BTreeMap;
use std::io;

/// PMUs whose files were given one by one.
#[derive(Clone, Debug, Default)]
pub struct MemoryPmus {
    pmus: Vec<(String, BTreeMap<String, String>)>,
}

impl MemoryPmus {
    /// No PMU.
    pub fn new() -> MemoryPmus {
        MemoryPmus::default()
    }

    /// Adds a PMU with its number; what is added next belongs to it.
    #[must_use]
    pub fn pmu(mut self, name: &str, kind: u32) -> MemoryPmus {
        self.pmus.push((name.to_owned(), BTreeMap::new()));
        self.file("type", &kind.to_string())
    }

    /// Adds a format, for example `config:0-7`.
    #[must_use]
    pub fn format(self, name: &str, bits: &str) -> MemoryPmus {
        self.file(&format!("format/{name}"), bits)
    }

    /// Adds a named event, for example `event=0xc0`.
    #[must_use]
    pub fn event(self, name: &str, terms: &str) -> MemoryPmus {
        self.file(&format!("events/{name}"), terms)
    }

    /// Adds any file of the PMU, as `cpumask` or `caps/max_precise`.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> MemoryPmus {
        if let Some((_, files)) = self.pmus.last_mut() {
            files.insert(path.to_owned(), text.to_owned());
        }
        self
    }

    fn files(&self, pmu: &str) -> Option<&BTreeMap<String, String>> {
        self.pmus
            .iter()
            .find(|(name, _)| name == pmu)
            .map(|(_, files)| files)
    }
}

impl PmuSource for MemoryPmus {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.pmus.iter().map(|(name, _)| name.clone()).collect())
    }

    fn read(&self, pmu: &str, file: &str) -> Option<String> {
        self.files(pmu)?.get(file).cloned()
    }

    fn list(&self, pmu: &str, folder: &str) -> Vec<String> {
        let inside = |path: &String| Some(path.strip_prefix(folder)?.strip_prefix('/')?.to_owned());
        self.files(pmu)
            .into_iter()
            .flat_map(BTreeMap::keys)
            .filter_map(inside)
            .collect()
    }
}
