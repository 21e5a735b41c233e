//! The tests: perf 7.2's shell scripts, and the expected attributes (`attr`) of perf 7.2 and 6.1.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::Options;
use crate::process::in_path;

/// Expected attributes of perf 6.1, where Debian's package puts them.
const ATTRIBUTES_6_1: &str = "/usr/lib/perf-core/tests/attr";

/// Machines with counters, made up by a program below `../shared`, on which the attributes of `record` are expected, too.
const MACHINES: [&str; 2] = ["intel-skylake", "amd-zen4"];

/// Scripts about hardware that the machine may lack, and machines that have it and are made up.
const SCRIPTS_ON: [(&str, &str); 2] = [
    ("test_intel_pt.sh", "intel-skylake"),
    ("test_intel_pt.sh", "intel-alderlake"),
];

/// Limits of time by the name of a script.
const LIMITS: [(&str, u64); 2] = [
    ("perftool-testsuite_report.sh", 400),
    ("test_intel_pt.sh", 400),
];
/// Limit of every other test, in seconds.
const LIMIT: u64 = 120;
/// Limit of expected attributes: each records a command that ends at once.
const ATTRIBUTES_LIMIT: u64 = 20;

/// All machines that are made up.
pub(super) fn machines() -> BTreeSet<&'static str> {
    let of_scripts = SCRIPTS_ON.iter().map(|(_, machine)| *machine);
    of_scripts.chain(MACHINES).collect()
}

/// One test.
pub(super) struct Test {
    /// `NAME.sh`, or `NAME.sh@MACHINE`, or `attr-7.2/NAME` and `attr-6.1/NAME`.
    pub(super) name: String,
    pub(super) kind: Kind,
    /// A machine that is made up; `None` for the one that is there.
    pub(super) machine: Option<&'static str>,
    /// It is ended after this long.
    pub(super) limit: Duration,
}

/// Ways to run a test.
pub(super) enum Kind {
    /// A shell script below perf's folder of them.
    Script,
    /// A file of expected attributes in a folder, which perf's own `attr.py` compares.
    Attributes(PathBuf),
}

/// perf 7.2's folder of tests, scripts and filters.
pub(super) fn core_folder(prefix: &Path) -> PathBuf {
    prefix.join("usr/lib/perf-core")
}

/// Names what a run needs and this machine does not have.
pub(super) fn missing(prefix: &Path) -> Option<String> {
    let scripts = core_folder(prefix).join("tests/shell");
    if !scripts.is_dir() {
        return Some(format!(
            "{}: perf 7.2 is not installed there (--prefix names another place)",
            scripts.display()
        ));
    }
    let programs = ["patchelf", "python3", "bash", "timeout", "unshare"];
    let missing = programs.into_iter().find(|name| in_path(name).is_none())?;
    Some(format!("the program {missing}"))
}

/// Lists the tests that were asked for, in order of their names.
pub(super) fn tests(options: &Options) -> Result<Vec<Test>> {
    let shell = core_folder(&options.prefix).join("tests/shell");
    let mut tests: Vec<Test> = names(&shell, |name| name.ends_with(".sh"))?
        .into_iter()
        .map(|name| Test {
            limit: limit(&name),
            name,
            kind: Kind::Script,
            machine: None,
        })
        .collect();
    let made_up = SCRIPTS_ON.iter().filter(|_| made_up_machines().is_some());
    for (script, machine) in made_up {
        if shell.join(script).is_file() {
            tests.push(Test {
                limit: limit(script),
                name: format!("{script}@{machine}"),
                kind: Kind::Script,
                machine: Some(machine),
            });
        }
    }
    for (version, folder) in [("7.2", shell.join("attr")), ("6.1", ATTRIBUTES_6_1.into())] {
        if folder.is_dir() {
            tests.extend(attributes(version, &folder, options)?);
        }
    }
    let wanted = |test: &Test| {
        options
            .filters
            .iter()
            .any(|part| test.name.contains(part.as_str()))
    };
    tests.retain(|test| options.filters.is_empty() || wanted(test));
    Ok(tests)
}

/// The expected attributes that are also looked at on machines that are made up.
const ON_MADE_UP_MACHINES: [&str; 2] = ["test-record-", "test-stat-"];

/// The expected attributes of a version of perf: all on this machine, and those of `record` and `stat` on each that is made
/// up.
fn attributes(version: &str, folder: &Path, options: &Options) -> Result<Vec<Test>> {
    let copy = options.scratch.join(format!("attr-{version}"));
    copy_attributes(folder, &copy)?;
    let made_up = made_up_machines().is_some();
    let machines = MACHINES.into_iter().filter(|_| made_up).map(Some);
    let mut tests = Vec::new();
    for machine in [None].into_iter().chain(machines) {
        let at = machine.map_or(String::new(), |name| format!("@{name}"));
        let begins: &[&str] = if at.is_empty() {
            &["test-"]
        } else {
            &ON_MADE_UP_MACHINES
        };
        let wanted = |name: &str| begins.iter().any(|begin| name.starts_with(begin));
        for name in names(folder, wanted)? {
            tests.push(Test {
                limit: Duration::from_secs(ATTRIBUTES_LIMIT),
                kind: Kind::Attributes(copy.clone()),
                machine,
                name: format!("attr-{version}{at}/{name}"),
            });
        }
    }
    Ok(tests)
}

/// The program that runs another as if on a machine that is made up, where there is one.
pub(super) fn made_up_machines() -> Option<PathBuf> {
    let program = crate::workspace::shared()?.join("tools/fakemachine/run");
    program.is_file().then_some(program)
}

fn limit(name: &str) -> Duration {
    let special = LIMITS.iter().find(|(script, _)| *script == name);
    Duration::from_secs(special.map_or(LIMIT, |(_, seconds)| *seconds))
}

fn names(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let entries = entries.collect::<Result<Vec<_>, _>>()?;
    let names = entries
        .iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| wanted(name)).collect();
    names.sort();
    Ok(names)
}

/// Copies a folder of expected attributes. The size of the kernel's structure is left open: it names the version of perf
/// that wrote the file, and perf 7.2 itself fails every one of its own that asks for 136.
fn copy_attributes(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for name in names(from, |_| true)? {
        let text = std::fs::read_to_string(from.join(&name))?;
        let open = |line: &str| {
            if line.starts_with("size=") {
                "size=*".to_owned()
            } else {
                line.to_owned()
            }
        };
        let lines: Vec<String> = text.lines().map(open).collect();
        std::fs::write(to.join(&name), lines.join("\n") + "\n")?;
    }
    Ok(())
}
