//! Damaged recordings as oxperf and perf7 read them: whose text holds more, and who refuses or crashes.
//!
//! perf is no judge here: it crashes on much, and stops where we go on. What counts is what it still reads and we do not.
//! The worst of these are kept, to be looked at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::compare::balance;
use super::mutations::{Damaged, LIMITS, Original, own};
use super::{Options, read};
use crate::mutation::{Random, mutate, mutate_records};
use crate::parallel::parallel;
use crate::process::{Ended, in_path};

/// Texts of which some is missing that are kept and shown.
const KEPT: usize = 12;

/// Recordings of counters, which `script` of perf lists and ours does not, are left out.
const COUNTERS: &str = "/stat-record";

/// Each damaged recording is read by all of these. The binaries that a recording names are no part of it, and are not
/// looked for.
const COMMANDS: [&[&str]; 3] = [
    &[
        "script",
        "--symfs",
        ".",
        "--no-inline",
        "--kallsyms",
        "/dev/null",
    ],
    &[
        "report",
        "--stdio",
        "--symfs",
        ".",
        "--no-inline",
        "--kallsyms",
        "/dev/null",
    ],
    &["evlist", "-v"],
];

/// Outcome of one command over one damaged recording.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Verdict {
    Same,
    BothRefuse,
    OnlyWeRead,
    PerfCrashed,
    WeShowMore,
    Differ,
    WeShowLess,
    OnlyPerfReads,
    WeCrashed,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Same => "the same text",
            Verdict::BothRefuse => "both refuse it",
            Verdict::OnlyWeRead => "we read it, perf7 refuses",
            Verdict::PerfCrashed => "perf7 crashes or hangs",
            Verdict::WeShowMore => "we show all lines of perf7 and more",
            Verdict::Differ => "lines differ, we show as many",
            Verdict::WeShowLess => "we show fewer lines: SUSPICIOUS",
            Verdict::OnlyPerfReads => "perf7 reads it, we refuse: SUSPICIOUS",
            Verdict::WeCrashed => "we crash or hang: BAD",
        }
    }

    fn is_suspicious(self) -> bool {
        self >= Verdict::WeShowLess
    }
}

/// A text, as one of the two made it.
struct Text {
    ended: Ended,
    bytes: Vec<u8>,
}

/// One comparison.
struct Compared {
    verdict: Verdict,
    /// Lines of perf7 that we do not show.
    missing: usize,
    about: String,
    folder: PathBuf,
}

/// Compares `count` damaged recordings; `false` when oxperf crashed.
pub(super) fn sweep(options: &Options, count: usize) -> Result<bool> {
    let Some(perf) = in_path("perf7") else {
        println!("SKIPPED: there is no perf7 to read damaged recordings beside us\n");
        return Ok(true);
    };
    let mut originals: Vec<Original> = own(options)?;
    originals.retain(|original| !original.name.contains(COUNTERS));
    if originals.is_empty() || count == 0 {
        return Ok(true);
    }
    let seeds: Vec<usize> = (0..count).collect();
    let compared = parallel(options.jobs, &seeds, |_, seed| {
        one(*seed, &originals, &perf, options)
    });
    let mut compared: Vec<Compared> = compared
        .into_iter()
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect();
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    compared
        .iter()
        .for_each(|one| *counts.entry(one.verdict).or_default() += 1);
    compared.retain(|one| one.verdict.is_suspicious());
    compared.sort_by_key(|one| std::cmp::Reverse((one.verdict, one.missing)));
    let (worst, rest) = compared.split_at(compared.len().min(KEPT));
    worst.iter().for_each(|one| {
        println!(
            "{:>6} lines missing, {}: {}",
            one.missing,
            one.verdict.name(),
            one.about
        )
    });
    for folder in rest.iter().map(|one| &one.folder) {
        if !worst.iter().any(|one| one.folder == *folder) && folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
    }
    println!(
        "\n{count} damaged recordings beside perf7, {} texts:",
        count * COMMANDS.len()
    );
    counts
        .iter()
        .for_each(|(verdict, count)| println!("{count:>6}  {}", verdict.name()));
    println!();
    Ok(!counts.contains_key(&Verdict::WeCrashed))
}

/// Reads one damaged recording with both; it is kept where something is suspicious.
fn one(
    seed: usize,
    originals: &[Original],
    perf: &Path,
    options: &Options,
) -> Result<Vec<Compared>> {
    let mut random = Random::new(seed as u64);
    let original = random.pick(originals).context("no recording")?;
    let change = if seed.is_multiple_of(4) {
        mutate
    } else {
        mutate_records
    };
    let folder = options.scratch.join(format!("differential-{seed}"));
    let Damaged { folder, input, .. } = original.damaged(folder, &mut random, change)?;
    let mut compared = Vec::new();
    for words in COMMANDS {
        let ours = text(words, &input, &folder, &options.binary)?;
        let theirs = text(words, &input, &folder, perf)?;
        let (verdict, missing) = judge(&ours, &theirs);
        let about = format!(
            "{} of {}: {}",
            input.display(),
            original.name,
            words.join(" ")
        );
        compared.push(Compared {
            verdict,
            missing,
            about,
            folder: folder.clone(),
        });
    }
    if !compared.iter().any(|one| one.verdict.is_suspicious()) {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(compared)
}

fn text(words: &[&str], input: &Path, folder: &Path, program: &Path) -> Result<Text> {
    let (ended, _) = read(words, input, folder, program, LIMITS)?;
    Ok(Text {
        ended,
        bytes: std::fs::read(folder.join("stdout"))?,
    })
}

/// Returns the outcome of the two texts, and how many lines of perf7's are missing in ours.
fn judge(ours: &Text, theirs: &Text) -> (Verdict, usize) {
    let refuses = |text: &Text| !text.ended.status.success() && text.bytes.is_empty();
    let (missing, more) = balance(&theirs.bytes, &ours.bytes);
    let verdict = match (refuses(ours), refuses(theirs)) {
        _ if ours.ended.crash().is_some() => Verdict::WeCrashed,
        _ if theirs.ended.crash().is_some() => Verdict::PerfCrashed,
        (true, true) => Verdict::BothRefuse,
        (true, false) if missing > 0 => Verdict::OnlyPerfReads,
        (false, true) => Verdict::OnlyWeRead,
        _ if missing == 0 && more == 0 => Verdict::Same,
        _ if missing == 0 => Verdict::WeShowMore,
        _ if missing > more => Verdict::WeShowLess,
        _ => Verdict::Differ,
    };
    (verdict, missing)
}
