//! A recording from beginning to end.
//!
//! ```text
//! look up the target -> hold the workload back -> open events and rings -> begin the file
//!   -> what existed before -> start -> drain until it ends -> losses, build ids, features
//! ```

use std::fs::File;
use std::path::{Path, PathBuf};

use oxperf_abi::{AttrFlags, EventAttr, EventId, Misc, RecordType};
use oxperf_data::{WriteError, Writer, WriterEvent};
use oxperf_sys::{Kernel, MappedFile, RealKernel, RingPages};
use oxperf_wire::kernel::LostSamples;
use oxperf_wire::{Encoder, Endian, SampleId, SampleLayout};

use crate::acquire::{Acquired, acquire};
use crate::control::{Control, Ending, News};
use crate::describe;
use crate::drain::Drain;
use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::finish::{self, RecordingFacts, Scan};
use crate::host::Host;
use crate::note::{Note, Notes};
use crate::options::{BuildIds, Rate, RecordOptions, Start, Target};
use crate::plan::Scene;
use crate::synthesize::{ProcDir, RecordSink, Synthesizer, Trailer};
use crate::{build_id, output, system, target, tracing};

/// What a recording brought.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The file.
    pub output: PathBuf,
    /// Bytes of the file up to the end of the records.
    pub bytes: u64,
    /// Samples in it.
    pub samples: u64,
    /// Records that found their ring full.
    pub lost: u64,
    /// How often the recorder was woken to move records.
    pub wakeups: u64,
    /// How it ended.
    pub ending: Ending,
}

/// Records `requests` as `options` say, until the workload, a signal or the target's end ends it.
///
/// # Errors
/// See [`CaptureError`]. Whatever was written until then can be read.
pub fn record(
    options: &RecordOptions,
    requests: Vec<EventRequest>,
    notes: &mut dyn Notes,
) -> Result<Outcome, CaptureError> {
    if requests.is_empty() {
        return Err(CaptureError::NothingAsked);
    }
    let options = &with_allowed_rate(options, notes);
    let scene = target::scene(&options.target, &ProcDir::new(Path::new("/proc")), notes)?;
    let control = Control::new(options.workload.as_ref())?;
    Recorder::open(options, requests, scene, control, &RealKernel, notes)?.run(notes)
}

fn with_allowed_rate(options: &RecordOptions, notes: &mut dyn Notes) -> RecordOptions {
    let asked = options.rate.unwrap_or(Rate::DEFAULT);
    let (allowed, limit) = system::allowed_rate(asked, system::max_sample_rate());
    let mut options = options.clone();
    if let Some(limit) = limit {
        notes.note(Note::RateLimited { asked, limit });
        options.rate = Some(allowed);
    }
    options
}

/// A recording whose events are open.
struct Recorder<'a> {
    options: &'a RecordOptions,
    kernel: &'a dyn Kernel,
    scene: Scene,
    acquired: Acquired,
    control: Control,
    drain: Drain,
    writer: Writer<File>,
    wakeups: u64,
}

impl<'a> Recorder<'a> {
    fn open(
        options: &'a RecordOptions,
        requests: Vec<EventRequest>,
        scene: Scene,
        mut control: Control,
        kernel: &'a dyn Kernel,
        notes: &mut dyn Notes,
    ) -> Result<Recorder<'a>, CaptureError> {
        let mut acquired = acquire(kernel, options, requests, &scene, control.workload_thread(), notes)?;
        let rings = map_rings(kernel, &mut acquired, options)?;
        for &key in &acquired.plan.rings {
            acquired.open.fds_of(key).take(1).for_each(|owner| control.watch_ring(owner));
        }
        let file = output::create(&options.output)
            .map_err(|source| CaptureError::Output { path: options.output.clone(), source })?;
        let writer =
            Writer::begin(file, &writer_events(&acquired)).map_err(|source| unwritten(options, source))?;
        let drain = Drain::new(rings);
        Ok(Recorder { options, kernel, scene, acquired, control, drain, writer, wakeups: 0 })
    }

    fn run(mut self, notes: &mut dyn Notes) -> Result<Outcome, CaptureError> {
        self.write_existing(notes)?;
        let captured = self.capture();
        let lost_written = captured.and_then(|()| self.write_lost_samples());
        let ending = self.control.finish();
        lost_written?;
        let bytes = self.writer.position().0;
        let scan = look_over(self.options)?;
        let facts = RecordingFacts {
            plan: &self.acquired.plan,
            command_line: &self.options.command_line,
            build_ids: build_id_table(self.options, &scan),
            times: scan.times,
            tracing_data: tracing::collect(&self.acquired.plan, notes),
        };
        let mut features = Host::this().features();
        finish::add_recording_features(facts, &mut features);
        self.writer.finish(&features).map_err(|source| unwritten(self.options, source))?;
        let output = self.options.output.clone();
        Ok(Outcome { output, bytes, samples: scan.samples, lost: scan.lost, wakeups: self.wakeups, ending })
    }

    /// Counting begins before the workload runs, unless its exec or the delay begins it.
    fn capture(&mut self) -> Result<(), CaptureError> {
        if self.options.start == Start::Now && self.options.target != Target::Workload {
            self.enable()?;
        }
        self.control.start(self.options.start)?;
        let mut stopped = false;
        loop {
            let moved =
                self.drain.pass(&mut self.writer).map_err(|source| unwritten(self.options, source))?;
            if self.control.has_ended() && !stopped {
                // What ends by itself need not be stopped; refusing to stop loses nothing.
                let _ = self.acquired.open.disable(self.kernel);
                stopped = true;
            } else if moved == 0 && stopped {
                return Ok(());
            } else if moved == 0 {
                self.wait()?;
            }
        }
    }

    fn wait(&mut self) -> Result<(), CaptureError> {
        let news = self.control.wait()?;
        self.wakeups += 1;
        if news == News::Enable { self.enable() } else { Ok(()) }
    }

    fn enable(&self) -> Result<(), CaptureError> {
        self.acquired.open.enable(self.kernel).map_err(CaptureError::Enable)
    }

    /// Writes what describes the recording and what existed before it.
    fn write_existing(&mut self, notes: &mut dyn Notes) -> Result<(), CaptureError> {
        let (plan, open) = (&self.acquired.plan, &self.acquired.open);
        let trailer = plan.events.first().map_or(Trailer::default(), |event| Trailer::of(&event.attr));
        let mut sink = RecordSink::new(trailer);
        let synthesizer = Synthesizer::new(Path::new("/"), trailer, Some(&build_id::of_file));
        let thread = self.control.workload_thread();
        describe::write_id_index(plan, open, thread, &mut sink);
        if plan.events.iter().any(|event| !event.attr.flags.contains(AttrFlags::EXCLUDE_KERNEL)) {
            let written = synthesizer.kernel(&mut sink);
            written.unwrap_or_else(|error| notes.note(Note::KernelMapMissing(error)));
        }
        describe::write_event_updates(plan, open, &mut sink);
        let watched: Vec<_> = self.watched_threads();
        describe::write_thread_map(&watched, synthesizer.proc(), &mut sink);
        describe::write_cpu_map(plan, &mut sink);
        self.write_tasks(&synthesizer, &mut sink);
        sink.user_record(RecordType::FINISHED_INIT, |_| ());
        let written = self.writer.append(sink.as_bytes()).and_then(|()| self.writer.checkpoint());
        written.map_err(|source| unwritten(self.options, source))
    }

    fn watched_threads(&self) -> Vec<oxperf_abi::Tid> {
        match self.options.target {
            Target::Workload => self.control.workload_thread().into_iter().collect(),
            _ => self.scene.threads.clone(),
        }
    }

    fn write_tasks(&self, synthesizer: &Synthesizer<'_>, sink: &mut RecordSink) {
        match self.options.target {
            Target::AllCpus | Target::Cpus(_) => synthesizer.all_tasks(sink),
            Target::Processes(_) | Target::Threads(_) => synthesizer.threads(&self.scene.threads, sink),
            Target::Workload => {}
        }
        if let Some(pid) = self.control.workload() {
            synthesizer.waiting_workload(pid, sink);
        }
    }

    /// Writes how many samples of each event the kernel could not write.
    fn write_lost_samples(&mut self) -> Result<(), CaptureError> {
        let (plan, open) = (&self.acquired.plan, &self.acquired.open);
        let mut encoder = Encoder::new(Endian::NATIVE);
        for (event, id, lost) in open.lost_samples(self.kernel, plan) {
            if let Some(event) = plan.events.get(event) {
                encode_lost(&event.attr, id, lost, &mut encoder);
            }
        }
        let written = self.writer.append(encoder.as_bytes()).and_then(|()| self.writer.checkpoint());
        written.map_err(|source| unwritten(self.options, source))
    }
}

fn encode_lost(attr: &EventAttr, id: EventId, lost: u64, encoder: &mut Encoder) {
    let whose = SampleId { id: Some(id), ..SampleId::default() };
    encoder.record(RecordType::LOST_SAMPLES, Misc(0), |body| {
        LostSamples { lost }.encode(body);
        SampleLayout::new(attr).encode_sample_id(&whose, body);
    });
}

fn map_rings(
    kernel: &dyn Kernel,
    acquired: &mut Acquired,
    options: &RecordOptions,
) -> Result<Vec<oxperf_sys::DataRing>, CaptureError> {
    let wanted = options.ring_pages.unwrap_or_else(system::default_ring_pages);
    let pages = RingPages::new(wanted).ok_or(CaptureError::RingSize { pages: wanted })?;
    let rings = acquired.open.map_rings(kernel, &acquired.plan.rings, pages);
    rings.map_err(|source| CaptureError::Ring {
        source,
        pages: pages.count(),
        limit_kb: system::ring_memory_limit(),
    })
}

fn writer_events(acquired: &Acquired) -> Vec<WriterEvent> {
    let events = acquired.plan.events.iter().zip(&acquired.open.events);
    events
        .map(|(planned, open)| WriterEvent {
            attr: planned.attr,
            name: planned.request.name.clone(),
            ids: open.ids.clone(),
        })
        .collect()
}

fn look_over(options: &RecordOptions) -> Result<Scan, CaptureError> {
    let unreadable = |reason: String| CaptureError::ReadBack { path: options.output.clone(), reason };
    let file = MappedFile::open(&options.output).map_err(|error| unreadable(error.to_string()))?;
    file.expect_sequential();
    finish::scan(&file, options.build_ids == BuildIds::Hit).map_err(|error| unreadable(error.to_string()))
}

fn build_id_table(options: &RecordOptions, scan: &Scan) -> Option<oxperf_data::features::BuildIds> {
    match options.build_ids {
        BuildIds::Off => None,
        BuildIds::Hit => Some(finish::build_ids(&scan.dsos, false)),
        BuildIds::All => Some(finish::build_ids(&scan.dsos, true)),
    }
}

fn unwritten(options: &RecordOptions, source: WriteError) -> CaptureError {
    CaptureError::Write { path: options.output.clone(), source }
}
