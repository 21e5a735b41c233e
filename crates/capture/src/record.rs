//! A recording from beginning to end.
//!
//! ```text
//! look up the target -> hold the workload back -> open events and rings -> begin the file
//!   -> what existed before -> start -> drain until it ends -> losses, build ids, features
//! ```

use std::path::Path;

use oxperf_abi::{AttrFlags, EventAttr, EventId, Misc, RecordType};
use oxperf_data::{FeatureSet, WriterEvent};
use oxperf_sys::{Kernel, RealKernel, RingPages};
use oxperf_wire::kernel::LostSamples;
use oxperf_wire::{Encoder, Endian, SampleId, SampleLayout};

use crate::acquire::{Acquired, acquire};
use crate::control::{Control, Ending, News};
use crate::describe;
use crate::drain::Drain;
use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::finish::{self, RecordingFacts};
use crate::host::Host;
use crate::note::{Note, Notes};
use crate::options::{Destination, Rate, RecordOptions, Start, Target};
use crate::plan::Scene;
use crate::recording::{Recording, Volume};
use crate::synthesize::{ProcDir, RecordSink, Synthesizer, Trailer};
use crate::{build_id, system, target, tracing};

/// What a recording brought.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Where it is.
    pub output: Destination,
    /// Bytes of it up to the end of the records.
    pub bytes: u64,
    /// What compressing came to, if anything was to be compressed.
    pub volume: Option<Volume>,
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
    let control = Control::new(options.workload.as_ref(), &options.output)?;
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
    recording: Recording,
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
        let mut acquired = acquire(
            kernel,
            options,
            requests,
            &scene,
            control.workload_thread(),
            notes,
        )?;
        let rings = map_rings(kernel, &mut acquired, options)?;
        for &key in &acquired.plan.rings {
            acquired
                .open
                .fds_of(key)
                .take(1)
                .for_each(|owner| control.watch_ring(owner));
        }
        let features = standing_features(options, &acquired, notes);
        let events = writer_events(&acquired);
        let recording = Recording::begin(
            &options.output,
            &events,
            features,
            options.compression,
            control.interrupts(),
        )?;
        let drain = Drain::new(rings);
        Ok(Recorder {
            options,
            kernel,
            scene,
            acquired,
            control,
            drain,
            recording,
            wakeups: 0,
        })
    }

    fn run(mut self, notes: &mut dyn Notes) -> Result<Outcome, CaptureError> {
        self.write_existing(notes)?;
        let captured = self.capture();
        let counted_lost = captured.and_then(|()| self.write_lost_samples());
        self.control.stop_workload();
        let ending = self.control.finish(notes);
        let counted_lost = counted_lost?;
        let (bytes, volume) = (self.recording.position(), self.recording.volume());
        let scan = self.recording.look_over(self.options.build_ids)?;
        let build_ids = finish::build_ids(&scan, self.options.build_ids);
        self.recording.finish(build_ids, scan.times)?;
        let output = self.options.output.clone();
        let (samples, lost, wakeups) = (scan.samples, scan.lost(counted_lost), self.wakeups);
        Ok(Outcome {
            output,
            bytes,
            volume,
            samples,
            lost,
            wakeups,
            ending,
        })
    }

    /// Counting begins before the workload runs, unless its exec or the delay begins it. Whatever the rings bring,
    /// every pass looks for what ends the recording; and as a pass follows a wait, what the recorder causes by writing
    /// is not worth a pass of its own.
    fn capture(&mut self) -> Result<(), CaptureError> {
        if self.options.start == Start::Now && self.options.target != Target::Workload {
            self.enable()?;
        }
        self.control.start(self.options.start)?;
        while !self.control.has_ended() {
            if self.control.wait()? == News::Enable {
                self.enable()?;
            }
            self.drain()?;
        }
        // What ends by itself need not be stopped; refusing to stop loses nothing.
        let _ = self.acquired.open.disable(self.kernel);
        self.control.stop_workload();
        // Each ring holds what it holds now: where events go on nevertheless, they are not waited for.
        self.drain()
    }

    /// Moves what is in the rings.
    fn drain(&mut self) -> Result<(), CaptureError> {
        let moved = self.drain.pass(&mut self.recording);
        let moved = moved.map_err(|source| self.recording.unwritten(source))?;
        self.wakeups += u64::from(moved > 0);
        Ok(())
    }

    fn enable(&self) -> Result<(), CaptureError> {
        self.acquired
            .open
            .enable(self.kernel)
            .map_err(CaptureError::Enable)
    }

    /// Writes what describes the recording and what existed before it.
    fn write_existing(&mut self, notes: &mut dyn Notes) -> Result<(), CaptureError> {
        let (plan, open) = (&self.acquired.plan, &self.acquired.open);
        let trailer = plan
            .events
            .first()
            .map_or(Trailer::default(), |event| Trailer::of(&event.attr));
        let mut sink = RecordSink::new(trailer);
        let synthesizer = Synthesizer::new(Path::new("/"), trailer, Some(&build_id::of_file));
        let thread = self.control.workload_thread();
        describe::write_id_index(plan, open, thread, &mut sink);
        if plan
            .events
            .iter()
            .any(|event| !event.attr.flags.contains(AttrFlags::EXCLUDE_KERNEL))
        {
            let written = synthesizer.kernel(&mut sink);
            written.unwrap_or_else(|error| notes.note(Note::KernelMapMissing(error)));
        }
        describe::write_event_updates(plan, open, &mut sink);
        let watched: Vec<_> = self.watched_threads();
        describe::write_thread_map(&watched, synthesizer.proc(), &mut sink);
        describe::write_cpu_map(plan, &mut sink);
        self.write_tasks(&synthesizer, &mut sink);
        sink.user_record(RecordType::FINISHED_INIT, |_| ());
        self.recording.append(sink.as_bytes())
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
            Target::Processes(_) | Target::Threads(_) => {
                synthesizer.threads(&self.scene.threads, sink)
            }
            Target::Workload => {}
        }
        if let Some(pid) = self.control.workload() {
            synthesizer.waiting_workload(pid, sink);
        }
    }

    /// Writes how many samples of each event the kernel could not write; how many these are.
    fn write_lost_samples(&mut self) -> Result<u64, CaptureError> {
        let (plan, open) = (&self.acquired.plan, &self.acquired.open);
        let (mut encoder, mut all) = (Encoder::new(Endian::NATIVE), 0u64);
        for (event, id, lost) in open.lost_samples(self.kernel, plan) {
            if let Some(event) = plan.events.get(event) {
                encode_lost(&event.attr, id, lost, &mut encoder);
                all = all.saturating_add(lost);
            }
        }
        self.recording.append(encoder.as_bytes())?;
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

fn map_rings(
    kernel: &dyn Kernel,
    acquired: &mut Acquired,
    options: &RecordOptions,
) -> Result<Vec<oxperf_sys::DataRing>, CaptureError> {
    let wanted = options
        .ring_pages
        .unwrap_or_else(system::default_ring_pages);
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

/// What the recording says of itself and of its host, as far as that is known when it begins.
fn standing_features(
    options: &RecordOptions,
    acquired: &Acquired,
    notes: &mut dyn Notes,
) -> FeatureSet {
    let facts = RecordingFacts {
        plan: &acquired.plan,
        command_line: &options.command_line,
        tracing_data: tracing::collect(&acquired.plan, notes),
    };
    let mut features = Host::this().features();
    finish::add_recording_features(facts, &mut features);
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Program;
    use oxperf_abi::{Cpu, SoftwareId};
    use oxperf_data::Reader;
    use oxperf_sys::FakeKernel;
    use std::fs;

    /// Every pass finds records, from the first to the last, and stopping the events stops nothing.
    #[test]
    fn events_that_never_cease_end_with_the_workload() {
        let mut sample = Encoder::new(Endian::NATIVE);
        sample.record(RecordType::SAMPLE, Misc(1), |body| body.bytes(&[0; 64]));
        let kernel = FakeKernel::new().with_restless_rings(sample.into_bytes());
        let path = std::env::temp_dir().join(format!("oxperf-restless-{}", std::process::id()));
        let arguments = ["/bin/sh", "-c", "exit 7"].map(Into::into).to_vec();
        let options = RecordOptions {
            workload: Some(Program {
                arguments,
                environment: Vec::new(),
                search_path: None,
            }),
            output: Destination::File(path.clone()),
            ring_pages: Some(1),
            ..RecordOptions::default()
        };
        let scene = Scene {
            online: vec![Cpu(0)],
            threads: Vec::new(),
        };
        let control = Control::new(options.workload.as_ref(), &options.output).unwrap();
        let requests = vec![EventRequest::software(SoftwareId::TaskClock, "task-clock")];
        let mut notes: Vec<Note> = Vec::new();
        let recorder =
            Recorder::open(&options, requests, scene, control, &kernel, &mut notes).unwrap();
        let outcome = recorder.run(&mut notes).unwrap();
        assert_eq!(outcome.ending.exit_code(), 7);
        assert!(outcome.samples >= 1, "what was there at the end was moved");
        let file = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        let reader = Reader::open(&file).unwrap();
        let samples = reader.records().unwrap().filter(|raw| {
            raw.as_ref()
                .is_ok_and(|raw| raw.header.kind == RecordType::SAMPLE)
        });
        assert_eq!(samples.count() as u64, outcome.samples);
        assert!(
            reader
                .features()
                .get::<oxperf_data::features::CmdLine>()
                .unwrap()
                .is_some()
        );
    }
}
