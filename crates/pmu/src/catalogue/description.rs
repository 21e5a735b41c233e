//! What the folders of a PMU say, for those who list PMUs and do not look one name up.

use super::{Catalogue, Pmu};
use crate::sysfs::BitRanges;
use oxperf_abi::{EventAttr, EventType};

/// A PMU that the system lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PmuDescription {
    /// Its name.
    pub name: String,
    /// Its number.
    pub kind: EventType,
    /// It belongs to the cores of the CPU.
    pub is_core: bool,
    /// Its formats, in the order of the folder.
    pub formats: Vec<PmuFormat>,
    /// The events that the kernel names, in the order of the folder.
    pub events: Vec<PmuEvent>,
}

/// A term that fills bits of a PMU's config words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PmuFormat {
    /// The name of the term.
    pub name: String,
    /// The largest value that fits; `None` for a format that cannot be understood.
    pub maximum: Option<u64>,
}

/// A named event of a PMU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PmuEvent {
    /// Its name.
    pub name: String,
    /// Its terms as the kernel writes them: `event=0xcd,umask=0x1`.
    pub terms: String,
}

impl Catalogue<'_> {
    /// The PMUs that the system lists, by name.
    pub fn descriptions(&self) -> Vec<PmuDescription> {
        self.listed().iter().map(describe).collect()
    }
}

impl Catalogue<'_> {
    /// An attribute's config words in the terms of its PMU, in the order of their bits; terms of the value 0 are left out.
    /// Empty where no such PMU is listed.
    pub fn config_terms(&self, attr: &EventAttr) -> Vec<(String, u64)> {
        let is_listed = |pmu: &&Pmu<'_>| pmu.kind() == attr.kind;
        let Some(pmu) = self.listed().iter().find(is_listed) else {
            return Vec::new();
        };
        let of_format = |name: &str| {
            let bits = pmu.format(name)?;
            let value = bits.unpack(bits.word.of(attr));
            let name = name.to_owned();
            Some((bits.word as u32, bits.pack(value)?, name, value))
        };
        let terms = pmu.format_names().filter_map(of_format);
        let mut terms: Vec<_> = terms.filter(|(.., value)| *value != 0).collect();
        terms.sort_by_key(|(word, packed, ..)| (*word, *packed));
        terms
            .into_iter()
            .map(|(_, _, name, value)| (name, value))
            .collect()
    }
}

fn describe(pmu: &Pmu<'_>) -> PmuDescription {
    let formats = pmu.format_names().map(|name| PmuFormat {
        name: name.to_owned(),
        maximum: pmu.format(name).map(BitRanges::maximum),
    });
    let events = pmu.event_names().filter_map(|name| {
        Some(PmuEvent {
            name: name.to_owned(),
            terms: pmu.terms(name)?,
        })
    });
    PmuDescription {
        name: pmu.name().to_owned(),
        kind: pmu.kind(),
        is_core: pmu.is_core(),
        formats: formats.collect(),
        events: events.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryPmus, MemoryTracepoints};

    #[test]
    fn formats_and_events_without_the_files_beside_them() {
        let pmus = MemoryPmus::new()
            .pmu("cpu", 4)
            .format("event", "config:0-7,32-35")
            .format("odd", "what")
            .event("cycles", "event=0x3c")
            .pmu("power", 9)
            .event("energy", "event=0x2")
            .event("energy.unit", "Joules");
        let tracepoints = MemoryTracepoints::default();
        let described = Catalogue::new(&pmus, &tracepoints).descriptions();
        let maxima: Vec<_> = described[0].formats.iter().map(|f| f.maximum).collect();
        assert_eq!(maxima, [Some(0xfff), None]);
        assert_eq!((described[0].is_core, described[1].is_core), (true, false));
        let energy = PmuEvent {
            name: "energy".into(),
            terms: "event=0x2".into(),
        };
        assert_eq!(described[1].events, [energy]);
    }

    #[test]
    fn config_words_come_back_as_terms() {
        let pmus = MemoryPmus::new()
            .pmu("cpu", 4)
            .format("umask", "config:8-15")
            .format("event", "config:0-7,32-35")
            .format("ldlat", "config1:0-15");
        let tracepoints = MemoryTracepoints::default();
        let catalogue = Catalogue::new(&pmus, &tracepoints);
        let attr = EventAttr {
            kind: EventType(4),
            config: 0x1_0000_02c0,
            config1: 3,
            ..EventAttr::default()
        };
        let expected = [("umask", 2), ("event", 0x1c0), ("ldlat", 3)];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(catalogue.config_terms(&attr), expected);
    }
}
