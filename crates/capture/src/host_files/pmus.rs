//! The PMUs: numbers, capabilities, kinds of cores.

use oxperf_abi::EventType;
use oxperf_data::FeatureSet;
use oxperf_data::features::{
    Capability, CpuPmuCaps, HybridPmu, HybridTopology, PmuCaps, PmuCapsEntry, PmuMapping,
    PmuMappings,
};

use super::tree::Tree;

const DEVICES: &str = "sys/bus/event_source/devices";

pub(super) fn collect(tree: &Tree, features: &mut FeatureSet) {
    let Some(names) = tree.names(DEVICES) else {
        return;
    };
    let (cores, others): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| is_core(tree, name));
    let mappings: Vec<PmuMapping> = cores
        .iter()
        .chain(&others)
        .filter_map(|name| mapping(tree, name))
        .collect();
    features.insert(&PmuMappings(mappings));
    collect_caps(tree, &cores, &others, features);
    if cores.len() > 1 {
        features.insert(&HybridTopology(
            cores.iter().map(|name| hybrid(tree, name)).collect(),
        ));
    }
}

/// Returns whether there are several PMUs of cores.
pub(super) fn is_hybrid(tree: &Tree) -> bool {
    let names = tree.names(DEVICES).unwrap_or_default();
    let cores = names.iter().filter(|name| is_core(tree, name));
    cores.count() > 1
}

/// A PMU of cores is called `cpu`, or lists the cores that it belongs to.
fn is_core(tree: &Tree, name: &str) -> bool {
    name == "cpu" || tree.text(&format!("{DEVICES}/{name}/cpus")).is_some()
}

fn mapping(tree: &Tree, name: &str) -> Option<PmuMapping> {
    let kind = tree.number(&format!("{DEVICES}/{name}/type"))?;
    Some(PmuMapping {
        kind: EventType(kind),
        name: name.to_owned(),
    })
}

/// The only PMU of cores has a feature of its own; with several, all PMUs go into the other one.
fn collect_caps(tree: &Tree, cores: &[String], others: &[String], features: &mut FeatureSet) {
    let mut entries: Vec<PmuCapsEntry> = Vec::new();
    match cores {
        [only] => features.insert(&CpuPmuCaps(caps(tree, only).unwrap_or_default())),
        several => entries.extend(several.iter().filter_map(|name| caps_entry(tree, name))),
    }
    entries.extend(others.iter().filter_map(|name| caps_entry(tree, name)));
    features.insert(&PmuCaps(entries));
}

fn caps_entry(tree: &Tree, name: &str) -> Option<PmuCapsEntry> {
    Some(PmuCapsEntry {
        pmu: name.to_owned(),
        caps: caps(tree, name).filter(|caps| !caps.is_empty())?,
    })
}

fn caps(tree: &Tree, name: &str) -> Option<Vec<Capability>> {
    let folder = format!("{DEVICES}/{name}/caps");
    let capability = |name: String| {
        Some(Capability {
            value: tree.text(&format!("{folder}/{name}"))?,
            name,
        })
    };
    Some(
        tree.names(&folder)?
            .into_iter()
            .filter_map(capability)
            .collect(),
    )
}

fn hybrid(tree: &Tree, name: &str) -> HybridPmu {
    HybridPmu {
        pmu: name.to_owned(),
        cpus: tree
            .text(&format!("{DEVICES}/{name}/cpus"))
            .unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeHost, get};
    use super::*;

    fn pmu(kind: u32, name: &str) -> PmuMapping {
        PmuMapping {
            kind: EventType(kind),
            name: name.into(),
        }
    }

    fn cap(name: &str, value: &str) -> Capability {
        Capability {
            name: name.into(),
            value: value.into(),
        }
    }

    #[test]
    fn one_kind_of_core() {
        let fake = FakeHost::new(&[
            ("sys/bus/event_source/devices/breakpoint/type", "5\n"),
            ("sys/bus/event_source/devices/cpu/type", "4\n"),
            ("sys/bus/event_source/devices/cpu/caps/max_precise", "3\n"),
            ("sys/bus/event_source/devices/ibs_op/type", "11\n"),
            (
                "sys/bus/event_source/devices/ibs_op/caps/zen4_ibs_extensions",
                "1\n",
            ),
        ]);
        let features = fake.collect(collect);
        let names = vec![pmu(4, "cpu"), pmu(5, "breakpoint"), pmu(11, "ibs_op")];
        assert_eq!(get(&features, 1), Some(PmuMappings(names)));
        assert_eq!(
            get(&features, 1),
            Some(CpuPmuCaps(vec![cap("max_precise", "3")]))
        );
        let entry = PmuCapsEntry {
            pmu: "ibs_op".into(),
            caps: vec![cap("zen4_ibs_extensions", "1")],
        };
        assert_eq!(get(&features, 1), Some(PmuCaps(vec![entry])));
        assert_eq!(get::<HybridTopology>(&features, 1), None);
    }

    #[test]
    fn two_kinds_of_core() {
        let fake = FakeHost::new(&[
            ("sys/bus/event_source/devices/cpu_core/type", "4\n"),
            ("sys/bus/event_source/devices/cpu_core/cpus", "0-3\n"),
            (
                "sys/bus/event_source/devices/cpu_core/caps/branches",
                "32\n",
            ),
            ("sys/bus/event_source/devices/cpu_atom/type", "10\n"),
            ("sys/bus/event_source/devices/cpu_atom/cpus", "4-7\n"),
        ]);
        let features = fake.collect(collect);
        let kind = |pmu: &str, cpus: &str| HybridPmu {
            pmu: pmu.into(),
            cpus: cpus.into(),
        };
        assert_eq!(
            get(&features, 8),
            Some(HybridTopology(vec![
                kind("cpu_atom", "4-7"),
                kind("cpu_core", "0-3")
            ]))
        );
        let entry = PmuCapsEntry {
            pmu: "cpu_core".into(),
            caps: vec![cap("branches", "32")],
        };
        assert_eq!(get(&features, 8), Some(PmuCaps(vec![entry])));
        assert_eq!(get::<CpuPmuCaps>(&features, 8), None);
    }

    #[test]
    fn no_core_at_all() {
        let fake = FakeHost::new(&[("sys/bus/event_source/devices/software/type", "1\n")]);
        let features = fake.collect(collect);
        assert_eq!(
            get(&features, 1),
            Some(PmuMappings(vec![pmu(1, "software")]))
        );
        assert_eq!(get::<CpuPmuCaps>(&features, 1), None);
    }
}
