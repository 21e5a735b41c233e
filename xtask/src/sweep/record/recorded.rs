//! A recording as others see it: its attributes, its features, the kinds of its records, and what its readers complain of.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result};

use super::{LONGEST, OUTPUT};

/// The programs that read recordings.
pub(super) struct Readers {
    pub(super) ours: PathBuf,
    pub(super) perf7: PathBuf,
    pub(super) perf6: PathBuf,
}

/// Features that are not compared. Build ids: perf7 writes no table where mappings tell them, ours lists those with samples.
/// What the CPU's counters can do: perf7 writes it where there is nothing to say, too.
const LEFT_OUT: [usize; 2] = [2, 28];
/// Where the bits of the features stand in the header of a file, and how many bytes they have.
const FEATURE_BITS: std::ops::Range<usize> = 72..104;

impl Readers {
    /// Describes the recording of a program in a folder; nothing where there is none.
    pub(super) fn describe(&self, recorder: &Path, folder: &Path) -> Result<String> {
        let file = folder.join(OUTPUT);
        if !file.is_file() {
            return Ok("no recording\n".to_owned());
        }
        let mut text = String::new();
        let attributes = self.run(&self.perf7, folder, &["evlist", "-v"])?;
        let without_size = |line: &str| {
            let fields = line
                .split(", ")
                .filter(|field| !field.starts_with("size: "));
            fields.collect::<Vec<_>>().join(", ")
        };
        for line in shown(&attributes.stdout).lines() {
            writeln!(text, "{}", without_size(line))?;
        }
        writeln!(text, "features: {:?}", features(&fs::read(&file)?))?;
        let records = self.run(&self.perf7, folder, &["report", "-D"])?;
        writeln!(text, "records: {:?}", kinds(&shown(&records.stdout)))?;
        writeln!(text, "perf7: {}", self.reading(&self.perf7, folder)?)?;
        // It refuses the attributes of perf 7.2; ours it has to read.
        let by_perf6 = match recorder == self.ours {
            true => self.reading(&self.perf6, folder)?,
            false => "Some(0) []".to_owned(),
        };
        writeln!(text, "perf 6.1: {by_perf6}")?;
        writeln!(text, "oxperf: {}", self.reading(&self.ours, folder)?)?;
        Ok(text)
    }

    /// How a program ends that reads the recording, and what it complains of.
    fn reading(&self, program: &Path, folder: &Path) -> Result<String> {
        let read = self.run(program, folder, &["script"])?;
        let errors = shown(&read.stderr);
        Ok(format!(
            "{:?} {:?}",
            read.status.code(),
            complaints(&errors)
        ))
    }

    pub(super) fn run(&self, program: &Path, folder: &Path, words: &[&str]) -> Result<Output> {
        let mut command = Command::new("timeout");
        command.arg(LONGEST).arg(program).args(words);
        command.args(["-i", OUTPUT]);
        command
            .current_dir(folder)
            .env("HOME", folder)
            .env("LC_ALL", "C");
        command.output().context("no timeout")
    }
}

pub(super) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The numbers of the features that a file says that it has.
pub(super) fn features(file: &[u8]) -> Vec<usize> {
    let bits = file.get(FEATURE_BITS).unwrap_or_default();
    let is_set = |number: &usize| bits[number / 8] >> (number % 8) & 1 == 1;
    let all = (0..bits.len() * 8).filter(is_set);
    all.filter(|number| !LEFT_OUT.contains(number)).collect()
}

/// The kinds of records in a dump, but for those of tasks that others start meanwhile.
pub(super) fn kinds(dump: &str) -> BTreeSet<&str> {
    let words = dump.lines().filter_map(|line| {
        let mut words = line.split([' ', ':', '(']);
        words.find(|word| word.starts_with("PERF_RECORD_"))
    });
    words.filter(|word| *word != "PERF_RECORD_FORK").collect()
}

/// What a reader says of a recording, without what it says of the machine that it reads on.
fn complaints(errors: &str) -> Vec<&str> {
    const OF_READER: [&str; 3] = [
        "Failed to open /proc/schedstat",
        "addr2line",
        "cmd__addr2line",
    ];
    let lines = errors.lines().filter(|line| !line.trim().is_empty());
    lines
        .filter(|line| !OF_READER.iter().any(|start| line.starts_with(start)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_bits_and_kinds_are_words() {
        let mut file = vec![0; 104];
        file[72] = 0b1100;
        file[75] = 0b10;
        assert_eq!(features(&file), [3, 25]);
        assert!(features(&file[..90]).is_empty());
        let dump = "0 0x1 [0x2]: PERF_RECORD_MMAP2 -1/0: x\n.  0000: 1\n1 2 PERF_RECORD_SAMPLE(IP, 1): 1\n";
        assert_eq!(
            kinds(dump).into_iter().collect::<Vec<_>>(),
            ["PERF_RECORD_MMAP2", "PERF_RECORD_SAMPLE"]
        );
    }
}
