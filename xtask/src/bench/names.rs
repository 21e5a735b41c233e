//! Names for what samples hit: stacks that are unwound from their copies.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use super::read::{Input, Measure, run_one};
use super::{Options, workload};

/// Every sample as text, with its callers.
const MEASURES: [Measure; 1] = [Measure::to_file("names-dwarf", &["script", "--no-inline"], 3)];

/// Measures everything.
pub(super) fn run(options: &Options) -> Result<()> {
    let input = Input { recording: recording(options)?, symfs: None };
    MEASURES.iter().try_for_each(|measure| run_one(measure, &input, options).map(drop))
}

/// A parallel build with 8 KiB of stack in each sample, recorded once.
fn recording(options: &Options) -> Result<PathBuf> {
    let path = options.folder.join("dwarf.data");
    if !path.is_file() {
        let unfinished = options.folder.join("dwarf.unfinished");
        record(&options.binary, &workload::prepare(&options.folder)?, &unfinished)?;
        std::fs::rename(&unfinished, &path)?;
    }
    Ok(path)
}

fn record(program: &Path, script: &Path, output: &Path) -> Result<()> {
    let mut command = Command::new(program);
    command.args(["record", "-e", "cpu-clock", "-F", "999", "--call-graph", "dwarf", "-m", "16M", "-o"]);
    command.arg(output).args(["--", "sh"]).arg(script);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.success(), "the recording of the build failed");
    Ok(())
}
