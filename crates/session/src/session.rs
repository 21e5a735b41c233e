//! One walk over a recording.

use std::ops::ControlFlow;

use oxperf_abi::{Misc, PerfTime, RecordType};
use oxperf_data::{
    Container, Damage, DataError, Framed, Reader, RecordSource, Records, features::BuildIds,
};
use oxperf_machine::{GuestId, GuestModule, Machine};
use oxperf_objects::SearchPaths;
use oxperf_wire::user::{BuildIdRecord, EventUpdate, HeaderAttr, Update};
use oxperf_wire::{Cursor, Endian};

use crate::deferred::Deferred;
use crate::events::{word_from_end, word_from_start};
use crate::group_read::GroupReads;
use crate::jit::JitLogs;
use crate::order::Order;
use crate::prefetch::Prefetch;
use crate::progress::Milestones;
use crate::queued::Waiting;
use crate::sample_prefix::SamplePrefixes;
use crate::{Diagnostics, EventIndex, EventTable, ProgressObserver, SessionEvent, Sink};

/// A session that has seen the whole recording.
#[derive(Debug)]
pub struct Finished {
    /// The machine at the end.
    pub machine: Machine,
    /// Losses and damage.
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
    pub(crate) deferred: Deferred,
    pub(crate) prefetch: Prefetch,
    pub(crate) jit: JitLogs,
    pub(crate) diagnostics: Diagnostics,
    in_file_order: bool,
    prefix_only: bool,
    only: Option<&'static [RecordType]>,
    milestones: Milestones<'r>,
    /// Number of events that the stream was opened with and has still to repeat; `None` of other forms.
    opened_with: Option<usize>,
    /// A round's end bounds the times of all records that can still come.
    rounds_hold: bool,
}

impl<'r, 'a> Session<'r, 'a> {
    /// Prepares the walk: events by id, build ids by name.
    pub fn new(reader: &'r Reader<'a>) -> Session<'r, 'a> {
        let mut machine = Machine::default();
        if let Ok(Some(table)) = reader.features().get::<BuildIds>() {
            for entry in &table.0 {
                machine.note_build_id(entry.misc.cpu_mode(), &entry.name, entry.build_id);
            }
        }
        let events = EventTable::new(reader);
        let diagnostics = Diagnostics {
            damage: reader.damage().clone(),
            lost_samples_by_event: vec![0; events.events().len()],
            ..Diagnostics::default()
        };
        Session {
            reader,
            endian: reader.endian(),
            events,
            machine,
            reads: GroupReads::default(),
            deferred: Deferred::default(),
            prefetch: Prefetch::default(),
            jit: JitLogs::default(),
            diagnostics,
            in_file_order: false,
            prefix_only: false,
            only: None,
            opened_with: (reader.container() == Container::Stream).then(|| reader.events().len()),
            milestones: Milestones::new(),
            // The files of a directory are read one after another: each ends long before the others begin.
            rounds_hold: reader.part_count() == 0,
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

    /// Delivers samples at once whose user callers come in a record of their own, and without them.
    #[must_use]
    pub fn leaving_chains_open(mut self) -> Session<'r, 'a> {
        self.deferred.leave_open();
        self
    }

    /// Of samples the sink looks at nothing but the fields that say who, when and where, the period with them, and it
    /// does not look at their records: then of large ones no more is read.
    #[must_use]
    pub fn prefix_only(mut self) -> Session<'r, 'a> {
        self.prefix_only = true;
        self
    }

    /// Passes over all kernel records but those of these kinds.
    #[must_use]
    pub fn only(mut self, kinds: &'static [RecordType]) -> Session<'r, 'a> {
        self.only = Some(kinds);
        self
    }

    /// Reads the logs of code that programs made at run time (`jit-PID.dump`), which lie in these places.
    #[must_use]
    pub fn with_jit_logs(mut self, places: SearchPaths) -> Session<'r, 'a> {
        let attrs = self.events.events().iter().map(|event| event.attr);
        self.jit = JitLogs::new(places, attrs);
        self
    }

    /// Knows guests before any record describes them, each with the modules of its kernel.
    #[must_use]
    pub fn knowing_guests(mut self, guests: &[(GuestId, Vec<GuestModule>)]) -> Session<'r, 'a> {
        guests
            .iter()
            .for_each(|(guest, modules)| self.machine.know_guest(*guest, modules));
        self
    }

    /// Reports to `observer` how far the walk has come.
    #[must_use]
    pub fn observed_by(mut self, observer: &'r dyn ProgressObserver) -> Session<'r, 'a> {
        self.milestones = Milestones::of(observer);
        self
    }

    /// Lets a sink make samples of further events; gives the place of the first.
    pub fn add_events(&mut self, events: Vec<SessionEvent>) -> EventIndex {
        self.diagnostics
            .lost_samples_by_event
            .resize(self.events.events().len() + events.len(), 0);
        self.events.add(events)
    }

    /// The recording's events.
    pub fn events(&self) -> &EventTable {
        &self.events
    }

    /// Walks the recording to its end or until the sink breaks off.
    ///
    /// # Errors
    /// The records cannot be had; see [`Reader::source`].
    pub fn run(self, sink: &mut impl Sink) -> Result<Finished, DataError> {
        Ok(match self.reader.source()? {
            RecordSource::Borrowed(parts) => match self.prefixes() {
                Some(prefixes) => self.walk(sink, |session, order, sink| {
                    let walk = |records: Records<'a>| {
                        prefixes.of(records, |prefixes| session.walk_part(prefixes, order, sink))
                    };
                    parts.into_iter().try_for_each(walk)
                }),
                None => self.walk(sink, |session, order, sink| {
                    parts
                        .into_iter()
                        .try_for_each(|records| session.walk_part(records, order, sink))
                }),
            },
            RecordSource::Buffered(records) => self.walk(sink, |session, order, sink| {
                session.walk_part(records, order, sink)
            }),
        })
    }

    /// Cuts large samples to their prefixes, if nobody looks at the rest and there are such.
    fn prefixes(&self) -> Option<SamplePrefixes> {
        Some(SamplePrefixes::new(&self.events, self.endian))
            .filter(|prefixes| self.prefix_only && prefixes.pay())
    }

    /// Reads all records, and delivers what waits at the end.
    fn walk<B: AsRef<[u8]>, S: Sink>(
        mut self,
        sink: &mut S,
        read: impl FnOnce(&mut Self, &mut Order<Waiting<B>>, &mut S) -> ControlFlow<()>,
    ) -> Finished {
        let mut order = Order::new();
        let flow = read(&mut self, &mut order, sink);
        if flow.is_continue() {
            let flow = self.deliver_all(&order.finish(), sink);
            let flow = if flow.is_continue() {
                self.deliver_waiting(sink)
            } else {
                flow
            };
            if flow.is_continue() {
                let _ = sink.end(&mut self.machine);
            }
        }
        self.diagnostics.out_of_order = order.out_of_order();
        self.diagnostics.jit_trouble = self.jit.into_trouble();
        Finished {
            machine: self.machine,
            diagnostics: self.diagnostics,
        }
    }

    fn walk_part<B: AsRef<[u8]>>(
        &mut self,
        mut records: impl Iterator<Item = Result<Framed<B>, Damage>>,
        order: &mut Order<Waiting<B>>,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let ordered = self.events.all_have_trailers() && !self.in_file_order;
        let mut flow = ControlFlow::Continue(());
        while let (ControlFlow::Continue(()), Some(record)) = (flow, records.next()) {
            flow = match record {
                Ok(record) => {
                    self.diagnostics.records += 1;
                    self.milestones.reach(record.offset);
                    self.take(record, ordered, order, sink)
                }
                Err(damage) => {
                    self.diagnostics.damage.add(damage);
                    sink.damage(&damage)
                }
            };
        }
        self.milestones.next_part();
        flow
    }

    /// Tools' records count at once; the kernel's wait for their turn unless they have no time.
    #[inline]
    fn take<B: AsRef<[u8]>>(
        &mut self,
        record: Framed<B>,
        ordered: bool,
        order: &mut Order<Waiting<B>>,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let kind = record.header.kind;
        if kind.is_user() {
            return self.take_tools(&record, order, sink);
        }
        if self.only.is_some_and(|kinds| !kinds.contains(&kind)) {
            return ControlFlow::Continue(());
        }
        let Ok(event) = self.events.owner(kind, record.body.as_ref(), self.endian) else {
            // Where there are no events, other records than samples belong to none.
            let is_sample = kind == RecordType::SAMPLE;
            self.diagnostics.unknown_ids +=
                u64::from(is_sample || !self.events.events().is_empty());
            return sink.record(&mut self.machine, &record.as_raw(), None);
        };
        let waiting = Waiting {
            offset: record.offset,
            header: record.header,
            body: record.body,
            event,
        };
        match self.time_of(&waiting).filter(|_| ordered) {
            Some(time) => order.push(time, waiting),
            None => return self.deliver(&waiting.queued(), sink),
        }
        ControlFlow::Continue(())
    }

    /// Takes a record that a tool wrote between the kernel's.
    fn take_tools<B: AsRef<[u8]>>(
        &mut self,
        record: &Framed<B>,
        order: &mut Order<Waiting<B>>,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        match record.header.kind {
            RecordType::FINISHED_ROUND => {
                sink.record(&mut self.machine, &record.as_raw(), None)?;
                return self.finish_round(order, sink);
            }
            RecordType::HEADER_ATTR => self.take_attr(record.body.as_ref(), sink),
            RecordType::EVENT_UPDATE => self.take_update(record.body.as_ref(), sink),
            RecordType::HEADER_BUILD_ID => {
                self.note_build_id(record.header.misc, record.body.as_ref())
            }
            kind => self.count_unknown(kind),
        }
        sink.record(&mut self.machine, &record.as_raw(), None)
    }

    fn finish_round<B: AsRef<[u8]>>(
        &mut self,
        order: &mut Order<Waiting<B>>,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        if self.rounds_hold {
            let ready = order.finish_round();
            self.deliver_all(&ready, sink)?;
            order.take_back(ready);
        }
        sink.round(&mut self.machine)
    }

    /// A stream repeats the events that it was opened with, and may go on to describe others.
    fn take_attr(&mut self, body: &[u8], sink: &mut impl Sink) {
        let Ok(header) = HeaderAttr::decode(&mut Cursor::new(body, self.endian)) else {
            return;
        };
        match &mut self.opened_with {
            None => return,
            Some(0) => {}
            Some(known) => {
                *known -= 1;
                return;
            }
        }
        let mut events = self.events.clone();
        if events
            .add_event(&header)
            .is_some_and(|added| sink.event_update(&events, added))
        {
            self.events = events;
            self.diagnostics.lost_samples_by_event.push(0);
        }
    }

    /// Another name for an event than it was opened with.
    fn take_update(&mut self, body: &[u8], sink: &mut impl Sink) {
        if self.opened_with != Some(0) {
            return;
        }
        let Ok(update) = EventUpdate::decode(&mut Cursor::new(body, self.endian)) else {
            return;
        };
        let Update::Name(name) = update.update else {
            return;
        };
        if let Some(renamed) = self.events.rename(update.id, name) {
            sink.event_update(&self.events, renamed);
        }
    }

    /// A stream records build ids as it goes on.
    fn note_build_id(&mut self, misc: Misc, body: &[u8]) {
        let Ok(record) = BuildIdRecord::decode(misc, &mut Cursor::new(body, self.endian)) else {
            self.diagnostics.undecodable += 1;
            return;
        };
        if let Some(build_id) = record.build_id {
            let name = String::from_utf8_lossy(record.filename);
            self.machine.note_build_id(misc.cpu_mode(), &name, build_id);
        }
    }

    fn count_unknown(&mut self, kind: RecordType) {
        self.diagnostics.unknown_records += u64::from(kind.name().is_none());
    }

    /// The time of a record; `None` for 0 and all ones, which tools write into records of their own.
    #[inline]
    fn time_of<B: AsRef<[u8]>>(&self, waiting: &Waiting<B>) -> Option<PerfTime> {
        let layout = &self.events.events()[waiting.event.0].layout;
        let body = waiting.body.as_ref();
        let time = if waiting.header.kind == RecordType::SAMPLE {
            word_from_start(body, layout.sample_time_word()?, self.endian)
        } else {
            word_from_end(body, layout.trailer_time_word()?, self.endian)
        };
        time.filter(|time| *time != 0 && *time != u64::MAX)
            .map(PerfTime)
    }

    fn deliver_all<B: AsRef<[u8]>>(
        &mut self,
        ready: &[(PerfTime, Waiting<B>)],
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let wants_batches = sink.wants_batches();
        for (index, (time, waiting)) in ready.iter().enumerate() {
            if self.jit.is_due(*time) {
                self.jit.advance(*time, &mut self.machine);
            }
            if wants_batches {
                self.take_turn(index, ready, sink);
            }
            self.deliver(&waiting.queued(), sink)?;
        }
        self.prefetch = Prefetch::default();
        ControlFlow::Continue(())
    }
}
