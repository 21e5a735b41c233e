//! The command lines of docs/command-lines.md: each that runs has a golden, and those that write files are run here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oxperf_testkit::{Image, Recording};

use crate::support::{lossy, scratch, stdout};

const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");
const PAGE: &str = include_str!("../../../../docs/command-lines.md");
const COMMANDS: &str = include_str!("../golden/command-lines/COMMANDS");
const RECORDING: &str = include_str!("../golden/command-lines/recording.txt");
const IMAGE: &str = include_str!("../golden/command-lines/bin/p.elf.txt");

/// A folder with the recording of the goldens.
fn folder(test: &str) -> PathBuf {
    let folder = scratch(module_path!()).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("bin")).unwrap();
    let recording = Recording::parse(RECORDING).unwrap().to_file();
    fs::write(folder.join("perf.data"), recording).unwrap();
    fs::write(folder.join("bin/p"), Image::parse(IMAGE).unwrap().to_file()).unwrap();
    folder
}

fn run(folder: &Path, words: &str) -> Output {
    Command::new(PROGRAM)
        .args(words.split(' '))
        .current_dir(folder)
        .env("HOME", folder)
        .output()
        .unwrap()
}

#[test]
fn every_line_of_the_page_has_its_golden() {
    let rows = PAGE.lines().filter_map(|row| {
        let mut columns = row.strip_prefix("| `perf ")?.split(" | ");
        Some((columns.next()?.trim_end_matches('`'), columns.next()?))
    });
    let rows: Vec<_> = rows.collect();
    assert!(rows.len() >= 20, "{}", rows.len());
    for (line, golden) in rows {
        let start = format!("{golden}.txt: ");
        let command = COMMANDS
            .lines()
            .find_map(|command| command.strip_prefix(&start));
        let command = command.unwrap_or_else(|| panic!("{golden} of {line}"));
        // A value may stand behind its option or in it.
        let known = command.replace(' ', "");
        let mut words = line.split(' ').filter(|word| *word != "A,B");
        let missing = words.find(|word| !known.contains(*word));
        assert_eq!(missing, None, "{line}: {command}");
    }
}

/// The records in the log, by the numbers of their kinds.
fn logged(folder: &Path, options: &str) -> Vec<String> {
    let output = run(folder, &format!("script --symfs . {options}"));
    assert_eq!(output.status.code(), Some(0), "{}", lossy(&output.stderr));
    let log = fs::read_to_string(folder.join("intel_pt.log")).unwrap();
    let _ = fs::remove_file(folder.join("intel_pt.log"));
    let events = log.lines().filter_map(|line| line.strip_prefix("event "));
    events
        .filter_map(|line| Some(line.split_once(':')?.0.to_owned()))
        .collect()
}

#[test]
fn the_log_holds_the_records_that_are_asked_for() {
    let folder = folder("log");
    let all = logged(&folder, "--itrace=bed");
    assert!(all.len() >= 4, "{all:?}");
    assert_eq!(logged(&folder, "--itrace=bed-a"), Vec::<String>::new());
    assert_eq!(logged(&folder, "--itrace=bed+a"), all);
    // EXIT alone is behind 1000 ns.
    let late = "--time 0.000001,";
    assert_eq!(logged(&folder, &format!("--itrace=bed {late}")), ["4"]);
    assert_eq!(
        logged(&folder, &format!("--itrace=bed-a {late}")),
        Vec::<String>::new()
    );
    assert_eq!(logged(&folder, &format!("--itrace=bed+a {late}")), all);
    run(&folder, &format!("script --symfs . --itrace=bed {late}"));
    let log = fs::read_to_string(folder.join("intel_pt.log")).unwrap();
    assert!(
        log.contains("\nrange 0: perf time interval: 1000 to 0\n"),
        "{log}"
    );
    let among = run(&folder, "script --symfs . --itrace=bed+o");
    assert!(stdout(&among).contains("TSC frequency"));
}

#[test]
fn the_configuration_marks_last_branches_and_bounds_the_log_of_errors() {
    let folder = folder("configuration");
    let configure = |text: &str| fs::write(folder.join(".perfconfig"), text).unwrap();
    let branches = || {
        stdout(&run(
            &folder,
            "script --symfs . --itrace=i1il -F ip,brstack",
        ))
    };
    let usual = branches();
    assert!(usual.contains("/-/-/") && !usual.contains("/M/"), "{usual}");
    configure("[intel-pt]\nmispred-all = on\n");
    let marked = branches();
    assert_eq!(marked.replace("/M/", "/-/"), usual);
    assert!(marked.contains("/M/"));
    // Without code, decoding ends in an error.
    let logged = || {
        run(&folder, "script --symfs nowhere --itrace=ed+e -F ip");
        fs::read_to_string(folder.join("intel_pt.log")).unwrap()
    };
    let first = |log: String| log.find("End of debug log buffer dump").unwrap();
    let all = first(logged());
    configure("[itrace]\ndebug-log-buffer-size = 100\n");
    let cut = first(logged());
    assert!(cut < 160 && all > 300, "{cut} of {all}");
}

#[test]
fn programs_of_perfs_interpreter_are_refused_with_the_ways_that_there_are() {
    let folder = folder("programs");
    fs::write(folder.join("h.py"), "def process_event(d):\n    print(d)\n").unwrap();
    let cases = [
        (
            "script -s h.py",
            "h.py is made for perf's own interpreter, which calls its process_event;",
        ),
        (
            "script -s python:h.py",
            "python:h.py is made for perf's own interpreter",
        ),
        (
            "script report failed-syscalls",
            "Couldn't find script `failed-syscalls'",
        ),
        (
            "script record failed-syscalls",
            "Couldn't find script `failed-syscalls'",
        ),
        (
            "script failed-syscalls",
            "Couldn't find script `failed-syscalls'",
        ),
    ];
    for (words, said) in cases {
        let output = run(&folder, words);
        let errors = lossy(&output.stderr);
        assert_ne!(output.status.code(), Some(0), "{words}");
        assert!(
            errors.contains(said) && errors.contains("--format jsonl"),
            "{words}: {errors}"
        );
        assert_eq!(stdout(&output), "", "{words}");
    }
    let made = run(&folder, "script -g new.py");
    assert_eq!(stdout(&made), "generated Python script: new.py\n");
    assert!(folder.join("new.py").is_file());
}

#[test]
fn a_program_that_cannot_be_run_costs_no_recording() {
    let folder = folder("kept");
    let [now, before] = ["perf.data", "perf.data.old"].map(|name| folder.join(name));
    fs::write(&before, "before").unwrap();
    let recorded = fs::read(&now).unwrap();
    for _ in 0..2 {
        let output = run(
            &folder,
            "record -e cpu-clock:u -o perf.data ./no-such-program",
        );
        assert_ne!(output.status.code(), Some(0));
        assert_eq!(fs::read(&now).unwrap(), recorded);
        assert_eq!(fs::read_to_string(&before).unwrap(), "before");
    }
    let files = fs::read_dir(&folder).unwrap().flatten();
    let left = files.filter(|file| file.file_name().to_string_lossy().contains(".new"));
    assert_eq!(left.count(), 0);
}
