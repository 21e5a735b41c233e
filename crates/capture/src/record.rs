//! A recording from beginning to end.
//!
//! ```text
//! look up the target -> hold the workload back -> open events and rings -> begin the file
//!   -> what existed before -> start -> drain until it ends -> losses, build ids, features
//! ```

mod asked;
mod commands;
mod newest;
mod opening;
mod surroundings;
mod traces;
mod windows;

use std::path::{Path, PathBuf};

use oxperf_abi::{EventAttr, EventId, Misc, RecordType};
use oxperf_data::{FeatureSet, WriteError};
use oxperf_sys::{Kernel, LoggingKernel, RealKernel, TimeConversion};
use oxperf_wire::kernel::LostSamples;
use oxperf_wire::{Encoder, Endian, SampleId, SampleLayout};

use crate::acquire::Acquired;
use crate::bpf::{BpfPrograms, Watched};
use crate::control::{Ending, RecordingControl};
use crate::control_channel::ControlChannel;
use crate::drain::Drained;
use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::finish::{ClockFacts, clock_facts};
use crate::host_files::HostFiles;
use crate::kernel_code;
use crate::losses::{EventLoss, LossCount, TraceCount};
use crate::machine_info::machine_info;
use crate::notice::{Observer, RecordingStep};
use crate::off_cpu::{self, OffCpu};
use crate::options::{Destination, RecordOptions};
use crate::output::{FinishedFile, RecordOutput, RecordingSeries, Volume};
use crate::plan::MachineInfo;
use crate::readers::RingReaders;
use crate::rotation::{Asked, SwitchTrigger};
use crate::switch_events::SwitchEvents;
use crate::synthesize::ProcDir;
use crate::trace::TraceSetup;
use asked::{openable, with_allowed_rate, with_trace};
use newest::NewestSource;
use surroundings::Surroundings;
use traces::Traces;

/// The result of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The place of the recording.
    pub output: Destination,
    /// The name of the file, of several the last one, where that has the moment when it was finished.
    pub name: Option<PathBuf>,
    /// Bytes of it up to the end of the records.
    pub bytes: u64,
    /// Sizes before and after compression, if anything was to be compressed.
    pub volume: Option<Volume>,
    /// Samples in it.
    pub samples: u64,
    /// Records that were lost, of all files.
    pub lost: u64,
    /// The same by event and CPU, as far as that is known.
    pub losses: Vec<EventLoss>,
    /// Pieces of hardware traces, and what they lack.
    pub traces: TraceCount,
    /// The number of times that the recorder was woken to move records.
    pub wakeups: u64,
    /// The end of the recording.
    pub ending: Ending,
}

/// What a recording is asked for beside its options.
#[derive(Debug, Default)]
pub struct RecordRequests {
    /// The events.
    pub events: Vec<EventRequest>,
    /// Events whose every occurrence begins the next file of a recording of several.
    pub switch_events: Vec<EventRequest>,
    /// Where commands come from while it goes on.
    pub control: Option<ControlChannel>,
}

/// Records what `requests` ask for as `options` say, until the workload, a signal, a command or the target's end ends it.
///
/// # Errors
/// See [`CaptureError`]. Whatever was written until then can be read.
pub fn record(
    options: &RecordOptions,
    requests: RecordRequests,
    observer: &mut dyn Observer,
) -> Result<Outcome, CaptureError> {
    record_on(&RealKernel, options, requests, observer)
}

/// As [`record`], with another kernel in the place of the running one: made-up hardware for tests and measurements.
///
/// # Errors
/// See [`CaptureError`].
pub fn record_on(
    kernel: &dyn Kernel,
    options: &RecordOptions,
    requests: RecordRequests,
    observer: &mut dyn Observer,
) -> Result<Outcome, CaptureError> {
    let RecordRequests {
        events: requests,
        switch_events,
        control: channel,
    } = requests;
    if requests.is_empty() {
        return Err(CaptureError::NothingAsked);
    }
    let mut requests = openable(requests, observer)?;
    if options.sampling.off_cpu.is_some() {
        requests.push(off_cpu::request());
    }
    if let Some(source) = &options.output.kernel_code {
        kernel_code::check(source)?;
        requests.push(kernel_code::request());
    }
    let options = with_allowed_rate(options, observer)?;
    let (requests, trace, options) = with_trace(kernel, requests, options, observer)?;
    let options = &options;
    let target = &options.target;
    let proc = ProcDir::new(Path::new("/proc"));
    let machine = MachineInfo {
        is_hybrid: HostFiles::this(&options.sysfs).is_hybrid(),
        ..machine_info(&target.target, &options.sysfs, &proc, observer)?
    };
    let clock = options.sampling.clock.map(clock_facts).transpose()?;
    let mut control = RecordingControl::new(target.workload.as_ref(), &options.output.destination)?;
    if let Some(channel) = channel {
        control.listen(channel);
    }
    let log = options.open_log.clone();
    let log = log.map(|folder| LoggingKernel::new(kernel, folder));
    let context = RecorderContext {
        options,
        kernel: log.as_ref().map_or(kernel, |log| log),
        machine,
        clock,
        trace,
    };
    let mut recorder = Recorder::open(context, control, requests, observer)?;
    recorder.watch_switch_events(&switch_events, observer)?;
    if let Some(failure) = log.as_ref().and_then(LoggingKernel::take_failure) {
        return Err(failure.into());
    }
    recorder.run(observer)
}

/// The inputs that stay as they are while a recording goes on.
struct RecorderContext<'a> {
    options: &'a RecordOptions,
    kernel: &'a dyn Kernel,
    machine: MachineInfo,
    /// None for the kernel's own clock.
    clock: Option<ClockFacts>,
    /// The trace, in a recording that has one.
    trace: Option<TraceSetup>,
}

/// A recording whose events are open.
struct Recorder<'a> {
    context: RecorderContext<'a>,
    control: RecordingControl,
    acquired: Acquired,
    readers: RingReaders,
    /// The rings that keep the newest records.
    newest: Vec<NewestSource>,
    /// The hardware trace, in a recording that has one.
    traces: Option<Traces>,
    /// From the CPU's cycles to the times of records, where the kernel tells it.
    cycles: Option<TimeConversion>,
    /// Makes samples of context switches, where they are wanted.
    off_cpu: Option<OffCpu>,
    /// The BPF programs that are described, where they are.
    bpf: Option<BpfPrograms>,
    recording: RecordingSeries,
    switch: SwitchTrigger,
    /// Events that begin the next file.
    switch_events: Option<SwitchEvents>,
    losses: LossCount,
    /// The number of times that the recorder was woken to move records to the current file.
    wakeups: u64,
}

impl<'a> Recorder<'a> {
    fn run(mut self, observer: &mut dyn Observer) -> Result<Outcome, CaptureError> {
        if self.control.workload().is_none() {
            self.recording.current().settle()?;
        }
        let beginning = match self.context.options.output.tail_synthesis {
            true => self.surroundings().waiting_workload(),
            false => self.surroundings().existing(observer),
        };
        self.recording.current().append(&beginning)?;
        if let Some(priority) = self.context.options.realtime_priority {
            let set = oxperf_sys::process::set_realtime_priority(priority);
            set.map_err(|source| CaptureError::Priority { priority, source })?;
        }
        let captured = self.capture(observer);
        let counted_lost = captured.and_then(|()| self.write_lost_samples());
        self.control.stop_workload();
        let ending = self.control.finish(observer);
        let counted_lost = counted_lost?;
        self.describe_bpf();
        let FinishedFile {
            bytes,
            volume,
            scan,
            name,
        } = self.recording.finish()?;
        self.losses.add_file(&scan, counted_lost);
        Ok(Outcome {
            output: self.context.options.output.destination.clone(),
            name,
            bytes,
            volume,
            samples: scan.samples,
            lost: self.losses.all(),
            losses: self.losses.by_event(&self.acquired),
            traces: self.losses.traces(),
            wakeups: self.wakeups,
            ending,
        })
    }

    /// Whatever the rings bring, every pass looks for what ends the recording; and as a pass follows a wait, what the
    /// recorder causes by writing is not worth a pass of its own.
    fn capture(&mut self, observer: &mut dyn Observer) -> Result<(), CaptureError> {
        let mut timetable = self.start(observer)?;
        // A program that cannot be run costs no recording that is there.
        self.recording.current().settle()?;
        observer.reached(RecordingStep::Started);
        while !self.control.has_ended() {
            let moments = [self.switch.moment(), timetable.moment()];
            self.control.wait(moments.into_iter().flatten().min())?;
            self.keep_to(&mut timetable, observer)?;
            self.obey_all(observer)?;
            self.drain()?;
            self.obey_signal(observer)?;
        }
        self.move_rest()?;
        let tail = self.tail(observer);
        // What ends by itself need not be stopped; refusing to stop loses nothing.
        let _ = self.acquired.open.disable(self.context.kernel);
        self.note_trace_counts(None, false);
        self.control.stop_workload();
        // Each ring holds what it holds now: where events go on nevertheless, they are not waited for.
        self.drain_all()?;
        self.take_last_snapshot()?;
        self.stop_threads()?;
        self.recording.current().append(&tail)
    }

    /// Moves what is in the rings, unless threads do.
    fn drain(&mut self) -> Result<(), CaptureError> {
        let mut output = Watched {
            bpf: self.bpf.as_mut(),
            output: &mut self.recording,
        };
        let moved = match &mut self.off_cpu {
            Some(off_cpu) => self.readers.pass(&mut off_cpu.before(&mut output)),
            None => self.readers.pass(&mut output),
        };
        self.moved(moved)
    }

    /// Moves whatever there is for a file.
    fn drain_all(&mut self) -> Result<(), CaptureError> {
        let moved = match &mut self.off_cpu {
            Some(off_cpu) => self
                .readers
                .last_pass(&mut off_cpu.before(&mut self.recording)),
            None => self.readers.last_pass(&mut self.recording),
        };
        self.moved(moved)?;
        self.write_newest()?;
        self.write_off_cpu()
    }

    fn moved(&mut self, moved: Result<u64, WriteError>) -> Result<(), CaptureError> {
        let moved = moved.map_err(|source| self.recording.unwritten(source))?;
        let moved = moved + self.move_traces()?;
        self.wakeups += u64::from(moved > 0);
        // A pass also follows the news that something is compressed.
        let written = self.recording.current().write_ready();
        written.map_err(|source| self.recording.unwritten(source))
    }

    /// Has the threads drain once more, and takes what they wrote.
    fn stop_threads(&mut self) -> Result<(), CaptureError> {
        let of_newest = self.newest.iter_mut().filter_map(NewestSource::take_part);
        self.recording.current().take_parts(of_newest);
        let mut refused = None;
        for Drained {
            outputs,
            wakeups,
            failure,
        } in self.readers.stop()
        {
            self.recording.current().take_parts(outputs);
            self.wakeups += wakeups;
            refused = refused.or(failure);
        }
        match refused {
            Some(source) => Err(self.recording.unwritten(source)),
            None => Ok(()),
        }
    }

    /// Does what the signal for it asks for: a snapshot of a trace, a new file.
    fn obey_signal(&mut self, observer: &mut dyn Observer) -> Result<(), CaptureError> {
        let has_come = self.control.interrupts().take_switch();
        if has_come {
            self.take_snapshot(observer)?;
        }
        self.watch_size(has_come, observer)
    }

    /// Goes on in a new file where this one is at its end, or ends the recording.
    fn watch_size(
        &mut self,
        by_signal: bool,
        observer: &mut dyn Observer,
    ) -> Result<(), CaptureError> {
        let bytes = self.recording.position();
        let most = self.context.options.output.max_size;
        if most.is_some_and(|most| bytes > most) && !self.control.has_ended() {
            observer.reached(RecordingStep::SizeReached { bytes });
            self.control.end();
        }
        let asked = Asked {
            by_signal,
            by_event: self.switch_events.as_mut().is_some_and(SwitchEvents::take),
        };
        if self.switch.is_due(bytes, asked) && !self.control.has_ended() {
            self.switch_output(observer)?;
        }
        Ok(())
    }

    /// Ends the file and begins the next one, which can be read alone: what runs is looked at before the rings are drained,
    /// because a task that ends meanwhile may have samples in both.
    fn switch_output(&mut self, observer: &mut dyn Observer) -> Result<(), CaptureError> {
        let existing = self.surroundings().existing(observer);
        let (tail, beginning) = match self.context.options.output.tail_synthesis {
            true => (&existing[..], &[][..]),
            false => (&[][..], &existing[..]),
        };
        self.drain_all()?;
        self.recording.current().append(tail)?;
        let counted_lost = self.write_lost_samples()?;
        self.describe_bpf();
        let finished = self.recording.switch()?;
        self.losses.add_file(&finished.scan, counted_lost);
        self.switch.restart();
        let wakeups = std::mem::take(&mut self.wakeups);
        if let Some(finished) = &finished.name {
            observer.reached(RecordingStep::Switched { finished, wakeups });
        }
        self.recording.current().append(beginning)
    }

    /// Writes the samples of absences that are not written yet.
    fn write_off_cpu(&mut self) -> Result<(), CaptureError> {
        let samples = self.off_cpu.as_mut().map(OffCpu::finish);
        let samples = samples.unwrap_or_default();
        let written = self.recording.kernel_records(&samples);
        let written = written.and_then(|()| self.recording.end_pass(None));
        written.map_err(|source| self.recording.unwritten(source))
    }

    /// Describes the BPF programs that were loaded meanwhile, too.
    fn describe_bpf(&mut self) {
        if let Some(bpf) = &mut self.bpf {
            bpf.add_loaded();
            let mut found = FeatureSet::default();
            bpf.add_features(&mut found);
            self.recording.current().add_features(&found);
        }
    }

    fn enable(&self) -> Result<(), CaptureError> {
        self.acquired
            .open
            .enable(self.context.kernel)
            .map_err(CaptureError::Enable)
    }

    /// What is there beside the events, to be described.
    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            options: self.context.options,
            machine: &self.context.machine,
            control: &self.control,
            acquired: &self.acquired,
            trace: self.traces.as_ref().map(|traces| &traces.setup),
            cycles: self.cycles,
            bpf: self.bpf.as_ref(),
        }
    }

    /// What exists at the end, where that is described then.
    fn tail(&self, observer: &mut dyn Observer) -> Vec<u8> {
        match self.context.options.output.tail_synthesis {
            true => self.surroundings().existing(observer),
            false => Vec::new(),
        }
    }

    /// Writes how many samples of each event the kernel could not write since the last time; how many these are.
    fn write_lost_samples(&mut self) -> Result<u64, CaptureError> {
        let (plan, open) = (&self.acquired.plan, &self.acquired.open);
        let (mut encoder, mut all) = (Encoder::new(Endian::NATIVE), 0u64);
        for (event, id, counted) in open.lost_samples(self.context.kernel, plan) {
            let lost = self.losses.take_counted(id, counted);
            if let Some(event) = plan.events.get(event).filter(|_| lost > 0) {
                encode_lost(&event.attr, id, lost, &mut encoder);
                all = all.saturating_add(lost);
            }
        }
        self.recording.current().append(encoder.as_bytes())?;
        Ok(all)
    }
}

fn encode_lost(attr: &EventAttr, id: EventId, lost: u64, encoder: &mut Encoder) {
    let whose = SampleId {
        id: Some(id),
        ..SampleId::default()
    };
    encoder.record(RecordType::LOST_SAMPLES, Misc(0), |body| {
        LostSamples { lost }.encode(body);
        SampleLayout::new(attr).encode_sample_id(&whose, body);
    });
}

#[cfg(test)]
mod tests;
