//! `stat` on the made-up machines of `../shared/tools/fakemachine`, beside perf7: what it prints, its exit code, the files that
//! it writes, and what it asks of the kernel.
//!
//! The command lines stand in `xtask/stat-lines.txt`.

pub(super) mod asked;
mod lines;
pub(super) mod opened;
mod recordings;
mod slips;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::accepted::{self, Accepted};
use super::table::{Outcome, Row, Table};
use super::{Options, compare};
use crate::parallel::parallel;
use crate::process::in_path;
use crate::workspace;
use lines::StatLine;

/// Seconds that a command may take.
const LONGEST: &str = "30";

/// What all lines have in common.
struct Bench {
    /// Runs a program on a made-up machine.
    run: PathBuf,
    /// Ours and perf7.
    programs: [PathBuf; 2],
    shared: PathBuf,
    scratch: PathBuf,
    accepted: Vec<Accepted>,
    /// The folders of metrics of the machines.
    tables: BTreeMap<String, PathBuf>,
}

/// Compares every line and prints the table; `false` when something differs.
pub(super) fn sweep(options: &Options) -> Result<bool> {
    let run = options.shared.join("tools/fakemachine/run");
    let Some(perf) = in_path("perf7").filter(|_| run.is_file()) else {
        println!(
            "SKIPPED: stat on made-up machines, for want of perf7 or of {}",
            run.display()
        );
        return Ok(true);
    };
    let lines = lines::read(&workspace::root().join("xtask/stat-lines.txt"))?;
    let wanted =
        |line: &StatLine| format!("{}/{}", line.machine, line.words).contains(&options.filter);
    let lines: Vec<StatLine> = lines.into_iter().filter(wanted).collect();
    let bench = Bench {
        run,
        programs: [options.binary.clone(), perf],
        shared: options.shared.clone(),
        scratch: options.scratch.clone(),
        accepted: accepted::read()?,
        tables: tables_of(&lines, options)?,
    };
    let rows = parallel(options.jobs, &lines, |index, line| bench.row(index, line));
    let recorded = lines::read(&workspace::root().join("xtask/stat-recordings.txt"))?;
    let recorded: Vec<StatLine> = recorded.into_iter().filter(wanted).collect();
    let readings = parallel(options.jobs, &recorded, |index, line| {
        bench.recording_rows(index, line)
    });
    let readings = readings.into_iter().flatten().collect();
    let good = Table::new("stat on made-up machines beside perf7", rows).print();
    Ok(Table::new(
        "recordings of stat, ours and perf7's, read by each",
        readings,
    )
    .print()
        && good)
}

/// The folders of metrics of the machines of `lines`.
fn tables_of(lines: &[StatLine], options: &Options) -> Result<BTreeMap<String, PathBuf>> {
    let machines: BTreeSet<&String> = lines.iter().map(|line| &line.base).collect();
    let mut folders = BTreeMap::new();
    for machine in machines {
        let folder = tables::folder(&options.shared, &options.scratch, machine, options.jobs)?;
        folders.extend(folder.map(|folder| (machine.clone(), folder)));
    }
    Ok(folders)
}

impl Bench {
    fn row(&self, index: usize, line: &StatLine) -> Row {
        let scratch = self.scratch.join(format!("stat-{index}"));
        let compared = self.compared(line, &scratch);
        let compared = compared.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let case = format!("stat/{}", line.machine);
        let outcome = match accepted::find(&self.accepted, &case, &line.words) {
            Some(entry) => entry.judge(compared),
            None => compared,
        };
        Row {
            case,
            golden: line.words.clone(),
            outcome,
        }
    }

    fn compared(&self, line: &StatLine, scratch: &Path) -> Result<Outcome> {
        std::fs::create_dir_all(scratch)?;
        let texts = self
            .programs
            .each_ref()
            .map(|program| self.text(program, line, scratch));
        let [ours, perfs] = texts;
        std::fs::remove_dir_all(scratch)?;
        let perfs = perfs?;
        let ours = slips::forgiven(&perfs, &ours?);
        let difference = compare::difference(perfs.as_bytes(), ours.as_bytes());
        Ok(difference.map_or(Outcome::Identical, Outcome::Differs))
    }

    /// All that a program did: streams, exit code, files, and what it asked for.
    fn text(&self, program: &Path, line: &StatLine, scratch: &Path) -> Result<String> {
        let (folder, home) = (scratch.join("run"), scratch.join("home"));
        let (log, counts) = (scratch.join("log"), scratch.join("counts"));
        for folder in [&folder, &home] {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&log, "")?;
        std::fs::write(&counts, &line.counts)?;
        let mut command = Command::new("timeout");
        command
            .arg(LONGEST)
            .arg(&self.run)
            .arg(line.machine_argument(&self.shared, scratch)?)
            .arg("--");
        // The shell takes the words apart, as it does for a user.
        let tables = self.tables.get(&line.base);
        let tables = tables.filter(|_| program == self.programs[0]);
        let tables = tables.map(|folder| format!("--pmu-events {} ", folder.display()));
        let words = tables.unwrap_or_default() + &line.words;
        let script = format!("exec \"$@\" stat {words}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh"]);
        shell
            .arg(command.get_program())
            .args(command.get_args())
            .arg(program);
        shell
            .current_dir(&folder)
            .env("HOME", &home)
            .env("LC_ALL", "C");
        shell.env("XDG_CACHE_HOME", self.scratch.join("fakemachine"));
        shell.env("FAKE_LOG", &log).env("FAKE_COUNTS", &counts);
        let output = shell.output().context("no shell")?;
        let mut text = format!("exit {:?}\n", output.status.code());
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        write!(text, "stdout\n{}\n", shown(&output.stdout))?;
        write!(
            text,
            "stderr\n{}\n",
            opened::comparable(&comparable_errors(&shown(&output.stderr)))
        )?;
        for (name, content) in files(&folder)? {
            write!(text, "file {name}\n{content}\n")?;
        }
        text.push_str(&asked::comparable(&std::fs::read_to_string(&log)?));
        std::fs::remove_dir_all(&folder)?;
        Ok(text)
    }
}

/// The files that a run left, with their contents.
fn files(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.insert(name, std::fs::read_to_string(entry.path())?);
    }
    Ok(files)
}

/// Standard error without what differs on purpose: the reasons below our table, and why nothing could be counted; the
/// options that a mistake is about, which each program describes in its own words; and perf's complaint that it has no
/// tables of a CPU.
fn comparable_errors(text: &str) -> String {
    const NOTHING: &str = "No supported events found.\n";
    let kept =
        |line: &&str| !line.starts_with("Not counted: ") && !line.starts_with("Invalid CPUID ");
    let text: String = text.split_inclusive('\n').filter(kept).collect();
    let text = match text.split_once(NOTHING) {
        Some((before, _)) => format!("{before}{NOTHING}"),
        None => text,
    };
    let usage = ["\n Usage: ", "    -p, --pid"];
    let end = usage.iter().filter_map(|mark| text.find(mark)).min();
    match end {
        Some(end) => text[..end].trim_end().to_owned() + "\n",
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::comparable_errors;

    #[test]
    fn what_differs_on_purpose_is_left_out() {
        let text = "Error:\nNo supported events found.\nThe cycles event is not supported.\n";
        assert_eq!(
            comparable_errors(text),
            "Error:\nNo supported events found.\n"
        );
        let text = "wrong\n\n Usage: perf stat\n\n    -a\n";
        assert_eq!(comparable_errors(text), "wrong\n");
        assert_eq!(comparable_errors("a\nNot counted: b: c\nd\n"), "a\nd\n");
    }
}
