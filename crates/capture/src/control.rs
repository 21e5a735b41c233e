//! The course of a recording: the workload held back, running and ended; the signals and gone targets that end it.

use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::Instant;

use oxperf_abi::{Pid, Tid};
use oxperf_sys::{EventFd, Signal, SpawnError, Workload, WorkloadSpec};

use crate::control_channel::{ControlChannel, ControlMessage};
use crate::error::CaptureError;
use crate::interrupts::{GRACE, Interrupts};
use crate::notice::{Notice, Observer};
use crate::options::{Destination, Program};
use crate::plan::RingKind;
use crate::wake::WakeSources;

/// The end of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ending {
    /// The signal that ended it, when one did.
    pub signal: Option<i32>,
    /// The status with which the workload ended, when there was one.
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
pub(crate) struct RecordingControl {
    workload: Option<NamedWorkload>,
    wake: WakeSources,
    channel: Option<ControlChannel>,
    started: bool,
    ended: bool,
    /// The workload was asked to end.
    stopped: bool,
}

/// A workload with the name that the user gave.
#[derive(Debug)]
pub(crate) struct NamedWorkload {
    pub(crate) process: Workload,
    program: String,
}

impl RecordingControl {
    /// Starts the workload's process, held back, and watches for signals.
    ///
    /// # Errors
    /// No process can be started, or signals cannot be caught.
    pub(crate) fn new(
        program: Option<&Program>,
        output: &Destination,
    ) -> Result<RecordingControl, CaptureError> {
        let output_to_error = *output == Destination::StandardOutput;
        let workload = program.map(|program| NamedWorkload::spawn(program, output_to_error));
        let workload = workload.transpose()?;
        let interrupts = Rc::new(Interrupts::watch_with_switch()?);
        Ok(RecordingControl {
            workload,
            wake: WakeSources::new(interrupts),
            channel: None,
            started: false,
            ended: false,
            stopped: false,
        })
    }

    /// The signals, for others who wait.
    pub(crate) fn interrupts(&self) -> Rc<Interrupts> {
        Rc::clone(self.wake.interrupts())
    }

    /// The workload's process.
    pub(crate) fn workload(&self) -> Option<Pid> {
        self.workload
            .as_ref()
            .map(|workload| workload.process.pid())
    }

    /// The workload's first thread.
    pub(crate) fn workload_thread(&self) -> Option<Tid> {
        self.workload().map(|pid| Tid(pid.0))
    }

    /// Also waits for the ring that `owner` stands for.
    pub(crate) fn watch_ring(&mut self, owner: &EventFd, kind: RingKind) {
        self.wake.add_ring(owner, kind);
    }

    /// Also waits for the end of the tasks of a ring that one of the threads drains.
    pub(crate) fn watch_end_of_ring(&mut self, owner: &EventFd) {
        self.wake.add_end_of_ring(owner);
    }

    /// A thread that drains and ends before it is stopped ends the recording.
    pub(crate) fn watch_threads(&mut self, threads: impl AsFd) {
        self.wake.add_threads(threads);
    }

    /// Also wakes when the event of `owner` occurs.
    pub(crate) fn watch_event(&mut self, owner: &EventFd) {
        self.wake.add_event(owner);
    }

    /// Also hears commands.
    pub(crate) fn listen(&mut self, channel: ControlChannel) {
        if let Some(commands) = channel.commands() {
            self.wake.add_commands(commands);
        }
        self.channel = Some(channel);
    }

    /// Takes the commands that arrived while the last wait went on.
    pub(crate) fn take_asked(&mut self) -> Vec<ControlMessage> {
        let Some(channel) = self.channel.as_mut().filter(|_| self.wake.has_commands()) else {
            return Vec::new();
        };
        let asked = channel.take();
        if channel.commands().is_none() {
            self.wake.remove_commands();
        }
        asked
    }

    /// Answers that a command was obeyed.
    pub(crate) fn acknowledge(&mut self) {
        if let Some(channel) = &mut self.channel {
            channel.acknowledge();
        }
    }

    /// Lets the workload run.
    ///
    /// # Errors
    /// The program cannot be executed.
    pub(crate) fn start(&mut self) -> Result<(), CaptureError> {
        if let Some(workload) = &mut self.workload {
            workload.start()?;
        }
        self.started = true;
        Ok(())
    }

    /// Returns whether the workload runs, or ran.
    pub(crate) fn has_started(&self) -> bool {
        self.started
    }

    /// Returns whether something ended the recording: what is still in the rings belongs to it, nothing after.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Ends the recording.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Waits until many records wait, or some for a while, or `until`, or something ends the recording: a signal, the end
    /// of the workload, or that all tasks are gone which the rings belong to.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn wait(&mut self, until: Option<Instant>) -> Result<(), CaptureError> {
        self.wake.wait(until).map_err(CaptureError::Wait)?;
        // The output may have taken signals while it was written.
        self.ended |= self.wake.interrupts().signal().is_some();
        if self.wake.interrupts().take_child() {
            self.ended |= self.workload_has_ended().map_err(CaptureError::Wait)?;
        }
        self.ended |= !self.wake.has_rings() || self.wake.has_thread_ended();
        Ok(())
    }

    /// Asks the workload to end, if it still runs and was not asked before.
    pub(crate) fn stop_workload(&mut self) {
        if !std::mem::replace(&mut self.stopped, true)
            && matches!(self.workload_has_ended(), Ok(false))
            && let Some(workload) = &self.workload
        {
            // It may be gone by now; waiting finds out.
            let _ = workload.process.signal(Signal::Terminate.number());
        }
    }

    /// Waits until the workload has ended, and returns how everything ended. Where it does not end in time, or the user
    /// asks again, it is killed, and its status is left out.
    pub(crate) fn finish(&mut self, observer: &mut dyn Observer) -> Ending {
        self.wake.remove_rings();
        let mut ending = Ending::default();
        if self.outlasts_workload(Interrupts::is_repeated) {
            ending.workload = self
                .workload
                .as_mut()
                .and_then(|workload| workload.process.try_wait().ok().flatten());
        } else {
            self.kill_workload(observer);
        }
        let signal = self.wake.interrupts().signal();
        ending.signal = signal.map(Signal::number);
        ending
    }

    fn kill_workload(&mut self, observer: &mut dyn Observer) {
        let Some(workload) = &self.workload else {
            return;
        };
        // It may be gone by now.
        let _ = workload.process.kill();
        observer.notice(Notice::WorkloadKilled {
            program: workload.program.clone(),
            grace: GRACE,
        });
        // A process that hangs in the kernel is left behind.
        self.outlasts_workload(|_| false);
    }

    fn workload_has_ended(&mut self) -> std::io::Result<bool> {
        match &mut self.workload {
            Some(workload) => Ok(workload.process.try_wait()?.is_some()),
            None => Ok(false),
        }
    }

    /// Waits for the workload's end, for the grace period or until `hurry`, and returns whether it came. Without a
    /// workload there is nothing to wait for.
    fn outlasts_workload(&mut self, hurry: impl Fn(&Interrupts) -> bool) -> bool {
        let since = Instant::now();
        while self.workload.is_some() && !self.workload_has_ended().unwrap_or(true) {
            let left = GRACE.saturating_sub(since.elapsed());
            let in_hurry = left.is_zero() || hurry(self.wake.interrupts());
            if in_hurry || self.wake.wait_for_signal(left).is_err() {
                return false;
            }
        }
        true
    }
}

impl NamedWorkload {
    /// Starts the process, held back before it executes the program.
    ///
    /// # Errors
    /// No process can be started.
    pub(crate) fn spawn(
        program: &Program,
        output_to_error: bool,
    ) -> Result<NamedWorkload, CaptureError> {
        let first = program.arguments.first();
        let name = first.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let spec = WorkloadSpec {
            arguments: &program.arguments,
            environment: &program.environment,
            search_path: program.search_path.as_deref(),
            output_to_error,
        };
        match Workload::spawn(&spec) {
            Ok(process) => Ok(NamedWorkload {
                process,
                program: name,
            }),
            Err(source) => Err(not_started(&name, source)),
        }
    }

    /// Lets the process execute the program.
    ///
    /// # Errors
    /// The program cannot be executed.
    pub(crate) fn start(&mut self) -> Result<(), CaptureError> {
        let started = self.process.start();
        started.map_err(|source| not_started(&self.program, source))
    }
}

fn not_started(program: &str, source: SpawnError) -> CaptureError {
    CaptureError::Workload {
        program: program.to_owned(),
        source,
    }
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
