//! One walk over a recording.

use std::ops::ControlFlow;

use oxperf_abi::{FileOffset, Misc, PerfTime, RecordType};
use oxperf_data::{DataError, RawRecord, Reader, features::BuildIds};
use oxperf_machine::{Machine, ThreadId};
use oxperf_wire::{Endian, Sample, SampleId};

use crate::events::{word_from_end, word_from_start};
use crate::group_read::GroupReads;
use crate::order::Order;
use crate::{Diagnostics, EventIndex, EventTable};

/// What a session does with samples.
pub trait Sink {
    /// A record of any kind when its turn has come, before it is decoded and counts: what follows may not be called
    /// for it. Without an event it is a tool's, or its id is not listed. `Break` ends the session.
    #[inline]
    fn record(&mut self, _record: &RawRecord<'_>, _event: Option<EventIndex>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// A sample; the machine is as it was at that moment. `Break` ends the session.
    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()>;

    /// A kernel record that is no sample, after it was applied to the machine; an EXIT before, while its thread is
    /// still known. `Break` ends the session.
    fn sideband(&mut self, _machine: &mut Machine, _event: &SidebandEvent<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The recorder finished a round: it has emptied every ring once more. `Break` ends the session.
    fn round(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A kernel record that is no sample, on its way to the sink.
#[derive(Clone, Copy, Debug)]
pub struct SidebandEvent<'a> {
    /// Which event it belongs to.
    pub event: EventIndex,
    /// The framed record.
    pub record: RawRecord<'a>,
    /// Who, when and where, from its trailer.
    pub id: SampleId,
}

/// A sample on its way to the sink.
#[derive(Clone, Copy, Debug)]
pub struct SampleEvent<'a> {
    /// Which event it belongs to.
    pub event: EventIndex,
    /// Where its record stands.
    pub offset: FileOffset,
    /// Its record's flags.
    pub misc: Misc,
    /// The decoded fields.
    pub sample: Sample<'a>,
    /// Its thread.
    pub thread: ThreadId,
    /// Events that it stands for: its own period, or the event's fixed one.
    pub period: u64,
}

/// A session that has seen the whole recording.
#[derive(Debug)]
pub struct Finished {
    /// The machine at the end.
    pub machine: Machine,
    /// What was lost and broken.
    pub diagnostics: Diagnostics,
}

/// A walk over a recording, not yet begun.
#[derive(Debug)]
pub struct Session<'r, 'a> {
    reader: &'r Reader<'a>,
    pub(crate) endian: Endian,
    pub(crate) events: EventTable,
    pub(crate) machine: Machine,
    pub(crate) reads: GroupReads,
    pub(crate) diagnostics: Diagnostics,
    in_file_order: bool,
    only: Option<&'static [RecordType]>,
}

/// A framed record with its event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued<'a> {
    pub(crate) record: RawRecord<'a>,
    pub(crate) event: EventIndex,
}

impl<'r, 'a> Session<'r, 'a> {
    /// Prepares the walk: events by id, build ids by name.
    pub fn new(reader: &'r Reader<'a>) -> Session<'r, 'a> {
        let mut machine = Machine::default();
        if let Ok(Some(table)) = reader.features().get::<BuildIds>() {
            for entry in &table.0 {
                machine.note_build_id(&entry.name, entry.build_id);
            }
        }
        let events = EventTable::new(reader);
        let diagnostics = Diagnostics {
            damage: reader.damage().to_vec(),
            lost_samples_by_event: vec![0; events.events().len()],
            ..Diagnostics::default()
        };
        Session {
            reader,
            endian: reader.endian(),
            events,
            machine,
            reads: GroupReads::default(),
            diagnostics,
            in_file_order: false,
            only: None,
        }
    }

    /// Takes the records as they stand in the file, not by time.
    #[must_use]
    pub fn in_file_order(mut self) -> Session<'r, 'a> {
        self.in_file_order = true;
        self
    }

    /// Counts what is recorded of threads after their end as theirs; see [`Machine::keep_exited_threads`].
    #[must_use]
    pub fn keeping_exited_threads(mut self) -> Session<'r, 'a> {
        self.machine.keep_exited_threads();
        self
    }

    /// Passes over all kernel records but those of these kinds.
    #[must_use]
    pub fn only(mut self, kinds: &'static [RecordType]) -> Session<'r, 'a> {
        self.only = Some(kinds);
        self
    }

    /// The recording's events.
    pub fn events(&self) -> &EventTable {
        &self.events
    }

    /// Walks the recording to its end or until the sink breaks off.
    ///
    /// # Errors
    /// The records are kept in a way that cannot be read here.
    pub fn run(mut self, sink: &mut impl Sink) -> Result<Finished, DataError> {
        let mut order = Order::new();
        let ordered = self.events.all_have_trailers() && !self.in_file_order;
        let mut records = self.reader.records()?;
        let mut flow = ControlFlow::Continue(());
        while let (ControlFlow::Continue(()), Some(record)) = (flow, records.next()) {
            self.diagnostics.records += 1;
            flow = match record {
                Ok(record) => self.take(record, ordered, &mut order, sink),
                Err(damage) => {
                    self.diagnostics.damage.push(damage);
                    ControlFlow::Continue(())
                }
            };
        }
        if flow.is_continue() {
            let _ = self.deliver_all(order.finish(), sink);
        }
        self.diagnostics.out_of_order = order.out_of_order();
        Ok(Finished { machine: self.machine, diagnostics: self.diagnostics })
    }

    /// Tools' records count at once; the kernel's wait for their turn unless they tell no time.
    #[inline]
    fn take(
        &mut self,
        record: RawRecord<'a>,
        ordered: bool,
        order: &mut Order<Queued<'a>>,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let kind = record.header.kind;
        if kind == RecordType::FINISHED_ROUND {
            sink.record(&record, None)?;
            self.deliver_all(order.finish_round(), sink)?;
            return sink.round();
        }
        if kind.is_user() {
            self.count_unknown(kind);
            return sink.record(&record, None);
        }
        if self.only.is_some_and(|kinds| !kinds.contains(&kind)) {
            return ControlFlow::Continue(());
        }
        let Ok(event) = self.events.owner(kind, record.body, self.endian) else {
            self.diagnostics.unknown_ids += 1;
            return sink.record(&record, None);
        };
        let queued = Queued { record, event };
        match self.time_of(&queued).filter(|_| ordered) {
            Some(time) => order.push(time, queued),
            None => return self.deliver(&queued, sink),
        }
        ControlFlow::Continue(())
    }

    fn count_unknown(&mut self, kind: RecordType) {
        self.diagnostics.unknown_records += u64::from(kind.name().is_none());
    }

    /// When a record happened; `None` for 0 and all ones, which tools write into records of their own.
    #[inline]
    fn time_of(&self, queued: &Queued<'a>) -> Option<PerfTime> {
        let layout = &self.events.events()[queued.event.0].layout;
        let body = queued.record.body;
        let time = if queued.record.header.kind == RecordType::SAMPLE {
            word_from_start(body, layout.sample_time_word()?, self.endian)
        } else {
            word_from_end(body, layout.trailer_time_word()?, self.endian)
        };
        time.filter(|time| *time != 0 && *time != u64::MAX).map(PerfTime)
    }

    fn deliver_all(&mut self, ready: Vec<(PerfTime, Queued<'a>)>, sink: &mut impl Sink) -> ControlFlow<()> {
        ready.iter().try_for_each(|(_, queued)| self.deliver(queued, sink))
    }
}
