//! Recordings of Intel PT that others made with other versions of perf: the same command on a made-up machine with the facts
//! of theirs asks for the same events, and tells the same of the trace, but for what has changed in perf since.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::lines::{Place, RecordLine};
use super::recorded::{Readers, shown};
use super::trace::description;
use super::{Bench, OUTPUT};
use crate::parallel::parallel;
use crate::sweep::Options;
use crate::sweep::compare;
use crate::sweep::public::inputs::{self, Input};
use crate::sweep::table::{Outcome, Row};
use crate::workspace;

/// A recording, and how it was made.
struct Witness {
    /// The end of its name.
    recording: &'static str,
    /// The nearest machine that is made up.
    machine: &'static str,
    /// Facts in which its machine differed from that one, by the beginnings of their lines.
    facts: &'static [(&'static str, &'static str)],
    /// The words behind `record`.
    words: &'static str,
}

/// A Skylake of the models that the recordings are of; the PMU of traces had the number 6 there.
const CORE_M: &[(&str, &str)] = &[
    ("cpuid ", "GenuineIntel-6-4E-3"),
    ("tsc_khz ", "1200000"),
    ("pmu intel_pt ", "6 pt"),
    ("intel_pt/max_nonturbo_ratio ", "12"),
    ("leaf 0x15 0 ", "2 100 0 0"),
];
const CORE_I5: &[(&str, &str)] = &[
    ("tsc_khz ", "3192000"),
    ("pmu intel_pt ", "6 pt"),
    ("intel_pt/max_nonturbo_ratio ", "32"),
    ("leaf 0x15 0 ", "2 266 0 0"),
];
const BROADWELL: &[(&str, &str)] = &[("pmu intel_pt ", "6 pt")];

const WITNESSES: [Witness; 5] = [
    Witness {
        recording: "testdata/perf.data.intel_pt-4.14",
        machine: "intel-skylake",
        facts: CORE_M,
        words: "-e cycles -e intel_pt// ./loop",
    },
    Witness {
        recording: "testdata/perf.data.piped.intel_pt-4.14",
        machine: "intel-skylake",
        facts: CORE_M,
        words: "-e intel_pt// -e cycles -o - ./loop",
    },
    Witness {
        recording: "control_flow-20180404T163033.perf",
        machine: "intel-skylake",
        facts: CORE_I5,
        words: "-v -e intel_pt//u ./loop",
    },
    Witness {
        recording: "control_flow-20180515T180451/perf.data.1",
        machine: "intel-broadwell",
        facts: BROADWELL,
        words: "--no-buildid --no-buildid-cache --snapshot -e intel_pt//u ./loop",
    },
    Witness {
        recording: "loopy-20180514T145114/perf.data.1",
        machine: "intel-broadwell",
        facts: BROADWELL,
        words: "--no-buildid --no-buildid-cache --snapshot -e intel_pt//u ./loop",
    },
];

/// perf has told of all switches of the system since, only where the configuration asks for it.
const ALL_SWITCHES: &str = "intel-pt.all-switch-events=true ; ";

/// What has changed since perf 4.14, by beginnings of fields: the size of attributes; guests, which were left out of
/// events without letters, and since are of the events that carry other records; a wake-up for each quarter of the area
/// (5.1); the records of symbols and programs that BPF brings (5.1) and build ids in mappings (5.12).
const CHANGED: [&str; 6] = [
    "size: ",
    "exclude_guest: ",
    "aux_watermark: ",
    "ksymbol: ",
    "bpf_event: ",
    "build_id: ",
];
/// Reading of losses (6.0).
const LOST: &str = "|LOST";
/// An event of its own tells how the kernel's code changes (5.9).
const NEW_EVENT: &str = "text_poke: 1";
/// Words about the trace that are not compared: the moment at which the clock of the machine began; whether the CPU can trace
/// events (5.18).
const LEFT_OUT: [&str; 2] = ["  Time Zero ", "  Cap Event Trace "];
/// The words of a stream, whose events perf lists only of newer ones.
const STREAM: &str = "-o - ";

/// Compares all recordings that are there.
pub(super) fn rows(bench: &Bench, options: &Options) -> Result<Vec<Row>> {
    let public = options.shared.join("fixtures/public");
    if !public.join("INDEX.tsv").is_file() {
        println!("SKIPPED: recordings of Intel PT by others, for want of fixtures/public");
        return Ok(Vec::new());
    }
    let inputs = inputs::recordings(&public, "")?;
    let wanted = WITNESSES.iter().filter_map(|witness| {
        let title = format!("public/{}", witness.recording);
        let is_it = |input: &&Input| input.name.ends_with(witness.recording);
        let input = inputs.iter().find(is_it)?;
        title.contains(&options.filter).then_some((witness, input))
    });
    let wanted: Vec<(&Witness, &Input)> = wanted.collect();
    Ok(parallel(
        options.jobs,
        &wanted,
        |index, (witness, input)| {
            let scratch = bench.scratch.join(format!("witness-{index}"));
            let outcome = witness.compared(bench, input, &scratch);
            Row {
                case: format!("public/{}", witness.recording),
                golden: witness.words.to_owned(),
                outcome: outcome.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}"))),
            }
        },
    ))
}

impl Witness {
    fn compared(&self, bench: &Bench, input: &Input, scratch: &Path) -> Result<Outcome> {
        let theirs = scratch.join("theirs");
        fs::create_dir_all(&theirs)?;
        fs::copy(input.unpack(scratch)?, theirs.join(OUTPUT))?;
        let line = RecordLine {
            place: Place::Machine(self.described_machine(bench, scratch)?),
            words: format!("{ALL_SWITCHES}{}", self.words),
        };
        let run = bench.run(&bench.programs[0], &line, scratch)?;
        let told = |folder: &Path| -> Result<String> {
            let told = bench
                .readers
                .told_of_trace(folder, self.words.contains(STREAM));
            Ok(comparable(&told?))
        };
        let (expected, got) = (told(&theirs)?, told(&run.folder)?);
        fs::remove_dir_all(scratch)?;
        let difference = compare::difference(expected.as_bytes(), got.as_bytes());
        Ok(difference.map_or(Outcome::Identical, Outcome::Differs))
    }

    /// The file of a machine with the facts of the recording's.
    fn described_machine(&self, bench: &Bench, scratch: &Path) -> Result<String> {
        let own = workspace::root().join(super::MACHINES).join(self.machine);
        let shared = bench
            .fakemachine
            .with_file_name("machines")
            .join(self.machine);
        let file = if own.exists() { own } else { shared };
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let changed: String = text.lines().map(|line| self.fact(line)).collect();
        let machine: PathBuf = scratch.join(self.machine);
        fs::write(&machine, changed)?;
        Ok(machine.to_string_lossy().into_owned())
    }

    fn fact(&self, line: &str) -> String {
        let changed = self.facts.iter().find(|(begin, _)| line.starts_with(begin));
        changed.map_or_else(
            || format!("{line}\n"),
            |(begin, value)| format!("{begin}{value}\n"),
        )
    }
}

impl Readers {
    /// The events and what is told of the trace.
    fn told_of_trace(&self, folder: &Path, is_stream: bool) -> Result<String> {
        let read = |words: &[&str]| -> Result<String> {
            Ok(shown(&self.run(&self.perf7, folder, words)?.stdout))
        };
        let told = description(&read(&["report", "-D"])?);
        Ok(match is_stream {
            true => told,
            false => read(&["evlist", "-v"])? + &told,
        })
    }
}

/// The text without what has changed in perf since.
fn comparable(told: &str) -> String {
    let kept = told
        .lines()
        .filter(|line| !line.contains(NEW_EVENT))
        .filter(|line| !LEFT_OUT.iter().any(|begin| line.starts_with(begin)));
    let line = |line: &str| {
        let is_kept = |field: &&str| !CHANGED.iter().any(|begin| field.starts_with(begin));
        let fields = line.split(", ").filter(is_kept);
        fields.collect::<Vec<_>>().join(", ").replace(LOST, "") + "\n"
    };
    kept.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_changed_since_is_left_out() {
        let told = "dummy:u: type: 1, size: 112, read_format: ID|LOST, exclude_guest: 1, mmap: 1\n\
                    dummy:u: type: 1, text_poke: 1\n  Time Zero           7\n  TSC bit             0x400\n";
        assert_eq!(
            comparable(told),
            "dummy:u: type: 1, read_format: ID, mmap: 1\n  TSC bit             0x400\n"
        );
    }

    #[test]
    fn facts_replace_those_of_the_nearest_machine() {
        let witness = &WITNESSES[0];
        assert_eq!(witness.fact("tsc_khz 4008000"), "tsc_khz 1200000\n");
        assert_eq!(witness.fact("cpu 0 package=0"), "cpu 0 package=0\n");
    }
}
