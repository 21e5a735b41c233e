//! What the recording's records say about the trace: who runs, whose a counter is, what was lost.

use std::ops::ControlFlow;

use oxperf_abi::{Cpu, Misc, Pid, RecordType, Tid};
use oxperf_data::RawRecord;
use oxperf_machine::Machine;
use oxperf_session::{EventIndex, Sink};
use oxperf_wire::kernel::{Aux, AuxOutputHwId, ItraceStart, SwitchCpuWide, TextPoke};
use oxperf_wire::{Cursor, SampleId};

use super::Tracer;
use crate::SwitchRecords;
use crate::errors::{LOST, is_told, told_error};
use crate::pebs_event::PebsEvent;
use crate::queue::Lane;
use crate::running::Running;

impl<S: Sink> Tracer<'_, '_, S> {
    /// Finds out who runs where a queue's trace goes on.
    pub(super) fn set_running(&mut self, machine: &mut Machine, index: usize) {
        let lane = &mut self.lanes[index];
        let by_cpu = lane.tid.is_none() || self.trace.info.switches != SwitchRecords::None;
        if by_cpu {
            let current = lane.cpu.and_then(|cpu| self.current.get(&cpu)).copied();
            lane.running.tid = current.map_or(Tid(-1), |current| current.1);
            lane.running.pid = if current.is_none() {
                Pid(-1)
            } else {
                lane.running.pid
            };
            lane.running.thread = None;
        }
        if lane.running.thread.is_none() && lane.running.tid.0 != -1 {
            lane.running.thread = machine.find_thread(lane.running.tid);
        }
        if let Some(thread) = lane.running.thread {
            lane.running.pid = machine.thread_info(thread).pid.unwrap_or(Pid(-1));
        }
    }

    fn set_current(&mut self, machine: &mut Machine, cpu: Option<Cpu>, pid: Pid, tid: Tid) {
        let Some(cpu) = cpu else { return };
        self.current.insert(cpu, (pid, tid));
        machine.thread(pid, tid);
    }

    /// What a record says about which event a counter is of.
    pub(super) fn take_counter(
        &mut self,
        record: &RawRecord<'_>,
        event: EventIndex,
        id: &SampleId,
    ) {
        if record.header.kind != RecordType::AUX_OUTPUT_HW_ID {
            return;
        }
        let told = AuxOutputHwId::decode(&mut Cursor::new(record.body, self.endian));
        let (Ok(told), Some(counted)) = (told, PebsEvent::at(&self.events, event)) else {
            return;
        };
        let same = |lane: &&mut Lane<'_>| match lane.cpu {
            Some(cpu) => id.cpu == Some(cpu),
            None => id.tid == lane.tid,
        };
        for lane in self.lanes.iter_mut().filter(same) {
            lane.pebs.insert(told.hw_id, counted);
        }
    }

    /// What a sample of `sched:sched_switch` says about who runs.
    pub(super) fn take_sched_switch(
        &mut self,
        machine: &mut Machine,
        record: &RawRecord<'_>,
        event: EventIndex,
        id: &SampleId,
    ) {
        let Some(switches) = self.trace.sched_switch.as_ref() else {
            return;
        };
        if record.header.kind != RecordType::SAMPLE {
            return;
        }
        let sample = self.events.events()[event.0]
            .layout
            .decode_sample(record.body, self.endian);
        let next = sample
            .ok()
            .and_then(|sample| switches.next(event, sample.raw?));
        if let Some(next) = next {
            self.set_current(machine, id.cpu, Pid(-1), next);
        }
    }

    /// What a record says about who runs, and about trace that was lost.
    pub(super) fn take_record(
        &mut self,
        machine: &mut Machine,
        record: &RawRecord<'_>,
        id: &SampleId,
    ) -> ControlFlow<()> {
        let mut cursor = Cursor::new(record.body, self.endian);
        let out = record.header.misc.has(Misc::SWITCH_OUT);
        match record.header.kind {
            RecordType::ITRACE_START => {
                if let Ok(start) = ItraceStart::decode(&mut cursor) {
                    self.set_current(machine, id.cpu, start.pid, start.tid);
                }
            }
            RecordType::SWITCH_CPU_WIDE
                if out && self.trace.info.switches == SwitchRecords::OfCpus =>
            {
                if let Ok(switch) = SwitchCpuWide::decode(&mut cursor) {
                    self.set_current(machine, id.cpu, switch.next_prev_pid, switch.next_prev_tid);
                }
            }
            RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE if !out => {
                self.set_current(
                    machine,
                    id.cpu,
                    id.pid.unwrap_or(Pid(-1)),
                    id.tid.unwrap_or(Tid(-1)),
                );
            }
            RecordType::TEXT_POKE => {
                if let Ok(poke) = TextPoke::decode(&mut cursor) {
                    self.synthesizer.images.poke(machine, poke.addr, poke.new);
                }
            }
            RecordType::AUX => {
                const TRUNCATED: u64 = 1;
                let lost = Aux::decode(&mut cursor).is_ok_and(|aux| aux.flags & TRUNCATED != 0);
                if lost && is_told(&self.synthesizer.options, LOST) {
                    let (pid, tid) = (id.pid.unwrap_or(Pid(-1)), id.tid.unwrap_or(Tid(-1)));
                    let running = Running {
                        pid,
                        tid,
                        cpu: id.cpu,
                        thread: None,
                    };
                    self.errors += 1;
                    let told = told_error(LOST, running, 0, id.time);
                    return self.sink.trace_error(machine, &told);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    pub(super) fn identity(&self, record: &RawRecord<'_>, event: EventIndex) -> SampleId {
        let layout = &self.events.events()[event.0].layout;
        if record.header.kind != RecordType::SAMPLE {
            return layout.sample_id(record.body, self.endian);
        }
        let Ok(sample) = layout.decode_sample(record.body, self.endian) else {
            return SampleId::default();
        };
        let (pid, tid, time, cpu) = (sample.pid, sample.tid, sample.time, sample.cpu);
        SampleId {
            pid,
            tid,
            time,
            cpu,
            ..SampleId::default()
        }
    }
}
