//! When a recording goes on and when it ends: signals, the workload, the delay, targets that are gone.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use oxperf_abi::{Pid, Tid};
use oxperf_sys::{EventFd, PollSet, PollSlot, Signal, SignalWatch, SpawnError, Workload, WorkloadSpec};

use crate::error::CaptureError;
use crate::options::{Destination, Program, Start};

/// How a recording ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ending {
    /// The signal that ended it, when one did.
    pub signal: Option<i32>,
    /// How the workload ended, when there was one.
    pub workload: Option<ExitStatus>,
}

impl Ending {
    /// The signal that the recorder should end by itself, so that whoever started it sees what happened: the
    /// workload's, else its own.
    pub fn signal_to_raise(&self) -> Option<i32> {
        self.workload.and_then(|status| status.signal()).or(self.signal)
    }

    /// The exit status to pass on when there is no signal.
    pub fn exit_code(&self) -> i32 {
        self.workload.and_then(|status| status.code()).unwrap_or(0)
    }
}

/// The workload, held back or running, and the watch for what ends the recording.
#[derive(Debug)]
pub(crate) struct Control {
    workload: Option<Workload>,
    program: String,
    watch: SignalWatch,
    poll: PollSet,
    watch_slot: PollSlot,
    rings: Vec<PollSlot>,
    ending: Ending,
    ended: bool,
    enable_at: Option<Instant>,
}

/// What the loop of a recording does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum News {
    /// Records may wait.
    Records,
    /// The delay is over: start counting.
    Enable,
}

impl Control {
    /// Starts the workload's process, held back, and watches for signals.
    ///
    /// # Errors
    /// No process can be started, or signals cannot be caught.
    pub(crate) fn new(program: Option<&Program>, output: &Destination) -> Result<Control, CaptureError> {
        let name = program.and_then(|program| program.arguments.first());
        let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let output_to_error = *output == Destination::StandardOutput;
        let workload = program.map(|program| spawn(program, output_to_error)).transpose();
        let workload = workload.map_err(|source| CaptureError::Workload { program: name.clone(), source })?;
        let watch = SignalWatch::install(&[Signal::Interrupt, Signal::Terminate, Signal::Child])?;
        let mut poll = PollSet::new();
        let watch_slot = poll.add(&watch);
        Ok(Control {
            workload,
            program: name,
            watch,
            poll,
            watch_slot,
            rings: Vec::new(),
            ending: Ending::default(),
            ended: false,
            enable_at: None,
        })
    }

    /// The workload's process.
    pub(crate) fn workload(&self) -> Option<Pid> {
        self.workload.as_ref().map(Workload::pid)
    }

    /// The workload's first thread.
    pub(crate) fn workload_thread(&self) -> Option<Tid> {
        self.workload().map(|pid| Tid(pid.0))
    }

    /// Also waits for the ring that `owner` stands for.
    pub(crate) fn watch_ring(&mut self, owner: &EventFd) {
        self.rings.push(self.poll.add(owner));
    }

    /// Lets the workload run; the delay begins.
    ///
    /// # Errors
    /// The program cannot be executed.
    pub(crate) fn start(&mut self, start: Start) -> Result<(), CaptureError> {
        if let Some(workload) = &mut self.workload {
            let started = workload.start();
            let program = &self.program;
            started.map_err(|source| CaptureError::Workload { program: program.clone(), source })?;
        }
        if let Start::After(delay) = start {
            self.enable_at = Instant::now().checked_add(delay);
        }
        Ok(())
    }

    /// Whether something ended the recording: what is still in the rings belongs to it, nothing after.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Waits until records may wait, the delay is over, or something ends the recording.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn wait(&mut self) -> Result<News, CaptureError> {
        self.poll.wait(self.time_to_enable()).map_err(CaptureError::Wait)?;
        if self.poll.readiness(self.watch_slot).readable {
            self.take_signals().map_err(CaptureError::Wait)?;
        }
        self.drop_gone_rings();
        if self.time_to_enable() == Some(Duration::ZERO) {
            self.enable_at = None;
            return Ok(News::Enable);
        }
        Ok(News::Records)
    }

    /// Ends the workload if it still runs, and says how everything ended.
    pub(crate) fn finish(mut self) -> Ending {
        if let Some(workload) = &mut self.workload {
            if matches!(workload.try_wait(), Ok(None)) {
                // It may be gone by now; waiting tells.
                let _ = workload.signal(Signal::Terminate.number());
            }
            self.ending.workload = workload.wait().ok();
        }
        self.ending
    }

    fn time_to_enable(&self) -> Option<Duration> {
        self.enable_at.map(|at| at.saturating_duration_since(Instant::now()))
    }

    fn take_signals(&mut self) -> std::io::Result<()> {
        let arrived = self.watch.take();
        for signal in [Signal::Interrupt, Signal::Terminate] {
            if arrived.contains(signal) {
                self.ending.signal = Some(signal.number());
                self.ended = true;
            }
        }
        if let Some(workload) = &mut self.workload
            && arrived.contains(Signal::Child)
        {
            self.ended |= workload.try_wait()?.is_some();
        }
        Ok(())
    }

    /// A ring whose tasks have all exited brings nothing new; without any ring the recording ends.
    fn drop_gone_rings(&mut self) {
        let poll = &mut self.poll;
        self.rings.retain(|&slot| {
            let state = poll.readiness(slot);
            let gone = state.hung_up || state.failed || state.closed;
            if gone {
                poll.remove(slot);
            }
            !gone
        });
        self.ended |= self.rings.is_empty();
    }
}

fn spawn(program: &Program, output_to_error: bool) -> Result<Workload, SpawnError> {
    Workload::spawn(&WorkloadSpec {
        arguments: &program.arguments,
        environment: &program.environment,
        search_path: program.search_path.as_deref(),
        output_to_error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workloads_end_is_passed_on() {
        let exited = Ending { signal: None, workload: Some(ExitStatus::from_raw(7 << 8)) };
        assert_eq!((exited.exit_code(), exited.signal_to_raise()), (7, None));
        let killed = Ending { signal: Some(2), workload: Some(ExitStatus::from_raw(9)) };
        assert_eq!(killed.signal_to_raise(), Some(9));
        let interrupted = Ending { signal: Some(2), workload: None };
        assert_eq!((interrupted.exit_code(), interrupted.signal_to_raise()), (0, Some(2)));
    }
}
