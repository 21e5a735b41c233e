//! The areas of hardware traces: moved to the file as they fill, or copied at a moment that somebody chooses.

use oxperf_abi::Tid;
use oxperf_data::WriteError;
use oxperf_sys::{AuxRing, AuxSnapshotRing, Control, ControlScope};

use super::Recorder;
use crate::acquire::Acquired;
use crate::drain::{TraceOrigin, TracePiece};
use crate::error::CaptureError;
use crate::notice::{Observer, RecordingStep};
use crate::open::AuxArea;
use crate::plan::{RingKey, TargetTask};
use crate::trace::{SnapshotHead, TraceKept, TraceSetup};

/// The trace of a recording.
pub(super) struct Traces {
    pub(super) setup: TraceSetup,
    sources: Vec<TraceSource>,
    /// Its event counts, unless it waits for space in its area.
    counts: bool,
}

/// An area with what was taken from it.
struct TraceSource {
    key: RingKey,
    origin: TraceOrigin,
    area: Area,
}

enum Area {
    /// Its trace is moved.
    Whole(AuxRing),
    /// Its newest trace is copied.
    Newest(AuxSnapshotRing, SnapshotHead),
    /// The kernel copies from it; it has to be there.
    Sampled(#[expect(dead_code)] AuxSnapshotRing),
}

impl Traces {
    /// The areas of a recording, of which nothing was taken yet. `first` is the first thread of the target; it stands for all
    /// of them where an area is a CPU's.
    pub(super) fn new(
        setup: TraceSetup,
        areas: Vec<(RingKey, AuxArea)>,
        acquired: &Acquired,
        workload: Option<Tid>,
        first: Option<Tid>,
    ) -> Traces {
        let rings = &acquired.plan.rings;
        let index = |key| rings.iter().position(|ring| *ring == key).unwrap_or(0);
        let source = |(key, area)| TraceSource {
            key,
            origin: origin(key, index(key), workload, first),
            area: setup.area_of(area),
        };
        let sources = areas.into_iter().map(source).collect();
        Traces {
            setup,
            sources,
            counts: true,
        }
    }

    /// Returns whether snapshots are taken of it.
    fn has_snapshots(&self) -> bool {
        matches!(self.setup.kept, TraceKept::Newest { .. })
    }
}

impl TraceSetup {
    fn area_of(&self, area: AuxArea) -> Area {
        match (area, self.kept) {
            (AuxArea::Whole(ring), _) => Area::Whole(ring),
            (AuxArea::Newest(ring), TraceKept::Newest { size, .. }) => {
                let head = SnapshotHead::new(size, ring.size(), self.psb_bytes);
                Area::Newest(ring, head)
            }
            (AuxArea::Newest(ring), _) => Area::Sampled(ring),
        }
    }
}

fn origin(key: RingKey, index: usize, workload: Option<Tid>, first: Option<Tid>) -> TraceOrigin {
    const ANYONE: Tid = Tid(-1);
    let (tid, cpu) = match key {
        RingKey::Cpu(cpu) => (first, Some(cpu)),
        RingKey::Task(TargetTask::Workload) => (workload, None),
        RingKey::Task(TargetTask::Thread(tid)) => (Some(tid), None),
        RingKey::Task(TargetTask::Anyone) => (None, None),
    };
    TraceOrigin {
        index: index as u32,
        tid: tid.unwrap_or(ANYONE),
        cpu,
    }
}

impl Recorder<'_> {
    /// Moves the trace that waits, where the whole trace is recorded, and lets each event go on that stopped because its area
    /// was full.
    ///
    /// # Errors
    /// The output refuses, or the event does not go on.
    pub(super) fn move_traces(&mut self) -> Result<u64, CaptureError> {
        let Some(traces) = &mut self.traces else {
            return Ok(0);
        };
        let mut moved = 0;
        for source in &mut traces.sources {
            let Area::Whole(ring) = &mut source.area else {
                continue;
            };
            let (first, second) = ring.available();
            let piece = TracePiece {
                origin: source.origin,
                position: ring.position(),
                reference: oxperf_sys::tsc(),
                bytes: [first, second],
            };
            let length = piece.length();
            if length == 0 {
                continue;
            }
            let written = self.recording.current().trace(&piece);
            written.map_err(|error| self.recording.unwritten(error))?;
            ring.consume(length);
            moved += length as u64;
            if let Some(event) = self
                .acquired
                .open
                .trace_of(source.key)
                .filter(|_| traces.counts)
            {
                let go_on = Control::Enable(ControlScope::Event);
                let answer = self.context.kernel.control(event, go_on);
                answer.map_err(CaptureError::Enable)?;
            }
        }
        Ok(moved)
    }

    /// Moves what tasks that have ended left in their areas, as often as an area is full again.
    ///
    /// # Errors
    /// As [`Recorder::move_traces`].
    pub(super) fn move_rest(&mut self) -> Result<(), CaptureError> {
        let goes_on = self.context.options.target.target.is_cpu_wide()
            || self.control.interrupts().signal().is_some();
        while !goes_on && self.move_traces()? > 0 {}
        Ok(())
    }

    /// Notes that the event of the trace was switched: one that does not count is not let go on.
    pub(super) fn note_trace_counts(&mut self, name: Option<&str>, counts: bool) {
        let is_meant = |name: &str| {
            let mut traced = self.acquired.plan.events.iter().map(|event| &event.request);
            traced.any(|request| request.aux.is_traced && request.name == name)
        };
        let is_meant = name.is_none_or(is_meant);
        if let Some(traces) = self.traces.as_mut().filter(|_| is_meant) {
            traces.counts = counts;
        }
    }

    /// Takes a snapshot of the trace, which stands still meanwhile, where snapshots are taken of it.
    ///
    /// # Errors
    /// The output refuses, or the event cannot be stopped.
    pub(super) fn take_snapshot(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<(), CaptureError> {
        let Some(traces) = self.traces.as_ref().filter(|own| own.has_snapshots()) else {
            return Ok(());
        };
        let counts = traces.counts;
        observer.reached(RecordingStep::Snapshot);
        if counts {
            self.control_traces(Control::Disable(ControlScope::Event))?;
        }
        self.write_snapshots()?;
        if counts {
            self.control_traces(Control::Enable(ControlScope::Event))?;
        }
        Ok(())
    }

    /// Takes the last snapshot, where one is wanted. The events have stopped.
    ///
    /// # Errors
    /// The output refuses.
    pub(super) fn take_last_snapshot(&mut self) -> Result<(), CaptureError> {
        let kept = self.traces.as_ref().map(|traces| traces.setup.kept);
        match kept {
            Some(TraceKept::Newest { at_exit: true, .. }) => self.write_snapshots(),
            _ => Ok(()),
        }
    }

    fn control_traces(&self, control: Control<'_>) -> Result<(), CaptureError> {
        let sources = self.traces.iter().flat_map(|traces| &traces.sources);
        for source in sources {
            if let Some(event) = self.acquired.open.trace_of(source.key) {
                let answer = self.context.kernel.control(event, control);
                answer.map_err(CaptureError::Enable)?;
            }
        }
        Ok(())
    }

    fn write_snapshots(&mut self) -> Result<(), CaptureError> {
        let written = self.copy_newest_traces();
        written.map_err(|error| self.recording.unwritten(error))
    }

    fn copy_newest_traces(&mut self) -> Result<(), WriteError> {
        let sources = self
            .traces
            .iter_mut()
            .flat_map(|traces| &mut traces.sources);
        for source in sources {
            let Area::Newest(ring, head) = &mut source.area else {
                continue;
            };
            let snapshot = head.take(ring);
            if snapshot.bytes.is_empty() {
                continue;
            }
            self.recording.current().trace(&TracePiece {
                origin: source.origin,
                position: snapshot.position,
                reference: oxperf_sys::tsc(),
                bytes: [&snapshot.bytes, &[]],
            })?;
        }
        Ok(())
    }
}
