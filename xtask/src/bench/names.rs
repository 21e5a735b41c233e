//! Names for what samples hit: stacks that are unwound from their copies, inlined functions, source lines, the hottest
//! function's code. What another run has learned of debug information is there (warm), or removed before each run (cold).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::read::{Input, Measure, run_one};
use super::{Options, program, workload};

/// Every sample as text, with its callers, without debug information.
const UNWOUND: Measure = Measure::to_file("names-dwarf", &["script", "--no-inline"], 3);

/// What debug information has to be read for; the last is told which function.
const SOURCED: [Measure; 3] = [
    Measure::to_file("names-script", &["script"], 3),
    Measure::to_file("names-srcline", &["report", "--stdio", "-s", "srcline"], 3),
    Measure::to_nowhere("names-annotate", &["annotate", "--stdio"], 3),
];
/// The same again, when another run has learned what there is to know.
const AGAIN: [&str; 3] = [
    "names-script-warm",
    "names-srcline-warm",
    "names-annotate-warm",
];

/// Measures everything.
pub(super) fn run(options: &Options) -> Result<()> {
    let build = once(options, "dwarf.data", |output| {
        let script = workload::prepare(&options.folder)?;
        record(&options.binary, 999, &[Path::new("sh"), &script], output)
    })?;
    run_one(&UNWOUND, &Input::local(build), options)?;
    let Some(program) = program::build(&options.folder)? else {
        println!(
            "SKIPPED: there is no C++ compiler (c++) to build a program with debug information"
        );
        return Ok(());
    };
    let recording = once(options, "program.data", |output| {
        record(&options.binary, 2000, &[&program, Path::new("400")], output)
    })?;
    let hottest = hottest(options, &recording)?;
    let mut input = Input::local(recording);
    for (measure, again) in SOURCED.iter().zip(AGAIN) {
        input.words = if measure.name == "names-annotate" {
            vec![hottest.clone()]
        } else {
            Vec::new()
        };
        input.cold = true;
        run_one(measure, &input, options)?;
        input.cold = false;
        run_one(&measure.with_own(again, &[]), &input, options)?;
    }
    Ok(())
}

/// A recording in the folder of the measures, made when it is not there.
pub(super) fn once(
    options: &Options,
    name: &str,
    record: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let path = options.folder.join(name);
    if !path.is_file() {
        let unfinished = path.with_extension("unfinished");
        record(&unfinished)?;
        std::fs::rename(&unfinished, &path)?;
    }
    Ok(path)
}

/// Records a program with 8 KiB of stack in each sample.
pub(super) fn record(
    recorder: &Path,
    frequency: u32,
    program: &[&Path],
    output: &Path,
) -> Result<()> {
    let mut command = Command::new(recorder);
    command.args([
        "record",
        "-N",
        "-e",
        "cpu-clock",
        "-F",
        &frequency.to_string(),
    ]);
    command
        .args(["--call-graph", "dwarf", "-m", "16M", "-o"])
        .arg(output)
        .arg("--")
        .args(program);
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    ensure!(status.success(), "the recording failed");
    Ok(())
}

/// The function of the program that was sampled most.
fn hottest(options: &Options, recording: &Path) -> Result<String> {
    let mut command = Command::new(&options.binary);
    command.args([
        "report",
        "--stdio",
        "--no-children",
        "-g",
        "none",
        "-s",
        "sym",
        "-t",
        "\t",
        "-d",
        "program",
    ]);
    let output = command
        .arg("-i")
        .arg(recording)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let name = rows
        .filter_map(|row| row.split_once("[.] "))
        .map(|(_, name)| name.trim().to_owned())
        .next();
    name.context("report shows no function of the program")
}
