//! Every event that perf 7.2 lists for some models is opened as perf opens it. Needs `../shared/pmu-events`.

// It says what it compared, and that it compared nothing.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints, ResolvedEvent, parse, resolve};
use oxperf_pmu_events::EventTables;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// PMUs whose events do not come from tables.
const OTHERS: [&str; 3] = ["software", "tool", "msr"];

/// A term of events that every CPU counts; tables know nothing of them.
const GENERIC: &str = "legacy-";

/// Bits of their own for each term, so that every bit that is lost shows.
const FORMATS: [(&str, &str); 20] = [
    ("event", "config:0-15"),
    ("umask", "config:16-55"),
    ("edge", "config:56"),
    ("inv", "config:57"),
    ("any", "config:58"),
    ("offcore_rsp", "config1:0-63"),
    ("frontend", "config2:0-31"),
    ("ldlat", "config2:32-47"),
    ("cmask", "config2:48-55"),
    ("occ_sel", "config2:56-59"),
    ("fc_mask", "config3:0-7"),
    ("ch_mask", "config3:8-23"),
    ("threadmask", "config3:24-31"),
    ("sliceid", "config3:32-39"),
    ("enallslices", "config3:40"),
    ("enallcores", "config3:41"),
    ("rdwrmask", "config3:42-43"),
    ("filter_opc", "config4:0-15"),
    ("filter_tid", "config4:16-31"),
    ("filter_nc", "config4:32-39"),
];

#[test]
fn every_listed_event_is_opened_as_perf_opens_it() {
    let Some(shared) = shared() else {
        eprintln!("skipped: no ../shared/pmu-events");
        return;
    };
    let corrections = corrections(&shared);
    let (mut equal, mut accepted) = (0, 0);
    for path in files(&shared.join("golden")) {
        let result = compare(&path, &corrections);
        equal += result.0;
        accepted += result.1;
    }
    println!("{equal} events equal, {accepted} with bits that perf loses");
    assert!(equal > 10_000);
}

fn shared() -> Option<PathBuf> {
    let shared = std::env::var_os("OXPERF_SHARED").map(PathBuf::from);
    let shared =
        shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let folder = shared.join("pmu-events");
    folder.is_dir().then_some(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// PMU, name and perf's terms of events whose bits perf loses.
fn corrections(shared: &Path) -> HashSet<[String; 3]> {
    let text = std::fs::read_to_string(shared.join("facts/corrections.tsv")).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        [fields[2], fields[1], fields[3]].map(str::to_owned)
    });
    rows.collect()
}

/// The numbers of equal events and of those that are accepted to differ.
fn compare(path: &Path, corrections: &HashSet<[String; 3]>) -> (usize, usize) {
    let cpu = path.file_name().unwrap().to_str().unwrap();
    let cpu = cpu.split('.').next().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let listed: Vec<Listed> = text.lines().filter_map(Listed::read).collect();
    let pmus = pmus(&listed);
    let (tables, tracepoints) = (
        EventTables::builtin(cpu).unwrap(),
        MemoryTracepoints::default(),
    );
    let catalogue = Catalogue::new(&pmus, &tracepoints).with_tables(&tables);
    let (mut equal, mut accepted) = (0, 0);
    for event in &listed {
        let ours = event.opened(event.name, &catalogue);
        if ours == event.opened(event.encoding, &catalogue) {
            equal += 1;
        } else {
            let key = [event.pmu, event.short_name(), event.terms()].map(str::to_owned);
            assert!(corrections.contains(&key), "{cpu} {event:?}: {ours:?}");
            accepted += 1;
        }
    }
    (equal, accepted)
}

/// A line of perf's list.
#[derive(Debug)]
struct Listed<'a> {
    name: &'a str,
    /// `PMU/TERMS/`
    encoding: &'a str,
    pmu: &'a str,
}

impl<'a> Listed<'a> {
    /// An event of a table; `None` for all others.
    fn read(line: &'a str) -> Option<Listed<'a>> {
        let field = |name: &str| {
            let (_, value) = line.split_once(&format!("\"{name}\": \""))?;
            value.split('"').next()
        };
        let listed = Listed {
            name: field("EventName")?,
            encoding: field("Encoding")?,
            pmu: field("Unit")?,
        };
        let is_other = OTHERS.contains(&listed.pmu) || listed.terms().starts_with(GENERIC);
        // The kernel's own names have neither, those of the tables of these models have one of them.
        let is_kernels = !listed.name.contains(['.', '_']);
        (!is_other && !is_kernels).then_some(listed)
    }

    /// The name without its PMU.
    fn short_name(&self) -> &'a str {
        let inside = self.name.split('/').nth(1);
        inside.unwrap_or(self.name)
    }

    fn terms(&self) -> &'a str {
        self.encoding.split('/').nth(1).unwrap_or_default()
    }

    /// The config words and period of the event on its PMU. An event's period and a user's are one here.
    fn opened(&self, text: &str, catalogue: &Catalogue<'_>) -> ([u64; 5], Option<String>) {
        let events = parse(text).and_then(|list| resolve(&list, catalogue));
        let events = events.unwrap_or_else(|error| panic!("{text}: {error}"));
        let event = events.iter().find(|event| event.pmu.starts_with(self.pmu));
        let event = event.unwrap_or_else(|| panic!("{text} is not on {}", self.pmu));
        (words(event), period(event))
    }
}

fn words(event: &ResolvedEvent) -> [u64; 5] {
    let attr = &event.attr;
    [
        attr.config,
        attr.config1,
        attr.config2,
        attr.config3,
        attr.config4,
    ]
}

fn period(event: &ResolvedEvent) -> Option<String> {
    let own = event.terms.rate.map(|rate| format!("{rate:?}"));
    own.or_else(|| event.table_period.map(|period| format!("Period({period})")))
}

/// The PMUs of the list; those without number have two instances.
fn pmus(listed: &[Listed<'_>]) -> MemoryPmus {
    let names: BTreeSet<&str> = listed.iter().map(|event| event.pmu).collect();
    let mut instances = BTreeMap::new();
    for name in names {
        match name {
            "cpu" | "cpu_core" | "cpu_atom" => drop(instances.insert(name.to_owned(), true)),
            name => drop(instances.insert(name.to_owned(), false)),
        }
    }
    let mut pmus = MemoryPmus::new();
    for (kind, (name, is_core)) in (20..).zip(&instances) {
        pmus = pmus.pmu(name, kind);
        for (term, bits) in FORMATS {
            pmus = pmus.format(term, bits);
        }
        if *is_core {
            pmus = pmus.file("cpus", "0-3");
        }
    }
    pmus
}
