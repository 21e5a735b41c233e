//! The program's own words: version, features, help in short, refusals with perf's sentences and exit codes.

use std::process::{Command, Output};

use crate::support::{lossy, scratch, stdout};

fn run(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(words)
        .output()
        .unwrap()
}

/// Runs the program, and gives the exit code, standard output and standard error.
fn said(words: &[&str]) -> (Option<i32>, String, String) {
    let output = run(words);
    (output.status.code(), stdout(&output), lossy(&output.stderr))
}

#[test]
fn the_version_is_the_last_word_of_a_line() {
    let line = format!("oxperf version {}\n", env!("CARGO_PKG_VERSION"));
    for words in [&["version"][..], &["--version"], &["-v"]] {
        assert_eq!(said(words), (Some(0), line.clone(), String::new()));
    }
    let (code, features, _) = said(&["version", "--build-options"]);
    assert_eq!(code, Some(0));
    assert_eq!(said(&["-vv"]).1, features);
    let mut lines = features.lines();
    assert_eq!(lines.next(), Some(line.trim_end()));
    assert_eq!(
        lines.next(),
        Some("                   aio: [ OFF ]  # HAVE_AIO_SUPPORT")
    );
    assert!(features.contains("\n                  zstd: [ on  ]  # HAVE_ZSTD_SUPPORT\n"));
}

#[test]
fn features_are_checked_by_the_exit_code() {
    let zstd = "                  zstd: [ on  ]  # HAVE_ZSTD_SUPPORT\n";
    let done = |code, text: &str| (Some(code), text.to_owned(), String::new());
    assert_eq!(said(&["check", "feature", "zstd"]), done(0, zstd));
    assert_eq!(said(&["check", "feature", "-q", "dwarf"]), done(0, ""));
    assert_eq!(said(&["check", "-q", "feature", "dwarf,bpf"]), done(1, ""));
    let (code, text, error) = said(&["check", "feature", "zstd,frob"]);
    assert_eq!((code, text.as_str()), (Some(1), zstd));
    assert!(error.starts_with("Unknown feature 'frob', please use "));
    assert_eq!(said(&["check", "frob"]).0, Some(129));
    assert_eq!(said(&["check", "feature"]).0, Some(129));
    assert_eq!(said(&["check", "feature", "a", "b"]).0, Some(255));
}

#[test]
fn a_mistyped_command_gets_those_that_are_near() {
    let (code, text, error) = said(&["reprot"]);
    assert_eq!((code, text.as_str()), (Some(1), ""));
    assert_eq!(
        error,
        "oxperf: 'reprot' is not a oxperf-command. See 'oxperf --help'.\n\nDid you mean this?\n\treport\n"
    );
    let (_, _, error) = said(&["xyz123"]);
    assert_eq!(
        error,
        "oxperf: 'xyz123' is not a oxperf-command. See 'oxperf --help'.\n"
    );
}

#[test]
fn commands_of_perf_are_refused_with_a_way() {
    for name in ["top", "trace", "probe", "bench", "kwork"] {
        let (code, text, error) = said(&[name, "-h"]);
        assert_eq!((code, text.as_str()), (Some(1), ""), "{name}");
        let begin = format!("oxperf: {name} command not available: ");
        assert!(error.starts_with(&begin), "{error}");
        assert!(error.contains("\nInstead: "), "{error}");
    }
}

#[test]
fn options_in_short_have_the_layout_of_perf() {
    let (code, text, error) = said(&["record", "-h", "compression-level"]);
    assert_eq!((code, text.as_str()), (Some(129), ""));
    assert_eq!(
        error,
        "
 Usage: oxperf record [<options>] [<command>]
    or: oxperf record [<options>] -- <command> [<options>]

    -z, --compression-level[=<n>]
                          Compress the records with Zstandard, from 1 (fast) to 22 (small)

"
    );
    let (_, _, error) = said(&["report", "-h"]);
    assert!(error.contains("\n    -i, --input <file>    Recording to read"));
    assert!(error.contains("\n        --stdio           Write text"));
}

#[test]
fn mistakes_have_the_sentences_and_code_of_perf() {
    for (words, first) in [
        (
            &["report", "--frobnicate"][..],
            "  Error: unknown option `frobnicate'",
        ),
        (&["report", "-vZ"], "  Error: unknown switch `Z'"),
        (&["report", "-i"], " Error: switch `i' requires a value"),
        (
            &["report", "--inp"],
            " Error: option `input' requires a value",
        ),
        (
            &["report", "--max-stack", "x"],
            " Error: option `max-stack' expects a numerical value",
        ),
        (
            &["report", "--stdio=3"],
            " Error: option `stdio' takes no value",
        ),
        (
            &["record", "--all"],
            " Error: Ambiguous option: all (could be --all-cgroups or --all-cpus)",
        ),
        (&["data", "frob"], "Unknown command: frob"),
        (&["--frob"], "Unknown option: --frob"),
    ] {
        let (code, text, error) = said(words);
        assert_eq!((code, text.as_str()), (Some(129), ""), "{words:?}");
        assert_eq!(error.lines().next(), Some(first), "{words:?}");
        assert!(error.contains(" Usage: oxperf "), "{error}");
        assert!(!error.contains("tip"), "{error}");
    }
}

#[test]
fn a_manual_has_the_sections_of_a_page() {
    let (code, text, error) = said(&["report", "--help"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let first = text.lines().next().unwrap_or_default();
    assert!(first.starts_with("OXPERF-REPORT(1) "), "{first}");
    for section in [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "OVERHEAD CALCULATION",
        "SEE ALSO",
    ] {
        assert!(text.contains(&format!("\n{section}\n")), "{section}");
    }
    assert_eq!(said(&["help", "report"]).1, text);
    assert_eq!(said(&["--help", "report"]).1, text);
    assert_eq!(said(&["help"]).1, said(&["--help"]).1);
    assert_eq!(said(&["help", "oxperf"]).1, said(&["--help"]).1);
    for way in ["-m", "-w", "-i", "--man", "--web", "--info"] {
        assert_eq!(said(&["help", way, "report"]).1, text, "{way}");
    }
    assert_eq!(said(&["help", "-g"]).0, Some(129));
    assert_eq!(said(&["help", "reprot"]).0, Some(1));
}

#[test]
fn a_quiet_check_says_nothing() {
    let quiet = said(&["check", "-q", "feature", "nope"]);
    assert_eq!(quiet, (Some(1), String::new(), String::new()));
    assert!(said(&["check", "feature", "nope"]).2.contains("'nope'"));
}

#[test]
fn completion_gets_names() {
    let (code, commands, _) = said(&["--list-cmds"]);
    assert_eq!(code, Some(0));
    assert!(commands.starts_with("annotate archive buildid-cache "));
    assert!(!commands.contains("helper"));
    assert_eq!(said(&["data", "--list-cmds"]).1, "convert check \n");
    assert_eq!(said(&["test", "--list-cmds"]).1, "list \n");
    assert_eq!(said(&["help", "--list-cmds"]).1, commands);
    let ways = "--all --man --web --info \n";
    assert_eq!(said(&["help", "--list-opts"]).1, ways);
    let (code, options, _) = said(&["check", "--list-opts"]);
    assert_eq!((code, options.as_str()), (Some(130), "--quiet \n"));
}

#[test]
fn a_command_may_be_part_of_the_name() {
    let link = scratch(module_path!()).join("perf-version");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_oxperf"), &link).unwrap();
    let output = Command::new(&link).arg("--build-options").output().unwrap();
    let text = stdout(&output);
    assert!(text.starts_with("perf version "), "{text}");
    assert!(text.contains("HAVE_ZSTD_SUPPORT"));
}
