//! How `report` grows: the recording of [`read`](super::read) once, then several times end to end in one file.
//!
//! What is distinct stays the same, so time should grow with the samples and memory hardly at all. perf is not asked:
//! it would need tens of gigabytes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::read::{self, Input, Measure};
use super::{Options, median};

/// Samples of the recording.
const SAMPLES: f64 = 0.65;
/// Times that it stands in the files that are measured: 1.3, 4 and 16 million samples.
const TIMES: [u64; 3] = [2, 6, 25];
const REPORT: Measure = Measure::to_nowhere("scale", &["report", "--stdio", "--no-inline"], 0);

/// Measures, and prints what a million samples takes.
pub(super) fn run(options: &Options) -> Result<()> {
    let Some(input) = read::input(&options.folder)? else {
        println!("SKIPPED: there is no ../shared/bench/cargo-build.data.zst to repeat");
        return Ok(());
    };
    println!(
        "scale: report with call graphs; the recording repeated, its distinct stacks stay the same"
    );
    for times in TIMES {
        let recording = repeated(&input.recording, times, &options.folder)?;
        let usages = read::run_ours(&REPORT, &Input::local(recording.clone()), options)?;
        std::fs::remove_file(&recording)?;
        let seconds = median(
            usages
                .iter()
                .map(|usage| usage.wall.as_secs_f64())
                .collect(),
        )?;
        let cpu = median(usages.iter().map(|usage| usage.cpu.as_secs_f64()).collect())?;
        let peak = median(usages.iter().map(|usage| usage.peak as f64 / 1e6).collect())?;
        let samples = SAMPLES * times as f64;
        println!(
            "  {samples:5.1} million samples: {seconds:6.2} s, {cpu:6.2} s of processors, {peak:5.0} MB; \
             {:.2} s for each million",
            seconds / samples
        );
    }
    Ok(())
}

/// Offsets at which `perf.data` keeps the size of its data, and the length of its header.
const DATA_OFFSET: usize = 40;
const DATA_SIZE: usize = 48;
const FEATURES: usize = 72;
const HEADER: usize = 104;
/// Bytes of an entry in the table of features behind the data: an offset and a size.
const ENTRY: usize = 16;

/// A file whose data are those of another several times, its features behind them.
pub(super) fn repeated(recording: &Path, times: u64, folder: &Path) -> Result<PathBuf> {
    let bytes = std::fs::read(recording)?;
    let path = folder.join("repeated.data");
    let number = |at: usize| -> Result<u64> {
        let bytes = bytes
            .get(at..at + 8)
            .context("the recording is cut short")?;
        Ok(u64::from_le_bytes(bytes.try_into()?))
    };
    let (start, size) = (number(DATA_OFFSET)? as usize, number(DATA_SIZE)?);
    let end = start + size as usize;
    ensure!(
        start >= HEADER && end <= bytes.len(),
        "the recording's data lie outside of it"
    );
    let mut head = bytes[..start].to_vec();
    head[DATA_SIZE..DATA_SIZE + 8].copy_from_slice(&(size * times).to_le_bytes());
    let features: u32 = bytes[FEATURES..HEADER]
        .iter()
        .map(|byte| byte.count_ones())
        .sum();
    let table = end..end + features as usize * ENTRY;
    let mut tail = bytes[end..].to_vec();
    for at in table.step_by(ENTRY) {
        let moved = number(at)? + size * (times - 1);
        tail[at - end..at - end + 8].copy_from_slice(&moved.to_le_bytes());
    }
    let mut file = BufWriter::new(File::create(&path)?);
    file.write_all(&head)?;
    (0..times).try_for_each(|_| file.write_all(&bytes[start..end]))?;
    file.write_all(&tail)?;
    file.flush()?;
    Ok(path)
}
