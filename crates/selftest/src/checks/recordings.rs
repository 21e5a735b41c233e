//! Recordings made and read by this program.

use std::fs::File;
use std::process::Stdio;

use crate::trial::ensure;
use crate::{Shortfall, Trial};

/// The samples of a recording as text, with fields of the reader's choice.
fn script(trial: &mut Trial<'_>, file: &str, fields: &str) -> Result<String, Shortfall> {
    trial.run(&["script", "-i", file, "-F", fields])
}

fn expect(text: &str, name: &str) -> Result<(), Shortfall> {
    ensure(
        text.contains(name),
        format!("'{name}' does not stand in what was read"),
    )
}

/// A workload's samples fall into its function.
pub(crate) fn workload(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    trial.record("workload.data", &[], &["noploop", "0.1"])?;
    let text = script(trial, "workload.data", "comm,ip,sym")?;
    trial.note(format_args!("{} samples", text.lines().count()));
    expect(&text, "perf-noploop")?;
    ensure(text.lines().count() > 2, "no samples")
}

/// Threads are recorded with their names.
pub(crate) fn threads(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    trial.record("threads.data", &[], &["named_threads", "3", "20000"])?;
    let text = trial.run(&["script", "-i", "threads.data", "--show-task-events"])?;
    for thread in ["thread1", "thread2", "thread3"] {
        expect(&text, thread)?;
    }
    Ok(())
}

/// Stacks that samples hold are unwound.
pub(crate) fn unwound_stacks(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let options = ["--call-graph", "dwarf"];
    trial.record("dwarf.data", &options, &["leafloop", "0.1"])?;
    let text = script(trial, "dwarf.data", "ip,sym")?;
    if !text.contains(" leaf") {
        return Err(Shortfall::skip("the program is stripped"));
    }
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let found = words
        .windows(5)
        .any(|part| part[0] == "leaf" && part[2] == "parent" && part[4] == "leafloop");
    ensure(found, "no stack with leaf, parent and leafloop")
}

/// A recording goes through a pipe.
pub(crate) fn pipe(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let stream = trial.scratch("pipe.data");
    let out = File::create(&stream).map_err(Shortfall::failure)?;
    let program = trial.environment.program.display().to_string();
    let words = [
        "record",
        "-q",
        "-e",
        "task-clock:u",
        "-o",
        "-",
        "--",
        &program,
        "test",
        "-w",
        "noploop",
        "0.1",
    ];
    let status = trial
        .command(&words)
        .stdout(out)
        .stderr(Stdio::null())
        .status()
        .map_err(Shortfall::failure)?;
    if !status.success() {
        return Err(Shortfall::skip("permissions"));
    }
    let text = trial.run_with_input(&["script", "-i", "-", "-F", "comm,ip"], stream)?;
    expect(&text, "perf-noploop")
}

/// Compressed records read as uncompressed ones do.
pub(crate) fn compression(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    trial.record("zstd.data", &["-z"], &["noploop", "0.1"])?;
    let header = trial.run(&["report", "-i", "zstd.data", "--header-only"])?;
    expect(&header, "compress")?;
    let text = script(trial, "zstd.data", "comm,ip")?;
    expect(&text, "perf-noploop")
}

/// A report names the function that took the time.
pub(crate) fn report(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    trial.record("report.data", &[], &["noploop", "0.1"])?;
    let text = trial.run(&["report", "-i", "report.data", "--stdio", "-s", "comm"])?;
    expect(&text, "perf-noploop")
}

/// Damage is found: a recording that was cut is said to be damaged, a whole one whole.
pub(crate) fn damage(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let whole = trial.record("whole.data", &[], &["noploop", "0.1"])?;
    trial.run(&["data", "check", "whole.data"])?;
    let bytes = std::fs::read(whole).map_err(Shortfall::failure)?;
    std::fs::write(trial.scratch("cut.data"), &bytes[..bytes.len() * 2 / 3])
        .map_err(Shortfall::failure)?;
    let cut = trial.run(&["data", "check", "cut.data"]);
    ensure(cut.is_err(), "a cut recording is said to be whole")
}

/// Binaries enter the cache of build ids, are listed and leave it.
pub(crate) fn build_id_cache(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let cache = trial.scratch("cache").display().to_string();
    let program = trial.environment.program.display().to_string();
    let mut run =
        |option: &str| trial.run(&["buildid-cache", "--buildid-dir", &cache, option, &program]);
    run("--add")?;
    run("--remove")?;
    Ok(())
}
