//! `query` of the program without an engine: it becomes the program that has one, or says what to do without.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{lossy, scratch, stdout};

const SQL: &str = "SELECT comm FROM samples WHERE comm <> 'it''s'";

/// Runs `query` with a search path of one folder.
fn query(search_path: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
    command.arg("query").args(words).env("PATH", search_path);
    command.output().unwrap()
}

#[test]
fn words_reach_the_program_with_the_engine() {
    let folder = scratch(module_path!()).join("engine");
    fs::create_dir_all(&folder).unwrap();
    let engine = folder.join("oxperf-query");
    fs::write(
        &engine,
        "#!/bin/sh\nfor word; do echo \"$word\"; done\nexit 7\n",
    )
    .unwrap();
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    let output = query(&folder, &["-i", "a b.data", "--format", "csv", SQL]);
    assert_eq!(output.status.code(), Some(7));
    let expected = format!("query\n-i\na b.data\n--format\ncsv\n{SQL}\n");
    assert_eq!(stdout(&output), expected);
    // A statement that begins with a comment is no option.
    let commented = "-- all of them\nSELECT 1";
    let output = query(&folder, &[commented]);
    assert_eq!(stdout(&output), format!("query\n{commented}\n"));
}

#[test]
fn without_an_engine_the_lines_of_others_are_printed() {
    let folder = scratch(module_path!()).join("none");
    fs::create_dir_all(&folder).unwrap();
    // A link to the program itself is no engine: it would start itself for ever.
    let link = folder.join("oxperf-query");
    let _ = fs::remove_file(&link);
    symlink(env!("CARGO_BIN_EXE_oxperf"), &link).unwrap();
    let output = query(&folder, &["-i", "a.data", SQL]);
    assert_eq!(output.status.code(), Some(255));
    let told = lossy(&output.stderr);
    assert!(
        told.contains("cargo build --release --manifest-path query/Cargo.toml"),
        "{told}"
    );
    assert!(
        told.contains("oxperf export --format parquet -i a.data -o prof"),
        "{told}"
    );
    let line = r"{ oxperf query --views duckdb -i prof; printf '%s\n' 'SELECT comm FROM samples WHERE comm <> '\''it'\'''\''s'\'''; } | duckdb";
    assert!(told.contains(line), "{told}");
}

/// What `query` says in a folder where there is no engine.
fn told_without_engine(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
    command.arg("query").args(words).current_dir(folder);
    let output = command.env("PATH", folder).output().unwrap();
    assert!(!output.status.success());
    lossy(&output.stderr)
}

#[test]
fn a_shell_hands_the_statement_on_as_it_is() {
    let folder = scratch(module_path!()).join("shell");
    fs::create_dir_all(&folder).unwrap();
    let sql = r"SELECT '\t \\n it''s' AS text";
    let told = told_without_engine(&folder, &[sql]);
    let line = told
        .lines()
        .find(|line| line.ends_with("| duckdb"))
        .unwrap();
    let (_, statement) = line.split_once("; ").unwrap();
    let statement = statement.strip_suffix("; } | duckdb").unwrap();
    let shell = Command::new("sh").args(["-c", statement]).output().unwrap();
    assert_eq!(stdout(&shell), format!("{sql}\n"));
}

#[test]
fn without_an_engine_only_recordings_are_to_be_exported() {
    let folder = scratch(module_path!()).join("inputs");
    let tables = folder.join("tables");
    fs::create_dir_all(&tables).unwrap();
    fs::write(tables.join("samples.parquet"), "").unwrap();
    let told = told_without_engine(&folder, &["-i", "tables", "-i", "a.data", SQL]);
    assert!(
        told.contains("\n  oxperf export --format parquet -i a.data -o tables\n"),
        "{told}"
    );
    assert!(told.contains("--views duckdb -i tables;"), "{told}");
    for input in ["tables", "tables/*", "tables/**"] {
        let told = told_without_engine(&folder, &["-i", input, SQL]);
        assert!(!told.contains("export --format"), "{input}: {told}");
        assert!(
            told.contains("--views duckdb -i tables;"),
            "{input}: {told}"
        );
    }
    let told = told_without_engine(&folder, &["-i", "tables/s*", SQL]);
    assert!(!told.contains("export --format"), "{told}");
    assert!(
        told.contains("They read one folder: copy the tables of 'tables/s*' to prof"),
        "{told}"
    );
}

#[test]
fn options_without_a_meaning_for_tables_are_refused() {
    let folder = scratch(module_path!()).join("options");
    fs::create_dir_all(&folder).unwrap();
    for option in ["--inline", "--no-inline", "--full-source-path"] {
        let output = query(&folder, &[option, "SELECT 1"]);
        let told = lossy(&output.stderr);
        assert!(told.contains(option.trim_start_matches('-')), "{told}");
        assert!(!told.contains("query needs"), "{told}");
    }
    assert!(lossy(&query(&folder, &["SELECT 1"]).stderr).contains("query needs"));
}
