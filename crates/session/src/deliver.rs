//! What a record does when its turn has come.

use std::ops::ControlFlow;

use oxperf_abi::{Misc, Pid, RecordType, Tid};
use oxperf_data::RawRecord;
use oxperf_machine::ThreadId;
use oxperf_wire::kernel::{Aux, Comm, Ksymbol, Lost, LostSamples, Mmap, Mmap2, TaskEvent};
use oxperf_wire::{Cursor, Sample, WireError};

use crate::group_read::{counting_thread, reads_counters};
use crate::queued::Queued;
use crate::sample_prefix::is_prefix;
use crate::{EventIndex, SampleEvent, Session, SidebandEvent, Sink, UndecodableRecord};

impl Session<'_, '_> {
    /// Applies a sideband record, or hands a sample to the sink.
    #[inline]
    pub(crate) fn deliver(&mut self, queued: &Queued<'_>, sink: &mut impl Sink) -> ControlFlow<()> {
        sink.record(&mut self.machine, &queued.record, Some(queued.event))?;
        if queued.record.header.kind == RecordType::SAMPLE {
            return self.deliver_sample(queued, sink);
        }
        let ends_thread = queued.record.header.kind == RecordType::EXIT;
        if ends_thread {
            self.show_sideband(queued, sink)?;
        }
        if let Err(error) = self.apply(queued) {
            self.note_undecodable(queued, error);
            return ControlFlow::Continue(());
        }
        if queued.record.header.kind == RecordType::CALLCHAIN_DEFERRED {
            self.close_chains(queued, sink)?;
        }
        if ends_thread {
            ControlFlow::Continue(())
        } else {
            self.show_sideband(queued, sink)
        }
    }

    fn show_sideband(&mut self, queued: &Queued<'_>, sink: &mut impl Sink) -> ControlFlow<()> {
        let (event, record) = (queued.event, queued.record);
        let id = self.events.events()[event.0]
            .layout
            .sample_id(record.body, self.endian);
        sink.sideband(&mut self.machine, &SidebandEvent { event, record, id })
    }

    #[cold]
    fn note_undecodable(&mut self, queued: &Queued<'_>, error: WireError) {
        let RawRecord { offset, header, .. } = queued.record;
        self.diagnostics.note_undecodable(UndecodableRecord {
            offset,
            header,
            error,
        });
    }

    fn apply(&mut self, queued: &Queued<'_>) -> Result<(), WireError> {
        let (header, mut cursor) = (
            queued.record.header,
            Cursor::new(queued.record.body, self.endian),
        );
        let cursor = &mut cursor;
        match header.kind {
            RecordType::MMAP => {
                let mmap = Mmap::decode(cursor)?;
                self.machine.apply_mmap(header.misc, &mmap);
                self.jit.mapped(mmap.pid, mmap.filename);
            }
            RecordType::MMAP2 => {
                let mmap = Mmap2::decode(header.misc, cursor)?;
                self.machine.apply_mmap2(header.misc, &mmap);
                self.jit.mapped(mmap.pid, mmap.filename);
            }
            RecordType::COMM => self.machine.apply_comm(&Comm::decode(cursor)?),
            RecordType::FORK => self
                .machine
                .apply_fork(header.misc, &TaskEvent::decode(cursor)?),
            RecordType::EXIT => self.machine.apply_exit(&TaskEvent::decode(cursor)?),
            RecordType::KSYMBOL => self.machine.apply_ksymbol(&Ksymbol::decode(cursor)?),
            RecordType::LOST => self.count_lost(Lost::decode(cursor)?.lost),
            // A BPF filter dropped samples that are not wanted.
            RecordType::LOST_SAMPLES if header.misc.has(Misc::LOST_SAMPLES_BPF) => {}
            RecordType::LOST_SAMPLES => {
                self.count_lost_samples(queued.event, LostSamples::decode(cursor)?.lost)
            }
            RecordType::AUX => self.diagnostics.aux.count(Aux::decode(cursor)?.flags),
            RecordType::THROTTLE | RecordType::UNTHROTTLE => self.diagnostics.throttles += 1,
            kind => self.diagnostics.unknown_records += u64::from(kind.name().is_none()),
        }
        Ok(())
    }

    fn count_lost(&mut self, lost: u64) {
        self.diagnostics.lost_chunks += 1;
        self.diagnostics.lost_records = self.diagnostics.lost_records.saturating_add(lost);
    }

    fn count_lost_samples(&mut self, event: EventIndex, lost: u64) {
        self.diagnostics.lost_samples = self.diagnostics.lost_samples.saturating_add(lost);
        if let Some(count) = self.diagnostics.lost_samples_by_event.get_mut(event.0) {
            *count = count.saturating_add(lost);
        }
    }

    #[inline]
    fn deliver_sample(&mut self, queued: &Queued<'_>, sink: &mut impl Sink) -> ControlFlow<()> {
        let layout = &self.events.events()[queued.event.0].layout;
        let body = queued.record.body;
        // It is decoded where the sink will see it, and copied nowhere: it is large, and there are many.
        let mut sampled = queued.sampled();
        let decoded = match is_prefix(&queued.record) {
            true => layout.decode_head_into(&mut sampled.sample, body, self.endian),
            false => layout.decode_into(&mut sampled.sample, body, self.endian),
        };
        if let Err(error) = decoded {
            self.note_undecodable(queued, error);
            return ControlFlow::Continue(());
        }
        if self.deferred.keep(queued, &sampled.sample) {
            return ControlFlow::Continue(());
        }
        self.deliver_decoded(&mut sampled, sink)
    }

    #[inline]
    pub(crate) fn deliver_decoded(
        &mut self,
        sampled: &mut SampleEvent<'_>,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let event = &self.events.events()[sampled.event.0];
        if reads_counters(event) {
            return self.deliver_counters(sampled, sink);
        }
        sampled.period = sampled.sample.period.unwrap_or(event.attr.sample_period);
        self.hand_over(sampled, sink)
    }

    /// Hands over one sample for each counter that counted something.
    fn deliver_counters(
        &mut self,
        sampled: &SampleEvent<'_>,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let Some(values) = sampled.sample.read else {
            return ControlFlow::Continue(());
        };
        let tid = counting_thread(&self.events, sampled.event, sampled.sample.tid);
        for (id, period) in self.reads.periods(&values, tid) {
            let Some(event) = self.events.by_id(id) else {
                self.diagnostics.unknown_ids += 1;
                continue;
            };
            let sample = Sample {
                id: Some(id),
                period: Some(period),
                ..sampled.sample
            };
            self.hand_over(
                &mut SampleEvent {
                    event,
                    sample,
                    period,
                    ..*sampled
                },
                sink,
            )?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn hand_over(
        &mut self,
        sampled: &mut SampleEvent<'_>,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        self.diagnostics.samples += 1;
        sampled.thread = self.thread_of(&sampled.sample);
        sampled.prefetched = self.prefetch.index();
        sink.sample(&mut self.machine, sampled)
    }

    /// The thread of a sample.
    #[inline]
    pub(crate) fn thread_of(&mut self, sample: &Sample<'_>) -> ThreadId {
        self.machine
            .thread(sample.pid.unwrap_or(Pid(-1)), sample.tid.unwrap_or(Tid(-1)))
    }
}
