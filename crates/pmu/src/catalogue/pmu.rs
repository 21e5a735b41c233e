//! One PMU of a catalogue: its formats, its named events, and the names that mean it.

use super::CPU;
use crate::generic::{self, GenericEvents};
use crate::glob;
use crate::sysfs::{BitRanges, ConfigWord, PmuSource};
use oxperf_abi::EventType;
use oxperf_pmu_events::{EventTables, TableEvent, is_identifier};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// A PMU. Its folders are listed once, each of its files is read once, and each name is looked up once.
#[derive(Clone)]
pub(crate) struct Pmu<'a> {
    source: &'a dyn PmuSource,
    name: Arc<str>,
    kind: EventType,
    /// The text of its `cpus`, which the PMUs of cores have.
    core_cpus: OnceCell<Option<Arc<str>>>,
    /// The text of its `cpumask`.
    cpu_mask: OnceCell<Option<Arc<str>>>,
    /// `true` for a PMU of cores of a system with several kinds of cores.
    is_one_of_several_cores: bool,
    tables: Option<&'a EventTables>,
    formats: OnceCell<Vec<Format>>,
    events: OnceCell<Vec<String>>,
    /// What was found for the names of events that were looked up.
    aliases: RefCell<FxHashMap<String, Option<Rc<Alias>>>>,
    /// The files that were read, by their paths below the PMU's folder; `None` for those that are not there.
    files: RefCell<FxHashMap<String, Option<String>>>,
}

/// A format by its name; its file is read when its bits are asked for.
#[derive(Clone)]
struct Format {
    name: String,
    bits: OnceCell<Option<BitRanges>>,
}

/// A named event of a PMU.
pub(crate) struct Alias {
    /// Its terms as the kernel writes them: `event=0xcd,umask=0x1`.
    pub(crate) terms: String,
    pub(crate) unit: Option<Arc<str>>,
    pub(crate) scale: Option<f64>,
    pub(crate) per_package: bool,
}

/// Files beside an event that describe it and are no events.
const DESCRIPTIONS: [&str; 5] = [
    ".scale",
    ".unit",
    ".per-pkg",
    ".snapshot",
    ".retirement_latency",
];

impl<'a> Pmu<'a> {
    pub(super) fn new(source: &'a dyn PmuSource, name: &str, kind: EventType) -> Pmu<'a> {
        Pmu {
            source,
            name: name.into(),
            kind,
            core_cpus: OnceCell::new(),
            cpu_mask: OnceCell::new(),
            is_one_of_several_cores: false,
            tables: None,
            formats: OnceCell::new(),
            events: OnceCell::new(),
            aliases: RefCell::default(),
            files: RefCell::default(),
        }
    }

    /// Takes note of a system with several kinds of cores.
    pub(super) fn set_hybrid(&mut self, is_hybrid: bool) {
        self.is_one_of_several_cores = is_hybrid && self.is_core();
    }

    /// Takes note of the tables of this system's CPU.
    pub(super) fn set_tables(&mut self, tables: &'a EventTables) {
        self.tables = Some(tables);
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The name, to be kept with what belongs to the PMU.
    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    pub(crate) fn kind(&self) -> EventType {
        self.kind
    }

    /// Returns whether this is a PMU of the CPU's cores.
    pub(crate) fn is_core(&self) -> bool {
        &*self.name == CPU || self.core_cpus().is_some()
    }

    /// The text of the list of CPUs that it counts on, when it gives one.
    pub(crate) fn cpus(&self) -> Option<Arc<str>> {
        let is_given = |text: &&Arc<str>| !text.trim().is_empty();
        let of_cores = self.core_cpus().filter(is_given);
        let mask = || {
            let read = || self.source.read(&self.name, "cpumask").map(Arc::from);
            self.cpu_mask.get_or_init(read).as_ref().filter(is_given)
        };
        of_cores.or_else(mask).cloned()
    }

    /// The CPUs that another PMU of the system counts on, where it says so; `None` if there is no such PMU.
    pub(crate) fn cpus_of_pmu(&self, name: &str) -> Option<Option<Arc<str>>> {
        let other = EventType(self.source.kind(name)?);
        Some(Pmu::new(self.source, name, other).cpus())
    }

    /// One more than the highest number of a CPU that is there, where the system says so.
    pub(crate) fn cpu_limit(&self) -> Option<u32> {
        self.source.cpu_limit()
    }

    /// The upper half of the config of a generic event: on a hybrid system it names the core PMU.
    pub(crate) fn upper_half(&self) -> u64 {
        if self.is_one_of_several_cores() {
            u64::from(self.kind.0) << 32
        } else {
            0
        }
    }

    fn core_cpus(&self) -> Option<&Arc<str>> {
        self.core_cpus
            .get_or_init(|| self.source.read(&self.name, "cpus").map(Arc::from))
            .as_ref()
    }

    /// A file of the PMU's folder.
    fn read(&self, file: &str) -> Option<String> {
        if let Some(known) = self.files.borrow().get(file) {
            return known.clone();
        }
        let text = self.source.read(&self.name, file);
        self.files
            .borrow_mut()
            .insert(file.to_owned(), text.clone());
        text
    }

    /// Returns whether this is a core PMU of a hybrid system.
    pub(crate) fn is_one_of_several_cores(&self) -> bool {
        self.is_one_of_several_cores
    }

    /// Returns whether a name before a slash means this PMU, among others.
    pub(super) fn is_meant(&self, written: &str) -> bool {
        let is_sensor = written == "hwmon" && self.name.starts_with("hwmon_");
        is_sensor || means(written, &self.name)
    }

    /// A generic event that this PMU counts.
    pub(crate) fn generic(&self, name: &str) -> Option<(EventType, u64)> {
        if self.kind == EventType::SOFTWARE {
            generic::software(name).map(|config| (EventType::SOFTWARE, config))
        } else if self.is_core() {
            generic::hardware_or_cache(name)
                .map(|(kind, config)| (kind, config | self.upper_half()))
        } else {
            None
        }
    }

    /// Returns whether it counts one of the generic events that have one name.
    pub(super) fn counts(&self, named: GenericEvents) -> bool {
        if self.kind == EventType::SOFTWARE {
            named.is_software
        } else {
            named.is_hardware_or_cache && self.is_core()
        }
    }

    /// The names of its formats.
    pub(crate) fn format_names(&self) -> impl Iterator<Item = &str> {
        self.formats().iter().map(|format| format.name.as_str())
    }

    fn formats(&self) -> &[Format] {
        self.formats.get_or_init(|| {
            let names = self.source.list(&self.name, "format").into_iter();
            let unread = names.map(|name| Format {
                name,
                bits: OnceCell::new(),
            });
            unread.collect()
        })
    }

    /// The names in its folder of events, files that only describe one among them.
    fn events(&self) -> &[String] {
        self.events
            .get_or_init(|| self.source.list(&self.name, "events"))
    }

    /// The bits of a format.
    pub(crate) fn format(&self, name: &str) -> Option<&BitRanges> {
        let format = self.formats().iter().find(|format| format.name == name)?;
        let read = || {
            let text = self.source.read(&self.name, &format!("format/{name}"))?;
            BitRanges::parse(&text)
        };
        format.bits.get_or_init(read).as_ref()
    }

    /// The bits of a config word that its formats cover.
    pub(crate) fn covered_bits(&self, word: ConfigWord) -> u64 {
        let formats = self.format_names().filter_map(|name| self.format(name));
        let of_word = formats.filter(|ranges| ranges.word == word);
        of_word.fold(0, |covered, ranges| covered | ranges.bits())
    }

    /// The names of its events.
    pub(crate) fn event_names(&self) -> impl Iterator<Item = &str> {
        let names = self.events().iter().map(String::as_str);
        names.filter(|name| !is_description(name))
    }

    /// The terms of an event, by its name as the folder has it.
    pub(super) fn terms(&self, event: &str) -> Option<String> {
        self.read(&format!("events/{event}"))
    }

    /// A named event. What a table says of an event wins over what the kernel says.
    pub(crate) fn alias(&self, name: &str) -> Option<Rc<Alias>> {
        if let Some(known) = self.aliases.borrow().get(name) {
            return known.clone();
        }
        let own = self.own_alias(name);
        let found = match self.table_event(name) {
            Some(event) => Some(of_table(&event, own)),
            None => own,
        };
        let found = found.map(Rc::new);
        let mut aliases = self.aliases.borrow_mut();
        aliases.insert(name.to_owned(), found.clone());
        found
    }

    /// Returns whether it has an event of this name; `in_tables` are the events of that name in all tables.
    pub(super) fn has_event(&self, name: &str, in_tables: &[TableEvent<'_>]) -> bool {
        self.listed_event(name).is_some() && self.alias(name).is_some()
            || in_tables.iter().any(|event| self.has(event))
    }

    /// The event of this name in the tables.
    pub(crate) fn table_event(&self, name: &str) -> Option<TableEvent<'a>> {
        let mut named = self.tables?.events_named(name).into_iter();
        named.find(|event| self.has(event))
    }

    /// Returns whether an event of a table is one of this PMU.
    fn has(&self, event: &TableEvent<'_>) -> bool {
        let is_of_pmu = if event.pmu == CPU {
            self.is_core()
        } else {
            table_means(event.pmu, &self.name)
        };
        is_of_pmu && event.compat.is_none_or(|compat| self.is_compatible(compat))
    }

    /// Returns whether the PMU's own identifier is one of those that a table is for.
    fn is_compatible(&self, compat: &str) -> bool {
        let identifier = self.read("identifier");
        identifier.is_some_and(|identifier| is_identifier(compat, identifier.trim()))
    }

    /// An event that the kernel names.
    fn own_alias(&self, name: &str) -> Option<Alias> {
        let name = self.listed_event(name)?;
        Some(Alias {
            terms: self.terms(name)?,
            unit: self.beside(name, ".unit").map(Arc::from),
            scale: self
                .beside(name, ".scale")
                .and_then(|text| text.parse().ok()),
            per_package: self
                .beside(name, ".per-pkg")
                .is_some_and(|text| text == "1"),
        })
    }

    /// The text of a file beside that of an event; most events have none.
    fn beside(&self, event: &str, suffix: &str) -> Option<String> {
        let is_it = |listed: &&String| listed.strip_suffix(suffix) == Some(event);
        let listed = self.events().iter().find(is_it)?;
        let text = self.source.read(&self.name, &format!("events/{listed}"))?;
        Some(text.trim().to_owned())
    }

    /// The name of an event as its folder lists it, an exact name first, else one that differs in case.
    fn listed_event(&self, name: &str) -> Option<&String> {
        if is_description(name) {
            return None;
        }
        let events = self.events().iter();
        let mut alike = events.filter(|listed| listed.eq_ignore_ascii_case(name));
        let first = alike.next()?;
        let mut both = std::iter::once(first).chain(alike);
        both.find(|listed| *listed == name).or(Some(first))
    }
}

/// An event of a table as a named event. Unit and scale that only the kernel knows stay.
fn of_table(event: &TableEvent<'_>, own: Option<Alias>) -> Alias {
    let (unit, scale) = match event.scale_unit {
        Some(both) => (Some(both.unit().into()), Some(both.scale())),
        None => own.map_or((None, None), |own| (own.unit, own.scale)),
    };
    Alias {
        terms: event.terms.to_owned(),
        unit,
        scale,
        per_package: event.per_package,
    }
}

/// Returns whether the PMU of a table is the PMU `name`: `uncore_cha` is `uncore_cha_0`, and `hisi_sccl,l3c` is
/// `hisi_sccl1_l3c0`.
fn table_means(of_table: &str, name: &str) -> bool {
    match of_table.split_once(',') {
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            let at = rest.find(tail).map(|at| at + tail.len());
            at.is_some_and(|at| is_instance(&rest[at..]))
        }),
        None => means(of_table, name),
    }
}

fn is_description(name: &str) -> bool {
    DESCRIPTIONS.iter().any(|suffix| name.ends_with(suffix))
}

/// Returns whether `written` means the PMU `name`: `uncore_imc` and `imc` mean `uncore_imc_0`.
fn means(written: &str, name: &str) -> bool {
    let short = name.strip_prefix("uncore_").unwrap_or(name);
    if glob::is_pattern(written) {
        return glob::matches(written, name) || glob::matches(written, short);
    }
    [name, short]
        .iter()
        .any(|full| full.strip_prefix(written).is_some_and(is_instance))
}

/// Nothing, `_0` or `0`: the ends by which the names of a PMU's instances differ. Hexadecimal instances are longer than two digits.
fn is_instance(suffix: &str) -> bool {
    let digits = suffix.strip_prefix('_').unwrap_or(suffix);
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    let hexadecimal = digits.len() > 2
        && suffix.len() > digits.len()
        && digits.bytes().all(|b| b.is_ascii_hexdigit());
    suffix.is_empty() || !digits.is_empty() && (decimal || hexadecimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_instances_mean_their_pmu() {
        for written in [
            "uncore_imc",
            "imc",
            "uncore_imc_0",
            "imc_0",
            "uncore_imc_*",
            "imc*",
        ] {
            assert!(means(written, "uncore_imc_0"), "{written}");
        }
        for written in ["uncore", "im", "uncore_imc_1", "cpu"] {
            assert!(!means(written, "uncore_imc_0"), "{written}");
        }
        assert!(
            means("arm_cmn", "arm_cmn_ffe0") && !means("cpu", "cpu_atom") && means("cpu", "cpu0")
        );
    }
}
