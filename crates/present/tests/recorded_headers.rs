//! Header, event list and build-id list of real recordings, against the text that perf 7.2 prints for them.
//!
//! Prints a table with a line for each text; fails where one differs that is not known to.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is for people"
)]

use std::fs;
use std::path::{Path, PathBuf};

use oxperf_data::features::{BuildIds, GroupDesc};
use oxperf_data::{Container, Reader};
use oxperf_present::recording::buildid_list;
use oxperf_present::recording::event_names::RecordedNames;
use oxperf_present::recording::evlist::{self, EventListing, EvlistDetail, ListedEvent};
use oxperf_present::recording::header::{self, HeaderOptions};

/// perf names the events of the CPU's PMU from a catalogue of CPU events, which is not part of a recording; a probe
/// that is gone when the header is printed has no name for it, but the recording has.
const KNOWN: &[&str] = &[
    "(instructions)",
    "(ex_ret_brn_misp)",
    "(cache-misses)",
    "(cpu-cycles)",
    "(probe_inl:",
];

/// Folders of recordings with perf 7.2's text for each.
fn cases() -> Vec<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/recorded");
    let folders = |version: &str| {
        fs::read_dir(root.join(version))
            .into_iter()
            .flatten()
            .flatten()
    };
    let old = folders("6.1.187").map(|entry| (entry.path(), entry.path().join("perf7")));
    let new = folders("7.2.13").map(|entry| (entry.path(), entry.path()));
    let mut cases: Vec<_> = old
        .chain(new)
        .filter(|(_, text)| text.join("header.txt").is_file())
        .collect();
    cases.sort();
    cases
}

/// The file of a case; recordings in several files have their header in the first.
fn recording(folder: &Path) -> Option<Vec<u8>> {
    let directory = folder.join("perf.data/data");
    fs::read(folder.join("perf.data"))
        .or_else(|_| fs::read(directory))
        .ok()
}

fn header_text(reader: &Reader<'_>) -> String {
    let mut out = String::new();
    let options = HeaderOptions {
        full: true,
        captured_on: None,
        utc_offset: &|_| 0,
    };
    header::write(&mut out, reader, &options, &RecordedNames::new(reader));
    out
}

fn evlist_text(reader: &Reader<'_>, detail: EvlistDetail) -> String {
    let groups = reader
        .features()
        .get::<GroupDesc>()
        .unwrap_or_default()
        .unwrap_or_default();
    let events = reader.events().iter();
    let events: Vec<_> = events
        .map(|entry| ListedEvent {
            name: entry.name.as_deref().unwrap_or(""),
            entry,
        })
        .collect();
    let mut out = String::new();
    let listing = EventListing {
        detail,
        groups: &groups.0,
        formats: None,
    };
    evlist::write(&mut out, &events, &listing, &RecordedNames::new(reader));
    out
}

/// Only where the recording has a table; otherwise the records must be read.
fn buildid_text(reader: &Reader<'_>) -> Option<String> {
    let ids = reader.features().get::<BuildIds>().ok()??.0;
    let ids: Vec<_> = ids
        .iter()
        .map(|entry| (Some(entry.build_id), entry.name.as_str()))
        .collect();
    let mut out = String::new();
    buildid_list::write(&mut out, &ids);
    Some(out)
}

/// The comparison of our text with perf's.
enum Outcome {
    Identical,
    /// perf prints nothing because it refuses the recording.
    Refused,
    /// Only known lines differ: how many.
    Known(usize),
    Differs(String),
}

fn outcome(ours: &str, expected: &str) -> Outcome {
    let expected: Vec<_> = expected
        .lines()
        .filter(|line| !line.starts_with("# captured on"))
        .collect();
    let ours: Vec<_> = ours.lines().collect();
    if expected.is_empty() {
        return Outcome::Refused;
    }
    if ours.len() != expected.len() {
        return Outcome::Differs(format!("{} lines, perf has {}", ours.len(), expected.len()));
    }
    let differing: Vec<_> = ours
        .iter()
        .zip(&expected)
        .filter(|(ours, expected)| ours != expected)
        .collect();
    let known = |ours: &str, expected: &str| {
        KNOWN
            .iter()
            .any(|name| ours.contains(name) != expected.contains(name))
    };
    match differing
        .iter()
        .find(|(ours, expected)| !known(ours, expected))
    {
        Some((ours, expected)) => {
            Outcome::Differs(format!("\n    ours {ours}\n    perf {expected}"))
        }
        None if differing.is_empty() => Outcome::Identical,
        None => Outcome::Known(differing.len()),
    }
}

/// Prints a line of the table; says whether the text is as it should be.
fn compare(case: &Path, text: &Path, name: &str, ours: &str) -> bool {
    let Ok(expected) = fs::read_to_string(text.join(name)) else {
        return true;
    };
    let result = outcome(ours, &expected);
    let said = match &result {
        Outcome::Identical => "identical".to_owned(),
        Outcome::Refused => "perf refuses this recording".to_owned(),
        Outcome::Known(count) => format!("identical but for {count} known lines"),
        Outcome::Differs(difference) => format!("differs: {difference}"),
    };
    let names: Vec<_> = case
        .iter()
        .rev()
        .take(2)
        .map(|name| name.to_string_lossy())
        .collect();
    println!(
        "{:40} {name:18} {said}",
        format!("{}/{}", names[1], names[0])
    );
    !matches!(result, Outcome::Differs(_))
}

#[test]
fn recorded_texts_are_those_of_perf() {
    let cases = cases();
    if cases.is_empty() {
        eprintln!("SKIPPED: no recordings in ../shared/fixtures/recorded");
    }
    let mut good = true;
    for (case, text) in &cases {
        let Some(file) = recording(case) else {
            continue;
        };
        let reader =
            Reader::open(&file).unwrap_or_else(|error| panic!("{}: {error}", case.display()));
        good &= compare(case, text, "header.txt", &header_text(&reader));
        if reader.container() == Container::Stream {
            // perf lists the events of a stream before it has met their names.
            continue;
        }
        good &= compare(
            case,
            text,
            "evlist.txt",
            &evlist_text(&reader, EvlistDetail::Attribute),
        );
        good &= compare(
            case,
            text,
            "evlist-group.txt",
            &evlist_text(&reader, EvlistDetail::Group),
        );
        if let Some(ids) = buildid_text(&reader) {
            good &= compare(case, text, "buildid-list.txt", &ids);
        }
    }
    assert!(good, "texts differ from perf's");
}
