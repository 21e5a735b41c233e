//! Event texts read and looked up: one `record --dry-run` with 400 of them, on a described Skylake.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::results::{Figure, keep};
use super::{Options, median, reference};
use crate::sweep::events::texts;
use crate::workspace;

/// Texts of a run.
const TEXTS: usize = 400;
/// The machine of `../shared/tools/fakemachine`.
const MACHINE: &str = "intel-skylake";

/// Measures both programs alternately.
pub(super) fn run(options: &Options) -> Result<()> {
    let Some(machine) = Description::find()? else {
        println!("SKIPPED: ../shared/tools/fakemachine is missing; events were not measured");
        return Ok(());
    };
    let texts = taken_by_both(&machine, &options.binary)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..options.runs {
        ours.push(machine.time(&options.binary, &texts)?);
        if let Some(program) = reference() {
            theirs.push(machine.time(program, &texts)?);
        }
    }
    let figure = Figure {
        what: "400 texts",
        unit: "ms",
        ours: median(ours)?,
        reference: median(theirs).ok(),
    };
    keep(&options.folder, "events", "perf7", &[figure])
}

/// The texts that are measured: those that are events here and in which both programs agree.
fn taken_by_both(machine: &Description, program: &Path) -> Result<Vec<String>> {
    let rows = texts::read(&workspace::root().join("xtask/event-strings.tsv"))?;
    let mut taken = Vec::new();
    for row in rows {
        let is_measured = row.difference.is_none() && !row.text.contains("intel_pt");
        if is_measured && machine.is_taken(program, &row.text)? {
            taken.push(row.text);
        }
    }
    ensure!(
        taken.len() >= TEXTS,
        "only {} of the event texts are events on {MACHINE}",
        taken.len()
    );
    taken.truncate(TEXTS);
    Ok(taken)
}

/// What the environment says of the machine.
struct Description {
    sysfs: PathBuf,
    cpu: String,
}

impl Description {
    fn find() -> Result<Option<Description>> {
        let run = workspace::shared().map(|shared| shared.join("tools/fakemachine/run"));
        let Some(run) = run.filter(|run| run.is_file()) else {
            return Ok(None);
        };
        let output = Command::new(run)
            .args([
                MACHINE,
                "--",
                "/bin/sh",
                "-c",
                "echo \"$SYSFS_PATH\"; echo \"$PERF_CPUID\"",
            ])
            .env("FAKE_MODE", "sysfs")
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = said.lines().map(str::to_owned);
        let sysfs = lines.next().context("the machine has no SYSFS_PATH")?;
        Ok(Some(Description {
            sysfs: PathBuf::from(sysfs),
            cpu: lines.next().context("the machine has no PERF_CPUID")?,
        }))
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(["record", "--dry-run", "-o", "/dev/null"]);
        command.env("SYSFS_PATH", &self.sysfs);
        command.env("PERF_CPUID", &self.cpu);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn is_taken(&self, program: &Path, text: &str) -> Result<bool> {
        let status = self.command(program).args(["-e", text, "true"]).status()?;
        Ok(status.success())
    }

    /// Milliseconds for all texts.
    fn time(&self, program: &Path, texts: &[String]) -> Result<f64> {
        let mut command = self.command(program);
        for text in texts {
            command.args(["-e", text]);
        }
        command.arg("true");
        let start = Instant::now();
        let status = command.status()?;
        let time = start.elapsed().as_secs_f64() * 1e3;
        ensure!(
            status.success(),
            "{} refuses the event texts",
            program.display()
        );
        Ok(time)
    }
}
