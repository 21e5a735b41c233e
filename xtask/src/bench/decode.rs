//! Reading records and nothing else: `--stats` and `-D` beside perf7, decoding beside the `linux-perf-data` crate, and
//! how far each is from a bare walk over the record headers.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::read::{DUMP, STATS, figures, input, run_one};
use super::results::keep;
use super::{Options, median};
use crate::process::{Usage, measure};
use crate::workspace;

/// The reader that ours is compared with.
const OTHER: &str = "linux-perf-data";

/// Measures everything in one run.
pub(super) fn run(options: &Options) -> Result<()> {
    let Some(input) = input(&options.folder)? else {
        println!("SKIPPED: there is no ../shared/bench/cargo-build.data.zst to decode");
        return Ok(());
    };
    let peer = build_peer(&options.folder)?;
    let readers = Readers::run(&peer, &input.recording, options.runs)?;
    let decoded = figures(&readers.ours, &readers.theirs)?;
    keep(&options.folder, "decode", OTHER, &decoded)?;
    let measured = [
        ("decode", decoded[0].ours),
        ("stats", run_one(&STATS, &input, options)?),
        ("dump", run_one(&DUMP, &input, options)?),
    ];
    let walk = median(
        readers
            .walk
            .iter()
            .map(|usage| usage.wall.as_secs_f64())
            .collect(),
    )?;
    println!("a bare walk over the record headers takes {walk:.3} s");
    for (name, seconds) in measured {
        println!("{name:<18} takes {:.1} times that", seconds / walk);
    }
    Ok(())
}

/// What the runs of each reader took.
#[derive(Default)]
struct Readers {
    walk: Vec<Usage>,
    ours: Vec<Usage>,
    theirs: Vec<Usage>,
}

impl Readers {
    /// Alternates them; ours and the other must find the same.
    fn run(peer: &Path, input: &Path, runs: usize) -> Result<Readers> {
        let found = |reader| answer(peer, reader, input);
        ensure!(
            found("oxperf")? == found(OTHER)?,
            "the readers do not agree on {}",
            input.display()
        );
        let mut readers = Readers::default();
        for _ in 0..runs {
            readers.walk.push(timed(peer, "walk", input)?);
            readers.ours.push(timed(peer, "oxperf", input)?);
            readers.theirs.push(timed(peer, OTHER, input)?);
        }
        Ok(readers)
    }
}

fn command(peer: &Path, reader: &str, input: &Path) -> Command {
    let mut command = Command::new(peer);
    command.arg(reader).arg(input).stdin(Stdio::null());
    command
}

/// Returns what a reader says that it read.
fn answer(peer: &Path, reader: &str, input: &Path) -> Result<Vec<u8>> {
    let output = command(peer, reader, input)
        .output()
        .with_context(|| peer.display().to_string())?;
    ensure!(
        output.status.success(),
        "{reader}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(output.stdout)
}

fn timed(peer: &Path, reader: &str, input: &Path) -> Result<Usage> {
    let usage = measure(command(peer, reader, input).stdout(Stdio::null()))?;
    ensure!(usage.success, "{reader} failed");
    Ok(usage)
}

/// Builds the package with the readers: nothing else of the project needs what it needs.
fn build_peer(folder: &Path) -> Result<PathBuf> {
    let target = folder.join("peer");
    let manifest = workspace::root().join("xtask/peer/Cargo.toml");
    let mut build = workspace::cargo();
    build
        .args(["build", "--quiet", "--release", "--manifest-path"])
        .arg(manifest);
    let status = build.arg("--target-dir").arg(&target).status()?;
    ensure!(status.success(), "the build of xtask/peer failed");
    Ok(target.join("release/oxperf-peer"))
}
