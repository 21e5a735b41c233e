//! The PMUs and tracepoints among which names are looked up.

mod description;
mod pmu;

pub use description::{PmuDescription, PmuEvent, PmuFormat};
pub(crate) use pmu::{Alias, Pmu};

use crate::generic::{self, GenericEvents};
use crate::near;
use crate::tool::ToolPmu;
use crate::{PmuSource, TracepointSource};
use oxperf_abi::EventType;
use oxperf_pmu_events::EventTables;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

const CPU: &str = "cpu";
const SOFTWARE: &str = "software";
/// perf's name for the PMU of the cores, whatever it is called; the first of several.
const ANY_CORE: &str = "default_core";

/// A system's PMUs and tracepoints. The list of PMUs is read once, when the catalogue is made; the formats and events of
/// a PMU once, when the first of them is looked up.
pub struct Catalogue<'a> {
    /// The PMUs: those that the system lists, those that are there without being listed, and those that no kernel has and
    /// this program reads itself.
    known: Vec<Pmu<'a>>,
    /// The number of the first of them, which the system lists.
    listed: usize,
    /// The number of the first of them, which the kernel has.
    of_kernel: usize,
    tables: Option<&'a EventTables>,
    pmus: &'a dyn PmuSource,
    tracepoints: &'a dyn TracepointSource,
    filter: Option<PmuFilter>,
    /// The places of the PMUs that have an event, by the names that were looked up.
    with_event: RefCell<FxHashMap<String, Rc<[usize]>>>,
}

/// The PMUs among which names of events and patterns are looked up; one that is named before a slash is always taken.
enum PmuFilter {
    /// Of the PMUs of cores this one alone, and all others.
    Core(String),
    /// This one alone.
    Only(String),
}

impl PmuFilter {
    fn takes(&self, pmu: &Pmu<'_>) -> bool {
        match self {
            PmuFilter::Core(name) => !pmu.is_core() || pmu.name() == name,
            PmuFilter::Only(name) => pmu.name() == name,
        }
    }
}

impl<'a> Catalogue<'a> {
    /// Reads the list of PMUs. One whose number cannot be read cannot be opened and is left out.
    pub fn new(pmus: &'a dyn PmuSource, tracepoints: &'a dyn TracepointSource) -> Catalogue<'a> {
        let mut listed = read_list(pmus);
        let is_hybrid = listed.iter().filter(|pmu| pmu.is_core()).count() > 1;
        for pmu in &mut listed {
            pmu.set_hybrid(is_hybrid);
        }
        let mut known = listed;
        let listed = known.len();
        // "cpu" means nothing of its own where the cores' PMUs have other names.
        if !known.iter().any(Pmu::is_core) {
            known.push(Pmu::new(pmus, CPU, EventType::RAW));
        }
        if !known.iter().any(|pmu| pmu.name() == SOFTWARE) {
            known.push(Pmu::new(pmus, SOFTWARE, EventType::SOFTWARE));
        }
        let of_kernel = known.len();
        known.extend(read_list(&ToolPmu));
        Catalogue {
            known,
            listed,
            of_kernel,
            tables: None,
            pmus,
            tracepoints,
            filter: None,
            with_event: RefCell::default(),
        }
    }

    /// The PMUs that the system lists.
    fn listed(&self) -> &[Pmu<'a>] {
        &self.known[..self.listed]
    }

    /// Takes one kind of cores alone for names and patterns, by the name of its PMU or without the `cpu_` before it:
    /// `--cputype atom`. `None` if there is no such kind.
    #[must_use]
    pub fn with_cpu_type(mut self, kind: &str) -> Option<Catalogue<'a>> {
        let is_kind = |name: &str| name == kind || name.strip_prefix("cpu_") == Some(kind);
        let name = self.core_names().into_iter().find(|name| is_kind(name))?;
        self.filter = Some(PmuFilter::Core(name.to_owned()));
        Some(self)
    }

    /// Takes one PMU alone for names and patterns: `--pmu-filter`.
    #[must_use]
    pub fn with_pmu_filter(mut self, pmu: &str) -> Catalogue<'a> {
        self.filter = Some(PmuFilter::Only(pmu.to_owned()));
        self
    }

    fn passes(&self, pmu: &Pmu<'_>) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.takes(pmu))
    }

    /// Adds the tables of events of the system's CPU. They are asked for names that the kernel's folders do not have, and
    /// before generic events.
    #[must_use]
    pub fn with_tables(mut self, tables: &'a EventTables) -> Catalogue<'a> {
        for pmu in &mut self.known[..self.listed] {
            pmu.set_tables(tables);
        }
        self.tables = Some(tables);
        self
    }

    /// Adds PMUs of another source, such as sensors.
    #[must_use]
    pub fn with(mut self, source: &'a dyn PmuSource) -> Catalogue<'a> {
        self.known.extend(read_list(source));
        self
    }

    /// The tracepoints.
    pub(crate) fn tracepoints(&self) -> &'a dyn TracepointSource {
        self.tracepoints
    }

    /// The names of the PMUs of the CPU's cores that the system lists; none on a machine without counters.
    pub fn core_names(&self) -> Vec<&str> {
        let cores = self.listed().iter().filter(|pmu| pmu.is_core());
        cores.map(Pmu::name).collect()
    }

    /// The PMUs of the CPU's cores: several on hybrid systems, and one on systems that list none.
    pub(crate) fn cores(&self) -> impl Iterator<Item = &Pmu<'a>> {
        let of_kernel = self.known[..self.of_kernel].iter();
        of_kernel.filter(|pmu| pmu.is_core())
    }

    /// The PMU with this number; the first of the cores for generic events; one without name if the system lists none.
    pub(crate) fn of_kind(&self, kind: u32) -> Cow<'_, Pmu<'a>> {
        let is_generic = [EventType::HARDWARE, EventType::HW_CACHE].contains(&EventType(kind));
        let mut cores = self.listed().iter().filter(|pmu| pmu.is_core());
        let generic = cores.next().filter(|_| is_generic);
        let listed = generic.or_else(|| self.listed().iter().find(|pmu| pmu.kind().0 == kind));
        match listed {
            Some(pmu) => Cow::Borrowed(pmu),
            None => Cow::Owned(Pmu::new(self.pmus, "", EventType(kind))),
        }
    }

    /// The most filters of addresses that an event of the PMU with this number takes; 0 where it takes none. Drivers write
    /// it, and a driver may err.
    pub fn address_filters(&self, kind: EventType) -> i32 {
        let pmu = self.listed().iter().find(|pmu| pmu.kind() == kind);
        let text = pmu.and_then(|pmu| self.pmus.read(pmu.name(), "nr_addr_filters"));
        text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// The PMUs that a name before a slash means: the one of this name, else all that match it as a pattern or
    /// without their number and the `uncore_` before it.
    pub(crate) fn matching(&self, name: &str) -> Vec<&Pmu<'a>> {
        if name == ANY_CORE {
            return self.cores().take(1).collect();
        }
        match self.known.iter().find(|pmu| pmu.name() == name) {
            Some(exact) => vec![exact],
            None => {
                let meant = self.known.iter().filter(|pmu| pmu.is_meant(name));
                meant.filter(|pmu| self.passes(pmu)).collect()
            }
        }
    }

    /// `did you mean ...?`: the names of events or PMUs that are near one that does not exist.
    pub(crate) fn suggestion(&self, name: &str) -> Option<String> {
        let pmus = self.known.iter();
        let own = pmus.flat_map(|pmu| pmu.event_names().map(str::to_owned));
        let names: Vec<String> = generic::usual_names()
            .chain(own)
            .chain(self.known.iter().map(|pmu| pmu.name().to_owned()))
            .collect();
        near::suggestion(name, names.iter().map(String::as_str))
    }

    /// Returns whether a name before a slash means PMUs as a pattern, or without number or beginning.
    pub(crate) fn is_wildcard(&self, name: &str) -> bool {
        let mut known = self.known.iter();
        !known.any(|pmu| pmu.name() == name) && self.known.iter().any(|pmu| pmu.is_meant(name))
    }

    /// The PMUs that have an event of this name, as one of their own or as a generic one.
    pub(crate) fn with_event(&self, name: &str) -> impl ExactSizeIterator<Item = &Pmu<'a>> {
        let known = self.with_event.borrow().get(name).cloned();
        let places = known.unwrap_or_else(|| {
            let places = self.places_with_event(name);
            let mut looked_up = self.with_event.borrow_mut();
            looked_up.insert(name.to_owned(), Rc::clone(&places));
            places
        });
        (0..places.len()).map(move |index| &self.known[places[index]])
    }

    fn places_with_event(&self, name: &str) -> Rc<[usize]> {
        let generic = GenericEvents::named(name);
        let in_tables = self.tables.map(|tables| tables.events_named(name));
        let in_tables = in_tables.unwrap_or_default();
        let has_event = |(place, pmu): &(usize, &Pmu<'a>)| {
            let in_tables = if *place < self.listed {
                &*in_tables
            } else {
                &[]
            };
            pmu.counts(generic) || pmu.has_event(name, in_tables)
        };
        let known = self.known.iter().enumerate();
        let passing = known.filter(|(_, pmu)| self.passes(pmu));
        passing.filter(has_event).map(|(place, _)| place).collect()
    }
}

/// The PMUs of a source. One whose number cannot be read cannot be opened and is left out.
fn read_list(source: &dyn PmuSource) -> Vec<Pmu<'_>> {
    let names = source.names().unwrap_or_default();
    let pmus = names.iter().filter_map(|name| {
        let kind = EventType(source.kind(name)?);
        Some(Pmu::new(source, name, kind))
    });
    pmus.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryPmus, MemoryTracepoints, parse, resolve};
    use std::cell::RefCell;
    use std::collections::HashMap;
    use std::io;

    /// Counts how often each file and folder is read.
    struct Counting {
        pmus: MemoryPmus,
        reads: RefCell<HashMap<String, usize>>,
    }

    impl Counting {
        fn count(&self, what: String) {
            *self.reads.borrow_mut().entry(what).or_default() += 1;
        }
    }

    impl PmuSource for Counting {
        fn names(&self) -> io::Result<Vec<String>> {
            self.count("names".to_owned());
            self.pmus.names()
        }

        fn read(&self, pmu: &str, file: &str) -> Option<String> {
            self.count(format!("{pmu}/{file}"));
            self.pmus.read(pmu, file)
        }

        fn list(&self, pmu: &str, folder: &str) -> Vec<String> {
            self.count(format!("{pmu}/{folder}/"));
            self.pmus.list(pmu, folder)
        }
    }

    /// The PMUs of the events that a text means, as perf 7.2's `stat` takes them with the same filters.
    fn meant(catalogue: &Catalogue<'_>, text: &str) -> String {
        let found = resolve(&parse(text).unwrap(), catalogue);
        let pmus = found.map(|events| {
            events
                .into_iter()
                .map(|event| event.pmu)
                .collect::<Vec<_>>()
        });
        pmus.map_or_else(|_| "none".to_owned(), |pmus| pmus.join(" "))
    }

    #[test]
    fn names_and_patterns_can_be_kept_from_pmus() {
        let pmus = MemoryPmus::new()
            .pmu("cpu_atom", 10)
            .file("cpus", "2-3")
            .pmu("cpu_core", 4)
            .file("cpus", "0-1")
            .event("slots", "config=0x400")
            .pmu("uncore_imc_0", 20)
            .event("data_read", "config=1")
            .pmu("uncore_imc_1", 21)
            .event("data_read", "config=1");
        let tracepoints = MemoryTracepoints::default();
        let new = || Catalogue::new(&pmus, &tracepoints);
        let atom = new().with_cpu_type("atom").unwrap();
        for (text, expected) in [
            ("cycles", "cpu_atom"),
            ("cpu_core/cycles/", "cpu_core"),
            ("cpu_*/cycles/", "cpu_atom"),
            ("slots", "none"),
            ("data_read", "uncore_imc_0 uncore_imc_1"),
        ] {
            assert_eq!(meant(&atom, text), expected, "{text}");
        }
        let only = new().with_pmu_filter("uncore_imc_1");
        assert_eq!(meant(&only, "data_read"), "uncore_imc_1");
        assert_eq!(meant(&only, "imc/data_read/"), "uncore_imc_1");
        assert_eq!(meant(&only, "cycles"), "none");
        assert!(new().with_cpu_type("foo").is_none());
    }

    #[test]
    fn the_list_is_read_once() {
        let pmus = MemoryPmus::new()
            .pmu("cpu", 4)
            .format("event", "config:0-7")
            .event("instructions", "event=0xc0")
            .pmu("uncore_imc_0", 12)
            .format("event", "config:0-7");
        let source = Counting {
            pmus,
            reads: RefCell::default(),
        };
        let tracepoints = MemoryTracepoints::default();
        let catalogue = Catalogue::new(&source, &tracepoints);
        for text in [
            "cycles",
            "instructions",
            "instructions:u",
            "r1a8",
            "imc/event=1/",
            "cpu/event=2/",
        ] {
            resolve(&parse(text).unwrap(), &catalogue).unwrap();
        }
        let reads = source.reads.borrow();
        for read in [
            "names",
            "cpu/type",
            "cpu/cpus",
            "cpu/events/",
            "cpu/format/",
            "cpu/format/event",
            "cpu/events/instructions",
            "uncore_imc_0/type",
            "uncore_imc_0/events/",
        ] {
            assert_eq!(reads.get(read), Some(&1), "{read}");
        }
    }
}
