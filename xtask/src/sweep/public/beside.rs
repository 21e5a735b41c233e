//! The same file read by us and by the perfs that are installed: the texts, and who reads what.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::inputs::Input;
use crate::process::{Job, Limits, in_path};
use crate::sweep::accepted::{self, Accepted};
use crate::sweep::table::{Outcome, Row};
use crate::sweep::{LIMITS, Options, compare};

/// Texts that are compared: the name of the text, and the command that prints it.
const TEXTS: [(&str, &[&str]); 2] = [("stats", &["report", "--stats"]), ("script", &["script"])];

/// Commands that are compared for traces of a CPU alone, beside that.
const TRACED: (&str, &[&str]) = ("script-dump", &["script", "-D"]);

/// The tools in the order of the census; ours is the first, the one that we compare with the second.
const TOOLS: [&str; 3] = ["oxperf", "perf7", "perf"];

/// Outcome of a tool on a file.
enum Reading {
    Text(Vec<u8>),
    Refused,
    /// Ended by a signal, or not at all.
    Crashed(String),
    /// The tool is not installed.
    Absent,
}

/// The tools, and the sources of names that all of them get: none, so that the machine that reads adds nothing.
pub(super) struct Beside<'a> {
    accepted: &'a [Accepted],
    tools: [Option<PathBuf>; 3],
    symfs: PathBuf,
    kallsyms: PathBuf,
}

impl<'a> Beside<'a> {
    pub(super) fn new(options: &Options, accepted: &'a [Accepted]) -> Result<Beside<'a>> {
        let (symfs, kallsyms) = (
            options.scratch.join("no-symfs"),
            options.scratch.join("no-kallsyms"),
        );
        std::fs::create_dir_all(&symfs)?;
        std::fs::write(&kallsyms, "")?;
        let tools = [
            Some(options.binary.clone()),
            in_path("perf7"),
            in_path("perf"),
        ];
        Ok(Beside {
            accepted,
            tools,
            symfs,
            kallsyms,
        })
    }

    /// Compares the texts of a file, and takes down who read it.
    pub(super) fn compare(
        &self,
        input: &Input,
        file: &Path,
        folder: &Path,
    ) -> Result<(Vec<Row>, Census)> {
        let case = format!("public/{}", input.name);
        let (mut rows, mut census) = (Vec::new(), Census::begin());
        for (text, words) in TEXTS.into_iter().chain(input.traced.then_some(TRACED)) {
            let [ours, perf, old] = self.readings(words, file, folder)?;
            census.take([&ours, &perf, &old]);
            let outcome = self.outcome(input, &case, text, &ours, &perf);
            rows.push(Row {
                case: case.clone(),
                golden: text.to_owned(),
                outcome,
            });
        }
        Ok((rows, census))
    }

    fn outcome(
        &self,
        input: &Input,
        case: &str,
        text: &str,
        ours: &Reading,
        perf: &Reading,
    ) -> Outcome {
        let compared = match (ours, perf) {
            (Reading::Text(ours), Reading::Text(expected)) => {
                compare::difference(expected, ours).map_or(Outcome::Identical, Outcome::Differs)
            }
            (Reading::Crashed(why), _) => Outcome::Failed(why.clone()),
            (Reading::Refused, Reading::Text(_)) => Outcome::Failed("refused".to_owned()),
            _ => Outcome::NoText,
        };
        let later = "decoding of AUX data";
        match (accepted::find(self.accepted, case, text), &compared) {
            (Some(entry), _) => entry.judge(compared),
            (None, Outcome::Differs(_)) if input.traced && text == "script" => Outcome::Later {
                reason: later,
                would_be: None,
            },
            _ => compared,
        }
    }

    fn readings(&self, words: &[&str], file: &Path, folder: &Path) -> Result<[Reading; 3]> {
        let read = |tool: &Option<PathBuf>| match tool {
            Some(program) => self.read(program, words, file, folder),
            None => Ok(Reading::Absent),
        };
        let [ours, perf, old] = &self.tools;
        Ok([read(ours)?, read(perf)?, read(old)?])
    }

    fn read(&self, program: &Path, words: &[&str], file: &Path, folder: &Path) -> Result<Reading> {
        let mut args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let places = [
            ("-i", file),
            ("--symfs", &self.symfs),
            ("--kallsyms", &self.kallsyms),
        ];
        args.extend(
            places
                .iter()
                .flat_map(|(option, path)| [(*option).to_owned(), path.display().to_string()]),
        );
        let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
        let job = Job {
            program,
            args: &args,
            folder,
            home: folder,
            stdout: stdout.clone(),
            stderr: stderr.clone(),
        };
        // perf waits for ever on some damaged files.
        let ended = job.run(Limits {
            time: LIMITS.time / 3,
            ..LIMITS
        })?;
        let text = std::fs::read(&stdout)?;
        // Where perf stops at an error it may say so and exit with 0 all the same.
        let nothing = text.iter().all(u8::is_ascii_whitespace);
        let error = nothing && String::from_utf8_lossy(&std::fs::read(&stderr)?).contains("Error:");
        Ok(match ended.crash() {
            Some(why) => Reading::Crashed(why),
            None if ended.status.success() && !error => Reading::Text(text),
            None => Reading::Refused,
        })
    }
}

/// Number of files that each tool reads with all commands, and how many make it crash.
#[derive(Clone, Copy, Default)]
pub(super) struct Census {
    read: [usize; 3],
    crashed: [usize; 3],
    absent: [bool; 3],
}

impl Census {
    /// One file, nothing against it yet.
    fn begin() -> Census {
        Census {
            read: [1; 3],
            ..Census::default()
        }
    }

    fn take(&mut self, readings: [&Reading; 3]) {
        for (tool, reading) in readings.into_iter().enumerate() {
            match reading {
                Reading::Text(_) => continue,
                Reading::Refused => {}
                Reading::Crashed(_) => self.crashed[tool] = 1,
                Reading::Absent => self.absent[tool] = true,
            }
            self.read[tool] = 0;
        }
    }

    pub(super) fn add(&mut self, other: &Census) {
        for tool in 0..TOOLS.len() {
            self.read[tool] += other.read[tool];
            self.crashed[tool] += other.crashed[tool];
            self.absent[tool] |= other.absent[tool];
        }
    }

    pub(super) fn print(&self, files: usize) {
        println!("\npublic fixtures, {files} files, with report --stats and script:");
        for (tool, name) in TOOLS.into_iter().enumerate() {
            match self.absent[tool] {
                true => println!("  {name:<8} SKIPPED: not installed"),
                false => println!(
                    "  {name:<8} reads {}, crashes on {}",
                    self.read[tool], self.crashed[tool]
                ),
            }
        }
    }
}
