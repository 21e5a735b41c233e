//! `record` beside perf7: what both say, and what they ask of the kernel on the made-up machines of
//! `../shared/tools/fakemachine`; and the recordings that both make of the running machine.
//!
//! Where they differ, both texts are kept: `record-LINE.ours` and `record-LINE.perf7` in the folder of the sweep.
//! Recordings of Intel PT on made-up machines are also decoded. The command lines stand in `xtask/record-lines.tsv`.

mod asked;
mod lines;
mod recorded;
mod said;
mod syntax;
mod trace;
mod witnesses;

use std::fmt::Write;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::accepted::{self, Accepted};
use super::table::{Outcome, Row, Table};
use super::{Options, compare, symfs};
use crate::parallel::parallel;
use crate::process::in_path;
use crate::workspace;
use lines::{Place, RecordLine};

/// Seconds that a command may take.
const LONGEST: &str = "30";
/// The recording of a command.
const OUTPUT: &str = "out.data";
/// The beginning of a recording.
const MAGIC: &[u8] = b"PERFILE2";

/// The trace that the made-up machines play, and its program, below the folders of traces and of their objects.
const TRACE: &str = "static-loop";
const TRACED_PROGRAM: &str = "tmp/ptgen/build/loop";
/// Machines of our own, below the project.
const MACHINES: &str = "xtask/machines";

/// What all lines have in common.
struct Bench {
    /// Runs a program on a made-up machine.
    fakemachine: PathBuf,
    /// Ours and perf7.
    programs: [PathBuf; 2],
    readers: recorded::Readers,
    /// The program whose trace the made-up machines play.
    traced_program: PathBuf,
    scratch: PathBuf,
    accepted: Vec<Accepted>,
}

/// Compares every line and prints the table; `false` when something differs.
pub(super) fn sweep(options: &Options) -> Result<bool> {
    let fakemachine = options.shared.join("tools/fakemachine/run");
    let (Some(perf7), Some(perf6)) = (in_path("perf7"), in_path("perf")) else {
        println!("SKIPPED: record beside perf7, for want of perf7 or perf 6.1");
        return Ok(true);
    };
    let lines = lines::read(&workspace::root().join("xtask/record-lines.tsv"))?;
    let wanted = |line: &RecordLine| line.title().contains(&options.filter);
    let lines: Vec<RecordLine> = lines.into_iter().filter(wanted).collect();
    let traces = options.shared.join("fixtures/pt");
    let bench = Bench {
        fakemachine,
        programs: [options.binary.clone(), perf7.clone()],
        readers: recorded::Readers {
            ours: options.binary.clone(),
            perf7,
            perf6,
        },
        traced_program: symfs::of_case(&traces.join(TRACE), &traces.join("_symfs"))?
            .join(TRACED_PROGRAM),
        scratch: options.scratch.clone(),
        accepted: accepted::read()?,
    };
    let mut rows = parallel(options.jobs, &lines, |index, line| bench.row(index, line));
    rows.extend(witnesses::rows(&bench, options)?);
    Ok(Table::new("record beside perf7", rows).print())
}

/// What a program did.
struct Run {
    /// Its exit code, if no signal ended it.
    code: Option<i32>,
    said: String,
    errors: String,
    /// What it asked of the kernel.
    log: String,
    /// The folder with its recording.
    folder: PathBuf,
}

impl Bench {
    fn row(&self, index: usize, line: &RecordLine) -> Row {
        let scratch = self.scratch.join(format!("record-{index}"));
        let compared = self.compared(line, &scratch);
        let compared = compared.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let case = format!("record/{}", line.place.name());
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

    fn compared(&self, line: &RecordLine, scratch: &Path) -> Result<Outcome> {
        fs::create_dir_all(scratch)?;
        let text = |program| self.text(program, line, scratch);
        let [ours, perfs] = self.programs.each_ref().map(|program| text(program));
        fs::remove_dir_all(scratch)?;
        let (ours, perfs) = (ours?, perfs?);
        let ours = said::forgiven(&perfs, &ours);
        let difference = compare::difference(perfs.as_bytes(), ours.as_bytes());
        let texts = [("ours", ours), ("perf7", perfs)];
        for (name, text) in texts.iter().filter(|_| difference.is_some()) {
            fs::write(scratch.with_extension(name), text)?;
        }
        Ok(difference.map_or(Outcome::Identical, Outcome::Differs))
    }

    /// All that a program did: exit code, streams, and what it asked for or recorded.
    fn text(&self, program: &Path, line: &RecordLine, scratch: &Path) -> Result<String> {
        let run = self.run(program, line, scratch)?;
        let mut text = format!("exit {:?}\nstdout\n{}\n", run.code, run.said);
        write!(text, "stderr\n{}\n", said::comparable(&run.errors))?;
        match line.place {
            Place::Machine(_) => {
                text.push_str(&asked::comparable(&run.log));
                if line.is_about_traces() {
                    let decodes = line.is_traced_alike();
                    let readers = &self.readers;
                    text.push_str(&readers.describe_trace(program, &run.folder, decodes)?);
                }
            }
            Place::Here => text.push_str(&self.readers.describe(program, &run.folder)?),
        }
        fs::remove_dir_all(&run.folder)?;
        Ok(text)
    }

    /// Runs a program with a line; its recording stays where it is.
    fn run(&self, program: &Path, line: &RecordLine, scratch: &Path) -> Result<Run> {
        let (folder, home) = (scratch.join("run"), scratch.join("home"));
        for folder in [&folder, &home] {
            fs::create_dir_all(folder)?;
        }
        fs::write(home.join(".perfconfig"), line.configuration())?;
        self.bring_traced_program(line, &folder)?;
        let log = scratch.join("log");
        fs::write(&log, "")?;
        let mut command = self.command(program, line);
        command
            .current_dir(&folder)
            .env("HOME", &home)
            .env("LC_ALL", "C")
            .env("FAKE_LOG", &log)
            .envs(line.environment())
            .env("XDG_CACHE_HOME", self.scratch.join("fakemachine"));
        let output = command.output().context("no shell")?;
        let errors = recorded::shown(&output.stderr);
        let said = match output.stdout.starts_with(MAGIC) {
            true => {
                fs::write(folder.join(OUTPUT), &output.stdout)?;
                "a recording".to_owned()
            }
            false => recorded::shown(&output.stdout),
        };
        fs::remove_dir_all(&home)?;
        Ok(Run {
            code: said::exit_code(output.status.code(), &errors, line.workload_exit()),
            said,
            errors,
            log: fs::read_to_string(&log)?,
            folder,
        })
    }

    /// Puts the program whose trace is played where the command runs.
    fn bring_traced_program(&self, line: &RecordLine, folder: &Path) -> Result<()> {
        if !line.names_traced_program() {
            return Ok(());
        }
        let program = folder.join("loop");
        fs::copy(&self.traced_program, &program).context("no traced program")?;
        fs::set_permissions(program, Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// The shell takes the words apart, as it does for a user. Standard output is a file: into a pipe perf7 would record.
    fn command(&self, program: &Path, line: &RecordLine) -> Command {
        let words = format!(
            "\"$@\" {} >said; code=$?; cat said; exit $code",
            line.command(OUTPUT)
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &words, "sh", "timeout", LONGEST]);
        if let Place::Machine(name) = &line.place {
            let own = workspace::root().join(MACHINES).join(name);
            let machine = if own.exists() {
                own
            } else {
                PathBuf::from(name)
            };
            shell.arg(&self.fakemachine).arg(machine).arg("--");
        }
        shell.arg(program);
        shell
    }
}
