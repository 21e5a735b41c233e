//! The messages of `record` while it runs and when it is done.

use oxperf_capture::{Notice, Observer, OpenCall, Outcome, Plan, Volume};

use super::opens;
use crate::environment;
use crate::output::print_error;

/// The amount of messages that the user wants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Verbosity {
    /// Errors alone.
    Quiet,
    /// Warnings and the summary.
    Normal,
    /// Also what is opened.
    Verbose,
    /// Also each call that opens it.
    Calls,
}

/// Prints to standard error as much as the user wants.
pub(super) struct Messages {
    program: String,
    verbosity: Verbosity,
}

impl Messages {
    pub(super) fn new(verbosity: Verbosity, program: &str) -> Messages {
        Messages {
            program: program.to_owned(),
            verbosity,
        }
    }

    /// A choice that the user should know of.
    pub(super) fn warn(&mut self, text: &str) {
        if self.verbosity != Verbosity::Quiet {
            print_error(&format!("Warning:\n{text}"));
        }
    }

    /// The model by which the CPU's events are known, for whoever wants to know what is done.
    pub(super) fn cpu_model(&self) {
        if self.verbosity < Verbosity::Verbose {
            return;
        }
        if let Some(model) = environment::cpu_model() {
            print_error(&format!("Using CPUID {}", model.as_str()));
        }
    }

    /// Prints the size of the recording, and its losses.
    pub(super) fn summary(&self, outcome: &Outcome) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        if outcome.lost > 0 {
            print_error(&lost_text(outcome));
        }
        print_error(&summary_text(&self.program, outcome));
    }
}

fn lost_text(outcome: &Outcome) -> String {
    format!(
        "Warning:\n{} records were lost because a ring was full. Larger rings (-m), a lower rate (-F) or shallower \
         call chains lose fewer.",
        outcome.lost
    )
}

fn summary_text(program: &str, outcome: &Outcome) -> String {
    let megabytes = outcome.bytes as f64 / 1024.0 / 1024.0;
    let samples = match outcome.samples {
        0 => String::new(),
        samples => format!(" ({samples} samples)"),
    };
    let compressed = outcome.volume.map(compressed_text).unwrap_or_default();
    format!(
        "[ {program} record: Woken up {} times to write data ]\n\
         [ {program} record: Captured and wrote {megabytes:.3} MB {}{samples}{compressed} ]",
        outcome.wakeups, outcome.output
    )
}

fn compressed_text(volume: Volume) -> String {
    let Volume { plain, packed } = volume;
    let megabytes = plain as f64 / 1024.0 / 1024.0;
    let ratio = if packed == 0 {
        0.0
    } else {
        plain as f64 / packed as f64
    };
    format!(", compressed (original {megabytes:.3} MB, ratio is {ratio:.3})")
}

impl Observer for Messages {
    fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::FeatureUnsupported(_) if self.verbosity < Verbosity::Verbose => {}
            notice => self.warn(&notice.to_string()),
        }
    }

    fn tried(&mut self, call: &OpenCall<'_>) {
        if self.verbosity >= Verbosity::Calls {
            print_error(opens::text(call).trim_end());
        }
    }

    fn opened(&mut self, plan: &Plan) {
        if self.verbosity >= Verbosity::Verbose {
            print_error(plan.to_string().trim_end());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_capture::{Destination, Ending};

    #[test]
    fn the_summary_is_perfs() {
        let outcome = Outcome {
            output: Destination::File("perf.data".into()),
            bytes: 1 << 20,
            volume: None,
            samples: 7,
            lost: 0,
            wakeups: 3,
            ending: Ending::default(),
        };
        let expected = "[ perf record: Woken up 3 times to write data ]\n\
                        [ perf record: Captured and wrote 1.000 MB perf.data (7 samples) ]";
        assert_eq!(summary_text("perf", &outcome), expected);
        let none = Outcome {
            samples: 0,
            output: Destination::StandardOutput,
            ..outcome
        };
        assert!(summary_text("perf", &none).ends_with("1.000 MB - ]"));
        let packed = Outcome {
            volume: Some(Volume {
                plain: 3 << 20,
                packed: 1 << 20,
            }),
            ..none
        };
        assert!(
            summary_text("perf", &packed)
                .ends_with("-, compressed (original 3.000 MB, ratio is 3.000) ]")
        );
    }
}
