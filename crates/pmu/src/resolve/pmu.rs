//! One PMU of a catalogue: its formats, its named events, and which PMUs a name means.

use super::legacy;
use crate::glob;
use crate::sysfs::{BitRanges, PmuSource};
use oxperf_abi::EventType;

/// A PMU. The CPU's and the software PMU are there even on systems that do not list them.
#[derive(Clone)]
pub(super) struct Pmu<'a> {
    source: &'a dyn PmuSource,
    name: String,
    kind: EventType,
}

/// A named event of a PMU.
pub(super) struct Alias {
    /// Its terms as the kernel writes them: `event=0xcd,umask=0x1`.
    pub(super) terms: String,
    pub(super) unit: Option<String>,
    pub(super) scale: Option<f64>,
}

const CPU: &str = "cpu";
const SOFTWARE: &str = "software";

/// Files beside an event that describe it and are no events.
const DESCRIPTIONS: [&str; 5] = [
    ".scale",
    ".unit",
    ".per-pkg",
    ".snapshot",
    ".retirement_latency",
];

impl<'a> Pmu<'a> {
    fn new(source: &'a dyn PmuSource, name: &str, kind: EventType) -> Pmu<'a> {
        Pmu {
            source,
            name: name.to_owned(),
            kind,
        }
    }

    /// Every PMU of the system. One whose number cannot be read cannot be opened and is passed over.
    fn all(source: &'a dyn PmuSource) -> Vec<Pmu<'a>> {
        let names = source.names().unwrap_or_default();
        names
            .iter()
            .filter_map(|name| Some(Pmu::new(source, name, EventType(source.kind(name)?))))
            .collect()
    }

    /// The PMUs of the CPU's cores: several on hybrid systems.
    pub(super) fn cores(source: &'a dyn PmuSource) -> Vec<Pmu<'a>> {
        let cores: Vec<_> = Pmu::all(source).into_iter().filter(Pmu::is_core).collect();
        if cores.is_empty() {
            vec![Pmu::new(source, CPU, EventType::RAW)]
        } else {
            cores
        }
    }

    fn software(source: &'a dyn PmuSource) -> Pmu<'a> {
        Pmu::new(source, SOFTWARE, EventType::SOFTWARE)
    }

    /// The PMU with this number; one without name if the system lists none.
    pub(super) fn of_kind(source: &'a dyn PmuSource, kind: u32) -> Pmu<'a> {
        let listed = Pmu::all(source).into_iter().find(|pmu| pmu.kind.0 == kind);
        listed.unwrap_or_else(|| Pmu::new(source, "", EventType(kind)))
    }

    /// The PMUs that a name before a slash means: the one of this name, else all that match it as a pattern or
    /// without their number and the `uncore_` before it.
    pub(super) fn matching(source: &'a dyn PmuSource, name: &str) -> Vec<Pmu<'a>> {
        let mut known = Pmu::all(source);
        for (standard, kind) in [(CPU, EventType::RAW), (SOFTWARE, EventType::SOFTWARE)] {
            let listed = known.iter().any(|pmu| pmu.name == standard);
            // "cpu" means nothing of its own where the cores' PMUs have other names.
            let implied = standard != CPU || !known.iter().any(Pmu::is_core);
            if !listed && implied {
                known.push(Pmu::new(source, standard, kind));
            }
        }
        match known.iter().find(|pmu| pmu.name == name) {
            Some(exact) => vec![exact.clone()],
            None => known
                .into_iter()
                .filter(|pmu| means(name, &pmu.name))
                .collect(),
        }
    }

    /// The PMUs that have an event of this name: as a named event of their own, else as a generic one.
    pub(super) fn with_event(source: &'a dyn PmuSource, name: &str) -> Vec<Pmu<'a>> {
        let own: Vec<_> = Pmu::all(source)
            .into_iter()
            .filter(|pmu| pmu.alias(name).is_some())
            .collect();
        if !own.is_empty() {
            own
        } else if legacy::hardware_or_cache(name).is_some() {
            Pmu::cores(source)
        } else if legacy::software(name).is_some() {
            vec![Pmu::software(source)]
        } else {
            Vec::new()
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn kind(&self) -> EventType {
        self.kind
    }

    /// Whether this is a PMU of the CPU's cores.
    pub(super) fn is_core(&self) -> bool {
        self.name == CPU || self.source.read(&self.name, "cpus").is_some()
    }

    /// The CPUs that it counts on, when it says so.
    pub(super) fn cpus(&self) -> Option<String> {
        let read = |file| {
            self.source
                .read(&self.name, file)
                .filter(|text| !text.trim().is_empty())
        };
        read("cpus").or_else(|| read("cpumask"))
    }

    /// Whether this is a core PMU of a hybrid system.
    pub(super) fn is_one_of_several_cores(&self) -> bool {
        self.is_core() && Pmu::cores(self.source).len() > 1
    }

    /// A generic event that this PMU counts. On a hybrid system the upper half of the config tells which core PMU
    /// is meant.
    pub(super) fn generic(&self, name: &str) -> Option<(EventType, u64)> {
        if self.kind == EventType::SOFTWARE {
            legacy::software(name).map(|config| (EventType::SOFTWARE, config))
        } else {
            let pmu = if self.is_one_of_several_cores() {
                u64::from(self.kind.0) << 32
            } else {
                0
            };
            legacy::hardware_or_cache(name)
                .filter(|_| self.is_core())
                .map(|(kind, config)| (kind, config | pmu))
        }
    }

    /// The names of its formats.
    pub(super) fn formats(&self) -> Vec<String> {
        self.source.list(&self.name, "format")
    }

    /// The bits of a format.
    pub(super) fn format(&self, name: &str) -> Option<BitRanges> {
        let name = self.listed("format", name)?;
        BitRanges::parse(&self.source.read(&self.name, &format!("format/{name}"))?)
    }

    /// A named event.
    pub(super) fn alias(&self, name: &str) -> Option<Alias> {
        if DESCRIPTIONS.iter().any(|suffix| name.ends_with(suffix)) {
            return None;
        }
        let name = self.listed("events", name)?;
        let read = |suffix: &str| {
            self.source
                .read(&self.name, &format!("events/{name}{suffix}"))
        };
        Some(Alias {
            terms: read("")?,
            unit: read(".unit").map(|text| text.trim().to_owned()),
            scale: read(".scale").and_then(|text| text.trim().parse().ok()),
        })
    }

    /// The name as a folder lists it; events are found without regard to case, an exact name first.
    fn listed(&self, folder: &str, name: &str) -> Option<String> {
        let names = self.source.list(&self.name, folder);
        let exact = names.iter().find(|listed| *listed == name);
        let any_case = || {
            names
                .iter()
                .find(|listed| folder == "events" && listed.eq_ignore_ascii_case(name))
        };
        exact.or_else(any_case).cloned()
    }
}

/// Whether `written` means the PMU `name`: `uncore_imc` and `imc` mean `uncore_imc_0`.
fn means(written: &str, name: &str) -> bool {
    let short = name.strip_prefix("uncore_").unwrap_or(name);
    if glob::is_pattern(written) {
        return glob::matches(written, name) || glob::matches(written, short);
    }
    [name, short]
        .iter()
        .any(|full| full.strip_prefix(written).is_some_and(is_instance))
}

/// Nothing, `_0` or `0`: what tells instances of a PMU apart. Hexadecimal instances are longer than two digits.
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
    fn what_a_pmu_name_means() {
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
