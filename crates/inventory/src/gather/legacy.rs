//! The kernel's generic events of the cores: hardware and cache.

use super::{Gathered, SupportProbe};
use crate::inventory::Sources;
use crate::{CountableEvent, EventCategory};
use oxperf_abi::{CacheId, CacheOp, CacheResult, EventType, HardwareId};
use oxperf_pmu::PmuDescription;
use std::collections::HashMap;

/// A name of a generic event.
struct GenericName {
    name: String,
    kind: EventType,
    config: u64,
    /// One of the many spellings that nobody is shown.
    is_old: bool,
    brief: String,
}

/// Adds the generic events of a PMU of cores. An event that the PMU's folder names, too, keeps the terms that it has there.
pub(super) fn gather(
    pmu: &PmuDescription,
    several_cores: bool,
    sources: &Sources<'_>,
    gathered: &mut Vec<Gathered>,
) {
    let upper = match several_cores {
        true => u64::from(pmu.kind.0) << 32,
        false => 0,
    };
    let mut answers = Answers {
        support: sources.support,
        upper,
        known: HashMap::new(),
    };
    for generic in names(sources.old_names) {
        let is_supported = !generic.is_old && answers.is_supported(&generic);
        add(pmu, generic, is_supported, gathered);
    }
}

/// The kernel's answers, each asked for once.
struct Answers<'a> {
    support: Option<&'a dyn SupportProbe>,
    /// The upper half of the config, which names the PMU among those of several kinds of cores.
    upper: u64,
    known: HashMap<(EventType, u64), bool>,
}

impl Answers<'_> {
    fn is_supported(&mut self, generic: &GenericName) -> bool {
        let Some(kernel) = self.support else {
            return true;
        };
        let (kind, config) = (generic.kind, generic.config | self.upper);
        let ask = || kernel.is_supported(kind, config);
        *self.known.entry((kind, config)).or_insert_with(ask)
    }
}

/// Adds an event, unless a table has one of this name.
fn add(
    pmu: &PmuDescription,
    generic: GenericName,
    is_supported: bool,
    gathered: &mut Vec<Gathered>,
) {
    let is_same = |other: &Gathered| other.pmu == pmu.name && other.plain_name == generic.name;
    let own = gathered.iter().position(is_same);
    if own.is_some_and(|at| gathered[at].event.topic.is_some()) {
        return;
    }
    let own = own.map(|at| gathered.swap_remove(at));
    let (term, topic) = match generic.kind {
        EventType::HARDWARE => ("legacy-hardware-config", "legacy hardware"),
        _ => ("legacy-cache-config", "legacy cache"),
    };
    let number = short_number(generic.config);
    let encoding = own.and_then(|own| own.event.encoding);
    let encoding = encoding.unwrap_or_else(|| format!("{}/{term}={number}/", pmu.name));
    gathered.push(Gathered {
        plain_name: generic.name.clone(),
        event: CountableEvent {
            unit: Some(pmu.name.clone().into()),
            pmu_kind: Some(pmu.kind),
            topic: Some(topic.to_owned()),
            is_deprecated: !is_supported,
            brief: Some(generic.brief),
            encoding: Some(encoding),
            ..CountableEvent::named(EventCategory::Pmu, generic.name)
        },
        is_described: true,
        is_core: true,
        pmu: pmu.name.clone().into(),
    });
}

/// A number as perf writes it in terms: small ones decimal.
pub(super) fn short_number(number: u64) -> String {
    match number {
        0..10 => number.to_string(),
        _ => format!("{number:#x}"),
    }
}

/// The names of generic events, with the old ones or without.
fn names(with_old: bool) -> Vec<GenericName> {
    let mut names = hardware_names();
    for cache in CacheId::ALL {
        names.extend(cache_names(*cache, with_old));
    }
    // "branches" and "branch-misses" are names of hardware events first.
    let hardware = hardware_names();
    names.retain(|name| {
        name.kind == EventType::HARDWARE || hardware.iter().all(|other| other.name != name.name)
    });
    names
}

fn hardware_names() -> Vec<GenericName> {
    let of_id = |id: &HardwareId| {
        let (config, id) = (*id as u64, *id);
        let names = id.names().iter();
        names.map(move |name| GenericName {
            name: name.to_ascii_lowercase(),
            kind: EventType::HARDWARE,
            config,
            is_old: false,
            brief: hardware_brief(id).to_owned(),
        })
    };
    HardwareId::ALL.iter().flat_map(of_id).collect()
}

fn hardware_brief(id: HardwareId) -> &'static str {
    match id {
        HardwareId::CpuCycles => "Core cycles, at whatever frequency the core runs",
        HardwareId::Instructions => "Instructions that retired",
        HardwareId::CacheReferences => "Accesses of the last cache level, as the CPU defines them",
        HardwareId::CacheMisses => "Accesses that missed the last cache level",
        HardwareId::BranchInstructions => "Branches that retired",
        HardwareId::BranchMisses => "Branches that were predicted wrongly",
        HardwareId::BusCycles => "Cycles of the bus",
        HardwareId::StalledCyclesFrontend => "Cycles without issue for want of instructions",
        HardwareId::StalledCyclesBackend => "Cycles without retirement for want of results",
        HardwareId::RefCpuCycles => "Cycles at a frequency that does not change",
    }
}

/// The spellings of the events of a cache; the usual one of each event is not old.
fn cache_names(cache: CacheId, with_old: bool) -> Vec<GenericName> {
    let mut names = Vec::new();
    for spelling in cache.names() {
        let is_first = *spelling == cache.names()[0];
        let mut add = |words: &[&str], op: CacheOp, result: CacheResult, is_usual: bool| {
            let is_old = !(is_first && is_usual);
            if is_old && !with_old {
                return;
            }
            names.push(GenericName {
                name: [&[*spelling], words]
                    .concat()
                    .join("-")
                    .to_ascii_lowercase(),
                kind: EventType::HW_CACHE,
                config: cache as u64 | (op as u64) << 8 | (result as u64) << 16,
                is_old,
                brief: cache_brief(cache, op, result),
            });
        };
        add(&[], CacheOp::Read, CacheResult::Access, false);
        for (result, word) in results() {
            add(&[word], CacheOp::Read, result, false);
        }
        for op in CacheOp::ALL
            .iter()
            .filter(|op| oxperf_pmu::is_counted(cache, **op))
        {
            for (index, op_word) in op.names().iter().enumerate() {
                add(&[op_word], *op, CacheResult::Access, index == 1);
                for (result, word) in results() {
                    let is_usual = index == 0 && result == CacheResult::Miss && word == "misses";
                    add(&[op_word, word], *op, result, is_usual);
                }
            }
        }
    }
    names
}

fn results() -> impl Iterator<Item = (CacheResult, &'static str)> {
    let words = |result: &CacheResult| {
        result
            .names()
            .iter()
            .map(|word| (*result, *word))
            .collect::<Vec<_>>()
    };
    CacheResult::ALL.iter().flat_map(words)
}

fn cache_brief(cache: CacheId, op: CacheOp, result: CacheResult) -> String {
    let place = match cache {
        CacheId::L1d => "first data cache",
        CacheId::L1i => "first instruction cache",
        CacheId::Ll => "last cache level",
        CacheId::Dtlb => "data TLB",
        CacheId::Itlb => "instruction TLB",
        CacheId::Bpu => "branch predictor",
        CacheId::Node => "memory of the node",
    };
    let access = match op {
        CacheOp::Read => "Reads",
        CacheOp::Write => "Writes",
        CacheOp::Prefetch => "Prefetches",
    };
    match result {
        CacheResult::Access => format!("{access} of the {place}"),
        CacheResult::Miss => format!("{access} that missed the {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_event_texts() {
        let names = names(true);
        assert_eq!(names.len(), 14 + 1216);
        for generic in &names {
            let (kind, config) = oxperf_pmu::generic_event(&generic.name).unwrap();
            assert_eq!(
                (kind, config),
                (generic.kind, generic.config),
                "{}",
                generic.name
            );
        }
        let usual: Vec<&str> = names
            .iter()
            .filter(|name| !name.is_old)
            .map(|name| &*name.name)
            .collect();
        assert_eq!(usual.len(), 14 + 2 * 16);
        assert!(usual.contains(&"l1-dcache-load-misses") && usual.contains(&"branch-loads"));
    }
}
