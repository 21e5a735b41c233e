//! The program itself, run to record and to read.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::{Shortfall, Trial};

impl Trial<'_> {
    /// A file in the folder for files.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.environment.scratch.join(name)
    }

    /// This program with such words; its notes are those on its standard error.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.environment.program);
        command
            .args(words)
            .current_dir(&self.environment.scratch)
            .stdin(Stdio::null());
        command
    }

    /// Runs this program to its end; gives its standard output.
    pub(crate) fn run(&mut self, words: &[&str]) -> Result<String, Shortfall> {
        let output = self.command(words).output();
        self.finished(words, output)
    }

    /// Runs this program with bytes on its standard input.
    pub(crate) fn run_with_input(
        &mut self,
        words: &[&str],
        input: PathBuf,
    ) -> Result<String, Shortfall> {
        let input = std::fs::File::open(input).map_err(Shortfall::failure)?;
        let output = self.command(words).stdin(input).output();
        self.finished(words, output)
    }

    fn finished(
        &mut self,
        words: &[&str],
        output: std::io::Result<Output>,
    ) -> Result<String, Shortfall> {
        let shown = words.join(" ");
        let output =
            output.map_err(|error| Shortfall::failure(format!("cannot run '{shown}': {error}")))?;
        self.note(format_args!("$ {shown}"));
        let trouble = String::from_utf8_lossy(&output.stderr);
        trouble.lines().for_each(|line| self.note(line));
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let reason = trouble.lines().next().unwrap_or("no message").to_owned();
        if ["paranoid", "ermission", "not permitted"]
            .iter()
            .any(|word| trouble.contains(word))
        {
            return Err(Shortfall::skip("permissions"));
        }
        Err(Shortfall::failure(format!(
            "'{shown}' ends with {}: {reason}",
            output.status
        )))
    }

    /// Records a workload into a file of this name with further options; the event counts user mode on any machine.
    pub(crate) fn record(
        &mut self,
        file: &str,
        options: &[&str],
        workload: &[&str],
    ) -> Result<PathBuf, Shortfall> {
        let path = self.scratch(file);
        let output = path.display().to_string();
        let program = self.environment.program.display().to_string();
        let mut words = vec!["record", "-q", "-N", "-e", "task-clock:u", "-o", &output];
        words.extend(options);
        words.extend(["--", &program, "test", "-w"]);
        words.extend(workload);
        self.run(&words)?;
        Ok(path)
    }
}
