//! Options that make no sense together, or not for the recording: what is said and the exit code, as perf has them.

use std::fs;
use std::process::{Command, Output};

use oxperf_testkit::Recording;

use crate::support::scratch;

/// Runs a command over a recording of two samples without call chains.
fn run(name: &str, arguments: &[&str]) -> Output {
    let path = scratch(module_path!()).join(name);
    let notation = "event cycles sample=IP|TID|TIME|PERIOD flags=sample_id_all period=1
        comm pid=7 tid=7 one
        sample mode=user ip=0x401000 pid=7 tid=7 time=2000000100 period=3
        sample mode=user ip=0x401004 pid=7 tid=7 time=2000000200 period=3";
    fs::write(&path, Recording::parse(notation).unwrap().to_file()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(arguments)
        .arg("-i")
        .arg(path)
        .output()
        .unwrap()
}

#[track_caller]
fn check(name: &str, arguments: &[&str], code: i32, said: &str) {
    let output = run(name, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    assert!(
        output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains(said), "{told}");
}

#[test]
fn source_lines_need_an_address_of_code() {
    check(
        "lines",
        &["script", "-F", "comm,srcline"],
        255,
        "Display of source line number requested",
    );
    check(
        "code",
        &["script", "-F", "comm,srccode"],
        255,
        "no address to lookup the source line number",
    );
    assert!(
        run("both", &["script", "-F", "comm,ip,srcline"])
            .status
            .success()
    );
}

#[test]
fn what_is_no_option_of_script_is_named() {
    check(
        "misspelt",
        &["script", "--cgroups", "x"],
        129,
        "unknown option `cgroups'",
    );
    check("stray", &["script", "x"], 129, "Couldn't find script `x'");
}

#[test]
fn groups_of_events_are_listed_without_details() {
    for detail in ["-v", "-F"] {
        check(
            "groups",
            &["evlist", "-g", detail],
            129,
            "--group option is not compatible with other options",
        );
    }
    assert!(run("alone", &["evlist", "-g"]).status.success());
}

#[test]
fn fields_of_one_class_of_events_belong_to_it() {
    check("mixed", &["script", "-F", "+comm,tid"], 129, "Cannot mix");
    check(
        "foreign",
        &["script", "-F", "hw:comm,trace"],
        129,
        "'trace' is no field of hardware events",
    );
    let missing = "software events do not exist. Remove corresponding -F option to proceed.";
    check("missing", &["script", "-F", "sw:"], 255, missing);
    check(
        "named",
        &["script", "-F", "comm,addr"],
        255,
        "do not have ADDR attribute set",
    );
    for (name, fields, lines) in [
        ("silent", "hw:", 0),
        ("nothing", ",", 0),
        ("trace", "trace", 0),
        ("flags", "flags", 0),
        ("left-out", "hw:comm,addr", 2),
    ] {
        let output = run(name, &["script", "-F", fields]);
        assert!(output.status.success(), "{fields}");
        assert_eq!(
            output.stdout.split(|&byte| byte == b'\n').count() - 1,
            lines,
            "{fields}"
        );
    }
}

#[test]
fn keys_of_rows_are_named() {
    check(
        "sort",
        &["report", "-s", "+"],
        129,
        "Invalid --sort key: `+'",
    );
    check(
        "fields",
        &["report", "-F", "+"],
        129,
        "Invalid --fields key: `+'",
    );
    check(
        "no-fields",
        &["report", "-F", ""],
        129,
        "Invalid --fields key: `+'",
    );
}

#[test]
fn options_that_exclude_others_name_all_of_them() {
    let words = [
        "export", "--format", "parquet", "-o", "x", "--raw", "--lines", "--inline",
    ];
    let said = "option `raw' cannot be used with lines and inline\n";
    check("export-raw", &words, 129, said);
    let words = ["export", "--format", "pprof", "-o", ""];
    check(
        "export-nowhere",
        &words,
        129,
        "option `output' expects a value\n",
    );
}
