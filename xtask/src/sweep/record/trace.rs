//! A recording of Intel PT as its readers see it: events, what is told of the trace, kinds of records, and the code that ran.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use anyhow::Result;

use super::OUTPUT;
use super::recorded::{Readers, features, kinds, shown};

/// The record that tells what the trace is.
const DESCRIPTION: &str = "PERF_RECORD_AUXTRACE_INFO";
/// The records whose number does not depend on chance while one program is traced.
const COUNTED: [&str; 3] = ["PERF_RECORD_AUX", "PERF_RECORD_AUXTRACE", DESCRIPTION];
/// Every instruction that ran.
const EVERY_INSTRUCTION: [&str; 4] = ["script", "--itrace=i0nse", "-F", "event,ip"];
/// Every branch.
const EVERY_BRANCH: [&str; 4] = ["script", "--itrace=be", "-F", "event,ip,addr"];

impl Readers {
    /// Describes the recording of a program in a folder; of a program whose code is there also what ran.
    pub(super) fn describe_trace(
        &self,
        recorder: &Path,
        folder: &Path,
        decodes: bool,
    ) -> Result<String> {
        if !find_recording(folder)? {
            return Ok("no recording\n".to_owned());
        }
        let mut text = String::new();
        let events = self.run(&self.perf7, folder, &["evlist", "-v"])?;
        text.push_str(&without_sizes(&shown(&events.stdout)));
        let file = folder.join(OUTPUT);
        let file = if file.is_dir() {
            file.join("data")
        } else {
            file
        };
        writeln!(text, "features: {:?}", features(&fs::read(file)?))?;
        let dump = self.run(&self.perf7, folder, &["report", "-D"])?;
        let dump = shown(&dump.stdout);
        let mut kinds = kinds(&dump);
        // Whether a short program is sampled, and rings are drained twice, is a matter of chance. A stream of ours has build ids as a file has.
        for kind in ["SAMPLE", "FINISHED_ROUND", "BUILD_ID"] {
            kinds.remove(&*format!("PERF_RECORD_{kind}"));
        }
        writeln!(text, "records: {kinds:?}")?;
        text.push_str(&description(&dump));
        if decodes {
            writeln!(text, "counts: {:?}", counts(&dump))?;
            for words in [EVERY_INSTRUCTION, EVERY_BRANCH] {
                self.describe_code(recorder, folder, &words, &mut text)?;
            }
        }
        Ok(text)
    }

    /// The texts of all readers.
    fn describe_code(
        &self,
        recorder: &Path,
        folder: &Path,
        words: &[&str],
        text: &mut String,
    ) -> Result<()> {
        // perf 6.1 refuses the attributes of perf 7.2; ours it has to read.
        let perf6 = match recorder == self.ours {
            true => &self.perf6,
            false => &self.perf7,
        };
        let readers = [
            ("perf7", &self.perf7),
            ("perf 6.1", perf6),
            ("oxperf", &self.ours),
        ];
        for (name, reader) in readers {
            let read = self.run(reader, folder, words)?;
            let (lines, hash) = digest(&shown(&read.stdout));
            writeln!(
                text,
                "{} by {name}: {:?}, {lines} lines, {hash:x}",
                words[1],
                read.status.code()
            )?;
        }
        Ok(())
    }
}

/// Looks for the recording, which is the first one of several files that follow each other.
fn find_recording(folder: &Path) -> Result<bool> {
    let file = folder.join(OUTPUT);
    if file.exists() {
        return Ok(true);
    }
    let is_part = |name: &String| name.starts_with(&format!("{OUTPUT}."));
    let names =
        fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let Some(first) = names.filter(is_part).min() else {
        return Ok(false);
    };
    fs::rename(folder.join(first), file)?;
    Ok(true)
}

/// Events without the sizes of their attributes, which are no longer than what is set needs.
fn without_sizes(events: &str) -> String {
    let line = |line: &str| {
        let fields = line
            .split(", ")
            .filter(|field| !field.starts_with("size: "));
        fields.collect::<Vec<_>>().join(", ") + "\n"
    };
    events.lines().map(line).collect()
}

/// What the record about the trace says, by the words of a dump.
pub(super) fn description(dump: &str) -> String {
    let lines = dump.lines().skip_while(|line| !line.contains(DESCRIPTION));
    let told = lines.skip(1).take_while(|line| line.starts_with("  "));
    told.map(|line| format!("{line}\n")).collect()
}

/// The number of records of each kind that is counted.
fn counts(dump: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    let words = dump.lines().filter_map(|line| {
        let mut words = line.split([' ', ':', '(']);
        words.find(|word| word.starts_with("PERF_RECORD_"))
    });
    for word in words.filter(|word| COUNTED.contains(word)) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// The number of lines about the trace, and a hash of their words. What could not be decoded is told without its time.
fn digest(text: &str) -> (usize, u64) {
    const ERROR: &str = "instruction trace error ";
    const OF_TRACE: [&str; 2] = ["instructions:", "branches:"];
    let (mut hasher, mut lines) = (DefaultHasher::new(), 0);
    for line in text.lines().map(str::trim) {
        let told = match line.starts_with(ERROR) {
            true => line.split_once(" code ").map(|(_, code)| code),
            false => Some(line).filter(|line| OF_TRACE.iter().any(|name| line.starts_with(name))),
        };
        let Some(told) = told else { continue };
        // perf 6.1 has other letters behind the names of events.
        let words = told.split_whitespace();
        let words = words.filter(|word| !OF_TRACE.iter().any(|name| word.starts_with(name)));
        words.for_each(|word| word.hash(&mut hasher));
        lines += 1;
    }
    (lines, hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_tells_of_the_trace() {
        let dump = "0 0x330 [0xa0]: PERF_RECORD_AUXTRACE_INFO type: 1\n  PMU Type            10\n  Time Shift          31\n\n\
                    0x3d0@p [0x20]: event: 78\n1 2 PERF_RECORD_AUX offset: 0\n3 4 PERF_RECORD_AUX offset: 0\n  x\n";
        assert_eq!(
            description(dump),
            "  PMU Type            10\n  Time Shift          31\n"
        );
        assert_eq!(
            counts(dump),
            BTreeMap::from([("PERF_RECORD_AUX", 2), (DESCRIPTION, 1)])
        );
    }

    #[test]
    fn sizes_of_attributes_are_left_out() {
        assert_eq!(
            without_sizes("x: type: 1 (software), size: 64, config: 0\n"),
            "x: type: 1 (software), config: 0\n"
        );
    }

    #[test]
    fn samples_of_other_events_are_of_no_account() {
        let texts = [
            "   instructions:u:    401000\n instruction trace error type 1 time 5.1 cpu 2 code 5: x\n cycles:u: 7\n",
            "instructions:u: 401000\n instruction trace error type 1 time 7.2 cpu 3 code 5: x\n",
        ];
        assert_eq!(digest(texts[0]), digest(texts[1]));
        assert_eq!(digest(texts[0]).0, 2);
    }
}
