//! Running a program under limits, with its output in files so that nothing blocks.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use wait4::Wait4;

/// What a program may use.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Wall time.
    pub(crate) time: Duration,
    /// Address space in KiB.
    pub(crate) memory_kib: u64,
}

/// End of a program.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) timed_out: bool,
    pub(crate) wall: Duration,
    /// Peak resident memory in bytes.
    pub(crate) peak: u64,
}

impl Ended {
    /// Returns the reason why this is a crash, if it is one: a Rust panic exits with 101, anything worse by a signal.
    pub(crate) fn crash(&self) -> Option<String> {
        match (self.timed_out, self.status.code(), self.status.signal()) {
            (true, ..) => Some(format!("no end after {:.0} s", self.wall.as_secs_f64())),
            (_, Some(101), _) => Some("panic (exit 101)".to_owned()),
            (_, _, Some(signal)) => Some(format!("signal {signal}")),
            _ => None,
        }
    }
}

/// The exit code of `timeout` when it killed.
const TIMED_OUT: i32 = 137;

/// A program with its surroundings.
pub(crate) struct Job<'a> {
    pub(crate) program: &'a Path,
    pub(crate) args: &'a [String],
    pub(crate) folder: &'a Path,
    pub(crate) home: &'a Path,
    pub(crate) stdout: PathBuf,
    pub(crate) stderr: PathBuf,
}

impl Job<'_> {
    /// Runs it to its end or to a limit; the locale is C, the time zone UTC, the home empty.
    pub(crate) fn run(&self, limits: Limits) -> Result<Ended> {
        let start = Instant::now();
        let mut child = self
            .command(limits)?
            .spawn()
            .context("timeout did not start")?;
        let ended = child.wait4()?;
        let wall = start.elapsed();
        let timed_out =
            wall >= limits.time && ended.status.code().is_none_or(|code| code == TIMED_OUT);
        Ok(Ended {
            status: ended.status,
            timed_out,
            wall,
            peak: ended.rusage.maxrss,
        })
    }

    /// `timeout` ends what takes too long, and `ulimit` is the shell's: setting a limit from here would take unsafe code.
    fn command(&self, limits: Limits) -> Result<Command> {
        let mut command = Command::new("timeout");
        command.args([
            "--signal=KILL",
            &limits.time.as_secs_f64().to_string(),
            "sh",
            "-c",
        ]);
        command.arg(format!(
            "ulimit -v {}; exec \"$0\" \"$@\"",
            limits.memory_kib
        ));
        command
            .arg(self.program)
            .args(self.args)
            .current_dir(self.folder);
        command
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .env("HOME", self.home)
            .env_remove("PERF_CONFIG");
        command
            .stdin(Stdio::null())
            .stdout(File::create(&self.stdout)?)
            .stderr(File::create(&self.stderr)?);
        Ok(command)
    }
}

/// Time and memory that one run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    /// Peak resident memory in bytes.
    pub(crate) peak: u64,
    pub(crate) success: bool,
}

/// Runs a command to its end and measures it; its output goes where the command says.
pub(crate) fn measure(command: &mut Command) -> Result<Usage> {
    let start = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("{:?} did not start", command.get_program()))?;
    let used = child.wait4()?;
    let (cpu, peak) = (used.rusage.utime + used.rusage.stime, used.rusage.maxrss);
    Ok(Usage {
        wall: start.elapsed(),
        cpu,
        peak,
        success: used.status.success(),
    })
}

/// The bytes of a file, unpacked by the `zstd` program when its name says so.
pub(crate) fn read_maybe_zstd(path: &Path) -> Result<Vec<u8>> {
    if path.extension().is_none_or(|extension| extension != "zst") {
        return std::fs::read(path).with_context(|| path.display().to_string());
    }
    let output = Command::new("zstd")
        .args(["-dcq", "--"])
        .arg(path)
        .output()
        .context("the zstd program")?;
    anyhow::ensure!(
        output.status.success(),
        "zstd could not unpack {}",
        path.display()
    );
    Ok(output.stdout)
}

/// A program of this name, where the shell would find it.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}
