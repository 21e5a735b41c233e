//! The caches of the CPUs.

use oxperf_data::FeatureSet;
use oxperf_data::features::{CacheLevel, CacheLineSize, CpuCaches};

use super::topology::available_cpus;
use super::tree::Tree;

pub(super) fn collect(tree: &Tree, features: &mut FeatureSet) {
    let caches = caches(tree);
    let first_level = caches
        .iter()
        .find(|cache| cache.level == 1 && cache.kind != "Instruction");
    if let Some(cache) = first_level {
        features.insert(&CacheLineSize(cache.line_size));
    }
    if !caches.is_empty() {
        features.insert(&CpuCaches(caches));
    }
}

/// Every cache once, by level, then by CPU.
fn caches(tree: &Tree) -> Vec<CacheLevel> {
    let mut caches = Vec::new();
    for cpu in 0..available_cpus(tree).unwrap_or(0) {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache");
        let names = tree.names(&folder).unwrap_or_default();
        for name in names.iter().filter(|name| name.starts_with("index")) {
            caches.extend(
                cache(tree, &format!("{folder}/{name}")).filter(|cache| !caches.contains(cache)),
            );
        }
    }
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn cache(tree: &Tree, folder: &str) -> Option<CacheLevel> {
    let number = |name: &str| tree.number(&format!("{folder}/{name}"));
    let text = |name: &str| tree.text(&format!("{folder}/{name}"));
    Some(CacheLevel {
        level: number("level")?,
        line_size: number("coherency_line_size")?,
        sets: number("number_of_sets")?,
        ways: number("ways_of_associativity")?,
        kind: text("type")?,
        size: text("size")?,
        cpus: text("shared_cpu_list")?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeHost, get};
    use super::*;

    fn files(
        cpu: u32,
        index: u32,
        level: &'static str,
        kind: &'static str,
        cpus: &'static str,
    ) -> Vec<(String, &'static str)> {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
        [
            ("level", level),
            ("type", kind),
            ("shared_cpu_list", cpus),
            ("size", "32K"),
            ("coherency_line_size", "64"),
            ("number_of_sets", "64"),
            ("ways_of_associativity", "8"),
        ]
        .map(|(name, text)| (format!("{folder}/{name}"), text))
        .to_vec()
    }

    #[test]
    fn shared_caches_are_listed_once_and_by_level() {
        let mut all = vec![("sys/devices/system/cpu/present".to_owned(), "0-1")];
        for (cpu, own) in [(0, "0"), (1, "1")] {
            all.extend(files(cpu, 0, "1", "Data", own));
            all.extend(files(cpu, 1, "3", "Unified", "0-1"));
            all.extend(files(cpu, 2, "2", "Unified", own));
        }
        let all: Vec<_> = all
            .iter()
            .map(|(path, text)| (path.as_str(), *text))
            .collect();
        let features = FakeHost::new(&all).collect(collect);
        let CpuCaches(caches) = get(&features, 2).unwrap();
        let short: Vec<_> = caches
            .iter()
            .map(|cache| (cache.level, cache.cpus.as_str()))
            .collect();
        assert_eq!(short, [(1, "0"), (1, "1"), (2, "0"), (2, "1"), (3, "0-1")]);
        assert_eq!(get(&features, 2), Some(CacheLineSize(64)));
    }
}
