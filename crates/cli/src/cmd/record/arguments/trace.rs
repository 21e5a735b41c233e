//! The options about hardware traces: what is kept of them, and where they wait.

use clap::{Arg, ArgMatches};
use oxperf_capture::{AuxOptions, SnapshotOptions, TraceSampleSize, TraceSwitches};

use super::super::ArgumentProblem;
use super::{sampling, text};
use crate::configuration::Configuration;

pub(super) fn options() -> [Arg; 2] {
    [
        Arg::new("snapshot")
            .short('S')
            .long("snapshot")
            .value_name("opts")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .help("Keep the newest hardware trace, and write it at each SIGUSR2 and each 'snapshot' of --control; e: also at the end; a number: at most so many bytes of each AUX area [default: all of it]"),
        Arg::new("aux-sample")
            .long("aux-sample")
            .value_name("bytes")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("0")
            .help("Put the newest hardware trace into each sample of the events that it leads [default: 4096 bytes]"),
    ]
}

/// Reads them.
pub(super) fn read(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<AuxOptions, ArgumentProblem> {
    let all = configuration.flag("intel-pt.all-switch-events");
    Ok(AuxOptions {
        snapshot: text(matches, "snapshot").map(snapshot).transpose()?,
        sample: text(matches, "aux-sample").map(sample_size).transpose()?,
        area_pages: sampling::ring_pages(matches)?.areas,
        switches: match matches.get_flag("no-switch-events") {
            true => TraceSwitches::Never,
            false if all == Some(true) => TraceSwitches::OfAll,
            false => TraceSwitches::OfTarget,
        },
    })
}

/// `e`, to take one at the end, too, and bytes.
fn snapshot(text: &str) -> Result<SnapshotOptions, ArgumentProblem> {
    let (at_exit, size) = match text.strip_prefix('e') {
        Some(size) => (true, size),
        None => (false, text),
    };
    let wrong = || {
        ArgumentProblem::Failed(format!(
            "-S takes a number of bytes, with an e before it for a snapshot at the end, not '{text}'"
        ))
    };
    let size = match size {
        "" => None,
        size => {
            let bytes = number(size).ok_or_else(wrong)?;
            Some(usize::try_from(bytes).map_err(|_| wrong())?)
        }
    };
    Ok(SnapshotOptions { size, at_exit })
}

fn sample_size(text: &str) -> Result<TraceSampleSize, ArgumentProblem> {
    let contradiction = |message: String| Err(ArgumentProblem::Contradiction(message));
    let Some(bytes) = number(text) else {
        return contradiction(format!("Bad AUX area sampling option: '{text}'"));
    };
    let most = TraceSampleSize::MOST;
    match TraceSampleSize::new(bytes) {
        Some(size) => Ok(size),
        None => contradiction(format!("AUX area sample size {bytes} too big, max. {most}")),
    }
}

/// A number, also in the notations of C.
fn number(text: &str) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match (hexadecimal, text.strip_prefix('0')) {
        (Some(digits), _) => u64::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) if !digits.is_empty() => u64::from_str_radix(digits, 8).ok(),
        (None, _) => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_have_a_size_and_may_be_taken_at_the_end() {
        let read = |text| snapshot(text).map(|own| (own.size, own.at_exit));
        assert_eq!(read(""), Ok((None, false)));
        assert_eq!(read("e"), Ok((None, true)));
        assert_eq!(read("0x2000"), Ok((Some(8192), false)));
        assert_eq!(read("e4096"), Ok((Some(4096), true)));
        assert_eq!(read("010"), Ok((Some(8), false)));
        assert!(read("1M").is_err() && read("x").is_err() && read("e-1").is_err());
    }

    #[test]
    fn samples_hold_a_piece_of_trace() {
        let bytes = |text| sample_size(text).map(TraceSampleSize::bytes).ok();
        assert_eq!((bytes("0"), bytes("61440")), (Some(4096), Some(61440)));
        assert_eq!((bytes("70000"), bytes("x")), (None, None));
    }
}
