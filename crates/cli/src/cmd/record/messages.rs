//! The messages of `record` while it runs and when it is done.

use std::io::Write as _;
use std::path::Path;

use oxperf_capture::{
    ControlCommand, ControlMessage, Described, Destination, EventLoss, Notice, Observer, OpenCall,
    Outcome, Plan, RecordingStep, TraceCount, Volume,
};
use oxperf_present::text::sanitize;

use super::opens;
use crate::cmd::control::{WRONG, counting_text, listing};
use crate::environment;
use crate::failure::Failure;
use crate::output::{print_error, stdout};

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
    /// Also which event writes to which ring, and when the recording begins.
    Rings,
}

/// Prints to standard error as much as the user wants.
pub(super) struct Messages {
    program: String,
    verbosity: Verbosity,
    /// Standard output takes the recording.
    is_stream: bool,
}

impl Messages {
    pub(super) fn new(verbosity: Verbosity, program: &str, to: &Destination) -> Messages {
        Messages {
            program: program.to_owned(),
            verbosity,
            is_stream: *to == Destination::StandardOutput,
        }
    }

    /// Lists the events: that is the answer to a command, and no message.
    fn list(&self, plan: &Plan, options: &str) {
        let events: Vec<_> = plan.events.iter().collect();
        let Some(text) = listing(&events, options) else {
            print_error(WRONG);
            return;
        };
        if self.is_stream {
            print_error(text.trim_end());
            return;
        }
        let mut output = stdout();
        // Nobody may read there; the recording goes on.
        let written = output.write_all(text.as_bytes());
        let _ = written.and_then(|()| output.finish());
    }

    /// A choice that the user should know of.
    pub(super) fn warn(&mut self, text: &str) {
        if self.verbosity != Verbosity::Quiet {
            print_error(&format!("Warning:\n{text}"));
        }
    }

    /// A choice of little consequence.
    pub(super) fn remark(&mut self, text: &str) {
        if self.verbosity != Verbosity::Quiet {
            print_error(text);
        }
    }

    /// A detail for whoever wants to know what is done.
    pub(super) fn detail(&self, text: &str) {
        if self.verbosity >= Verbosity::Verbose {
            print_error(text);
        }
    }

    /// The model by which the CPU's events are known, for whoever wants to know what is done.
    pub(super) fn cpu_model(&self) {
        if let Some(model) = environment::cpu_model() {
            self.detail(&format!("Using CPUID {}", model.as_str()));
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
        trace_texts(outcome.traces)
            .iter()
            .for_each(|text| print_error(&format!("Warning:\n{text}")));
        if self.verbosity >= Verbosity::Verbose && outcome.traces.overwriting > 0 {
            print_error(&overwritten_text(outcome.traces));
        }
        print_error(&summary_text(&self.program, outcome));
    }
}

/// What to do against losses.
const LESS_LOSS: &str = "Larger rings (-m), a lower rate (-F) or shallower call chains lose fewer.";

/// Takes no loss.
///
/// # Errors
/// Something was lost.
pub(super) fn check_losses(outcome: &Outcome) -> Result<(), Failure> {
    let (lost, pieces) = (outcome.lost, outcome.traces.damaged());
    let (what, advice) = match (lost, pieces) {
        (0, 0) => return Ok(()),
        (0, pieces) => (format!("trace was lost {pieces} times"), LARGER_AREA),
        (lost, _) => (format!("{lost} records were lost"), LESS_LOSS),
    };
    Err(Failure::new(format!(
        "{what}, and --strict-loss takes none. {advice}"
    )))
}

fn lost_text(outcome: &Outcome) -> String {
    let losses: String = outcome.losses.iter().map(loss_text).collect();
    format!(
        "Warning:\n{} records were lost because a ring was full. {LESS_LOSS}{losses}",
        outcome.lost
    )
}

/// Why a trace of snapshots has gaps.
fn overwritten_text(traces: TraceCount) -> String {
    let TraceCount {
        pieces,
        overwriting,
        ..
    } = traces;
    format!(
        "{overwriting} of {pieces} AUX records are of areas that are overwritten: older trace is gone"
    )
}

/// What is missing in a hardware trace, in perf's words, and what to do against it.
fn trace_texts(traces: TraceCount) -> Vec<String> {
    let TraceCount {
        pieces,
        truncated,
        partial,
        collided,
        ..
    } = traces;
    let lost = format!("AUX data lost {truncated} times out of {pieces}!\n\n{LARGER_AREA}");
    let gaps = format!(
        "AUX data had gaps in it {partial} times out of {pieces}!\n\nAre you running a KVM guest in the background?"
    );
    let collisions = format!("AUX data detected collision {collided} times out of {pieces}!");
    [(truncated, lost), (partial, gaps), (collided, collisions)]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, text)| text)
        .collect()
}

/// What to do against losses of trace.
const LARGER_AREA: &str =
    "A larger AUX area (-m ,SIZE), --filter, fewer packets (cyc=0) or snapshots (-S) lose less.";

/// A line for an event on a CPU.
fn loss_text(loss: &EventLoss) -> String {
    let EventLoss { event, cpu, lost } = loss;
    let event = sanitize(event);
    let place = cpu.map_or_else(String::new, |cpu| format!(" on CPU {cpu}"));
    format!("\n  {event}{place}: {lost}")
}

fn summary_text(program: &str, outcome: &Outcome) -> String {
    let megabytes = outcome.bytes as f64 / 1024.0 / 1024.0;
    let samples = match outcome.samples {
        0 => String::new(),
        samples => format!(" ({samples} samples)"),
    };
    let compressed = outcome.volume.map(compressed_text).unwrap_or_default();
    let named = outcome.name.as_deref();
    let (dumped, moment) = match named {
        Some(name) => (dump_text(program, name) + "\n", ".<timestamp>"),
        None => (String::new(), ""),
    };
    // As in perf, the last of several files does not tell how many samples there are in all.
    let samples = if named.is_some() { "" } else { &samples };
    format!(
        "[ {program} record: Woken up {} times to write data ]\n{dumped}\
         [ {program} record: Captured and wrote {megabytes:.3} MB {}{moment}{samples}{compressed} ]",
        outcome.wakeups, outcome.output
    )
}

fn dump_text(program: &str, name: &Path) -> String {
    format!("[ {program} record: Dump {} ]", name.display())
}

fn step_text(program: &str, step: RecordingStep<'_>) -> String {
    match step {
        RecordingStep::Opening => format!("{program} record opening and mmapping events"),
        RecordingStep::Ring {
            index,
            event,
            owner,
        } => match owner {
            None => format!("idx {index}: mmapping fd {event}"),
            Some(owner) => format!("idx {index}: set output fd {event} -> {owner}"),
        },
        RecordingStep::Opened => format!("{program} record done opening and mmapping events"),
        RecordingStep::Started => format!("{program} record has started"),
        RecordingStep::Counting(counts) => counting_text(None, true, counts),
        RecordingStep::Switched { finished, wakeups } => format!(
            "[ {program} record: dump data: Woken up {wakeups} times ]\n{}",
            dump_text(program, finished)
        ),
        RecordingStep::Mapping { ring, area } => {
            let area = area.map(|bytes| format!("\nAUX area mmap length {bytes}"));
            format!("mmap size {ring}B{}", area.unwrap_or_default())
        }
        RecordingStep::Describing(described) => match described {
            Described::Clock => "Synthesizing TSC conversion information".to_owned(),
            Described::Ids => "Synthesizing id index".to_owned(),
            Described::Trace => "Synthesizing auxtrace information".to_owned(),
        },
        RecordingStep::Snapshot => "Recording AUX area tracing snapshot".to_owned(),
        RecordingStep::SizeReached { bytes } => format!(
            "[ {program} record: perf size limit reached ({} KB), stopping session ]",
            bytes / 1024
        ),
    }
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
            sizes @ (Notice::SnapshotSize { .. } | Notice::TraceSampleSizes { .. }) => {
                if self.verbosity >= Verbosity::Verbose {
                    print_error(&sizes.to_string());
                }
            }
            Notice::TraceForced => self.remark(&Notice::TraceForced.to_string()),
            notice => self.warn(&notice.to_string()),
        }
    }

    fn tried(&mut self, call: &OpenCall<'_>) {
        if self.verbosity >= Verbosity::Calls {
            print_error(opens::text(call).trim_end());
        }
    }

    fn reached(&mut self, step: RecordingStep<'_>) {
        let least = match step {
            RecordingStep::Snapshot | RecordingStep::Mapping { .. } => Verbosity::Verbose,
            RecordingStep::Describing(_) => Verbosity::Calls,
            RecordingStep::Opening
            | RecordingStep::Ring { .. }
            | RecordingStep::Opened
            | RecordingStep::Started => Verbosity::Rings,
            _ => Verbosity::Normal,
        };
        if self.verbosity >= least {
            print_error(&step_text(&self.program, step));
        }
    }

    fn obeyed(&mut self, message: &ControlMessage, plan: &Plan, is_known: bool) {
        let is_verbose = self.verbosity >= Verbosity::Verbose;
        if is_verbose {
            print_error(&format!(
                "Message from ctl_fd: \"{}\\n\"",
                sanitize(&message.text)
            ));
        }
        match &message.command {
            ControlCommand::Enable(event) => {
                print_error(&counting_text(event.as_deref(), is_known, true));
            }
            ControlCommand::Disable(event) => {
                print_error(&counting_text(event.as_deref(), is_known, false));
            }
            ControlCommand::ListEvents(options) => self.list(plan, options),
            ControlCommand::Wrong => print_error(WRONG),
            ControlCommand::Snapshot if is_verbose => print_error("is snapshot"),
            ControlCommand::Unknown if is_verbose => print_error("ctlfd: unsupported 0"),
            ControlCommand::Snapshot
            | ControlCommand::Unknown
            | ControlCommand::Ping
            | ControlCommand::Stop => {}
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
    fn losses_are_told_by_event_and_cpu() {
        let loss = |cpu, lost| EventLoss {
            event: "cs\u{1b}".to_owned(),
            cpu,
            lost,
        };
        let on_cpu = loss_text(&loss(Some(oxperf_abi::Cpu(3)), 7));
        assert!(on_cpu.starts_with("\n  cs") && on_cpu.ends_with(" on CPU 3: 7"));
        assert!(!on_cpu.contains('\u{1b}'));
        assert!(loss_text(&loss(None, 1)).ends_with(": 1"));
    }

    #[test]
    fn steps_are_told_as_perf_does() {
        let finished = Path::new("x.2026112803475810");
        let switched = RecordingStep::Switched {
            finished,
            wakeups: 2,
        };
        assert_eq!(
            step_text("perf", switched),
            "[ perf record: dump data: Woken up 2 times ]\n[ perf record: Dump x.2026112803475810 ]"
        );
        assert_eq!(
            step_text("perf", RecordingStep::SizeReached { bytes: 3 << 10 }),
            "[ perf record: perf size limit reached (3 KB), stopping session ]"
        );
    }

    #[test]
    fn rings_are_told_as_perf_does() {
        let ring = |owner| RecordingStep::Ring {
            index: 1,
            event: 12,
            owner,
        };
        assert_eq!(step_text("perf", ring(None)), "idx 1: mmapping fd 12");
        assert_eq!(
            step_text("perf", ring(Some(6))),
            "idx 1: set output fd 12 -> 6"
        );
        assert_eq!(
            step_text("perf", RecordingStep::Started),
            "perf record has started"
        );
    }

    #[test]
    fn the_switching_of_events_is_told_as_perf_does() {
        let texts = [false, true].map(|counts| step_text("perf", RecordingStep::Counting(counts)));
        assert_eq!(texts, ["Events disabled", "Events enabled"]);
    }

    #[test]
    fn the_summary_is_perfs() {
        let outcome = Outcome {
            output: Destination::File("perf.data".into()),
            bytes: 1 << 20,
            volume: None,
            samples: 7,
            name: None,
            lost: 0,
            losses: Vec::new(),
            traces: TraceCount::default(),
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
        let stamped = Outcome {
            name: Some("perf.data.2026112803475810".into()),
            output: Destination::File("perf.data".into()),
            samples: 7,
            ..none.clone()
        };
        assert_eq!(
            summary_text("perf", &stamped),
            "[ perf record: Woken up 3 times to write data ]\n\
             [ perf record: Dump perf.data.2026112803475810 ]\n\
             [ perf record: Captured and wrote 1.000 MB perf.data.<timestamp> ]"
        );
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
