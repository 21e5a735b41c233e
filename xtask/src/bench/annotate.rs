//! The hottest functions of a program with debug information, instruction by instruction: ourselves, reading the large
//! recording.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::Options;
use super::read::{self, Input, Measure, run_one};

/// Functions above this share; the first holds about a tenth.
const MEASURE: Measure = Measure::to_nowhere(
    "annotate",
    &["annotate", "--stdio", "--percent-limit", "4"],
    5,
);

/// Records and measures.
pub(super) fn run(options: &Options) -> Result<()> {
    let Some(large) = read::input(&options.folder)? else {
        println!("SKIPPED: there is no ../shared/bench/cargo-build.data.zst to read");
        return Ok(());
    };
    let recording = options.folder.join("annotate.data");
    let status = Command::new(&options.binary)
        .args(["record", "-N", "-e", "cpu-clock:u", "-F", "1000", "-o"])
        .arg(&recording)
        .arg("--")
        .arg(&options.binary)
        .args(["report", "--stdio", "-g", "none", "-i"])
        .arg(&large.recording)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| options.binary.display().to_string())?;
    if !status.success() {
        println!("SKIPPED: this machine lets nothing be recorded");
        return Ok(());
    }
    run_one(&MEASURE, &Input::local(recording), options).map(drop)
}
