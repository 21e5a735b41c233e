//! The programs under test, each as `perf` in a folder that stands first in `PATH`.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Options;
use super::launcher::{self, OTHERS, Route, WORKLOADS};
use super::suite;

/// Commands of perf that are lent to oxperf while it does not have them.
const LENT: [&str; 18] = [
    "bench",
    "c2c",
    "daemon",
    "ftrace",
    "inject",
    "iostat",
    "kmem",
    "kvm",
    "kwork",
    "list",
    "lock",
    "mem",
    "probe",
    "sched",
    "stat",
    "timechart",
    "top",
    "trace",
];

/// A program under test.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Side {
    /// perf 7.2, with workloads that have symbols.
    Perf7,
    /// oxperf alone.
    Ours,
    /// oxperf, with perf 7.2 for the commands that it does not have yet.
    Lent,
}

impl Side {
    /// Lists the sides of a run.
    pub(super) fn wanted(lend: bool) -> Vec<Side> {
        let sides = [Side::Perf7, Side::Ours, Side::Lent];
        sides
            .into_iter()
            .filter(|side| lend || *side != Side::Lent)
            .collect()
    }

    /// Returns its name in tables and folders.
    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Perf7 => "perf7",
            Side::Ours => "oxperf",
            Side::Lent => "lent",
        }
    }
}

/// The folders of all sides.
pub(super) struct Programs {
    root: PathBuf,
}

impl Programs {
    /// Returns the folder where a side's `perf` lies.
    pub(super) fn folder(&self, side: Side) -> PathBuf {
        self.root.join(side.name())
    }

    /// Returns the folder where a side's `perf` lies that runs on a machine that is made up.
    pub(super) fn folder_on(&self, side: Side, machine: &str) -> PathBuf {
        self.root.join(format!("{}@{machine}", side.name()))
    }
}

/// Puts every program in place.
pub(super) fn lay_out(options: &Options) -> Result<Programs> {
    let programs = Programs {
        root: options.scratch.join("programs"),
    };
    let ours = programs.folder(Side::Ours).join("perf");
    place(&options.ours, &ours)?;
    ensure!(answers(&ours), "{} does not start", options.ours.display());
    let perf7 = programs.root.join("plain/perf");
    place(&options.prefix.join("usr/bin/perf"), &perf7)?;
    make_runnable(&perf7, &options.prefix)?;
    let workloads = if has_workloads(&ours) {
        ours.clone()
    } else {
        perf7.clone()
    };
    let python = format!("PYTHONHOME={}", options.prefix.join("usr").display());
    let route = |command: &str, program: &Path| Route {
        command: command.to_owned(),
        program: program.to_path_buf(),
        variable: None,
    };
    let script = Route {
        variable: Some(python),
        ..route("script", &perf7)
    };
    let own = commands(&ours);
    let missing = LENT
        .iter()
        .filter(|command| !own.contains(&command.to_string()));
    let mut lent: Vec<Route> = missing.map(|command| route(command, &perf7)).collect();
    lent.extend([route(WORKLOADS, &workloads), route(OTHERS, &ours)]);
    launch(&programs.folder(Side::Lent), &lent)?;
    let all = [route(WORKLOADS, &workloads), script, route(OTHERS, &perf7)];
    launch(&programs.folder(Side::Perf7), &all)?;
    if let Some(made_up) = suite::made_up_machines() {
        for machine in suite::machines() {
            for (side, program) in [
                (Side::Perf7, &perf7),
                (Side::Ours, &ours),
                (Side::Lent, &ours),
            ] {
                let folder = programs.folder_on(side, machine);
                run_on(machine, &made_up, program, &folder)?;
            }
        }
    }
    Ok(programs)
}

/// Copies a program; what stood there is replaced, not written over, since it may be running.
fn place(from: &Path, to: &Path) -> Result<()> {
    let folder = to.parent().context("no folder")?;
    std::fs::create_dir_all(folder)?;
    if to.exists() {
        std::fs::remove_file(to)?;
    }
    std::fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(())
}

/// Makes a script `perf` that runs a program as if on a machine.
fn run_on(machine: &str, made_up: &Path, program: &Path, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let script = folder.join("perf");
    let text = format!(
        "#!/bin/sh\nexec '{}' {machine} -- '{}' \"$@\"\n",
        made_up.display(),
        program.display()
    );
    std::fs::write(&script, text)?;
    Ok(std::fs::set_permissions(
        &script,
        Permissions::from_mode(0o755),
    )?)
}

/// Makes the launcher of a folder.
fn launch(folder: &Path, routes: &[Route]) -> Result<()> {
    place(&std::env::current_exe()?, &folder.join("perf"))?;
    launcher::write(folder, routes)
}

/// Names perf 7.2's own loader and libraries in the program: through a shell script that calls the loader it would have
/// the loader's name, and find its own folder first in `PATH`.
fn make_runnable(perf: &Path, prefix: &Path) -> Result<()> {
    let libraries = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"]
        .map(|folder| prefix.join(folder).display().to_string());
    let status = Command::new("patchelf")
        .arg("--set-interpreter")
        .arg(prefix.join("usr/lib64/ld-linux-x86-64.so.2"))
        .args(["--force-rpath", "--set-rpath", &libraries.join(":")])
        .arg(perf)
        .status()?;
    ensure!(
        status.success(),
        "patchelf could not change {}",
        perf.display()
    );
    let version = Command::new(perf)
        .arg("--version")
        .output()
        .context("perf 7.2 does not start")?;
    ensure!(version.status.success(), "perf 7.2 does not start");
    Ok(())
}

/// Returns true if a program has workloads; those of the packaged perf have no symbols.
fn has_workloads(program: &Path) -> bool {
    let mut command = Command::new(program);
    command
        .args(["test", "-w", "noploop", "0.01"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Lists the commands that a program has; none where it does not list them.
fn commands(program: &Path) -> Vec<String> {
    let mut command = Command::new(program);
    command.arg("--list-cmds").stdin(Stdio::null());
    let output = command.output().map(|output| output.stdout);
    String::from_utf8_lossy(&output.unwrap_or_default())
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// Returns true if a program says its version.
fn answers(program: &Path) -> bool {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    output.is_ok_and(|output| output.status.success() && !output.stdout.is_empty())
}
