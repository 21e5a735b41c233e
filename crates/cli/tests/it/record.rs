//! Recordings of a real program, in each form that `record` writes.

use std::process::Output;

use crate::support::{piped, scratch};

/// Runs long enough for some samples, and prints a word.
const PROGRAM: [&str; 3] = [
    "sh",
    "-c",
    "echo said; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done",
];

fn oxperf(arguments: &[&str], input: &[u8]) -> Output {
    piped(&scratch(module_path!()), arguments, input)
}

/// Records the program's own time; `None` where the machine does not let us.
fn record(options: &[&str]) -> Option<Output> {
    let common = ["record", "-N", "-F", "2000", "-e", "task-clock:u"];
    let output = oxperf(&[&common[..], options, &["--"], &PROGRAM].concat(), b"");
    if !output.status.success() {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(output)
}

/// The number of samples that the recorder told.
fn told(recorded: &Output) -> usize {
    let messages = String::from_utf8_lossy(&recorded.stderr);
    let count = messages
        .rsplit_once(" samples)")
        .and_then(|(before, _)| before.rsplit_once('('));
    count
        .unwrap_or_else(|| panic!("no number of samples: {messages}"))
        .1
        .parse()
        .unwrap()
}

fn lines(output: &Output) -> usize {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout.iter().filter(|&&byte| byte == b'\n').count()
}

fn file(name: &str) -> String {
    scratch(module_path!())
        .join(name)
        .to_string_lossy()
        .into_owned()
}

#[test]
fn a_stream_holds_every_sample_and_not_what_the_program_prints() {
    for options in [&["-o", "-"][..], &["-z", "-o", "-"]] {
        let Some(recorded) = record(options) else {
            return;
        };
        assert!(recorded.stdout.starts_with(b"PERFILE2"));
        assert!(String::from_utf8_lossy(&recorded.stderr).contains("said\n"));
        let shown = oxperf(&["script", "-i", "-", "-F", "ip,event"], &recorded.stdout);
        assert_eq!(lines(&shown), told(&recorded), "{options:?}");
        let header = oxperf(&["report", "--header-only", "-i", "-"], &recorded.stdout);
        assert!(String::from_utf8_lossy(&header.stdout).contains("# cmdline : "));
    }
}

#[test]
fn a_compressed_file_holds_every_sample_and_what_the_program_prints_goes_where_it_went() {
    let name = file("compressed.data");
    let Some(recorded) = record(&["--compression-level=7", "-o", &name]) else {
        return;
    };
    assert_eq!(recorded.stdout, b"said\n");
    assert!(String::from_utf8_lossy(&recorded.stderr).contains(", compressed (original "));
    let shown = oxperf(&["script", "-i", &name, "-F", "ip,event"], b"");
    assert_eq!(lines(&shown), told(&recorded));
    let header = oxperf(&["report", "--header-only", "-i", &name], b"");
    assert!(String::from_utf8_lossy(&header.stdout).contains("# compressed : Zstd, level = 7"));
    assert!(
        oxperf(&["data", "check", "-i", &name], b"")
            .status
            .success()
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    for options in [
        &["--compression-level=23"][..],
        &["--compression-level=fast"],
    ] {
        let refused = oxperf(
            &[&["record", "-e", "task-clock"], options, &["--"], &PROGRAM].concat(),
            b"",
        );
        assert!(
            refused.stdout.is_empty() && !refused.status.success(),
            "{options:?}"
        );
    }
    let refused = oxperf(&[&["profile", "-o", "-", "--"], &PROGRAM[..]].concat(), b"");
    assert!(refused.stdout.is_empty() && !refused.status.success());
}
