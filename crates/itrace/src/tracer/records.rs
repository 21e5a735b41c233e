//! Records that matter to the trace: the task that runs, the event of a counter, trace that was lost.

use std::ops::ControlFlow;

use oxperf_abi::{Cpu, Misc, Pid, RecordType, Tid};
use oxperf_data::RawRecord;
use oxperf_machine::Machine;
use oxperf_session::{EventIndex, Sink};
use oxperf_wire::kernel::{Aux, AuxOutputHwId, ItraceStart, SwitchCpuWide, TextPoke};
use oxperf_wire::{Cursor, SampleId};

use super::{TracedQueue, Tracer};
use crate::SwitchRecords;
use crate::errors::{LOST, is_reported, trace_error_record};
use crate::log::RecordTurn;
use crate::pebs_event::PebsEvent;
use crate::running::Running;

impl<S: Sink> Tracer<'_, '_, S> {
    /// Finds out the task that runs where a queue's trace goes on.
    pub(super) fn set_running(&mut self, machine: &mut Machine, index: usize) {
        let queue = &mut self.queues[index].queue;
        let by_cpu = queue.tid.is_none() || self.trace.info.switches != SwitchRecords::None;
        if by_cpu {
            let current = queue.cpu.and_then(|cpu| self.current.get(&cpu)).copied();
            queue.running.thread = None;
            match current {
                Some((_, tid)) => queue.running.tid = tid,
                None => (queue.running.pid, queue.running.tid) = (Pid(-1), Tid(-1)),
            }
        }
        let running = &mut queue.running;
        if running.thread.is_none() && running.tid.0 != -1 {
            running.thread = machine.find_thread(running.tid);
        }
        if let Some(thread) = running.thread {
            running.pid = machine.thread_info(thread).pid.unwrap_or(Pid(-1));
        }
    }

    fn set_current(&mut self, machine: &mut Machine, cpu: Option<Cpu>, pid: Pid, tid: Tid) {
        let Some(cpu) = cpu else { return };
        self.current.insert(cpu, (pid, tid));
        machine.thread(pid, tid);
    }

    /// Takes the event of a counter, if a record names it.
    pub(super) fn take_counter(
        &mut self,
        record: &RawRecord<'_>,
        event: EventIndex,
        id: &SampleId,
    ) {
        if record.header.kind != RecordType::AUX_OUTPUT_HW_ID {
            return;
        }
        let decoded = AuxOutputHwId::decode(&mut Cursor::new(record.body, self.endian));
        let (Ok(hw_id), Some(counted)) = (decoded, PebsEvent::at(&self.events, event)) else {
            return;
        };
        for TracedQueue { queue, state } in &mut self.queues {
            let is_of = match queue.cpu {
                Some(cpu) => id.cpu == Some(cpu),
                None => id.tid == queue.tid,
            };
            if is_of {
                state.pebs.insert(hw_id.hw_id, counted);
            }
        }
    }

    /// Takes the task that runs next, if a sample of `sched:sched_switch` names it.
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

    /// Takes the task that runs, changes of code and lost trace, if a record reports them.
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
                    self.synthesizer
                        .images
                        .apply_text_poke(machine, poke.addr, poke.new);
                }
            }
            RecordType::AUX => {
                const TRUNCATED: u64 = 1;
                let lost = Aux::decode(&mut cursor).is_ok_and(|aux| aux.flags & TRUNCATED != 0);
                if lost && is_reported(&self.synthesizer.options.errors, LOST) {
                    let (pid, tid) = (id.pid.unwrap_or(Pid(-1)), id.tid.unwrap_or(Tid(-1)));
                    let running = Running {
                        pid,
                        tid,
                        cpu: id.cpu,
                        thread: None,
                    };
                    self.errors += 1;
                    let error = trace_error_record(LOST, running, 0, id.time);
                    return self.sink.trace_error(machine, &error);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Logs a record when its turn has come.
    pub(super) fn log_record(&mut self, record: &RawRecord<'_>, id: &SampleId) {
        let Some(log) = &mut self.log else { return };
        let turn = RecordTurn {
            record,
            id,
            endian: self.endian,
            clock: self.trace.info.clock,
        };
        log.take_record(&turn);
        log.hand_over(self.sink);
    }

    /// The thread, time and CPU of a record.
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
