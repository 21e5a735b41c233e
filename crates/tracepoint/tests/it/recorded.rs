//! Recordings that perf made, held against the text that perf 7.2 shows of them. Skips where the fixtures are not there.

use std::path::{Path, PathBuf};
use std::process::Command;

use oxperf_tracepoint::{Formatters, NoSymbols};

const FIXTURES: &str = "/work/shared/fixtures/recorded";
const CASES: [&str; 13] = [
    "6.1.187/lock-record",
    "6.1.187/pipe-tracepoint",
    "6.1.187/sched-g-wakeup",
    "6.1.187/sched-record",
    "6.1.187/syscalls-few",
    "6.1.187/trace-record",
    "6.1.187/uprobe-args",
    "7.2.13/exclude-perf",
    "7.2.13/lock-record",
    "7.2.13/pipe-tracepoint",
    "7.2.13/sched",
    "7.2.13/sched-g-wakeup",
    "7.2.13/syscalls-glob",
];

/// The folders of the cases that are there.
fn cases() -> Vec<PathBuf> {
    let folders: Vec<_> = CASES
        .iter()
        .map(|case| Path::new(FIXTURES).join(case))
        .collect();
    let (here, missing): (Vec<_>, Vec<_>) = folders
        .into_iter()
        .partition(|folder| folder.join("perf.data").exists());
    missing
        .iter()
        .for_each(|folder| eprintln!("SKIPPED: no {}", folder.display()));
    here
}

fn recording(case: &Path) -> crate::recording::Recording {
    crate::recording::read(&std::fs::read(case.join("perf.data")).expect("a readable recording"))
}

/// The output of perf 7.2's script, or `None` when there is no `zstd` to unpack it.
fn script(case: &Path) -> Option<String> {
    let newer = case.join("perf7/script.txt.zst");
    let file = if newer.exists() {
        newer
    } else {
        case.join("script.txt.zst")
    };
    let output = Command::new("zstd").arg("-dcq").arg(file).output().ok()?;
    Some(String::from_utf8(output.stdout).expect("the expected text is UTF-8"))
}

/// `EVENT: TEXT` of the script's lines that show one of `names`.
fn shown<'a>(script: &'a str, names: &[String]) -> Vec<&'a str> {
    let line = |line: &'a str| {
        let at = names
            .iter()
            .find_map(|name| line.find(&format!(" {name}: ")))?;
        (!line.starts_with('\t')).then(|| &line[at + 1..])
    };
    script.lines().filter_map(line).collect()
}

#[test]
fn every_sample_reads_as_in_perf() {
    for case in cases() {
        let Some(script) = script(&case) else {
            return eprintln!("SKIPPED: no zstd to unpack the expected text");
        };
        let recording = recording(&case);
        let formatters = Formatters::new(&recording.tracing);
        assert_eq!(formatters.broken(), 0, "{}", case.display());
        let mut names: Vec<_> = recording
            .samples
            .iter()
            .filter_map(|sample| formatters.name(sample.config))
            .collect();
        names.sort();
        names.dedup();
        let expected = shown(&script, &names);
        assert_eq!(
            recording.samples.len(),
            expected.len(),
            "samples of {}",
            case.display()
        );
        for (sample, expected) in recording.samples.iter().zip(expected) {
            let name = formatters.name(sample.config).expect("a known event");
            let mut text = format!("{name}: ").into_bytes();
            formatters.format(&sample.raw, &NoSymbols, &mut text);
            assert_eq!(
                String::from_utf8_lossy(&text),
                expected,
                "{}",
                case.display()
            );
        }
    }
}

#[test]
fn tracing_data_is_written_as_perf_writes_it() {
    for case in cases() {
        let recording = recording(&case);
        let (encoded, section) = (recording.tracing.encode(), recording.section);
        let (same, padding) = section
            .split_at_checked(encoded.len())
            .expect("no more bytes than perf's");
        assert!(same == encoded, "{}", case.display());
        assert!(
            padding.len() < 8 && padding.iter().all(|&byte| byte == 0),
            "{}",
            case.display()
        );
    }
}
