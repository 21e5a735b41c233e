//! The recordings of Intel PT that hase keeps with the programs that ran: what perf 7.2 prints for them, live, and the
//! branches that hase expects.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::inputs::Input;
use crate::process::{Job, in_path};
use crate::sweep::table::{Outcome, Row};
use crate::sweep::{LIMITS, Options, compare};

/// Commands that are compared, each called by its words.
const TEXTS: [&str; 7] = [
    "--itrace=i0nse -F ip",
    BRANCHES,
    "--itrace=bpwxe -F +flags,+insn",
    "--itrace=i0ns -F ip,time,period,ipc",
    "--itrace=i100nsg16l8 -F ip,sym,brstackinsn --no-inline",
    "--itrace=cre -F +callindent,+flags",
    "-F +insn",
];

/// The branches, as hase has them in its own form.
const BRANCHES: &str = "--itrace=be -F ip,addr";

/// Compares a recording of hase's.
pub(super) fn compare(
    input: &Input,
    file: &Path,
    folder: &Path,
    options: &Options,
) -> Result<Vec<Row>> {
    let Some(programs) =
        programs(&input.stored).filter(|_| input.name.starts_with("hase-project-hase/"))
    else {
        return Ok(Vec::new());
    };
    let recording = Recording {
        file,
        programs,
        folder,
    };
    let row = |golden: String, outcome| Row {
        case: format!("public/{}", input.name),
        golden,
        outcome,
    };
    let mut rows = Vec::new();
    if let Some(perf) = in_path("perf7") {
        for words in TEXTS {
            let (theirs, ours) = (
                recording.print(&perf, words)?,
                recording.print(&options.binary, words)?,
            );
            rows.push(row(format!("script {words}"), outcome(&theirs, &ours)));
        }
    }
    if let Ok(expected) = std::fs::read_to_string(input.stored.with_extension("trace")) {
        let ours = recording.print(&options.binary, BRANCHES)?;
        let ours = pairs(&String::from_utf8_lossy(&ours));
        rows.push(row(
            "hase's branches".to_owned(),
            outcome(pairs(&expected).as_bytes(), ours.as_bytes()),
        ));
    }
    Ok(rows)
}

/// The folder with the programs of a recording: beside it, or with its day in the name.
fn programs(stored: &Path) -> Option<PathBuf> {
    let folder = stored.parent()?;
    let name = stored.file_name()?.to_str()?;
    let day = name.split('-').nth(1).and_then(|time| time.get(..8));
    let of_day = day.map(|day| folder.join(format!("symfs-{day}")));
    of_day
        .into_iter()
        .chain([folder.join("binaries")])
        .find(|folder| folder.is_dir())
}

/// A branch a line: from where, and where to.
fn pairs(text: &str) -> String {
    let words = |line: &str| {
        line.split_whitespace()
            .filter(|word| *word != "=>")
            .collect::<Vec<_>>()
            .join(" ")
    };
    text.lines().map(|line| words(line) + "\n").collect()
}

fn outcome(expected: &[u8], got: &[u8]) -> Outcome {
    compare::difference(expected, got).map_or(Outcome::Identical, Outcome::Differs)
}

struct Recording<'a> {
    file: &'a Path,
    programs: PathBuf,
    folder: &'a Path,
}

impl Recording<'_> {
    fn print(&self, program: &Path, words: &str) -> Result<Vec<u8>> {
        let mut args: Vec<String> = ["script"]
            .into_iter()
            .chain(words.split(' '))
            .map(str::to_owned)
            .collect();
        args.extend(["-i".to_owned(), self.file.display().to_string()]);
        args.extend(["--symfs".to_owned(), self.programs.display().to_string()]);
        let (stdout, stderr) = (self.folder.join("stdout"), self.folder.join("stderr"));
        let job = Job {
            program,
            args: &args,
            folder: self.folder,
            home: self.folder,
            stdout: stdout.clone(),
            stderr,
        };
        match job.run(LIMITS)?.crash() {
            Some(crash) => anyhow::bail!("{}: {crash}", program.display()),
            None => Ok(std::fs::read(&stdout)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_pairs() {
        assert_eq!(pairs("0\t400202\r\n"), "0 400202\n");
        assert_eq!(pairs("           0 =>           400202\n"), "0 400202\n");
    }
}
