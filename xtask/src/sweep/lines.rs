//! The command lines of docs/command-lines.md beside perf7, over recordings of Intel PT: output and exit code.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::accepted::{self, Accepted};
use super::table::{Outcome, Row, Table};
use super::{LIMITS, Options, compare, symfs};
use crate::parallel::parallel;
use crate::process::{Job, in_path};
use crate::workspace;

/// The page with the lines.
const PAGE: &str = "docs/command-lines.md";

/// A line, and the recording that it is run over.
struct Line {
    /// The words behind `perf`.
    words: Vec<String>,
    /// A folder of `fixtures/pt`.
    case: String,
}

/// What all lines have in common.
struct Bench {
    folder: PathBuf,
    /// The objects of all recordings, a folder each.
    objects: PathBuf,
    /// Ours and perf7.
    programs: [PathBuf; 2],
    accepted: Vec<Accepted>,
}

/// Compares every line and prints the table; `false` when something differs.
pub(super) fn sweep(options: &Options) -> Result<bool> {
    let folder = options.shared.join("fixtures/pt");
    let Some(perf) = in_path("perf7").filter(|_| folder.is_dir()) else {
        println!(
            "SKIPPED: command lines, for want of perf7 or of {}",
            folder.display()
        );
        return Ok(true);
    };
    let page = workspace::root().join(PAGE);
    let page = std::fs::read_to_string(&page).with_context(|| page.display().to_string())?;
    let objects = options.scratch.join("pt-symfs");
    symfs::rebuild(&folder.join("_symfs"), &objects)?;
    let bench = Bench {
        folder,
        objects,
        programs: [options.binary.clone(), perf],
        accepted: accepted::read()?,
    };
    let lines: Vec<Line> = page.lines().flat_map(read_row).collect();
    let rows = parallel(options.jobs, &lines, |index, line| {
        let scratch = options.scratch.join(format!("line-{index}"));
        bench.row(line, &scratch)
    });
    Ok(Table::new("command lines beside perf7", rows).print())
}

/// The lines of a row of the page: `| LINE | golden | CASE CASE |`, with one line for each recording.
fn read_row(row: &str) -> Vec<Line> {
    let mut columns = row.split('|').map(str::trim);
    let (Some(""), Some(line), Some(_), Some(cases)) = (
        columns.next(),
        columns.next(),
        columns.next(),
        columns.next(),
    ) else {
        return Vec::new();
    };
    let line = line
        .strip_prefix("`perf ")
        .and_then(|line| line.strip_suffix('`'));
    let Some(line) = line.filter(|_| !cases.starts_with("not: ")) else {
        return Vec::new();
    };
    let cases = cases.split(' ').filter(|case| !case.is_empty());
    cases
        .map(|case| Line {
            words: line.split(' ').map(str::to_owned).collect(),
            case: case.to_owned(),
        })
        .collect()
}

impl Bench {
    fn row(&self, line: &Line, scratch: &Path) -> Row {
        let compared = self.run(line, scratch);
        let compared = compared.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let (case, golden) = (format!("lines/{}", line.case), line.words.join(" "));
        let outcome = match accepted::find(&self.accepted, &case, &golden) {
            Some(entry) => entry.judge(compared),
            None => compared,
        };
        Row {
            case,
            golden,
            outcome,
        }
    }

    /// Runs a line with both programs and compares what they print and their exit codes.
    fn run(&self, line: &Line, scratch: &Path) -> Result<Outcome> {
        std::fs::create_dir_all(scratch)?;
        let case = self.folder.join(&line.case);
        let mut args = line.words.clone();
        if matches!(args.first().map(String::as_str), Some("report" | "script")) {
            let objects = symfs::of_case(&case, &self.objects)?;
            args.extend(["--symfs".to_owned(), objects.display().to_string()]);
        }
        let mut texts = Vec::new();
        for program in &self.programs {
            let stdout = scratch.join("stdout");
            let job = Job {
                program,
                args: &args,
                folder: &case,
                home: scratch,
                stdout: stdout.clone(),
                stderr: scratch.join("stderr"),
            };
            let ended = job.run(LIMITS)?;
            if let Some(crash) = ended.crash() {
                anyhow::bail!("{}: {crash}", program.display());
            }
            let mut text = std::fs::read(&stdout)?;
            let code = ended.status.code().unwrap_or(-1);
            text.extend_from_slice(format!("exit {code}\n").as_bytes());
            texts.push(text);
        }
        std::fs::remove_dir_all(scratch)?;
        let difference = compare::difference(&texts[1], &texts[0]);
        Ok(difference.map_or(Outcome::Identical, Outcome::Differs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_line_for_each_recording() {
        let lines = read_row("| `perf script -F+ipc` | ipc | dyn-ls smp-gap |");
        let shown: Vec<_> = lines
            .iter()
            .map(|line| (line.words.join(" "), line.case.as_str()))
            .collect();
        let words = || "script -F+ipc".to_owned();
        assert_eq!(shown, [(words(), "dyn-ls"), (words(), "smp-gap")]);
        for none in [
            "| line | golden | beside perf7 |",
            "|---|---|---|",
            "| `perf x` | y | not: no xed |",
            "text",
        ] {
            assert!(read_row(none).is_empty(), "{none}");
        }
    }
}
