//! Real recordings on this machine, read back. They skip, and say so, where the kernel refuses events.
//!
//! One test only: a process can watch its signals once at a time.

// A test that skips has to say so.
#![allow(clippy::print_stderr)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use oxperf_abi::{Misc, Pid, RecordType, SoftwareId};
use oxperf_capture::{
    BuildIdPolicy, CallGraph, CaptureError, Destination, EventRequest, Notice, Outcome,
    OutputOptions, Program, Rate, RecordOptions, RecordRequests, SamplingOptions, Target,
    TargetOptions, record,
};
use oxperf_data::Reader;
use oxperf_data::features::{BuildIds, CmdLine, EventDesc, SampleTime};
use oxperf_wire::kernel::Comm;
use oxperf_wire::{Cursor, Endian};

fn shell(script: &str) -> Program {
    let words = ["/bin/sh", "-c", script];
    Program {
        arguments: words.into_iter().map(OsString::from).collect(),
        environment: Vec::new(),
        search_path: None,
    }
}

fn clock() -> Vec<EventRequest> {
    vec![EventRequest::software(SoftwareId::TaskClock, "task-clock")]
}

fn options(directory: &Path, program: Program) -> RecordOptions {
    RecordOptions {
        target: TargetOptions {
            workload: Some(program),
            ..TargetOptions::default()
        },
        sampling: SamplingOptions {
            rate: Some(Rate::Frequency(2000)),
            call_graph: CallGraph::FramePointers { max_stack: None },
            ..SamplingOptions::default()
        },
        output: OutputOptions {
            destination: Destination::File(directory.join("perf.data")),
            command_line: vec!["live".into(), "test".into()],
            ..OutputOptions::default()
        },
        ..RecordOptions::default()
    }
}

fn requests() -> RecordRequests {
    RecordRequests {
        events: clock(),
        ..RecordRequests::default()
    }
}

fn run(options: &RecordOptions) -> Result<Outcome, CaptureError> {
    let mut notices: Vec<Notice> = Vec::new();
    record(options, requests(), &mut notices)
}

fn written(outcome: &Outcome) -> Vec<u8> {
    fs::read(outcome.output.to_string()).unwrap()
}

struct Directory(PathBuf);

impl Directory {
    fn new() -> Directory {
        let path = std::env::temp_dir().join(format!("oxperf-live-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const BUSY: &str = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";

#[test]
fn recordings_can_be_read_back() {
    let directory = Directory::new();
    let first = options(&directory.0, shell(&format!("{BUSY}; exit 7")));
    let outcome = match run(&first) {
        Err(CaptureError::NoEvent(explanation)) => {
            eprintln!("SKIPPED: this machine opens no event: {explanation}");
            return;
        }
        outcome => outcome.unwrap(),
    };
    assert_eq!(
        (outcome.ending.exit_code(), outcome.ending.signal_to_raise()),
        (7, None)
    );
    check_file(&outcome);
    check_renaming(&directory, &outcome);
    check_kernel(&directory);
    check_process_target(&directory);
    check_missing_program(&directory);
}

fn check_file(outcome: &Outcome) {
    let file = written(outcome);
    let reader = Reader::open(&file).unwrap();
    let count = |kind| {
        reader
            .records()
            .unwrap()
            .filter(|raw| raw.as_ref().unwrap().header.kind == kind)
            .count()
    };
    assert!(outcome.samples > 0);
    assert_eq!(count(RecordType::SAMPLE) as u64, outcome.samples);
    assert_eq!(count(RecordType::FINISHED_INIT), 1);
    assert!(count(RecordType::FINISHED_ROUND) > 0 && count(RecordType::MMAP2) > 1);
    assert!(
        execs(&reader).contains(&"sh".to_owned()),
        "{:?}",
        execs(&reader)
    );
    let features = reader.features();
    assert_eq!(
        features.get::<EventDesc>().unwrap().unwrap().events[0].name,
        "task-clock"
    );
    assert_eq!(
        features.get::<CmdLine>().unwrap().unwrap().0,
        ["live", "test"]
    );
    let times = features.get::<SampleTime>().unwrap().unwrap();
    assert!(times.first.0 > 0 && times.first <= times.last);
    let build_ids = features.get::<BuildIds>().unwrap().unwrap_or_default();
    assert!(build_ids.0.iter().all(|entry| !entry.name.is_empty()));
}

/// Where the kernel is recorded and gives its build id, the table has it.
fn check_kernel(directory: &Directory) {
    let mut options = options(&directory.0, shell("exit 0"));
    options.output.build_ids = BuildIdPolicy::All;
    let mut notices: Vec<Notice> = Vec::new();
    let outcome = record(&options, requests(), &mut notices).unwrap();
    let Ok(notes) = fs::read("/sys/kernel/notes") else {
        return;
    };
    if !notices.is_empty() {
        return;
    }
    let file = written(&outcome);
    let reader = Reader::open(&file).unwrap();
    let table = reader.features().get::<BuildIds>().unwrap().unwrap();
    let mut entries = table.0.iter();
    let kernel = entries.find(|entry| entry.name == "[kernel.kallsyms]");
    let id = kernel.expect("the table names the kernel").build_id;
    let is_noted = |part: &[u8]| part == id.as_bytes();
    assert!(notes.windows(id.as_bytes().len()).any(is_noted));
}

fn execs(reader: &Reader<'_>) -> Vec<String> {
    let records = reader.records().unwrap().map(Result::unwrap);
    let execs = records
        .filter(|raw| raw.header.kind == RecordType::COMM && raw.header.misc.has(Misc::COMM_EXEC));
    execs
        .map(|raw| {
            let comm = Comm::decode(&mut Cursor::new(raw.body, Endian::NATIVE)).unwrap();
            String::from_utf8_lossy(comm.comm).into_owned()
        })
        .collect()
}

/// A second recording keeps the first one's file.
fn check_renaming(directory: &Directory, first: &Outcome) {
    let before = written(first);
    run(&options(&directory.0, shell("exit 0"))).unwrap();
    assert_eq!(fs::read(directory.0.join("perf.data.old")).unwrap(), before);
}

/// The recording of a process ends with it, and knows its name and mappings from before.
fn check_process_target(directory: &Directory) {
    let mut child = std::process::Command::new("/bin/sh")
        .args(["-c", &format!("sleep 0.2; {BUSY}")])
        .spawn()
        .unwrap();
    let target = Target::Processes(vec![Pid(child.id() as i32)]);
    let mut options = options(&directory.0, shell(""));
    options.target.target = target;
    options.target.workload = None;
    let outcome = run(&options).unwrap();
    assert!(child.wait().unwrap().success());
    let file = written(&outcome);
    let reader = Reader::open(&file).unwrap();
    let named = |raw: oxperf_data::RawRecord<'_>| raw.body.windows(3).any(|part| part == b"sh\0");
    let comms = reader
        .records()
        .unwrap()
        .map(Result::unwrap)
        .filter(|raw| raw.header.kind == RecordType::COMM);
    assert!(outcome.samples > 0 && comms.into_iter().any(named));
}

fn check_missing_program(directory: &Directory) {
    let missing = Program {
        arguments: vec!["/no/such/program".into()],
        environment: Vec::new(),
        search_path: None,
    };
    let error = run(&options(&directory.0, missing)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Failed to start the '/no/such/program' workload: No such file or directory"
    );
}
