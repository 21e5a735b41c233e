//! When a recording goes on and when it ends: signals, the workload, the delay, targets that are gone.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::{Duration, Instant};

use oxperf_abi::{Pid, Tid};
use oxperf_sys::{EventFd, PollSet, PollSlot, Signal, SpawnError, Workload, WorkloadSpec};

use crate::error::CaptureError;
use crate::interrupts::{GRACE, Interrupts};
use crate::note::{Note, Notes};
use crate::options::{Destination, Program, Start};

/// How old a record in a ring becomes before it is moved, however few there are.
const DRAIN_INTERVAL: Duration = Duration::from_secs(1);

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
        self.workload
            .and_then(|status| status.signal())
            .or(self.signal)
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
    interrupts: Rc<Interrupts>,
    poll: PollSet,
    watch_slot: PollSlot,
    rings: Vec<PollSlot>,
    ended: bool,
    /// The workload was asked to end.
    stopped: bool,
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
    pub(crate) fn new(
        program: Option<&Program>,
        output: &Destination,
    ) -> Result<Control, CaptureError> {
        let name = program.and_then(|program| program.arguments.first());
        let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let output_to_error = *output == Destination::StandardOutput;
        let workload = program
            .map(|program| spawn(program, output_to_error))
            .transpose();
        let workload = workload.map_err(|source| CaptureError::Workload {
            program: name.clone(),
            source,
        })?;
        let interrupts = Rc::new(Interrupts::watch()?);
        let mut poll = PollSet::new();
        let watch_slot = poll.add(&*interrupts);
        Ok(Control {
            workload,
            program: name,
            interrupts,
            poll,
            watch_slot,
            rings: Vec::new(),
            ended: false,
            stopped: false,
            enable_at: None,
        })
    }

    /// The signals, for others who wait.
    pub(crate) fn interrupts(&self) -> Rc<Interrupts> {
        Rc::clone(&self.interrupts)
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
            started.map_err(|source| CaptureError::Workload {
                program: program.clone(),
                source,
            })?;
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

    /// Waits until many records wait, or some for a while, or the delay is over, or something ends the recording.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn wait(&mut self) -> Result<News, CaptureError> {
        let longest = self
            .time_to_enable()
            .map_or(DRAIN_INTERVAL, |time| time.min(DRAIN_INTERVAL));
        self.poll.wait(Some(longest)).map_err(CaptureError::Wait)?;
        if self.poll.readiness(self.watch_slot).readable {
            self.interrupts.take();
        }
        // The output may have taken signals while it was written.
        self.ended |= self.interrupts.signal().is_some();
        if self.interrupts.take_child() {
            self.ended |= self.workload_has_ended().map_err(CaptureError::Wait)?;
        }
        self.drop_gone_rings();
        if self.time_to_enable() == Some(Duration::ZERO) {
            self.enable_at = None;
            return Ok(News::Enable);
        }
        Ok(News::Records)
    }

    /// Asks the workload to end, if it still runs and was not asked before.
    pub(crate) fn stop_workload(&mut self) {
        if !std::mem::replace(&mut self.stopped, true)
            && matches!(self.workload_has_ended(), Ok(false))
            && let Some(workload) = &self.workload
        {
            // It may be gone by now; waiting tells.
            let _ = workload.signal(Signal::Terminate.number());
        }
    }

    /// Waits until the workload has ended, and says how everything ended. Where it does not end in time, or the user
    /// asks again, it is killed, and its end tells nothing of it.
    pub(crate) fn finish(&mut self, notes: &mut dyn Notes) -> Ending {
        let poll = &mut self.poll;
        self.rings.drain(..).for_each(|slot| poll.remove(slot));
        let mut ending = Ending::default();
        if self.outlasts_workload(Interrupts::is_repeated) {
            ending.workload = self
                .workload
                .as_mut()
                .and_then(|workload| workload.try_wait().ok().flatten());
        } else {
            self.kill_workload(notes);
        }
        ending.signal = self.interrupts.signal().map(Signal::number);
        ending
    }

    fn kill_workload(&mut self, notes: &mut dyn Notes) {
        let Some(workload) = &self.workload else {
            return;
        };
        // It may be gone by now.
        let _ = workload.kill();
        notes.note(Note::WorkloadKilled {
            program: self.program.clone(),
            grace: GRACE,
        });
        // A process that hangs in the kernel is left behind.
        self.outlasts_workload(|_| false);
    }

    fn time_to_enable(&self) -> Option<Duration> {
        self.enable_at
            .map(|at| at.saturating_duration_since(Instant::now()))
    }

    fn workload_has_ended(&mut self) -> std::io::Result<bool> {
        self.workload
            .as_mut()
            .map_or(Ok(false), |workload| Ok(workload.try_wait()?.is_some()))
    }

    /// Waits for the workload's end, for the grace period or until `hurry`; whether it came. Without a workload there
    /// is nothing to wait for.
    fn outlasts_workload(&mut self, hurry: impl Fn(&Interrupts) -> bool) -> bool {
        let since = Instant::now();
        while self.workload.is_some() && !self.workload_has_ended().unwrap_or(true) {
            let left = GRACE.saturating_sub(since.elapsed());
            if left.is_zero() || hurry(&self.interrupts) || self.poll.wait(Some(left)).is_err() {
                return false;
            }
            self.interrupts.take();
        }
        true
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
        let exited = Ending {
            signal: None,
            workload: Some(ExitStatus::from_raw(7 << 8)),
        };
        assert_eq!((exited.exit_code(), exited.signal_to_raise()), (7, None));
        let killed = Ending {
            signal: Some(2),
            workload: Some(ExitStatus::from_raw(9)),
        };
        assert_eq!(killed.signal_to_raise(), Some(9));
        let interrupted = Ending {
            signal: Some(2),
            workload: None,
        };
        assert_eq!(
            (interrupted.exit_code(), interrupted.signal_to_raise()),
            (0, Some(2))
        );
    }
}
