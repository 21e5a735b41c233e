//! Programs on a made-up machine.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::opens::is_comparable;

/// Options of a recording that leave the file and the names of what ran out: attributes alone count.
const QUIET: [&str; 7] = ["-B", "-N", "--no-bpf-event", "-m", "1", "-o", "/dev/null"];
/// The program that is recorded.
const WORKLOAD: [&str; 2] = ["--", "/bin/true"];

/// A machine, and the folder for what programs say on it.
pub(super) struct Machine {
    /// The script that runs a program on a machine.
    pub(super) run: PathBuf,
    pub(super) name: String,
    pub(super) folder: PathBuf,
}

impl Machine {
    /// The exit code of `record --dry-run` with each text. One shell runs them all: entering the machine takes longer
    /// than a text. A program that looks at the CPU, as for traces, has to enter the machine by itself.
    pub(super) fn dry_runs(&self, program: &Path, texts: &[&str]) -> Result<Vec<i32>> {
        let plain: Vec<&str> = texts
            .iter()
            .copied()
            .filter(|text| is_comparable(text))
            .collect();
        let mut codes = self.dry_runs_in_shell(program, &plain)?.into_iter();
        let mut all = Vec::with_capacity(texts.len());
        for text in texts {
            all.push(match is_comparable(text) {
                true => codes.next().context("a text without exit code")?,
                false => self.dry_run(program, text)?,
            });
        }
        Ok(all)
    }

    fn dry_run(&self, program: &Path, text: &str) -> Result<i32> {
        let mut command = self.command(program);
        command.args(["record", "--dry-run", "-o", "/dev/null", "-e", text]);
        command
            .args(WORKLOAD)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status()?.code().context("a signal ended it")
    }

    fn dry_runs_in_shell(&self, program: &Path, texts: &[&str]) -> Result<Vec<i32>> {
        let mut script = String::new();
        for text in texts {
            writeln!(
                script,
                "timeout 60 {} record --dry-run -o /dev/null -e {} {} >/dev/null 2>&1 </dev/null; echo $?",
                quoted(&program.to_string_lossy()),
                quoted(text),
                WORKLOAD.join(" ")
            )?;
        }
        let path = super::file(&self.folder, "dry-runs.sh");
        std::fs::write(&path, script)?;
        let output = self.command("/bin/sh").arg(&path).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let codes: Vec<i32> = said.lines().filter_map(|line| line.parse().ok()).collect();
        ensure!(
            codes.len() == texts.len(),
            "{} of {} texts were tried on {}: {}",
            codes.len(),
            texts.len(),
            self.name,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(codes)
    }

    /// Records with these texts, an `-e` each; gives what was asked of the kernel.
    pub(super) fn record(&self, program: &Path, texts: &[String]) -> Result<String> {
        let log = super::file(&self.folder, "log");
        let _ = std::fs::remove_file(&log);
        let mut command = self.command(program);
        command.arg("record").args(QUIET);
        for text in texts {
            command.args(["-e", text]);
        }
        command.args(WORKLOAD).env("FAKE_LOG", &log);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        Ok(std::fs::read_to_string(&log).unwrap_or_default())
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(&self.run);
        command.arg(&self.name).arg("--").arg(program.as_ref());
        command.stdin(Stdio::null()).current_dir(&self.folder);
        command
    }
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_pass_the_shell_whole() {
        assert_eq!(quoted("cycles/name='a'/"), "'cycles/name='\\''a'\\''/'");
        assert_eq!(quoted(""), "''");
    }
}
