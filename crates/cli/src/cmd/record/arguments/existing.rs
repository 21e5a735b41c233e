//! The options of the records of what was there before, and those that are checked and change nothing.

use std::path::Path;
use std::time::Duration;

use clap::{Arg, ArgMatches};
use oxperf_capture::SynthesisOptions;

use super::super::{ArgumentProblem, values};
use super::text;
use crate::arguments::kinds::{switch, value};
use crate::configuration::Configuration;

/// The options.
pub(super) fn arguments() -> [Arg; 7] {
    [
        value("synth", "no|all|task|mmap|cgroup")
            .help("Records of what was there before: of tasks, with mmap of their mappings, and of control groups [default: all]"),
        value("num-thread-synthesize", "n")
            .help("Threads that read about tasks [default: one a CPU]"),
        value("proc-map-timeout", "n")
            .help("Milliseconds for the mappings of one process; the rest is left out [default: as long as it takes]"),
        switch("buildid-mmap")
            .overrides_with("no-buildid-mmap")
            .help("Name the file of each mapping by its build id, where the kernel can [default]"),
        switch("no-buildid-mmap")
            .overrides_with("buildid-mmap")
            .help("Name the file of each mapping by its inode"),
        value("vmlinux", "file").help("A kernel image, which must be there; no event needs one"),
        value("setup-filter", "pin|unpin")
            .help("Not supported: filters by BPF programs for users without privileges"),
    ]
}

/// Reads them.
pub(super) fn options(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<SynthesisOptions, ArgumentProblem> {
    let number = |name: &str| {
        let number =
            text(matches, name).map(|text| values::integer(text, &format!("option `{name}'")));
        number.transpose()
    };
    let threads = number("num-thread-synthesize")?;
    let maps_time = number("proc-map-timeout")?;
    let maps_time = maps_time.or_else(|| configured_maps_time(configuration));
    Ok(SynthesisOptions {
        threads: threads.map(|threads| usize::try_from(threads.max(1)).unwrap_or(1)),
        maps_time: maps_time.map(|time| Duration::from_millis(time.max(0).unsigned_abs().into())),
        ..kinds(text(matches, "synth").unwrap_or("all"))?
    })
}

fn configured_maps_time(configuration: &Configuration) -> Option<i32> {
    let time = configuration.number("core.proc-map-timeout")?;
    i32::try_from(time).ok()
}

fn kinds(text: &str) -> Result<SynthesisOptions, ArgumentProblem> {
    let invalid = || ArgumentProblem::Value(format!("Invalid synth option: {text}"));
    SynthesisOptions::default().only(text).ok_or_else(invalid)
}

/// Checks what changes nothing.
///
/// # Errors
/// A kernel image that is not there, and what only BPF programs do.
pub(super) fn check(matches: &ArgMatches) -> Result<(), ArgumentProblem> {
    let image = text(matches, "vmlinux").filter(|image| !Path::new(image).exists());
    if let Some(image) = image {
        return Err(ArgumentProblem::Contradiction(format!(
            "Invalid file: {image}"
        )));
    }
    match text(matches, "setup-filter") {
        None => Ok(()),
        Some("pin" | "unpin") => Err(ArgumentProblem::NeedsBpf(
            "--setup-filter: filters by BPF programs are not supported".to_owned(),
        )),
        Some(other) => Err(ArgumentProblem::Contradiction(format!(
            "Unknown BPF filter action: {other}"
        ))),
    }
}
