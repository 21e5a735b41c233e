//! The course of a counting run: held back, counting, ended; the intervals in it, and what ends it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use oxperf_abi::{CountReading, Tid};
use oxperf_sys::{PollSet, Readiness, Signal};

use super::counters::Counters;
use super::opening::Opening;
use super::own::RunMoment;
use super::recorder::{CountRecordOptions, CountRecorder, RecordedRun, name_own};
use super::{CountContext, CountOutcome, CountRequest};
use crate::control::{Ending, NamedWorkload};
use crate::control_channel::ControlMessage;
use crate::error::CaptureError;
use crate::interrupts::Interrupts;
use crate::machine_info::machine_info;
use crate::notice::Observer;
use crate::options::{Start, Target};
use crate::plan::MachineInfo;
use crate::synthesize::ProcDir;
use crate::system;

/// The time after which a target without a workload is looked for again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The time after which the rings of samples are emptied again.
const DRAIN_AGAIN: Duration = Duration::from_millis(500);

/// What happened in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CountNews {
    /// An interval is over, so long after the start: the counters are to be read.
    Interval(Duration),
    /// Somebody asks for something.
    Asked(ControlMessage),
    /// The run has ended.
    Ended,
}

/// One run of a workload, or one watch of a target, with its counters open.
pub struct CountingRun<'a> {
    context: CountContext<'a>,
    machine: MachineInfo,
    counters: Counters,
    workload: Option<NamedWorkload>,
    interrupts: Rc<Interrupts>,
    started: Instant,
    ended: Option<Instant>,
    intervals: u32,
    /// The rest of the last interval was reported.
    rest_is_reported: bool,
    /// The moment when the end of the workload was heard of.
    heard: Option<Instant>,
    /// What was asked for and not yet reported.
    asked: VecDeque<ControlMessage>,
}

impl<'a> CountingRun<'a> {
    /// Holds the workload back and opens the counters of `requests`.
    ///
    /// # Errors
    /// The target does not exist, no process can be started, or nothing of what was asked for can be counted.
    pub fn open(
        context: CountContext<'a>,
        requests: Vec<CountRequest>,
        observer: &mut dyn Observer,
    ) -> Result<CountingRun<'a>, CaptureError> {
        let options = context.options;
        let (target, proc) = (&options.target, ProcDir::new(Path::new("/proc")));
        let machine = machine_info(&target.target, &options.sysfs, &proc, observer)?;
        let workload = target.workload.as_ref();
        let workload = workload.map(|program| NamedWorkload::spawn(program, options.to_stream));
        let workload = workload.transpose()?;
        let interrupts = Rc::new(Interrupts::watch()?);
        let opening = Opening {
            kernel: context.kernel,
            target,
            machine: &machine,
            sysfs: &options.sysfs,
            workload: workload
                .as_ref()
                .map(|workload| Tid(workload.process.pid().0)),
            permissions: system::permissions(),
            raised_files: false,
            may_move: !options.stays_on_cpu,
            to_stream: options.to_stream,
            latencies: options.latencies,
        };
        let counters = opening.open(requests, observer)?;
        Ok(CountingRun {
            context,
            machine,
            counters,
            workload,
            interrupts,
            started: Instant::now(),
            ended: None,
            intervals: 0,
            rest_is_reported: false,
            heard: None,
            asked: VecDeque::new(),
        })
    }

    /// The counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The CPUs and threads that were found.
    pub fn machine(&self) -> &MachineInfo {
        &self.machine
    }

    /// Begins a recording of what is counted, the events by these names.
    ///
    /// # Errors
    /// The output cannot be made or refuses.
    pub fn record(
        &self,
        options: &CountRecordOptions,
        names: &[String],
    ) -> Result<CountRecorder, CaptureError> {
        let workload = self.workload.as_ref();
        let mut ids = self.counters.ids(self.context.kernel);
        name_own(&self.counters, &mut ids);
        let run = RecordedRun {
            counters: &self.counters,
            names,
            ids,
            machine: &self.machine,
            workload: workload.map(|workload| Tid(workload.process.pid().0)),
            target: &self.context.options.target.target,
            sysfs: &self.context.options.sysfs,
        };
        CountRecorder::begin(options, &run, Rc::clone(&self.interrupts))
    }

    /// Lets the workload run and the counters count, after the delay where one is asked for.
    ///
    /// # Errors
    /// The program cannot be executed, or counting cannot be started.
    pub fn start(&mut self) -> Result<(), CaptureError> {
        let target = &self.context.options.target;
        let (start, on_exec) = (target.start, target.starts_on_exec());
        if start == Start::Now && !on_exec {
            self.enable()?;
        }
        // The workload runs before `start` returns: a short one may have ended by then.
        self.started = Instant::now();
        if let Some(workload) = &mut self.workload {
            workload.start()?;
        }
        if let Start::After(delay) = start {
            self.sleep(delay)?;
            self.enable()?;
            self.started = Instant::now();
        }
        if start != Start::Disabled {
            self.counters.start_own(self.moment(self.started));
            self.take_samples(true);
        }
        Ok(())
    }

    /// Begins to take the samples that tell latencies, or takes no more.
    fn take_samples(&self, takes: bool) {
        if let Some(sampler) = self.counters.sampler() {
            sampler.switch(self.context.kernel, takes);
        }
    }

    fn moment(&self, now: Instant) -> RunMoment {
        let workload = self.workload.as_ref();
        RunMoment {
            now,
            usage: workload.and_then(|workload| workload.process.usage()),
        }
    }

    /// Lets all events count, or the named one, or lets them count no more; returns whether there are such.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn set_counting(&self, event: Option<&str>, counts: bool) -> Result<bool, CaptureError> {
        let moment = self.moment(Instant::now());
        let changed = self
            .counters
            .set_counting(self.context.kernel, event, counts, moment);
        changed.map_err(CaptureError::Enable)
    }

    fn enable(&self) -> Result<(), CaptureError> {
        let enabled = self.counters.enable(self.context.kernel);
        enabled.map_err(CaptureError::Enable)
    }

    /// Sleeps until a moment, or until something ends the run.
    fn sleep(&mut self, time: Duration) -> Result<(), CaptureError> {
        let end = Instant::now() + time;
        while Instant::now() < end && !self.has_ended() {
            self.doze(Some(end)).map_err(CaptureError::Wait)?;
        }
        Ok(())
    }

    /// Waits for what comes next.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn wait(&mut self) -> Result<CountNews, CaptureError> {
        loop {
            if let Some(ended) = self.ended {
                return Ok(self.rest_of_interval(ended).unwrap_or(CountNews::Ended));
            }
            if let Some(message) = self.asked.pop_front() {
                return Ok(CountNews::Asked(message));
            }
            if let Some(news) = self.take_due() {
                return Ok(news);
            }
            let wake = self.next_wake();
            self.doze(wake).map_err(CaptureError::Wait)?;
            if let Some(sampler) = self.counters.sampler() {
                sampler.drain();
            }
            if self.context.options.target.workload.is_none() && !self.is_target_alive() {
                self.end();
            }
        }
    }

    /// The interval that the end cut short, once; none where the run ends with an interval.
    fn rest_of_interval(&mut self, ended: Instant) -> Option<CountNews> {
        let has_rest = self.context.options.interval.is_some() && !self.has_counted_intervals();
        let is_reported = std::mem::replace(&mut self.rest_is_reported, true);
        let since = self
            .heard
            .unwrap_or(ended)
            .saturating_duration_since(self.started);
        (has_rest && !is_reported).then_some(CountNews::Interval(since))
    }

    /// Returns whether there were as many intervals as the user wants.
    fn has_counted_intervals(&self) -> bool {
        let most = self.context.options.interval_count;
        most.is_some_and(|most| self.intervals >= most)
    }

    /// What the clock says is due.
    fn take_due(&mut self) -> Option<CountNews> {
        let options = self.context.options;
        let since = self.started.elapsed();
        if options.timeout.is_some_and(|timeout| since >= timeout) {
            self.stop_workload();
            self.end();
            return Some(CountNews::Ended);
        }
        if self
            .next_interval()
            .is_some_and(|next| Instant::now() >= next)
        {
            self.intervals += 1;
            return Some(CountNews::Interval(since));
        }
        if self.has_counted_intervals() {
            self.end();
            return Some(CountNews::Ended);
        }
        None
    }

    /// The end of the current interval.
    fn next_interval(&self) -> Option<Instant> {
        let options = self.context.options;
        let interval = options.interval.filter(|_| !self.has_counted_intervals())?;
        interval_end(self.started, interval, self.intervals)
    }

    fn next_wake(&self) -> Option<Instant> {
        let options = self.context.options;
        let timeout = options
            .timeout
            .and_then(|timeout| self.started.checked_add(timeout));
        let watches_tasks = self.workload.is_none() && !options.target.target.is_cpu_wide();
        let look = watches_tasks.then(|| Instant::now() + LOOK_AGAIN);
        let samples = self.counters.sampler();
        let drain = samples.map(|_| Instant::now() + DRAIN_AGAIN);
        [self.next_interval(), timeout, look, drain]
            .into_iter()
            .flatten()
            .min()
    }

    /// Sleeps until a signal comes, at most until `wake`.
    fn doze(&mut self, wake: Option<Instant>) -> io::Result<()> {
        let mut poll = PollSet::new();
        poll.add(&*self.interrupts);
        let mut channel = self.context.control.map(RefCell::borrow_mut);
        let commands = channel.as_ref().and_then(|channel| channel.commands());
        let commands = commands.map(|commands| poll.add(commands));
        let left = wake.map(|wake| wake.saturating_duration_since(Instant::now()));
        poll.wait(left)?;
        let is_ready = commands.is_some_and(|slot| poll.readiness(slot) != Readiness::default());
        if let Some(channel) = channel.as_mut().filter(|_| is_ready) {
            self.asked.extend(channel.take());
        }
        drop(channel);
        self.interrupts.take();
        self.take_signals();
        Ok(())
    }

    /// A workload ends the run. A signal ends it where there is no workload; where there is one, the run goes on until that
    /// has ended too, unless the user asks again.
    fn take_signals(&mut self) {
        let now = Instant::now();
        if self.interrupts.take_child() && self.workload_has_ended() {
            self.heard = Some(now);
            self.end();
        }
        match self.interrupts.signal() {
            Some(_) if self.workload.is_none() || self.interrupts.is_repeated() => self.end(),
            // A terminal sends this to the workload, too.
            Some(Signal::Interrupt) | None => {}
            Some(_) => self.stop_workload(),
        }
        if self.interrupts.signal().is_some() && self.context.options.interval.is_some() {
            self.end();
        }
    }

    fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    fn end(&mut self) {
        self.ended.get_or_insert_with(Instant::now);
    }

    fn workload_has_ended(&mut self) -> bool {
        let status = self
            .workload
            .as_mut()
            .map(|workload| workload.process.try_wait());
        // A child that cannot be asked for is none.
        status.is_some_and(|status| !matches!(status, Ok(None)))
    }

    fn stop_workload(&mut self) {
        if !self.workload_has_ended()
            && let Some(workload) = &self.workload
        {
            // It may be gone by now; waiting finds out.
            let _ = workload.process.signal(Signal::Terminate.number());
        }
    }

    fn is_target_alive(&self) -> bool {
        match self.context.options.target.target {
            Target::Processes(_) | Target::Threads(_) => {
                let exists = |tid: &Tid| Path::new("/proc").join(tid.to_string()).exists();
                self.machine.threads.iter().any(exists)
            }
            Target::Workload | Target::AllCpus | Target::Cpus(_) => true,
        }
    }

    /// Reads all counters: for each event what each of its sites says.
    pub fn read(&self) -> Vec<Vec<Option<CountReading>>> {
        let mut readings = Vec::new();
        self.read_into(&mut readings);
        readings
    }

    /// The same in the place of readings that are not needed any more.
    pub fn read_into(&self, readings: &mut Vec<Vec<Option<CountReading>>>) {
        let now = self.heard.or(self.ended).unwrap_or_else(Instant::now);
        let moment = self.moment(now);
        self.counters.read(self.context.kernel, moment, readings);
    }

    /// Waits for the workload where only the intervals have ended, and stops the counting of everything that does not end
    /// with the workload.
    ///
    /// # Errors
    /// The kernel's answer to waiting.
    pub fn stop(&mut self) -> Result<CountOutcome, CaptureError> {
        while self.workload.is_some()
            && !self.workload_has_ended()
            && !self.interrupts.is_repeated()
        {
            self.doze(None).map_err(CaptureError::Wait)?;
            self.ended = self.ended.map(|_| Instant::now());
        }
        let target = &self.context.options.target;
        if target.target != Target::Workload {
            // What cannot be stopped is read all the same.
            let _ = self.counters.disable(self.context.kernel);
        }
        self.take_samples(false);
        let ended = self.ended.unwrap_or_else(Instant::now);
        self.counters.stop_own(self.moment(ended));
        Ok(self.outcome())
    }

    /// Closes all counters.
    pub fn close(&mut self) {
        self.counters.close();
    }

    fn outcome(&mut self) -> CountOutcome {
        let ended = self.ended.unwrap_or_else(Instant::now);
        let mut ending = Ending {
            signal: self.interrupts.signal().map(Signal::number),
            workload: None,
        };
        let mut usage = None;
        if let Some(workload) = &mut self.workload {
            ending.workload = workload.process.try_wait().ok().flatten();
            usage = workload.process.usage();
        }
        CountOutcome {
            elapsed: ended.saturating_duration_since(self.started),
            usage,
            ending,
        }
    }
}

/// The end of the interval that stands behind `before` others. All are counted from the start, so that an interval that is
/// read late moves none of those behind it.
fn interval_end(started: Instant, interval: Duration, before: u32) -> Option<Instant> {
    started.checked_add(interval.checked_mul(before.checked_add(1)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_never_drift() {
        let (started, interval) = (Instant::now(), Duration::from_millis(10));
        let end = |before| interval_end(started, interval, before);
        assert_eq!(end(0), Some(started + interval));
        // An hour later the end is where it was to be.
        assert_eq!(end(359_999), Some(started + Duration::from_secs(3600)));
        assert_eq!(end(u32::MAX), None);
    }
}
