//! The tests: perf 7.2's shell scripts, and the expected attributes (`attr`) of perf 7.2 and 6.1.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::Options;
use crate::process::in_path;

/// Expected attributes of perf 6.1, where Debian's package puts them.
const ATTRIBUTES_6_1: &str = "/usr/lib/perf-core/tests/attr";

/// Limits of time by the name of a script.
const LIMITS: [(&str, u64); 1] = [("perftool-testsuite_report.sh", 400)];
/// Limit of every other test, in seconds.
const LIMIT: u64 = 120;
/// Limit of expected attributes: each records a command that ends at once.
const ATTRIBUTES_LIMIT: u64 = 20;

/// One test.
pub(super) struct Test {
    /// `NAME.sh`, or `attr-7.2/NAME` and `attr-6.1/NAME`.
    pub(super) name: String,
    pub(super) kind: Kind,
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
        })
        .collect();
    for (version, folder) in [("7.2", shell.join("attr")), ("6.1", ATTRIBUTES_6_1.into())] {
        let copy = options.scratch.join(format!("attr-{version}"));
        if folder.is_dir() {
            let kind = || Kind::Attributes(copy.clone());
            let test = |name| Test {
                limit: Duration::from_secs(ATTRIBUTES_LIMIT),
                kind: kind(),
                name: format!("attr-{version}/{name}"),
            };
            copy_attributes(&folder, &copy)?;
            tests.extend(
                names(&folder, |name| name.starts_with("test-"))?
                    .into_iter()
                    .map(test),
            );
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
