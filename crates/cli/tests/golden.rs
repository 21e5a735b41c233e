//! Goldens: recordings in text notation, commands, and what they print.
//!
//! A case is a folder below `tests/golden`: `recording.txt` (the notation of `oxperf-testkit`) becomes `perf.data`,
//! and each line `FILE: ARGUMENTS` of `COMMANDS` is run over it; its output must be what FILE holds. Everything
//! beside, such as `kallsyms`, is there for the commands; NAME`.elf.txt` (the notation of `Image`) becomes NAME.
//! `cargo xtask bless` rewrites the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use oxperf_testkit::{Image, Recording};

#[test]
fn commands_print_what_they_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cases: Vec<PathBuf> = fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    let failures: Vec<String> = cases
        .iter()
        .filter(|case| case.is_dir())
        .flat_map(|case| run_case(case))
        .collect();
    assert!(!cases.is_empty(), "no case below {}", root.display());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs the commands of a case; tells which print something else.
fn run_case(case: &Path) -> Vec<String> {
    let name = case.file_name().unwrap().to_string_lossy().into_owned();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
    prepare(case, &folder);
    let commands = fs::read_to_string(case.join("COMMANDS")).unwrap();
    let lines = commands
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| check(case, &folder, line))
        .collect()
}

/// A folder with the recording and everything that lies beside it in the case.
fn prepare(case: &Path, folder: &Path) {
    copy(case, folder);
    let notation = fs::read_to_string(case.join("recording.txt")).unwrap();
    let recording =
        Recording::parse(&notation).unwrap_or_else(|error| panic!("{}: {error}", case.display()));
    fs::write(folder.join("perf.data"), recording.to_file()).unwrap();
}

/// Copies a folder with all below it; images in notation become files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else if let Some(image) = name.strip_suffix(".elf.txt") {
            let parsed = Image::parse(&fs::read_to_string(&path).unwrap());
            let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            fs::write(to.join(image), parsed.to_file()).unwrap();
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

fn check(case: &Path, folder: &Path, line: &str) -> Option<String> {
    let (file, arguments) = line.split_once(": ").expect("a line is FILE: ARGUMENTS");
    let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_CACHE_HOME")
        .env("TZ", "UTC")
        .output()
        .unwrap();
    let mut printed = stable(&String::from_utf8_lossy(&output.stdout));
    printed.push_str(&format!("-- exit {}\n", output.status.code().unwrap_or(-1)));
    printed.push_str(&String::from_utf8_lossy(&output.stderr));
    if std::env::var_os("OXPERF_BLESS").is_some() {
        fs::write(case.join(file), &printed).unwrap();
        return None;
    }
    let expected = fs::read_to_string(case.join(file)).unwrap_or_default();
    let differs = expected
        .lines()
        .zip(printed.lines())
        .find(|(expected, printed)| expected != printed);
    match differs {
        Some((expected, printed)) => Some(format!(
            "{}/{file}:\n  expected {expected:?}\n  printed  {printed:?}",
            case.display()
        )),
        None if expected != printed => Some(format!(
            "{}/{file}: {} lines expected, {} printed",
            case.display(),
            expected.lines().count(),
            printed.lines().count()
        )),
        None => None,
    }
}

/// Without the lines that depend on when and where the test runs.
fn stable(text: &str) -> String {
    let changing = ["# captured on", "\t\t\"captured-on\"", "# (Tip:"];
    let kept = text
        .lines()
        .filter(|line| !changing.iter().any(|start| line.starts_with(start)));
    kept.map(|line| format!("{line}\n")).collect()
}
