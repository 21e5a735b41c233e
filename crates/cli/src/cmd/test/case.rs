//! One check: run here, or in a process of its own that may crash alone.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oxperf_selftest::{Environment, Shortfall, Trial};

use super::selection::Case;
use crate::failure::Failure;

/// The option by which the process of one check is started; hidden.
pub(super) const CASE: &str = "case";

/// The options that checks look at.
#[derive(Clone)]
pub(super) struct Objects {
    pub(super) dso: Option<PathBuf>,
    pub(super) objdump: Option<PathBuf>,
}

/// The outcome of a check.
pub(super) struct Outcome {
    /// `Ok`, or the reason why it did not pass.
    pub(super) verdict: Result<(), Shortfall>,
    /// The lines that it noted; untrusted.
    pub(super) notes: String,
    pub(super) took: Duration,
}

/// A check in this process, whose working directory is its folder for files: the outcome goes to the standard output.
pub(super) struct OneCase {
    pub(super) case: Case,
    pub(super) objects: Objects,
}

impl OneCase {
    /// Runs the check and says its outcome.
    pub(super) fn run(&self) -> Result<(), Failure> {
        let folder = std::env::current_dir().map_err(|error| Failure::new(error.to_string()))?;
        let outcome = here(self.case, &self.objects, folder)?;
        if !outcome.notes.is_empty() {
            crate::output::print_error(outcome.notes.trim_end());
        }
        let line = match outcome.verdict {
            Ok(()) => "ok".to_owned(),
            Err(Shortfall::Skip(reason)) => format!("skip {}", one_line(&reason)),
            Err(Shortfall::Failure(reason)) => format!("failed {}", one_line(&reason)),
        };
        crate::output::print_line(&line)?;
        Ok(())
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

/// Runs a check in this process.
pub(super) fn here(case: Case, objects: &Objects, scratch: PathBuf) -> Result<Outcome, Failure> {
    let program = program()?;
    let environment = Environment {
        program,
        dso: objects.dso.clone(),
        objdump: objects.objdump.clone(),
        scratch,
    };
    let start = Instant::now();
    let mut trial = Trial::new(&environment);
    let check = case.check();
    let verdict = check.map_or(Ok(()), |check| check(&mut trial));
    Ok(Outcome {
        verdict,
        notes: trial.notes().to_owned(),
        took: start.elapsed(),
    })
}

/// Runs a check in a process of its own.
pub(super) fn apart(case: Case, objects: &Objects, scratch: &Path) -> Result<Outcome, Failure> {
    let mut command = Command::new(program()?);
    command.arg("test").arg(format!("--{CASE}={case}"));
    for (option, path) in [("dso", &objects.dso), ("objdump", &objects.objdump)] {
        if let Some(path) = path {
            command.arg(format!("--{option}={}", path.display()));
        }
    }
    let start = Instant::now();
    let output = command
        .current_dir(scratch)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::new(format!("cannot start a process: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let verdict = match said.trim_end().split_once(' ') {
        Some(("skip", reason)) => Err(Shortfall::Skip(reason.to_owned())),
        Some(("failed", reason)) => Err(Shortfall::Failure(reason.to_owned())),
        None if said.trim_end() == "ok" => Ok(()),
        _ => Err(Shortfall::Failure(format!(
            "its process ended without an answer: {}",
            output.status
        ))),
    };
    Ok(Outcome {
        verdict,
        notes: String::from_utf8_lossy(&output.stderr).into_owned(),
        took: start.elapsed(),
    })
}

fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::new(format!("the program's own file is not known: {error}")))
}

/// A folder for the files of a check; it is removed with all that is in it.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// A new folder for a check.
    pub(super) fn new(case: Case, run: u32) -> Result<Scratch, Failure> {
        let name = format!("oxperf-test-{}-{case}-{run}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)
            .map_err(|error| Failure::new(format!("cannot create {}: {error}", path.display())))?;
        Ok(Scratch(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
