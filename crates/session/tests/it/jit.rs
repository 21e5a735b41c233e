//! Code made at run time is named by the log that its program wrote, each function from its time on.

use std::ops::ControlFlow;
use std::path::PathBuf;

use oxperf_abi::CpuMode;
use oxperf_data::Reader;
use oxperf_machine::Machine;
use oxperf_objects::SearchPaths;
use oxperf_session::{Diagnostics, NoSink, SampleEvent, Session, Sink};
use oxperf_testkit::Recording;

const LOAD: u32 = 0;

/// A log of functions: time, address, number, name.
fn log(functions: &[(u64, u64, u64, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    [0x4a69_5444, 1, 40, 62, 0, 7]
        .into_iter()
        .for_each(|word: u32| out.extend(word.to_le_bytes()));
    [0_u64; 2]
        .into_iter()
        .for_each(|word| out.extend(word.to_le_bytes()));
    for (time, address, number, name) in functions {
        let size = 16 + 8 + 32 + name.len() as u32 + 1;
        [LOAD, size]
            .into_iter()
            .for_each(|word| out.extend(word.to_le_bytes()));
        out.extend(time.to_le_bytes());
        [7_u32; 2]
            .into_iter()
            .for_each(|word| out.extend(word.to_le_bytes()));
        [*address, *address, 0x10, *number]
            .into_iter()
            .for_each(|word| out.extend(word.to_le_bytes()));
        out.extend(name.bytes().chain([0]));
    }
    out
}

/// What each sample lies in.
#[derive(Default)]
struct Functions(Vec<String>);

impl Sink for Functions {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn wants_batches(&mut self) -> bool {
        true
    }

    fn prefetch(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        let names = samples.iter().map(|event| function(machine, event));
        self.0.extend(names.map(|name| format!("ahead {name}")));
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        self.0.push(function(machine, event));
        ControlFlow::Continue(())
    }
}

fn function(machine: &Machine, event: &SampleEvent<'_>) -> String {
    let located = machine
        .locate(event.thread, CpuMode::User, event.sample.ip.unwrap())
        .unwrap();
    machine
        .dso(located.dso)
        .jit
        .as_ref()
        .map_or("-", |symbol| &symbol.name)
        .to_owned()
}

/// Runs a recording of samples at 0x1008, at three times, beside a log with these bytes.
fn run(name: &str, clock: &str, log: Option<&[u8]>) -> (Vec<String>, Diagnostics) {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&root).unwrap();
    let _ = std::fs::remove_file(root.join("jit-7.dump"));
    if let Some(bytes) = log {
        std::fs::write(root.join("jit-7.dump"), bytes).unwrap();
    }
    let notation = format!(
        "event cpu-clock sample=IP|TID|TIME flags=sample_id_all{clock}
        mmap2 mode=user pid=7 tid=7 0x1000+0x1000@0 prot=5 flags=34 //anon | time=1
        mmap2 mode=user pid=7 tid=7 0x9000+0x1000@0 prot=5 flags=2 /jit-7.dump | time=2
        sample mode=user ip=0x1008 pid=7 tid=7 time=10
        sample mode=user ip=0x1008 pid=7 tid=7 time=20
        sample mode=user ip=0x1008 pid=7 tid=7 time=30
        "
    );
    let file = Recording::parse(&notation).unwrap().to_file();
    let reader = Reader::open(&file).unwrap();
    let places = SearchPaths {
        root: Some(root),
        ..SearchPaths::default()
    };
    let mut functions = Functions::default();
    let finished = Session::new(&reader)
        .with_jit_logs(places)
        .run(&mut functions)
        .unwrap();
    (functions.0, finished.diagnostics)
}

const MONOTONIC: &str = "|use_clockid clockid=1";

#[test]
fn a_function_counts_from_its_time_on() {
    let bytes = log(&[(15, 0x1000, 1, "first"), (25, 0x1000, 2, "second")]);
    let (names, found) = run("jit-times", MONOTONIC, Some(&bytes));
    assert_eq!(
        names,
        [
            "ahead -",
            "-",
            "ahead first",
            "first",
            "ahead second",
            "second"
        ]
    );
    assert_eq!(found.jit_trouble, []);
}

#[test]
fn without_the_clock_of_the_log_the_last_function_counts() {
    let bytes = log(&[(15, 0x1000, 1, "first"), (25, 0x1000, 2, "second")]);
    let (names, found) = run("jit-clock", "", Some(&bytes));
    assert_eq!(names[3..], ["second", "second", "second"]);
    assert!(
        found.jit_trouble[0].what.contains("-k mono"),
        "{:?}",
        found.jit_trouble
    );
}

#[test]
fn trouble_with_a_log_is_told() {
    let (names, found) = run("jit-absent", MONOTONIC, None);
    assert_eq!(
        (names[3..].to_vec(), found.jit_trouble.len()),
        (vec!["-".to_owned(); 3], 1)
    );
    let mut bytes = log(&[(5, 0x1000, 1, "kept"), (15, 0x1000, 2, "cut")]);
    bytes.pop();
    let (names, found) = run("jit-cut", MONOTONIC, Some(&bytes));
    assert_eq!(names[3..], ["kept", "kept", "kept"]);
    assert!(
        found.jit_trouble[0].what.starts_with("damaged at 0x"),
        "{:?}",
        found.jit_trouble
    );
}

/// Twenty logs with the same trouble are one warning.
#[test]
fn trouble_of_a_kind_is_told_once() {
    let mut notation = String::from("event cpu-clock sample=IP|TID|TIME flags=sample_id_all\n");
    for pid in 1..=20 {
        notation.push_str(&format!(
            "mmap2 mode=user pid={pid} tid={pid} 0x9000+0x1000@0 prot=5 flags=2 /none/jit-{pid}.dump | time={pid}\n"
        ));
    }
    let file = Recording::parse(&notation).unwrap().to_file();
    let reader = Reader::open(&file).unwrap();
    let places = SearchPaths {
        root: Some(std::env::temp_dir()),
        ..SearchPaths::default()
    };
    let found = Session::new(&reader)
        .with_jit_logs(places)
        .run(&mut Functions::default())
        .unwrap();
    let told: Vec<u64> = found
        .diagnostics
        .jit_trouble
        .iter()
        .map(|trouble| trouble.more)
        .collect();
    assert_eq!(told, [19]);
}

/// Only root can give a file away.
#[test]
fn a_log_of_somebody_else_is_not_believed() {
    let folder = std::env::temp_dir().join(format!("oxperf-jit-foreign-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("jit-7.dump");
    std::fs::write(&path, log(&[(5, 0x1000, 1, "planted")])).unwrap();
    if std::os::unix::fs::chown(&path, Some(12345), None).is_err() {
        return;
    }
    let notation = format!(
        "event cpu-clock sample=IP|TID|TIME flags=sample_id_all{MONOTONIC}
        mmap2 mode=user pid=7 tid=7 0x1000+0x1000@0 prot=5 flags=34 //anon | time=1
        mmap2 mode=user pid=7 tid=7 0x9000+0x1000@0 prot=5 flags=2 {} | time=2
        sample mode=user ip=0x1008 pid=7 tid=7 time=10
        ",
        path.display()
    );
    let file = Recording::parse(&notation).unwrap().to_file();
    let reader = Reader::open(&file).unwrap();
    for (any_owner, expected) in [(false, "-"), (true, "planted")] {
        let places = SearchPaths {
            any_owner,
            ..SearchPaths::default()
        };
        let mut functions = Functions::default();
        let found = Session::new(&reader)
            .with_jit_logs(places)
            .run(&mut functions)
            .unwrap();
        assert_eq!(functions.0.last().map(String::as_str), Some(expected));
        let told = found
            .diagnostics
            .jit_trouble
            .iter()
            .any(|told| told.what.contains("belongs to user 12345"));
        assert_eq!(told, !any_owner);
    }
    std::fs::remove_dir_all(folder).unwrap();
}
