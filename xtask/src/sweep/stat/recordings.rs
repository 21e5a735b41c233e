//! `stat record` and `stat report` on the made-up machines: what each program records is read by each.
//!
//! The lines stand in `xtask/stat-recordings.txt`: `MACHINE NAME WORDS => WORDS`, the words of `stat record`, and those of
//! `stat ... report`. perf7 reads no file of its own, so that its streams are what our streams are held against, and its
//! reading of our file what our reading of it is.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::super::accepted;
use super::super::compare;
use super::super::table::{Outcome, Row};
use super::lines::StatLine;
use super::{Bench, LONGEST};
use crate::process::in_path;

/// What stands between the words of both commands.
const THEN: &str = " => ";

/// A program that records or reads.
#[derive(Clone, Copy)]
enum Who {
    Ours,
    Perf7,
    /// perf 6.1.
    Perf6,
}

/// A recording: who made it, and in which form.
#[derive(Clone, Copy)]
struct Made(Who, Form);

#[derive(Clone, Copy)]
enum Form {
    File,
    Stream,
}

/// Who reads what, and what the text is to be equal to.
type Reading = (Who, Made);

/// The pairs of readings that are to be equal.
const PAIRS: [(&str, Reading, Reading); 6] = {
    use Form::{File, Stream};
    use Who::{Ours, Perf6, Perf7};
    [
        (
            "our file",
            (Ours, Made(Ours, File)),
            (Perf7, Made(Ours, File)),
        ),
        (
            "perf7's file",
            (Ours, Made(Perf7, File)),
            (Ours, Made(Ours, File)),
        ),
        (
            "our stream",
            (Ours, Made(Ours, Stream)),
            (Perf7, Made(Perf7, Stream)),
        ),
        (
            "our stream by perf7",
            (Perf7, Made(Ours, Stream)),
            (Perf7, Made(Perf7, Stream)),
        ),
        (
            "perf7's stream",
            (Ours, Made(Perf7, Stream)),
            (Perf7, Made(Perf7, Stream)),
        ),
        (
            "our stream by perf 6.1",
            (Perf6, Made(Ours, Stream)),
            (Perf6, Made(Perf7, Stream)),
        ),
    ]
};

impl Bench {
    /// All comparisons of a line.
    pub(super) fn recording_rows(&self, index: usize, line: &StatLine) -> Vec<Row> {
        let scratch = self.scratch.join(format!("stat-recording-{index}"));
        let case = format!("stat-record/{}", line.machine);
        let judged = |name: &str, compared: Result<Outcome>| {
            let golden = format!("{}: {name}", line.words);
            let compared = compared.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
            let outcome = match accepted::find(&self.accepted, &case, &golden) {
                Some(entry) => entry.judge(compared),
                None => compared,
            };
            Row {
                case: case.clone(),
                golden,
                outcome,
            }
        };
        let compared = self.record_all(line, &scratch);
        let mut rows = vec![judged("record", compared)];
        for (name, own, other) in PAIRS {
            rows.push(judged(name, self.both_read(line, &scratch, own, other)));
        }
        let _ = std::fs::remove_dir_all(&scratch);
        rows
    }

    /// Makes all recordings; compares what is said while the files are made.
    fn record_all(&self, line: &StatLine, scratch: &Path) -> Result<Outcome> {
        std::fs::create_dir_all(scratch)?;
        std::fs::write(scratch.join("counts"), &line.counts)?;
        let (words, _) = line.words.split_once(THEN).context("no => in the line")?;
        let record = |who, form| {
            let to = match form {
                Form::File => format!("-o {}", Made(who, form).name()),
                Form::Stream => "-o -".to_owned(),
            };
            self.say(
                line,
                scratch,
                who,
                &format!("record {to} {words}"),
                Some(Made(who, form)),
            )
        };
        let (ours, perfs) = (
            record(Who::Ours, Form::File)?,
            record(Who::Perf7, Form::File)?,
        );
        record(Who::Ours, Form::Stream)?;
        record(Who::Perf7, Form::Stream)?;
        Ok(outcome(&ours, &perfs))
    }

    fn both_read(
        &self,
        line: &StatLine,
        scratch: &Path,
        own: Reading,
        other: Reading,
    ) -> Result<Outcome> {
        let (_, words) = line.words.split_once(THEN).context("no => in the line")?;
        let read = |(who, made): Reading| {
            self.say(
                line,
                scratch,
                who,
                &format!("{words} -i {}", made.name()),
                None,
            )
        };
        Ok(outcome(&read(own)?, &read(other)?))
    }

    /// The exit code and the messages of a program; its output goes to the stream that is recorded, if one is.
    fn say(
        &self,
        line: &StatLine,
        scratch: &Path,
        who: Who,
        words: &str,
        records: Option<Made>,
    ) -> Result<String> {
        let program = match who {
            Who::Ours => self.programs[0].clone(),
            Who::Perf7 => self.programs[1].clone(),
            Who::Perf6 => in_path("perf").context("perf 6.1 is not installed")?,
        };
        let output = match records {
            Some(made @ Made(_, Form::Stream)) => made.name(),
            _ => "output",
        };
        let script = format!("exec \"$@\" stat {words} >{output}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh", "timeout", LONGEST]);
        shell
            .arg(&self.run)
            .arg(line.machine_argument(&self.shared, scratch)?)
            .arg("--")
            .arg(program);
        shell
            .current_dir(scratch)
            .env("HOME", scratch)
            .env("LC_ALL", "C");
        shell.env("XDG_CACHE_HOME", self.scratch.join("fakemachine"));
        shell.env("FAKE_COUNTS", scratch.join("counts"));
        let said = shell.output().context("no shell")?;
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        Ok(format!(
            "exit {:?}\n{}",
            said.status.code(),
            comparable(&text)
        ))
    }
}

impl Made {
    /// The name of the recording.
    fn name(self) -> &'static str {
        match self {
            Made(Who::Ours, Form::File) => "ours.data",
            Made(_, Form::File) => "perf7.data",
            Made(Who::Ours, Form::Stream) => "ours.pipe",
            Made(_, Form::Stream) => "perf7.pipe",
        }
    }
}

fn outcome(ours: &str, perfs: &str) -> Outcome {
    let difference = compare::difference(perfs.as_bytes(), ours.as_bytes());
    difference.map_or(Outcome::Identical, Outcome::Differs)
}

/// What is said without the command that was recorded, which is each program's own, and what only one of them says.
fn comparable(text: &str) -> String {
    const COMMAND: &str = " Performance counter stats for ";
    let of_one = [
        "Not counted: ",
        "Invalid CPUID ",
        "Failed to open /proc/schedstat",
    ];
    let kept = text
        .lines()
        .filter(|line| !of_one.iter().any(|start| line.starts_with(start)));
    let line = |line: &str| match line.strip_prefix(COMMAND) {
        Some(_) => format!("{COMMAND}\n"),
        None => format!("{line}\n"),
    };
    // perf ends its table with one more empty line where it says something of its own behind it.
    let text: String = kept.map(line).collect();
    text.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::comparable;

    #[test]
    fn the_command_is_left_out() {
        let text = "\n Performance counter stats for 'x':\n\n 1 cycles\n\nFailed to open /proc/schedstat\n";
        assert_eq!(
            comparable(text),
            "\n Performance counter stats for \n\n 1 cycles\n"
        );
    }
}
