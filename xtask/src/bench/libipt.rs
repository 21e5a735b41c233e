//! libipt's block decoder over the same trace: what decoding alone takes it, without files, records or times.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use oxperf_abi::RecordType;
use oxperf_data::{Reader, RecordSource};

use super::read::figures;
use super::results::keep;
use crate::process::{Usage, measure};

const BLOCKS: &str = include_str!("program/blocks.c");
const HEADER: &str = "/usr/include/intel-pt.h";

/// Measures it beside what ours took; says so where libipt's headers are not installed.
///
/// # Errors
/// A program that does not build or run.
pub(super) fn run(
    name: &str,
    ours: &[Usage],
    (case, symfs): (&Path, &Path),
    folder: &Path,
) -> Result<()> {
    if !Path::new(HEADER).is_file() {
        println!("SKIPPED: no {HEADER} (Debian's libipt-dev) to decode with");
        return Ok(());
    }
    let (program, trace) = (build(folder)?, folder.join("pt-trace"));
    std::fs::write(&trace, trace_of(&case.join("perf.data"))?)?;
    let mut theirs = Vec::new();
    for _ in ours {
        let mut command = Command::new(&program);
        command
            .arg(&trace)
            .args(image(case, symfs)?)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let usage = measure(&mut command)?;
        ensure!(usage.success, "{} failed", program.display());
        theirs.push(usage);
    }
    keep(folder, name, "libipt", &figures(ours, &theirs)?)
}

fn build(folder: &Path) -> Result<PathBuf> {
    let (source, program) = (folder.join("blocks.c"), folder.join("blocks"));
    std::fs::write(&source, BLOCKS)?;
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(&source)
        .arg("-lipt");
    ensure!(compiler.status().context("cc")?.success(), "cc failed");
    Ok(program)
}

/// The trace of the first CPU that has some.
pub(super) fn trace_of(recording: &Path) -> Result<Vec<u8>> {
    let bytes = std::fs::read(recording)?;
    let reader = Reader::open(&bytes)?;
    let RecordSource::Borrowed(parts) = reader.source()? else {
        return Ok(Vec::new());
    };
    let records = parts
        .into_iter()
        .flat_map(|part| part.map_while(Result::ok));
    let mut trace = Vec::new();
    for record in records.filter(|record| record.header.kind == RecordType::AUXTRACE) {
        trace.extend_from_slice(record.payload);
    }
    Ok(trace)
}

/// The mapped file: its name, and where in it the code stands, how much, and where it ran.
fn image(case: &Path, symfs: &Path) -> Result<[String; 4]> {
    let maps = std::fs::read_to_string(case.join("maps.txt"))?;
    let line = maps
        .lines()
        .find(|line| line.contains('/'))
        .context("maps.txt names no file")?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let [start, end, offset, path] = words[..] else {
        anyhow::bail!("maps.txt: {line}")
    };
    let size = u64::from_str_radix(end, 16)?.wrapping_sub(u64::from_str_radix(start, 16)?);
    let file = symfs.join(path.trim_start_matches('/'));
    Ok([
        file.display().to_string(),
        offset.to_owned(),
        format!("{size:x}"),
        start.to_owned(),
    ])
}
