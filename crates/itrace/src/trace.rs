//! The trace of a recording, found in one walk: the settings of its decoder, and the buffers of each CPU or thread.

use std::collections::BTreeMap;
use std::ops::Range;

use oxperf_abi::{Cpu, EventId, PerfTime, RecordType, SampleType, Tid};
use oxperf_data::features::CpuId;
use oxperf_data::{BufferedBytes, DataError, Framed, Reader, RecordSource};
use oxperf_session::{EventTable, SessionEvent};
use oxperf_wire::kernel::TextPoke;
use oxperf_wire::user::{Auxtrace, AuxtraceInfo, IdIndex};
use oxperf_wire::{Cursor, Endian};
use rustc_hash::FxHashMap;

use crate::{InfoError, PtInfo, SchedSwitch, SwitchRecords};

/// A piece of trace.
#[derive(Clone, Debug)]
pub struct TraceBuffer<'a> {
    held: BufferedBytes<'a>,
    range: Range<usize>,
    /// The TSC when it was taken, if that is known.
    pub reference: Option<u64>,
}

impl TraceBuffer<'_> {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.held
            .as_ref()
            .get(self.range.clone())
            .unwrap_or_default()
    }
}

/// The trace of a CPU or a thread, in order.
#[derive(Clone, Debug, Default)]
pub struct TraceQueue<'a> {
    /// The CPU; `None` when the trace follows a thread.
    pub cpu: Option<Cpu>,
    /// The thread; `None` when the trace is of a CPU.
    pub tid: Option<Tid>,
    /// The pieces.
    pub buffers: Vec<TraceBuffer<'a>>,
}

/// A change of the kernel's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeChange {
    /// The time of the change.
    pub time: PerfTime,
    /// The address of the first byte.
    pub address: u64,
    /// The bytes before.
    pub old: Vec<u8>,
}

/// All trace of a recording.
#[derive(Clone, Debug, Default)]
pub struct Trace<'a> {
    /// The notes of the recorder.
    pub info: PtInfo,
    /// The queues by the number of their ring.
    pub queues: BTreeMap<u64, TraceQueue<'a>>,
    /// Family and model of the recorded processor, if it is one of Intel's.
    pub processor: Option<(u32, u32)>,
    /// The trace lies in samples.
    pub in_samples: bool,
    /// Changes of the kernel's code, in order of time.
    pub text_pokes: Vec<CodeChange>,
    /// The samples of context switches, where no records report them.
    pub sched_switch: Option<SchedSwitch>,
}

/// Gives true for a CPU whose trace is taken.
pub type CpuFilter<'f> = &'f dyn Fn(Cpu) -> bool;

impl<'a> Trace<'a> {
    /// Finds the trace of a recording; `None` when there is none, it is of another kind, or its AUXTRACE_INFO cannot be
    /// followed. A stream, whose records can be read only once, has none either.
    ///
    /// # Errors
    /// The records cannot be had, see [`Reader::source`].
    pub fn find(
        reader: &Reader<'a>,
        events: &EventTable,
        cpus: CpuFilter<'_>,
    ) -> Result<Option<Trace<'a>>, DataError> {
        if !reader.is_rereadable() {
            return Ok(None);
        }
        let endian = reader.endian();
        let mut finder = Finder {
            trace: Trace::default(),
            info: None,
            keys: FxHashMap::default(),
            events,
            endian,
            cpus,
        };
        match reader.source()? {
            RecordSource::Borrowed(parts) => {
                let records = parts
                    .into_iter()
                    .flat_map(|part| part.map_while(Result::ok));
                finder.walk(records.map(Framed::from));
            }
            RecordSource::Buffered(records) => finder.walk(records.filter_map(Result::ok)),
        }
        finder.trace.processor = processor(reader);
        finder.trace.text_pokes.sort_by_key(|poke| poke.time);
        let info = finder.info.and_then(Result::ok);
        if info
            .as_ref()
            .is_some_and(|info| info.switches == SwitchRecords::Tracepoint)
        {
            finder.trace.sched_switch = SchedSwitch::find(reader, events);
        }
        Ok(info.map(|info| Trace {
            info,
            ..finder.trace
        }))
    }
}

/// Family and model that the recording names: `GenuineIntel,6,94,3`.
fn processor(reader: &Reader<'_>) -> Option<(u32, u32)> {
    let CpuId(text) = reader.features().get().ok().flatten()?;
    let mut words = text.split(',');
    let intel = words.next() == Some("GenuineIntel");
    let mut number = || words.next()?.parse().ok();
    number().zip(number()).filter(|_| intel)
}

/// The queue that the samples of an event id belong to.
#[derive(Clone, Copy, Debug)]
struct QueueKey {
    index: u64,
    cpu: Option<Cpu>,
    tid: Option<Tid>,
}

struct Finder<'f, 'a> {
    trace: Trace<'a>,
    info: Option<Result<PtInfo, InfoError>>,
    keys: FxHashMap<EventId, QueueKey>,
    events: &'f EventTable,
    endian: Endian,
    cpus: CpuFilter<'f>,
}

impl<'a> Finder<'_, 'a> {
    /// Looks at every record; gives up at the first round or sample when nothing has announced trace till then.
    fn walk(&mut self, records: impl Iterator<Item = Framed<BufferedBytes<'a>>>) {
        for record in records {
            let kind = record.header.kind;
            if self.info.is_none()
                && matches!(kind, RecordType::SAMPLE | RecordType::FINISHED_ROUND)
            {
                return;
            }
            match kind {
                RecordType::AUXTRACE_INFO => self.take_info(record.body.as_ref()),
                RecordType::ID_INDEX => self.take_ids(record.body.as_ref()),
                RecordType::AUXTRACE => self.take_trace(record),
                RecordType::SAMPLE => self.take_sample(record),
                RecordType::TEXT_POKE => self.take_text_poke(record.body.as_ref()),
                _ => {}
            }
        }
    }

    fn take_info(&mut self, body: &[u8]) {
        let record = AuxtraceInfo::decode(&mut Cursor::new(body, self.endian));
        self.info = record
            .ok()
            .map(|record| PtInfo::new(&record))
            .or(self.info.take());
    }

    fn take_ids(&mut self, body: &[u8]) {
        let Ok(table) = IdIndex::decode(&mut Cursor::new(body, self.endian)) else {
            return;
        };
        for entry in table.entries() {
            let cpu = u32::try_from(entry.cpu)
                .ok()
                .filter(|cpu| *cpu != u32::MAX)
                .map(Cpu);
            let key = QueueKey {
                index: entry.index,
                cpu,
                tid: known_tid(entry.tid as i32),
            };
            self.keys.insert(entry.id, key);
        }
    }

    fn take_text_poke(&mut self, body: &[u8]) {
        let Ok(poke) = TextPoke::decode(&mut Cursor::new(body, self.endian)) else {
            return;
        };
        let owner = self
            .events
            .owner_of_record(RecordType::TEXT_POKE, body, self.endian);
        let time = owner.and_then(|event| {
            self.events.events()[event.0]
                .layout
                .sample_id(body, self.endian)
                .time
        });
        let (address, old) = (poke.addr, poke.old.to_vec());
        self.trace.text_pokes.push(CodeChange {
            time: time.unwrap_or_default(),
            address,
            old,
        });
    }

    fn take_trace(&mut self, record: Framed<BufferedBytes<'a>>) {
        let Ok(piece) = Auxtrace::decode(&mut Cursor::new(record.body.as_ref(), self.endian))
        else {
            return;
        };
        let key = QueueKey {
            index: u64::from(piece.index),
            cpu: piece.cpu.map(Cpu),
            tid: known_tid(piece.tid.0),
        };
        let range = 0..record.payload.as_ref().len();
        self.add(
            key,
            TraceBuffer {
                held: record.payload,
                range,
                reference: Some(piece.reference).filter(|tsc| *tsc != 0),
            },
        );
    }

    fn take_sample(&mut self, record: Framed<BufferedBytes<'a>>) {
        let body = record.body.as_ref();
        let Some(event) = self.events.owner_of_sample(body, self.endian) else {
            return;
        };
        let event: &SessionEvent = &self.events.events()[event.0];
        if !event.attr.sample_type.contains(SampleType::AUX) {
            return;
        }
        self.trace.in_samples = true;
        let Ok(sample) = event.layout.decode_sample(body, self.endian) else {
            return;
        };
        let Some(aux) = sample.aux.filter(|aux| !aux.is_empty()) else {
            return;
        };
        let key = sample.id.and_then(|id| self.keys.get(&id)).copied();
        let fallback = QueueKey {
            index: sample.cpu.map_or(0, |cpu| u64::from(cpu.0)),
            cpu: sample.cpu,
            tid: None,
        };
        // The copy of the trace is the last field.
        let start = aux.as_ptr() as usize - body.as_ptr() as usize;
        let range = start..start + aux.len();
        let reference = sample.time.and_then(|time| self.tsc(time));
        self.add(
            key.unwrap_or(fallback),
            TraceBuffer {
                held: record.body,
                range,
                reference,
            },
        );
    }

    fn tsc(&self, time: PerfTime) -> Option<u64> {
        let info = self.info.as_ref().and_then(|info| info.as_ref().ok());
        let clock = info.and_then(|info| info.clock)?;
        Some(clock.tsc(time)).filter(|tsc| *tsc != 0)
    }

    fn add(&mut self, key: QueueKey, buffer: TraceBuffer<'a>) {
        if key.cpu.is_some_and(|cpu| !(self.cpus)(cpu)) {
            return;
        }
        let queue = self.trace.queues.entry(key.index).or_default();
        if queue.buffers.is_empty() {
            (queue.cpu, queue.tid) = (key.cpu, key.tid);
        }
        if !buffer.bytes().is_empty() {
            queue.buffers.push(buffer);
        }
    }
}

/// A thread; -1 is none.
fn known_tid(tid: i32) -> Option<Tid> {
    (tid != -1).then_some(Tid(tid))
}
