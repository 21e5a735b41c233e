//! Recordings of several threads: what is in the directory, what each reader finds in it, what is refused.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Output;

use crate::recorder::{Folder, OXPERF, said};

/// Two processes that keep two CPUs busy for a moment.
const SPIN: &str = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done & wait; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";

fn record(folder: &Folder, options: &[&str]) -> Output {
    let begin = ["record", "-N", "-F", "2000", "-e", "task-clock"];
    let end = ["--", "sh", "-c", SPIN];
    folder.run(OXPERF, &[&begin, options, &end].concat())
}

/// The number of samples that the recorder says that it wrote.
fn counted(recorded: &Output) -> usize {
    let text = said(recorded);
    let number = text
        .split_once(" samples)")
        .and_then(|(before, _)| before.rsplit('(').next());
    number.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
}

/// The number of samples of a recording that a program shows.
fn shown(folder: &Folder, program: &str, recording: &str) -> usize {
    let words = ["script", "-f", "-i", recording, "-F", "time,event"];
    let shown = folder.run(program, &words);
    assert!(shown.status.success(), "{program}: {}", said(&shown));
    let text = String::from_utf8_lossy(&shown.stdout);
    text.lines()
        .filter(|line| line.contains("task-clock"))
        .count()
}

#[test]
fn a_directory_has_every_sample_for_every_reader() {
    let folder = Folder::new("threads");
    if !folder.records() {
        return;
    }
    for options in [
        &["--threads"][..],
        &["--threads=package", "-z"],
        &["--threads", "--overwrite"],
        &["--threads=package", "--overwrite", "-z"],
    ] {
        let recorded = record(&folder, &[options, &["-o", "d.data"]].concat());
        assert!(recorded.status.success(), "{}", said(&recorded));
        let samples = counted(&recorded);
        assert!(samples > 0, "{}", said(&recorded));
        let directory = folder.0.join("d.data");
        assert_eq!(fs::metadata(&directory).unwrap().mode() & 0o777, 0o700);
        let parts = fs::read_dir(&directory).unwrap().map(|entry| {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().mode() & 0o777, 0o600);
            entry.file_name().into_string().unwrap()
        });
        assert!(parts.filter(|name| name.starts_with("data.")).count() >= 1);
        for program in [OXPERF, "perf", "perf7"] {
            let is_there = program == OXPERF
                || std::process::Command::new(program)
                    .arg("--version")
                    .output()
                    .is_ok();
            if is_there {
                assert_eq!(
                    shown(&folder, program, "d.data"),
                    samples,
                    "{program} {options:?}"
                );
            }
        }
    }
    assert!(folder.0.join("d.data.old").is_dir());
    // The list of samples is that of one thread's recording: in the order of time.
    let words = ["script", "-i", "d.data", "--ns", "-F", "time"];
    let times = folder.run(OXPERF, &words);
    let times = String::from_utf8_lossy(&times.stdout).into_owned();
    assert!(times.lines().map(str::trim).is_sorted());
}

#[test]
fn threads_that_cannot_be_are_refused_before_anything_is_written() {
    let folder = Folder::new("no-threads");
    for (options, code, words) in [
        (
            &["--threads=cores"][..],
            234,
            "Invalid thread maps or affinity specs",
        ),
        (&["--threads=0/0:0/0"], 234, "Intersecting maps mask"),
        (
            &["--threads=4000/0"],
            237,
            "Failed to initialize maps thread mask",
        ),
        (
            &["--threads=0/4000"],
            237,
            "Failed to initialize affinity thread mask",
        ),
        (
            &["--threads", "--per-thread"],
            234,
            "--per-thread option is mutually exclusive",
        ),
        (
            &["--threads", "--aio"],
            234,
            "(--aio) is mutually exclusive",
        ),
        (
            &["--threads", "--affinity=cpu"],
            234,
            "--affinity option is mutually exclusive",
        ),
        (&["--affinity=core"], 129, "--affinity takes node or cpu"),
        (&["--threads", "-o", "-"], 129, "not available in pipe mode"),
    ] {
        let refused = record(&folder, options);
        assert_eq!(
            refused.status.code(),
            Some(code),
            "{options:?}: {}",
            said(&refused)
        );
        assert!(
            said(&refused).contains(words),
            "{options:?}: {}",
            said(&refused)
        );
        assert!(!folder.0.join("perf.data").exists(), "{options:?}");
    }
}

#[test]
fn a_recorder_that_moves_or_compresses_loses_nothing() {
    let folder = Folder::new("moves");
    if !folder.records() {
        return;
    }
    for options in [
        &["--affinity=cpu", "--aio=2"][..],
        &["--affinity=node", "-z", "--aio"],
    ] {
        let recorded = record(&folder, &[options, &["-o", "m.data"]].concat());
        assert!(recorded.status.success(), "{}", said(&recorded));
        let samples = counted(&recorded);
        assert!(samples > 0, "{}", said(&recorded));
        assert_eq!(shown(&folder, OXPERF, "m.data"), samples, "{options:?}");
    }
}
