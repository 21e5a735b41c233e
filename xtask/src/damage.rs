//! `damage`: recordings with bytes changed, through the readers; nothing may crash, hang or eat the memory.
//!
//! Memory is bounded by the size of the input and what a program takes that reads nothing; so is the time.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::args::Args;
use crate::mutation::{Random, mutate};
use crate::process::{Job, Limits};
use crate::{binary, workspace};

/// A damaged recording of at most 64 KiB deserves no more than this.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(20),
    memory_kib: 2 << 20,
};
/// Resident bytes beside the size of the input that any command may take.
const MEMORY: u64 = 64 << 20;

const LARGEST: u64 = 64 << 10;

/// The commands that read a whole file.
const COMMANDS: [&[&str]; 8] = [
    &["report", "--header-only", "-I"],
    &["script"],
    &["script", "-D"],
    &["report", "-D", "--disable-order"],
    &["report", "--stdio"],
    &["report", "--stdio", "-g", "none"],
    &["data", "check", "--json"],
    &["data", "convert", "--force", "--to-perf", "/dev/null"],
];

/// Damages `--runs` recordings, chosen and changed by `--seed`, and keeps what crashes in `target/damage`.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let runs = args.number("--runs")?.unwrap_or(500);
    let seed = args.number("--seed")?.unwrap_or(1);
    let binary = binary::find(&mut args)?;
    args.finish()?;
    let originals = originals()?;
    if originals.is_empty() {
        println!("SKIPPED: there are no recordings below ../shared/fixtures/recorded to damage");
        return Ok(ExitCode::SUCCESS);
    }
    let mut random = Random::new(seed as u64);
    let bad = (0..runs)
        .map(|run| one(run, &originals, &mut random, &binary))
        .sum::<Result<usize>>()?;
    println!(
        "{runs} damaged recordings, {} commands each, {bad} BAD",
        COMMANDS.len()
    );
    Ok(if bad == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Small recordings of every kind.
fn originals() -> Result<Vec<PathBuf>> {
    let Some(shared) = workspace::shared() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for version in ["6.1.187", "7.2.13"] {
        let Ok(cases) = std::fs::read_dir(shared.join("fixtures/recorded").join(version)) else {
            continue;
        };
        for case in cases {
            let file = case?.path().join("perf.data");
            let size = std::fs::metadata(&file).map_or(u64::MAX, |found| {
                if found.is_file() {
                    found.len()
                } else {
                    u64::MAX
                }
            });
            found.extend(Some(file).filter(|_| size <= LARGEST));
        }
    }
    found.sort();
    Ok(found)
}

fn one(run: usize, originals: &[PathBuf], random: &mut Random, binary: &Path) -> Result<usize> {
    let original = random.pick(originals).context("no recording")?;
    let mut bytes = std::fs::read(original).with_context(|| original.display().to_string())?;
    mutate(&mut bytes, random);
    let folder = workspace::scratch("damage")?;
    let input = folder.join(format!("{run}.data"));
    std::fs::write(&input, &bytes)?;
    let mut bad = 0;
    for words in COMMANDS {
        if let Some(why) = crash(words, &input, &folder, binary)? {
            println!(
                "BAD {} of {}: {}: {why}",
                input.display(),
                original.display(),
                words.join(" ")
            );
            bad += 1;
        }
    }
    if bad == 0 {
        std::fs::remove_file(&input)?;
    }
    Ok(bad)
}

fn crash(words: &[&str], input: &Path, folder: &Path, binary: &Path) -> Result<Option<String>> {
    let mut args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    args.extend(["-i".to_owned(), input.display().to_string()]);
    let stderr = folder.join("stderr");
    let job = Job {
        program: binary,
        args: &args,
        folder,
        home: folder,
        stdout: folder.join("stdout"),
        stderr: stderr.clone(),
    };
    let ended = job.run(LIMITS)?;
    let allowed = MEMORY + std::fs::metadata(input)?.len();
    let greedy = (ended.peak > allowed).then(|| format!("{} KiB of memory", ended.peak >> 10));
    let Some(crash) = ended.crash().or(greedy) else {
        return Ok(None);
    };
    let message = std::fs::read(&stderr)?;
    Ok(Some(format!(
        "{crash}: {}",
        String::from_utf8_lossy(&message)
            .lines()
            .find(|line| !line.is_empty())
            .unwrap_or("")
    )))
}
