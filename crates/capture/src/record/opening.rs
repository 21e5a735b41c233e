//! The beginning of a recording: events and rings are opened, the output is made, and whoever drains is ready.

use oxperf_data::{FeatureSet, WriterEvent};
use oxperf_sys::RingPages;

use super::newest;
use super::traces::Traces;
use super::{Recorder, RecorderContext};
use crate::acquire::{Acquired, OpenContext, acquire};
use crate::bpf::BpfPrograms;
use crate::control::RecordingControl;
use crate::drain::Drain;
use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::finish::{RecordingFacts, add_recording_features};
use crate::host_files::HostFiles;
use crate::losses::LossCount;
use crate::notice::{Notice, Observer, RecordingStep};
use crate::off_cpu::OffCpu;
use crate::open::{AuxAreaSizes, MappedRings, RingSizes, unmapped};
use crate::options::{SamplingOptions, Target};
use crate::output::RecordingSeries;
use crate::plan::Purpose;
use crate::readers::{self, RingReaders};
use crate::rotation::SwitchTrigger;
use crate::switch_events::SwitchEvents;
use crate::trace::{TraceKept, TraceSetup};
use crate::{system, tracing};

impl<'a> Recorder<'a> {
    pub(super) fn open(
        context: RecorderContext<'a>,
        mut control: RecordingControl,
        requests: Vec<EventRequest>,
        observer: &mut dyn Observer,
    ) -> Result<Recorder<'a>, CaptureError> {
        let options = context.options;
        let masks = readers::thread_masks(options, &context.machine)?;
        let purpose = Purpose::Sampling(&options.sampling);
        let opening = OpenContext {
            kernel: context.kernel,
            machine: &context.machine,
            sysfs: &options.sysfs,
            workload: control.workload_thread(),
        };
        observer.reached(RecordingStep::Opening);
        let mut acquired = acquire(&options.target, purpose, requests, opening, observer)?;
        acquired.open.set_filters(context.kernel, &acquired.plan)?;
        let rings = map_rings(&context, &mut acquired, observer)?;
        let bpf = options
            .sampling
            .records
            .bpf_programs
            .then(BpfPrograms::loaded);
        let mut features = standing_features(&context, &acquired, observer);
        let none = BpfPrograms::default();
        bpf.as_ref().unwrap_or(&none).add_features(&mut features);
        let events = writer_events(&acquired);
        let off_cpu = off_cpu_of(&acquired, &options.sampling);
        if off_cpu.as_ref().is_some_and(OffCpu::is_without_stacks) {
            observer.notice(Notice::OffCpuWithoutStacks);
        }
        let interrupts = control.interrupts();
        let mut recording = RecordingSeries::begin(&options.output, events, features, interrupts)?;
        if let Some(source) = &options.output.kernel_code {
            recording.current().copy_kernel(source)?;
        }
        let (forward, newest) = (rings.forward, rings.backward);
        let cycles = forward.first().and_then(|(_, ring)| ring.time_conversion());
        let traces = context.trace.clone().map(|setup| {
            let workload = control.workload_thread();
            let first = match options.target.target {
                Target::Workload => workload,
                _ => context.machine.threads.first().copied(),
            };
            Traces::new(setup, rings.traces, &acquired, workload, first)
        });
        let mut parts_of_newest = Vec::new();
        let readers = match masks {
            None => {
                let homes = readers::homes(&forward, options);
                let drain = Drain::new(forward.into_iter().map(|(_, ring)| ring).collect());
                let drain = drain
                    .with_least(options.output.least_piece)
                    .moving_to(homes);
                RingReaders::own(drain, &acquired, &mut control, !newest.is_empty())
            }
            Some(masks) => {
                let mut parts = recording.make_parts(forward.len() + newest.len())?;
                parts_of_newest = parts.split_off(forward.len());
                let outputs = forward.into_iter().zip(parts).collect();
                RingReaders::threads(masks, outputs, &acquired, &mut control)?
            }
        };
        observer.reached(RecordingStep::Opened);
        Ok(Recorder {
            context,
            control,
            acquired,
            readers,
            newest: newest::sources(newest, parts_of_newest),
            traces,
            cycles,
            off_cpu,
            bpf,
            recording,
            switch: SwitchTrigger::new(options.output.rotation),
            switch_events: None,
            losses: LossCount::default(),
            wakeups: 0,
        })
    }

    /// Watches events that begin the next file, if there are any.
    pub(super) fn watch_switch_events(
        &mut self,
        requests: &[EventRequest],
        observer: &mut dyn Observer,
    ) -> Result<(), CaptureError> {
        if requests.is_empty() {
            return Ok(());
        }
        let context = OpenContext {
            kernel: self.context.kernel,
            machine: &self.context.machine,
            sysfs: &self.context.options.sysfs,
            workload: None,
        };
        let events = SwitchEvents::open(requests, context, observer)?;
        events
            .owners()
            .for_each(|owner| self.control.watch_event(owner));
        self.switch_events = Some(events);
        Ok(())
    }
}

fn map_rings(
    context: &RecorderContext<'_>,
    acquired: &mut Acquired,
    observer: &mut dyn Observer,
) -> Result<MappedRings, CaptureError> {
    let of_trace = context.trace.as_ref().and_then(|trace| trace.ring_pages);
    let asked = context.options.sampling.ring_pages.or(of_trace);
    let wanted = asked.unwrap_or_else(system::default_ring_pages);
    let sizes = RingSizes {
        records: RingPages::new(wanted).ok_or(CaptureError::RingSize { pages: wanted })?,
        areas: context.trace.as_ref().map(area_sizes).transpose()?,
    };
    observer.reached(RecordingStep::Mapping {
        ring: sizes.records.bytes() + oxperf_sys::process::page_size(),
        area: sizes.areas.map(|areas| areas.pages.bytes()),
    });
    let plan = &acquired.plan;
    let rings = acquired.open.map_rings(context.kernel, &plan.rings, sizes);
    let rings = rings.map_err(|error| unmapped(error, sizes))?;
    for (index, &key) in plan.rings.iter().enumerate() {
        for (event, owner) in acquired.open.ring_users(key) {
            observer.reached(RecordingStep::Ring {
                index,
                event,
                owner,
            });
        }
    }
    Ok(rings)
}

fn area_sizes(trace: &TraceSetup) -> Result<AuxAreaSizes, CaptureError> {
    let pages = trace.area / oxperf_sys::process::page_size();
    Ok(AuxAreaSizes {
        pages: RingPages::new(pages).ok_or(CaptureError::RingSize { pages })?,
        keeps_newest: trace.kept != TraceKept::Whole,
    })
}

/// What makes samples of the switches that the event for them tells.
fn off_cpu_of(acquired: &Acquired, sampling: &SamplingOptions) -> Option<OffCpu> {
    let mut events = acquired.plan.events.iter().zip(&acquired.open.events);
    let (planned, open) = events.find(|(planned, _)| planned.request.is_off_cpu())?;
    Some(OffCpu::new(&planned.attr, &open.ids, sampling.off_cpu?))
}

fn writer_events(acquired: &Acquired) -> Vec<WriterEvent> {
    let events = acquired.plan.events.iter().zip(&acquired.open.events);
    events
        .map(|(planned, open)| WriterEvent {
            attr: planned.recorded_attr(),
            name: planned.recorded_name().to_owned(),
            ids: open.ids.clone(),
        })
        .collect()
}

/// The features of the recording and of its host that are known when it begins.
fn standing_features(
    context: &RecorderContext<'_>,
    acquired: &Acquired,
    observer: &mut dyn Observer,
) -> FeatureSet {
    let facts = RecordingFacts {
        plan: &acquired.plan,
        command_line: &context.options.output.command_line,
        tracing_data: tracing::collect(&acquired.plan, observer),
        clock: context.clock,
    };
    let mut features = HostFiles::this(&context.options.sysfs).features();
    add_recording_features(facts, &mut features);
    features
}
