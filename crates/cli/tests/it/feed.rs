//! Programs that read events: `script -s`, and the lines that they get.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oxperf_testkit::Recording;

use crate::support::scratch;

/// The recording of a golden case.
fn recording(name: &str) -> PathBuf {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/filters");
    let path = scratch(module_path!()).join(name);
    let notation = fs::read_to_string(case.join("recording.txt")).unwrap();
    fs::write(&path, Recording::parse(&notation).unwrap().to_file()).unwrap();
    path
}

fn script(recording: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
    command
        .args(["script", "--symfs", "/nowhere", "-i"])
        .arg(recording)
        .args(words)
        .output()
        .unwrap()
}

#[test]
fn a_program_gets_the_lines_and_its_exit_code_is_ours() {
    let recording = recording("feed-lines");
    let lines = script(&recording, &["--format", "jsonl"]);
    assert!(lines.status.success());
    let read = script(&recording, &["-s", "/bin/cat"]);
    assert_eq!(
        String::from_utf8_lossy(&read.stdout),
        String::from_utf8_lossy(&lines.stdout)
    );
    assert_eq!(
        script(
            &recording,
            &["-s", "/bin/sh", "--", "-c", "cat > /dev/null; exit 7"]
        )
        .status
        .code(),
        Some(7)
    );
    assert_eq!(
        script(&recording, &["-s", "/bin/true"]).status.code(),
        Some(0),
        "it has seen enough"
    );
    let missing = script(&recording, &["-s", "/nowhere/program"]);
    assert_eq!(missing.status.code(), Some(255));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot run /nowhere/program"));
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that does not run says so")]
fn the_example_runs_where_there_is_python() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no python3");
        return;
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/script-count.py");
    let read = script(
        &recording("feed-python"),
        &["-s", example.to_str().unwrap(), "1"],
    );
    assert_eq!(String::from_utf8_lossy(&read.stderr), "");
    let text = String::from_utf8_lossy(&read.stdout).into_owned();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.trim_start()
            .starts_with("3  75.00%  [unknown] ([kernel.kallsyms])"),
        "{text}"
    );
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that does not run says so")]
fn programs_to_begin_with_print_every_sample() {
    let recording = recording("feed-skeletons");
    let folder = scratch(module_path!()).join("skeletons");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
        command
            .current_dir(&folder)
            .args(["script", "--symfs", "/nowhere", "-i"])
            .arg(&recording);
        command.args(words).output().unwrap()
    };
    let unknown = run(&["-g", "cobol"]);
    assert_eq!(unknown.status.code(), Some(129));
    for (language, interpreter, file) in [
        ("python", "python3", "perf-script.py"),
        ("perl", "perl", "perf-script.pl"),
    ] {
        let written = run(&["-g", language]);
        assert!(
            String::from_utf8_lossy(&written.stdout)
                .trim_end()
                .ends_with(file),
            "{written:?}"
        );
        let again = run(&["-g", language]);
        assert!(
            String::from_utf8_lossy(&again.stderr).contains("Move it away"),
            "what is there stays"
        );
        if Command::new(interpreter).arg("--version").output().is_err() {
            eprintln!("SKIPPED: there is no {interpreter}");
            continue;
        }
        let read = run(&["-s", file]);
        assert_eq!(String::from_utf8_lossy(&read.stderr), "");
        let text = String::from_utf8_lossy(&read.stdout).into_owned();
        let samples = text.lines().filter(|line| !line.starts_with('\t')).count();
        assert_eq!(samples, 4, "{text}");
    }
}
