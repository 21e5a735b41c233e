//! The tables of one CPU.

use crate::builtin;
use crate::entry::{TableEvent, TableMetric};
use crate::error::TableProblem;
use crate::folder::{Loaded, TableFolder};
use crate::store::Store;
use std::borrow::Cow;
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

/// The events and metrics that tables know for one CPU. They come from several sources, the first of which wins where
/// two have an event, or a metric, with one name and PMU. A source is read when a name is looked up in it.
#[derive(Debug)]
pub struct EventTables {
    /// The CPU's identification; `None` where it cannot be found out.
    cpu_id: LazyLock<Option<String>, FindCpu>,
    sources: Vec<Source>,
}

type FindCpu = Box<dyn FnOnce() -> Option<String> + Send>;

/// One source, read when it is asked for the first time.
#[derive(Debug)]
struct Source {
    kind: SourceKind,
    loaded: OnceLock<Loaded>,
}

#[derive(Debug)]
enum SourceKind {
    Builtin,
    Folder(TableFolder),
    /// One file that was in memory.
    Text,
}

impl Source {
    fn new(kind: SourceKind) -> Source {
        let loaded = OnceLock::new();
        Source { kind, loaded }
    }

    /// Returns whether the source may have an event of this name in lower case, as far as can be said without reading it.
    fn may_have(&self, name: &str) -> bool {
        match &self.kind {
            SourceKind::Builtin => builtin::may_have(name),
            SourceKind::Folder(folder) => folder.may_have(name),
            SourceKind::Text => true,
        }
    }

    fn load(&self, cpu_id: &str) -> Loaded {
        match &self.kind {
            SourceKind::Builtin => Loaded {
                store: builtin::unpack(&builtin::paths(cpu_id)),
                problems: Vec::new(),
            },
            SourceKind::Folder(folder) => folder.load(cpu_id),
            SourceKind::Text => Loaded::default(),
        }
    }
}

impl EventTables {
    /// No tables yet for a CPU. The identification is perf's: on x86 `GenuineIntel-6-5E-3` (vendor, family, and
    /// hexadecimal model and stepping), on Arm the main id register as `0x` and 16 digits, on POWER the PVR.
    pub fn of_cpu(cpu_id: &str) -> EventTables {
        let cpu_id = cpu_id.to_owned();
        EventTables::of_cpu_found(|| Some(cpu_id))
    }

    /// No tables yet for a CPU whose identification is found out when it is needed.
    pub fn of_cpu_found(find: impl FnOnce() -> Option<String> + Send + 'static) -> EventTables {
        EventTables {
            cpu_id: LazyLock::new(Box::new(find)),
            sources: Vec::new(),
        }
    }

    /// The built-in tables of a CPU; `None` when there are none for it.
    pub fn builtin(cpu_id: &str) -> Option<EventTables> {
        let is_known = !builtin::paths(cpu_id).is_empty();
        is_known.then(|| EventTables::of_cpu(cpu_id).with_builtin())
    }

    /// Adds the built-in tables, if there are any for the CPU, behind all sources so far.
    #[must_use]
    pub fn with_builtin(mut self) -> EventTables {
        self.sources.push(Source::new(SourceKind::Builtin));
        self
    }

    /// Adds the tables of a folder behind all sources so far.
    #[must_use]
    pub fn with_folder(mut self, folder: TableFolder) -> EventTables {
        self.sources.push(Source::new(SourceKind::Folder(folder)));
        self
    }

    /// Adds the tables of one JSON file behind all sources so far, whatever the CPU is; `name` is the file's, for its
    /// topic and for messages.
    #[must_use]
    pub fn with_json(mut self, name: &Path, text: &str) -> EventTables {
        let source = Source {
            kind: SourceKind::Text,
            loaded: OnceLock::from(Loaded::of_json(name, text)),
        };
        self.sources.push(source);
        self
    }

    /// The event of this name, in any case, of a PMU as [`TableEvent::pmu`] has it.
    pub fn event(&self, pmu: &str, name: &str) -> Option<TableEvent<'_>> {
        let mut named = self.events_named(name).into_iter();
        named.find(|event| event.pmu == pmu)
    }

    /// The events of this name, in any case, of all PMUs.
    pub fn events_named(&self, name: &str) -> Vec<TableEvent<'_>> {
        let name = lower_case(name);
        let mut found: Vec<TableEvent<'_>> = Vec::new();
        for store in self.stores_with(&name) {
            for event in store.events_named(&name) {
                if found.iter().all(|other| other.pmu != event.pmu) {
                    found.push(event);
                }
            }
        }
        found
    }

    /// All events.
    pub fn events(&self) -> impl Iterator<Item = TableEvent<'_>> {
        let sources = self.sources.iter().enumerate();
        sources.flat_map(move |(rank, source)| {
            let events = self.store(source).events();
            events.filter(move |event| !self.is_hidden_event(rank, event))
        })
    }

    /// All metrics.
    pub fn metrics(&self) -> impl Iterator<Item = TableMetric<'_>> {
        let sources = self.sources.iter().enumerate();
        sources.flat_map(move |(rank, source)| {
            let metrics = self.store(source).metrics();
            metrics.filter(move |metric| !self.is_hidden_metric(rank, metric))
        })
    }

    /// The groups of metrics that a table describes, and the description, by source.
    pub fn metric_groups(&self) -> impl Iterator<Item = (&str, &str)> {
        let sources = self.sources.iter();
        sources.flat_map(|source| self.store(source).groups())
    }

    /// What could not be read of the sources that were asked so far; the rest of them is used.
    pub fn problems(&self) -> impl Iterator<Item = &TableProblem> {
        let loaded = self.sources.iter().filter_map(|source| source.loaded.get());
        loaded.flat_map(|loaded| &loaded.problems)
    }

    /// The stores that may have an event of this name in lower case.
    fn stores_with(&self, name: &str) -> impl Iterator<Item = &Store> {
        let sources = self.sources.iter();
        let sources = sources.filter(move |source| source.may_have(name));
        sources.map(|source| self.store(source))
    }

    /// The entries of a source; none for a CPU that is not known.
    fn store<'s>(&self, source: &'s Source) -> &'s Store {
        let load = || {
            let cpu_id = self.cpu_id.as_deref();
            cpu_id.map_or_else(Loaded::default, |cpu_id| source.load(cpu_id))
        };
        &source.loaded.get_or_init(load).store
    }

    /// Returns whether a source before this one has the event.
    fn is_hidden_event(&self, rank: usize, event: &TableEvent<'_>) -> bool {
        let mut before = self.sources[..rank].iter();
        before.any(|source| {
            let mut same_name = self.store(source).events_named(event.name);
            same_name.any(|other| other.pmu == event.pmu)
        })
    }

    /// Returns whether a source before this one has the metric.
    fn is_hidden_metric(&self, rank: usize, metric: &TableMetric<'_>) -> bool {
        let mut before = self.sources[..rank].iter();
        before.any(|source| {
            let mut same_name = self.store(source).metrics_named(metric.name);
            same_name.any(|other| other.pmu == metric.pmu)
        })
    }
}

fn lower_case(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{ImportedFile, import};

    #[test]
    fn names_of_generic_events_unpack_nothing() {
        let tables = EventTables::builtin("GenuineIntel-6-55-7").unwrap();
        for name in ["cycles", "instructions", "L1-dcache-load-misses", "r1a8"] {
            assert_eq!(tables.events_named(name), []);
        }
        assert!(tables.sources[0].loaded.get().is_none());
        assert_eq!(tables.events_named("INST_RETIRED.ANY").len(), 1);
        assert!(tables.sources[0].loaded.get().is_some());
    }

    #[test]
    fn names_of_generic_events_read_no_imported_table() {
        let destination =
            std::env::temp_dir().join(format!("oxperf-plain-names-{}", std::process::id()));
        let file = |path: &str, contents: &str| ImportedFile {
            path: path.into(),
            contents: contents.into(),
        };
        let files = [
            file("x86/mapfile.csv", "\nx,1,one,core\n"),
            file(
                "x86/one/a.json",
                r#"[{"EventName": "Odd", "EventCode": "1"}, {"EventName": "A.B", "EventCode": "2"}]"#,
            ),
        ];
        let summary = import(Path::new("source"), files.map(Ok), &destination).unwrap();
        let folder = || TableFolder::open(&summary.folder).unwrap();
        let tables = EventTables::of_cpu("x").with_folder(folder());
        assert_eq!(tables.events_named("cycles"), []);
        assert!(tables.sources[0].loaded.get().is_none());
        assert_eq!(tables.events_named("ODD").len(), 1);
        assert!(tables.sources[0].loaded.get().is_some());
        let tables = EventTables::of_cpu("x").with_folder(folder());
        assert_eq!(tables.events_named("a.b").len(), 1);
        std::fs::remove_dir_all(destination).unwrap();
    }

    #[test]
    fn a_file_in_memory() {
        let text =
            r#"[{"EventName": "A.B", "EventCode": "0x1"}, {"EventName": "c", "EventCode": "x"}]"#;
        let tables = EventTables::of_cpu("any").with_json(Path::new("floating-point.json"), text);
        let event = tables.event("cpu", "a.b").unwrap();
        assert_eq!((event.terms, event.topic), ("event=1", "floating point"));
        assert_eq!(tables.problems().count(), 1);
    }

    #[test]
    fn plain_names_are_found() {
        let tables = EventTables::builtin("0x00000000480fd010").unwrap();
        let event = tables.event("hisi_sccl,hha", "edir-hit").unwrap();
        assert_eq!((event.terms, event.topic), ("config=0x43", "uncore hha"));
    }
}
