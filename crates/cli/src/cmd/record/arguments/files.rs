//! The options about the files of a recording: where one ends and the next begins, and when the last one ends.

use std::path::PathBuf;

use clap::{Arg, ArgMatches};
use oxperf_capture::{
    BuildIdPolicy, Destination, DirectoryRecords, OutputOptions, Rotation, SwitchCause,
};

use super::super::ArgumentProblem;
use super::super::sizes::{self, SwitchPoint};
use super::text;
use crate::arguments::kinds::{switch, value};

pub(super) fn options() -> [Arg; 10] {
    [
        Arg::new("switch-output")
            .long("switch-output")
            .value_name("signal or size[BKMG] or time[smhd]")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("signal")
            .help("Go on in a new file at SIGUSR2, or when the file has a size or an age; each is called by the moment of its end, and lists no build ids unless --buildid-all asks for them"),
        value("switch-output-event", "switch output event").help("Go on in a new file whenever this event occurs, on any CPU; it is not recorded"),
        value("switch-max-files", "N").help("Keep only so many of the files of --switch-output, the newest"),
        switch("timestamp-filename").help("Call the file by the moment of its end, as FILE.2026112803475810"),
        switch("timestamp-boundary").help("Also tell in the file when its first and last samples were; they are always told here"),
        value("max-size", "size").help("End when the file has this size: a number with B, K, M or G"),
        switch("tail-synthesize").help("Describe at the end of the file what exists then, and not at its beginning what exists before"),
        value("mmap-flush", "number").help("Leave records in a ring until it holds so many bytes of them, with B, K, M or G; at most a quarter of it [default: 1]"),
        switch("kcore").help("Also copy the kernel's code out of /proc/kcore, and its lists of symbols and modules, into a directory with the recording, and record how the code changes"),
        switch("strict-loss").help("End with exit code 255 if anything was lost, and say how much"),
    ]
}

/// Adds what these options ask for; gives the choices that the user should hear of.
pub(super) fn apply(
    matches: &ArgMatches,
    ring_bytes: u64,
    output: &mut OutputOptions,
) -> Result<Vec<String>, ArgumentProblem> {
    let mut warnings = Vec::new();
    output.max_size = text(matches, "max-size").map(max_size).transpose()?;
    output.timestamp_name = matches.get_flag("timestamp-filename");
    // What a ring keeps may be all newer than a beginning.
    output.tail_synthesis = matches.get_flag("tail-synthesize") || matches.get_flag("overwrite");
    let least = text(matches, "mmap-flush").map(|text| least_piece(text, ring_bytes));
    output.least_piece = least.transpose()?.unwrap_or(1);
    output.rotation = rotation(matches)?;
    if matches.get_flag("kcore") {
        beside_kernel_code(output)?;
    }
    if let (Some(_), Destination::Directory(_, DirectoryRecords::ByRing)) =
        (output.rotation, &output.destination)
    {
        output.rotation = None;
        let message = "--switch-output option is not available in parallel streaming mode.";
        warnings.push(message.to_owned());
    }
    if let Some(rotation) = output.rotation {
        output.timestamp_name = true;
        if output.build_ids != BuildIdPolicy::All {
            // Each file would be read back while the next one is written.
            output.build_ids = BuildIdPolicy::Off;
        }
        warnings.extend(small_file(rotation, ring_bytes));
    }
    if output.destination == Destination::StandardOutput && output.timestamp_name {
        if output.rotation.is_some() {
            let message = "--switch-output needs files: name one with -o";
            return Err(ArgumentProblem::Contradiction(message.to_owned()));
        }
        output.timestamp_name = false;
        warnings.push("--timestamp-filename option is not available in pipe mode.".to_owned());
    }
    Ok(warnings)
}

/// Puts the recording into a directory that has the kernel's code, too.
fn beside_kernel_code(output: &mut OutputOptions) -> Result<(), ArgumentProblem> {
    let refused = |message: &str| Err(ArgumentProblem::Contradiction(message.to_owned()));
    if output.rotation.is_some() {
        return refused(
            "--kcore keeps one copy of the kernel, beside one file: take no --switch-output",
        );
    }
    output.destination = match output.destination.clone() {
        Destination::File(path) => Destination::Directory(path, DirectoryRecords::InOneFile),
        directory @ Destination::Directory(..) => directory,
        Destination::StandardOutput => {
            return refused("--kcore makes a directory, which is no stream: name it with -o");
        }
    };
    output.kernel_code = Some(PathBuf::from("/proc"));
    Ok(())
}

fn max_size(text: &str) -> Result<u64, ArgumentProblem> {
    sizes::bytes(text).ok_or_else(|| {
        ArgumentProblem::Value(format!(
            "--max-size takes a number with B, K, M or G, not '{text}'"
        ))
    })
}

/// perf takes no more than a quarter of a ring.
fn least_piece(text: &str, ring_bytes: u64) -> Result<usize, ArgumentProblem> {
    let bytes = text.parse().ok().or_else(|| sizes::bytes(text));
    let bytes = bytes.ok_or_else(|| {
        ArgumentProblem::Value(format!(
            "--mmap-flush takes a number of bytes, or one with B, K, M or G, not '{text}'"
        ))
    })?;
    Ok(usize::try_from(bytes.clamp(1, ring_bytes / 4)).unwrap_or(usize::MAX))
}

/// Events of their own end a file at the signal, too.
fn rotation(matches: &ArgMatches) -> Result<Option<Rotation>, ArgumentProblem> {
    let by_event = text(matches, "switch-output-event").map(|_| "signal");
    let Some(text) = text(matches, "switch-output").or(by_event) else {
        return Ok(None);
    };
    let cause = sizes::switch_point(text).ok_or_else(|| {
        ArgumentProblem::Contradiction(format!(
            "--switch-output takes signal, a size with B, K, M or G, or a time with s, m, h or d, not '{text}'"
        ))
    })?;
    Ok(Some(Rotation {
        cause: match cause {
            SwitchPoint::Signal => SwitchCause::Signal,
            SwitchPoint::Size(bytes) => SwitchCause::Size(bytes),
            SwitchPoint::Time(age) => SwitchCause::Time(age),
        },
        most_files: most_files(matches)?,
    }))
}

/// perf keeps all files where 0 are asked for.
fn most_files(matches: &ArgMatches) -> Result<Option<usize>, ArgumentProblem> {
    let Some(text) = text(matches, "switch-max-files") else {
        return Ok(None);
    };
    let most: usize = text.parse().map_err(|_| {
        ArgumentProblem::Value(format!(
            "--switch-max-files takes a number of files, not '{text}'"
        ))
    })?;
    Ok(Some(most).filter(|most| *most > 0))
}

/// Records come in pieces of up to half a ring.
fn small_file(rotation: Rotation, ring_bytes: u64) -> Option<String> {
    let piece = ring_bytes / 2;
    match rotation.cause {
        SwitchCause::Size(bytes) if bytes < piece => Some(format!(
            "switch-output data size lower than wakeup kernel buffer size ({}K) expect bigger perf.data sizes",
            piece / 1024
        )),
        _ => None,
    }
}
