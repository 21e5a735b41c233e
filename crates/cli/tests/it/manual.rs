//! The pages of the manual: one for every command, which `man` shows without a warning.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::support::scratch;

/// Writes the pages into a folder of the test's own.
fn pages(test: &str) -> Vec<PathBuf> {
    let folder = scratch(module_path!()).join(test);
    let _ = fs::remove_dir_all(&folder);
    let status = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(["manual", "--date", "2026-11-23"])
        .arg(&folder)
        .status()
        .unwrap();
    assert!(status.success());
    let entries = fs::read_dir(&folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_command_has_a_page_and_every_page_its_sections() {
    let pages = pages("sections");
    let names: BTreeSet<String> = pages
        .iter()
        .map(|page| page.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    for name in [
        "oxperf.1",
        "oxperf-report.1",
        "oxperf-data-convert.1",
        "oxperf-intel-pt.1",
    ] {
        assert!(names.contains(name), "{name} is missing in {names:?}");
    }
    assert!(
        !names.contains("oxperf-complete.1"),
        "a page of a hidden command"
    );
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        assert!(text.starts_with(".TH \"OXPERF"), "{}", page.display());
        for section in ["NAME", "DESCRIPTION", "SEE ALSO"] {
            assert!(
                text.contains(&format!("\n.SH \"{section}\"\n")),
                "{section} in {}",
                page.display()
            );
        }
    }
}

#[test]
fn a_page_has_the_options_and_the_notes_of_its_command() {
    let pages = pages("options");
    let report = pages
        .iter()
        .find(|page| page.ends_with("oxperf-report.1"))
        .unwrap();
    let text = fs::read_to_string(report).unwrap();
    let sort = "\\fB\\-s\\fR, \\fB\\-\\-sort\\fR=";
    for part in [
        sort,
        ".SS \"Names\"",
        ".SH \"NOTES\"",
        ".SH \"EXIT STATUS\"",
        "DEBUGINFOD_URLS",
    ] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn man_shows_every_page_without_a_warning() {
    if Command::new("man").arg("--version").output().is_err() {
        eprintln!("SKIPPED: man is not installed");
        return;
    }
    for page in pages("warnings") {
        let output = Command::new("man")
            .args(["--warnings", "--encoding=UTF-8", "-l"])
            .arg(&page)
            .env("MANWIDTH", "80")
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        let warnings = String::from_utf8_lossy(&output.stderr);
        assert_eq!(warnings, "", "{}", page.display());
        assert!(output.status.success() && !output.stdout.is_empty());
    }
}
