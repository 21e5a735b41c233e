//! What is there beside the events of a recording, as records: the kernel, tasks, control groups, BPF programs, and what
//! describes the recording itself.

use std::path::Path;

use oxperf_abi::{AttrFlags, RecordType, Tid};
use oxperf_sys::TimeConversion;

use crate::acquire::Acquired;
use crate::bpf::BpfPrograms;
use crate::control::RecordingControl;
use crate::notice::{Described, Notice, Observer, RecordingStep};
use crate::options::{RecordOptions, Target};
use crate::output::is_stream;
use crate::plan::MachineInfo;
use crate::synthesize::{BuildIdReader, RecordSink, Synthesizer, TaskContent, Trailer};
use crate::trace::TraceSetup;
use crate::{build_id, describe, trace};

/// Where a recording takes place.
pub(super) struct Surroundings<'r> {
    pub(super) options: &'r RecordOptions,
    pub(super) machine: &'r MachineInfo,
    pub(super) control: &'r RecordingControl,
    pub(super) acquired: &'r Acquired,
    /// The hardware trace, in a recording that has one.
    pub(super) trace: Option<&'r TraceSetup>,
    /// From the CPU's cycles to the times of records, where the kernel tells it.
    pub(super) cycles: Option<TimeConversion>,
    /// The BPF programs that are described, where they are.
    pub(super) bpf: Option<&'r BpfPrograms>,
}

impl Surroundings<'_> {
    /// The name of the workload that waits.
    pub(super) fn waiting_workload(&self) -> Vec<u8> {
        let trailer = self.trailer();
        let mut sink = RecordSink::new(trailer);
        if let Some(pid) = self.control.workload() {
            Synthesizer::new(Path::new("/"), trailer, None).waiting_workload(pid, &mut sink);
        }
        sink.into_bytes()
    }

    /// The records of what describes the recording and of what exists now.
    pub(super) fn existing(&self, observer: &mut dyn Observer) -> Vec<u8> {
        let synthesizer = self.synthesizer();
        let mut sink = RecordSink::new(self.trailer());
        self.write_recording(&synthesizer, observer, &mut sink);
        let (records, synthesis) = (self.options.sampling.records, &self.options.synthesis);
        if synthesis.cgroups && records.cgroups {
            synthesizer.cgroups(&mut sink);
        }
        if synthesis.tasks {
            self.write_tasks(&synthesizer, &mut sink);
        }
        match self.control.workload() {
            Some(pid) if !self.control.has_started() => {
                synthesizer.waiting_workload(pid, &mut sink);
            }
            Some(pid) if synthesis.tasks => synthesizer.families(&[pid], &mut sink),
            _ => {}
        }
        sink.user_record(RecordType::FINISHED_INIT, |_| ());
        sink.into_bytes()
    }

    /// The trailer of records that are made here.
    fn trailer(&self) -> Trailer {
        let first = self.acquired.plan.events.first();
        first.map_or(Trailer::default(), |event| Trailer::of(&event.attr))
    }

    fn synthesizer(&self) -> Synthesizer<'static> {
        let by_build_id = self.options.sampling.records.build_ids;
        let build_ids: Option<BuildIdReader<'static>> = by_build_id.then_some(&build_id::of_file);
        let synthesizer = Synthesizer::new(Path::new("/"), self.trailer(), build_ids);
        synthesizer.with(task_content(self.options))
    }

    /// Events, kernel, programs, and whose events are recorded where.
    fn write_recording(
        &self,
        synthesizer: &Synthesizer<'_>,
        observer: &mut dyn Observer,
        sink: &mut RecordSink,
    ) {
        let (plan, open) = (&self.acquired.plan, &self.acquired.open);
        if let Some(cycles) = self.cycles {
            observer.reached(RecordingStep::Describing(Described::Clock));
            describe::write_time_conversion(cycles, sink);
        }
        observer.reached(RecordingStep::Describing(Described::Ids));
        describe::write_id_index(plan, open, self.control.workload_thread(), sink);
        let mut requests = plan.events.iter().map(|event| &event.request);
        let traced = requests.find(|request| request.aux.is_traced);
        if let (Some(trace), Some(request)) = (self.trace, traced) {
            observer.reached(RecordingStep::Describing(Described::Trace));
            trace::write_info(trace, request, self.cycles, sink);
        }
        let mut attrs = plan.events.iter().map(|event| event.attr);
        if attrs.any(|attr| !attr.flags.contains(AttrFlags::EXCLUDE_KERNEL)) {
            let written = synthesizer.kernel(sink);
            written.unwrap_or_else(|error| observer.notice(Notice::KernelMapMissing(error)));
        }
        for problem in synthesizer.guests(&self.options.synthesis.guests, sink) {
            observer.notice(Notice::GuestUndescribed(problem));
        }
        if let Some(bpf) = self.bpf {
            bpf.write(sink);
        }
        let in_stream = is_stream(&self.options.output.destination);
        describe::write_event_updates(plan, open, &self.machine.online, in_stream, sink);
        describe::write_thread_map(&self.watched_threads(), Some(synthesizer.proc()), sink);
        describe::write_cpu_map(plan, sink);
    }

    fn watched_threads(&self) -> Vec<Tid> {
        match self.options.target.target {
            Target::Workload => self.control.workload_thread().into_iter().collect(),
            _ => self.machine.threads.clone(),
        }
    }

    fn write_tasks(&self, synthesizer: &Synthesizer<'_>, sink: &mut RecordSink) {
        match self.options.target.target {
            Target::AllCpus | Target::Cpus(_) => synthesizer.all_tasks(sink),
            Target::Processes(_) | Target::Threads(_) => {
                synthesizer.threads(&self.machine.threads, sink)
            }
            Target::Workload => {}
        }
    }
}

/// The parts of tasks that a recording holds.
fn task_content(options: &RecordOptions) -> TaskContent {
    let (records, synthesis) = (options.sampling.records, &options.synthesis);
    TaskContent {
        mappings: synthesis.mappings,
        data_mappings: records.data_mappings,
        namespaces: records.namespaces,
        threads: synthesis.threads,
        maps_time: synthesis.maps_time,
    }
}
