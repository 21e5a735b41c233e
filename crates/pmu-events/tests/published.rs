//! Published files give the events that are built in. Needs `../shared/pmu-events/json`.

// It says what it compared, and that it compared nothing.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use oxperf_pmu_events::{EventTables, TableFolder};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Events that perfmon's own conversion for perf adds or leaves out.
const MADE: [&str; 2] = ["llc_misses.", "unc_iio_bandwidth_out.part"];

fn shared() -> Option<PathBuf> {
    let shared = std::env::var_os("OXPERF_SHARED").map(PathBuf::from);
    let shared =
        shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let folder = shared.join("pmu-events/json");
    folder.is_dir().then_some(folder)
}

/// Terms of each event of a PMU: numbers are numbers, in an order.
fn terms(tables: &EventTables) -> BTreeMap<(String, String), Vec<String>> {
    let events = tables.events().map(|event| {
        let number = |value: &str| match value.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).unwrap().to_string(),
            None => value.to_owned(),
        };
        let terms = event.terms.split(',').map(|term| {
            let (name, value) = term.split_once('=').unwrap();
            format!("{name}={}", number(value))
        });
        let mut terms: Vec<String> = terms.collect();
        terms.sort();
        ((event.pmu.to_owned(), event.name.to_owned()), terms)
    });
    events.collect()
}

/// The names that one side does not have, or describes otherwise.
fn differences(folder: &Path, cpu: &str) -> Vec<String> {
    let published = EventTables::of_cpu(cpu).with_folder(TableFolder::open(folder).unwrap());
    let published_terms = terms(&published);
    let problems: Vec<String> = published.problems().map(ToString::to_string).collect();
    assert_eq!(problems, [""; 0]);
    let builtin = terms(&EventTables::builtin(cpu).unwrap());
    println!(
        "{cpu}: {} published, {} built in",
        published_terms.len(),
        builtin.len()
    );
    assert!(!published_terms.is_empty());
    let keys = published_terms.keys().chain(builtin.keys());
    let keys: std::collections::BTreeSet<_> = keys.collect();
    let keys = keys
        .into_iter()
        .filter(|(_, name)| !MADE.iter().any(|made| name.starts_with(made)));
    let differ = keys
        .into_iter()
        .filter(|key| published_terms.get(*key) != builtin.get(*key));
    differ
        .map(|key| {
            format!(
                "{key:?}: {:?}, built in {:?}",
                published_terms.get(key),
                builtin.get(key)
            )
        })
        .collect()
}

#[test]
fn published_files_give_what_is_built_in() {
    let Some(json) = shared() else {
        eprintln!("skipped: no ../shared/pmu-events/json");
        return;
    };
    let mut all = Vec::new();
    for (folder, cpus) in [
        (
            "intel-perfmon",
            &[
                "GenuineIntel-6-55-4",
                "GenuineIntel-6-6A-6",
                "GenuineIntel-6-8F-8",
                "GenuineIntel-6-97-2",
                "GenuineIntel-6-2A-7",
                "GenuineIntel-6-AD-1",
            ][..],
        ),
        // Its mapfile has no title, and so no row for Alder Lake.
        ("perf-format", &["GenuineIntel-6-2A-7"]),
        (
            "arm-data",
            &[
                "0x00000000410fd0c0",
                "0x00000000410fd490",
                "0x00000000410fd4f0",
            ],
        ),
    ] {
        for cpu in cpus {
            all.extend(differences(&json.join(folder), cpu));
        }
    }
    assert!(
        all.is_empty(),
        "{} differences:\n{}",
        all.len(),
        all[..all.len().min(60)].join("\n")
    );
}
