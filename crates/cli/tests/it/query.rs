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
    let line = r"{ oxperf query --views duckdb -i prof; echo 'SELECT comm FROM samples WHERE comm <> '\''it'\'''\''s'\'''; } | duckdb";
    assert!(told.contains(line), "{told}");
}
