//! One test with one program: a folder, a home and a `/tmp` of its own, a limit of time, and nothing left running.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result};

use super::Options;
use super::programs::{Programs, Side};
use super::state::State;
use super::suite::{self, Kind, Test};

/// A variable of the environment by which the processes of a test are found.
const MARK: &str = "OXPERF_PERF_TEST";
/// Exit codes of `timeout`: it asked the test to end, or ended it.
const TIMED_OUT: [i32; 2] = [124, 137];
/// A test's command, behind the folder that becomes its `/tmp`.
const IN_OWN_TMP: &str = "mount --bind \"$0\" /tmp && cd /tmp && exec \"$@\"";

/// Runs a test to its end or its limit.
pub(super) fn run(
    test: &Test,
    programs: &Programs,
    side: Side,
    options: &Options,
) -> Result<State> {
    let name = format!("{}-{}", side.name(), test.name.replace('/', "-"));
    let folder = options.scratch.join("run").join(&name);
    let trial = Trial::prepare(test, &folder, options)?;
    let output = options.scratch.join("outputs").join(format!("{name}.txt"));
    let program = match test.machine {
        Some(machine) => programs.folder_on(side, machine),
        None => programs.folder(side),
    };
    let status = trial.start(&program, &name, &output)?;
    end_leftovers(&name);
    std::fs::remove_dir_all(&folder)?;
    let text = String::from_utf8_lossy(&std::fs::read(&output)?).into_owned();
    Ok(match &test.kind {
        _ if status.code().is_some_and(|code| TIMED_OUT.contains(&code)) => State::Late,
        Kind::Script => State::of_script(status.code()),
        Kind::Attributes(_) => state_of_attributes(status, &text),
    })
}

/// A test with its folder.
struct Trial<'a> {
    test: &'a Test,
    folder: &'a Path,
    core: PathBuf,
    /// What programs find out once for all tests.
    cache: PathBuf,
}

impl Trial<'_> {
    /// Copies perf's folder of tests: scripts look for their libraries beside themselves, and some write there.
    fn prepare<'a>(test: &'a Test, folder: &'a Path, options: &Options) -> Result<Trial<'a>> {
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        for name in ["home", "tmp", "bin"] {
            std::fs::create_dir_all(folder.join(name))?;
        }
        std::fs::create_dir_all(options.scratch.join("outputs"))?;
        let core = folder.join("perf-core");
        let copied = Command::new("cp")
            .arg("-r")
            .arg(suite::core_folder(&options.prefix))
            .arg(&core)
            .status()?;
        anyhow::ensure!(
            copied.success(),
            "{} cannot be copied",
            options.prefix.display()
        );
        let cache = options.scratch.join("cache");
        Ok(Trial {
            test,
            folder,
            core,
            cache,
        })
    }

    /// Runs the test with the program `perf` of a folder; what it prints goes to a file.
    fn start(&self, program: &Path, mark: &str, output: &Path) -> Result<ExitStatus> {
        let path = std::env::var("PATH").unwrap_or_default();
        // Some scripts call `python`, which not every system has beside python3.
        let bin = self.folder.join("bin");
        let python = crate::process::in_path("python3").context("python3")?;
        std::os::unix::fs::symlink(python, bin.join("python"))?;
        let mut command = self.command(program);
        command
            .env("HOME", self.folder.join("home"))
            .env(
                "PATH",
                format!("{}:{path}:{}", program.display(), bin.display()),
            )
            .env(MARK, mark)
            .env("XDG_CACHE_HOME", &self.cache)
            .env_remove("PERF_CONFIG")
            .current_dir(self.folder.join("tmp"))
            .stdin(Stdio::null())
            .stdout(File::create(output)?)
            .stderr(File::options().append(true).open(output)?);
        Ok(command.status()?)
    }

    fn command(&self, program: &Path) -> Command {
        let shell = self.core.join("tests/shell");
        let words = match &self.test.kind {
            Kind::Script => {
                let name = self.test.name.split('@').next().unwrap_or_default();
                vec!["bash".into(), shell.join(name)]
            }
            Kind::Attributes(folder) => {
                let name = self.test.name.rsplit('/').next().unwrap_or_default();
                let mut words = vec![
                    "python3".into(),
                    shell.join("lib/attr.py"),
                    "-v".into(),
                    "-d".into(),
                ];
                words.extend([
                    folder.clone(),
                    "-t".into(),
                    name.into(),
                    "-p".into(),
                    program.join("perf"),
                ]);
                words
            }
        };
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", &self.test.limit.as_secs().to_string()]);
        if can_mount() {
            command.args([
                "unshare",
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                IN_OWN_TMP,
            ]);
            command.arg(self.folder.join("tmp"));
        }
        command.args(words);
        command
    }
}

/// Returns true if this user may give a process mounts of its own; without that a test uses the machine's `/tmp`.
fn can_mount() -> bool {
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--propagation", "private", "true"])
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// `attr.py` ends with 0 also where it compared nothing: the program refused the command, or this is another machine.
fn state_of_attributes(status: ExitStatus, text: &str) -> State {
    let said = |word: &str| text.lines().any(|line| line.starts_with(word));
    match status.success() {
        true if said("unsupp") || said("skipped") => State::Skip,
        true => State::Pass,
        false => State::Fail,
    }
}

/// Ends every process that carries the mark of this test.
fn end_leftovers(mark: &str) {
    let wanted = format!("{MARK}={mark}");
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return;
    };
    for process in processes.flatten() {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        if environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == wanted.as_bytes())
        {
            let mut kill = Command::new("kill");
            kill.arg("-KILL")
                .arg(process.file_name())
                .stderr(Stdio::null());
            // It may have ended meanwhile.
            let _ = kill.status();
        }
    }
}
