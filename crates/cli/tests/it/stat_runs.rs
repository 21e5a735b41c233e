//! `stat --json-runs`, `stat --compare` and `stat diff` over real programs: nothing is counted here but the time.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::{lossy, scratch};

fn stat(words: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_oxperf");
    let mut command = Command::new(program);
    command.arg("stat").args(words).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Keeps runs of a program in a file.
fn keep(file: &Path, runs: &str, program: &[&str]) {
    let words = ["-n", "-r", runs, "--json-runs", text(file), "--"];
    let output = stat(&[&words, program].concat());
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    assert!(lossy(&output.stderr).contains("seconds time elapsed"));
}

#[test]
fn kept_runs_are_compared_and_growth_is_an_exit_code() {
    let folder = scratch(module_path!());
    std::fs::create_dir_all(&folder).unwrap();
    let (short, long) = (folder.join("short.json"), folder.join("long.json"));
    keep(&short, "4", &["true"]);
    keep(&long, "4", &["sleep", "0.2"]);
    let (short, long) = (text(&short), text(&long));
    let slower = stat(&["diff", "--fail-over", "50", short, long]);
    let table = lossy(&slower.stdout);
    assert_eq!(slower.status.code(), Some(3), "{table}");
    assert!(lossy(&slower.stderr).starts_with("Grown by more than 50%: "));
    let elapsed = table.lines().find(|line| line.contains("elapsed [s]"));
    assert!(elapsed.unwrap().contains("more than chance"), "{table}");
    let faster = stat(&["diff", "--fail-over=50", long, short]);
    assert_eq!(faster.status.code(), Some(0), "{}", lossy(&faster.stdout));
    let now = stat(&[
        "-n",
        "-r",
        "4",
        "-x;",
        "--compare",
        short,
        "--fail-over",
        "50",
        "sleep",
        "0.2",
    ]);
    assert_eq!(now.status.code(), Some(3));
    let fields = lossy(&now.stderr);
    assert!(fields.starts_with("event;cgroup;unit;mean_a;"), "{fields}");
    assert!(!fields.contains("seconds time elapsed"), "{fields}");
}

#[test]
fn the_exit_code_of_the_program_comes_first() {
    let folder = scratch(module_path!());
    std::fs::create_dir_all(&folder).unwrap();
    let before = folder.join("before.json");
    keep(&before, "3", &["true"]);
    let failing = stat(&[
        "-n",
        "-r",
        "3",
        "--compare",
        text(&before),
        "--fail-over",
        "1",
        "sh",
        "-c",
        "sleep 0.2; exit 7",
    ]);
    assert_eq!(failing.status.code(), Some(7), "{}", lossy(&failing.stderr));
}

#[test]
fn what_cannot_be_judged_or_read_is_refused() {
    let folder = scratch(module_path!());
    std::fs::create_dir_all(&folder).unwrap();
    let (one, other) = (folder.join("one.json"), folder.join("other.json"));
    keep(&one, "1", &["true"]);
    std::fs::write(&other, "{\"format\":\"other\"}").unwrap();
    let recording = folder.join("perf.data");
    std::fs::write(&recording, "PERFILE2\0").unwrap();
    let refused = stat(&["diff", text(&one), text(&recording)]);
    assert!(lossy(&refused.stderr).contains("it is a recording"));
    let (one, other) = (text(&one), text(&other));
    for (words, code) in [
        (&["diff", "--fail-over", "5", one, one][..], 234),
        (&["diff", one, other], 255),
        (&["diff", one, "/nowhere/at/all"], 255),
        (&["diff", one], 129),
        (&["diff", "--fail-over", "-5", one, one], 129),
        (&["-n", "--fail-over", "5", "true"], 129),
        (&["-n", "--compare", one, "--fail-over", "5", "true"], 234),
        (&["-n", "--compare", other, "true"], 255),
        (&["diff", one, one], 0),
    ] {
        let output = stat(words);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{words:?} {}",
            lossy(&output.stderr)
        );
    }
    let table = stat(&["diff", one, one]);
    assert!(lossy(&table.stdout).contains("too few runs to tell"));
}

#[test]
fn the_short_form_of_perfs_json_keeps_its_meaning() {
    // perf7 takes --json for --json-output, and --co for --control.
    let lines = stat(&["--json", "-n", "true"]);
    assert!(lines.status.success(), "{}", lossy(&lines.stderr));
    let program = stat(&["-n", "--", "diff", "/dev/null", "/dev/null"]);
    assert!(lossy(&program.stderr).contains("stats for 'diff /dev/null /dev/null'"));
}
