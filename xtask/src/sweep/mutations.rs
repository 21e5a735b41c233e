//! A fixed set of damaged recordings, through the commands that read a whole file: no crash, no hang, no more memory
//! than the input and a constant.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::public::{self, Input};
use super::{Options, read};
use crate::mutation::{Random, mutate};
use crate::parallel::parallel;
use crate::process::Limits;

/// Ends what hangs; a busy machine is given its time.
pub(super) const LIMITS: Limits = Limits {
    time: Duration::from_secs(20),
    memory_kib: 2 << 20,
};
/// Resident bytes beside the size of the input that any command may take.
const MEMORY: u64 = 64 << 20;
/// Larger recordings take long and damage as smaller ones do.
const LARGEST: u64 = 64 << 10;

/// Each mutation goes through one of these pairs in turn. The binaries that a recording names are no part of the input,
/// and are not looked for.
const COMMANDS: [[&[&str]; 2]; 3] = [
    [
        &["script", "--symfs", "."],
        &["report", "--header-only", "-I"],
    ],
    [&["script", "-D", "--symfs", "."], &["evlist", "-v"]],
    [&["report", "--stats"], &["buildid-list"]],
];

/// A recording of any form.
pub(super) struct Original {
    pub(super) name: String,
    /// Its files with their names; a directory has several.
    files: Vec<(String, Vec<u8>)>,
}

/// Runs mutations 0 to `count`; `false` when one misbehaved.
pub(super) fn sweep(options: &Options, count: usize) -> Result<bool> {
    let originals = originals(options)?;
    if originals.is_empty() {
        println!(
            "mutations: no recording is named like {:?}\n",
            options.filter
        );
        return Ok(true);
    }
    let seeds: Vec<usize> = (0..count).collect();
    let bad = parallel(options.jobs, &seeds, |_, seed| {
        let outcome = one(*seed, &originals, options);
        let faults = outcome.unwrap_or_else(|error| vec![format!("mutation {seed}: {error:#}")]);
        faults.iter().for_each(|fault| println!("BAD      {fault}"));
        faults.len()
    });
    let bad: usize = bad.into_iter().sum();
    println!(
        "\n{count} mutations of {} recordings, {} runs, {bad} BAD\n",
        originals.len(),
        2 * count
    );
    Ok(bad == 0)
}

/// Small recordings of every kind: our own in all forms, Intel PT's, and what was found in public places.
fn originals(options: &Options) -> Result<Vec<Original>> {
    let fixtures = options.shared.join("fixtures");
    let mut found = own(options)?;
    let public = public::recordings(&fixtures.join("public"), "")?;
    let public = public.iter().filter_map(|input| unpacked(input, options));
    found.extend(public.filter(|original| original.name.contains(&options.filter)));
    Ok(found)
}

/// Those among them that are our own.
pub(super) fn own(options: &Options) -> Result<Vec<Original>> {
    let fixtures = options.shared.join("fixtures");
    let mut paths = Vec::new();
    for folder in ["recorded/6.1.187", "recorded/7.2.13", "pt"] {
        let cases = std::fs::read_dir(fixtures.join(folder)).with_context(|| folder.to_owned())?;
        for case in cases {
            paths.push(case?.path().join("perf.data"));
        }
    }
    paths.sort();
    let own = paths.iter().filter_map(|path| original(path, path));
    Ok(own
        .filter(|original| original.name.contains(&options.filter))
        .collect())
}

fn unpacked(input: &Input, options: &Options) -> Option<Original> {
    let small = std::fs::metadata(&input.stored).is_ok_and(|found| found.len() <= LARGEST);
    let path = small
        .then(|| input.unpack(&options.scratch).ok())
        .flatten()?;
    original(&path, &input.stored)
}

/// The recording at `path`, if it is small.
fn original(path: &Path, named: &Path) -> Option<Original> {
    let mut files = Vec::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path)
            .ok()?
            .flatten()
            .filter(|entry| entry.path().is_file())
        {
            files.push((
                entry.file_name().to_string_lossy().into_owned(),
                std::fs::read(entry.path()).ok()?,
            ));
        }
        files.sort();
    } else {
        files.push(("perf.data".to_owned(), std::fs::read(path).ok()?));
    }
    let size: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    (0 < size && size as u64 <= LARGEST).then(|| Original {
        name: named.display().to_string(),
        files,
    })
}

/// A damaged recording in a folder of its own.
pub(super) struct Damaged {
    pub(super) folder: PathBuf,
    pub(super) input: PathBuf,
    /// Bytes of all its files.
    size: u64,
}

impl Original {
    /// Writes this recording with one of its files changed into `folder`, which is made anew.
    pub(super) fn damaged(
        &self,
        folder: PathBuf,
        random: &mut Random,
        change: fn(&mut Vec<u8>, &mut Random),
    ) -> Result<Damaged> {
        let changed = random.below(self.files.len());
        std::fs::create_dir_all(folder.join("recording"))?;
        let mut size = 0;
        for (index, (name, bytes)) in self.files.iter().enumerate() {
            let mut bytes = bytes.clone();
            if index == changed {
                change(&mut bytes, random);
            }
            size += bytes.len() as u64;
            std::fs::write(folder.join("recording").join(name), bytes)?;
        }
        let input = match self.files.len() {
            1 => folder.join("recording/perf.data"),
            _ => folder.join("recording"),
        };
        Ok(Damaged {
            folder,
            input,
            size,
        })
    }
}

/// Runs one mutation; gives what went wrong. Its input is kept then.
fn one(seed: usize, originals: &[Original], options: &Options) -> Result<Vec<String>> {
    let mut random = Random::new(seed as u64);
    let original = random.pick(originals).context("no recording")?;
    let folder = options.scratch.join(format!("mutation-{seed}"));
    let Damaged {
        folder,
        input,
        size,
    } = original.damaged(folder, &mut random, mutate)?;
    let mut faults = Vec::new();
    for words in COMMANDS[seed % COMMANDS.len()] {
        if let Some(why) = fault(words, &input, size, &folder, options)? {
            faults.push(format!(
                "mutation {seed} of {}: {}: {why}",
                original.name,
                words.join(" ")
            ));
        }
    }
    if faults.is_empty() {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(faults)
}

fn fault(
    words: &[&str],
    input: &Path,
    size: u64,
    folder: &Path,
    options: &Options,
) -> Result<Option<String>> {
    let (ended, message) = read(words, input, folder, &options.binary, LIMITS)?;
    let greedy =
        (ended.peak > MEMORY + size).then(|| format!("{} KiB of memory", ended.peak >> 10));
    let Some(crash) = ended.crash().or(greedy) else {
        return Ok(None);
    };
    let message = message
        .lines()
        .find(|line| !line.is_empty())
        .map(str::to_owned);
    Ok(Some(format!("{crash}: {}", message.unwrap_or_default())))
}
