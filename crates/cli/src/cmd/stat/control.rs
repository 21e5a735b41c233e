//! What each command to a measurement that goes on does (`--control`).

use oxperf_capture::count::{CountedEvent, CountingRun};
use oxperf_capture::{CaptureError, ControlCommand, ControlMessage};
use oxperf_present::text::sanitize;

use crate::cmd::control::{WRONG, counting_text, listing};
use crate::output::print_error;

/// Does what a message asks for; returns whether it is to be answered.
///
/// # Errors
/// The kernel's answer.
pub(super) fn obey(
    verbosity: u8,
    run: &CountingRun<'_>,
    message: &ControlMessage,
) -> Result<bool, CaptureError> {
    let text = sanitize(&message.text);
    if verbosity > 0 {
        print_error(&format!("Message from ctl_fd: \"{text}\\n\""));
    }
    match &message.command {
        ControlCommand::Enable(event) => set_counting(run, event.as_deref(), true)?,
        ControlCommand::Disable(event) => set_counting(run, event.as_deref(), false)?,
        ControlCommand::ListEvents(options) => list_events(run.counters().events(), options),
        ControlCommand::Wrong => print_error(WRONG),
        // The end of the target ends the measurement, as in perf.
        ControlCommand::Ping | ControlCommand::Stop => {}
        ControlCommand::Snapshot => return Ok(false),
        ControlCommand::Unknown => {
            if verbosity > 0 {
                print_error("ctlfd: unsupported 0");
            }
            return Ok(false);
        }
    }
    Ok(true)
}

fn set_counting(
    run: &CountingRun<'_>,
    event: Option<&str>,
    counts: bool,
) -> Result<(), CaptureError> {
    let is_known = run.set_counting(event, counts)?;
    print_error(&counting_text(event, is_known, counts));
    Ok(())
}

/// Lists the events on standard error.
fn list_events(events: &[CountedEvent], options: &str) {
    let planned: Vec<_> = events.iter().map(|event| &event.planned).collect();
    let text = listing(&planned, options);
    print_error(text.as_deref().map_or(WRONG, str::trim_end));
}
