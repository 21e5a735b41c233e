//! The text of `script -D` and `report -D`: every record as bytes and in words, in perf's layout.
//!
//! A [`RecordDump`] appends to a buffer: first [`RecordDump::record`] for the record, then, where its sample is looked at,
//! [`RecordDump::place`]; and behind a record or a sample that holds trace, the packets of that. Bytes are shown as the file holds them, whatever the recorder's byte order. A record that cannot
//! be decoded is shown by its bytes, and its line says why.

mod auxtrace;
mod branch;
mod chain;
mod consumer;
mod feature;
mod hex;
mod kernel;
mod registers;
mod sample;
mod simpleperf;
mod stamp;
mod stat;
mod tool;

use oxperf_abi::{RecordType, SampleType};
use oxperf_data::{Damage, RawRecord};
use oxperf_session::{EventIndex, EventTable, SessionEvent};
use oxperf_wire::{Endian, Sample, SampleId};

use crate::text::number::push_signed;
use crate::text::{put, sanitize};
pub use auxtrace::Packets;
pub use consumer::Consumer;
use consumer::UNHANDLED;
use feature::FeatureTexts;
use kernel::Trailer;
pub use registers::Architecture;
use stamp::Stamp;

/// The object around an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object<'a> {
    /// A mapping of the object with this name.
    Named(&'a str),
    /// No mapping is known there.
    NotFound,
    /// It is no address of this machine's kernel or processes.
    Outside,
}

/// The facts of a dump beside the events.
#[derive(Clone, Copy, Debug)]
pub struct DumpOptions<'a> {
    /// The file's name, shown with every record.
    pub file: &'a str,
    /// The recorder's byte order.
    pub endian: Endian,
    /// The recorder's architecture.
    pub architecture: Architecture,
    /// The command that dumps.
    pub consumer: Consumer,
    /// Trace is shown as packets.
    pub packets: bool,
    /// Records come as they stand in the file; nobody cares for the ends of rounds then.
    pub in_file_order: bool,
    /// Seconds east of UTC that the reader's time zone has at a moment in seconds since 1970.
    pub utc_offset: fn(i64) -> i32,
}

/// A dump of records.
#[derive(Debug)]
pub struct RecordDump {
    file: Vec<u8>,
    events: EventTable,
    endian: Endian,
    architecture: Architecture,
    consumer: Consumer,
    /// Trace is shown as packets.
    packets: bool,
    in_file_order: bool,
    /// The fields that any event records.
    fields: SampleType,
    /// Records other than samples have a time.
    stamped: bool,
    /// AUXTRACE_INFO said that trace is Intel PT's.
    intel_pt: bool,
    /// The features of a stream.
    features: FeatureTexts,
}

impl RecordDump {
    /// A dump of a recording with these events.
    pub fn new(options: &DumpOptions<'_>, events: EventTable) -> RecordDump {
        let all = events
            .events()
            .iter()
            .fold(SampleType::EMPTY, |all, event| all | event.attr.sample_type);
        RecordDump {
            file: sanitize(options.file).into_owned().into_bytes(),
            stamped: events
                .events()
                .first()
                .is_some_and(|event| event.layout.sample_id_all()),
            events,
            endian: options.endian,
            architecture: options.architecture,
            consumer: options.consumer,
            packets: options.packets,
            in_file_order: options.in_file_order,
            fields: all,
            intel_pt: false,
            features: FeatureTexts::new(options.endian, options.utc_offset),
        }
    }

    /// Appends a record: its bytes, its line, and the details of a sample; nothing for a compressed one. `event` is whose record it is; `None` for
    /// tools' records and where the record's id is not listed.
    pub fn record(&mut self, record: &RawRecord<'_>, event: Option<EventIndex>, out: &mut Vec<u8>) {
        if matches!(
            record.header.kind,
            RecordType::COMPRESSED | RecordType::COMPRESSED2
        ) {
            // What they hold comes as records of its own.
            return;
        }
        self.intel_pt = auxtrace::announces_intel_pt(record, self.endian).unwrap_or(self.intel_pt);
        stamp::write_bytes(&self.file, record, self.endian, out);
        let event = event.and_then(|index| self.events.events().get(index.0));
        match (record.header.kind, event) {
            (RecordType::SAMPLE, Some(event)) => self.sample(record, event, out),
            (kind, None) if kind.is_user() => self.tool_record(record, out),
            (_, event) => self.kernel_record(record, event, out),
        }
    }

    /// Begins the packets behind an AUXTRACE record, to be written right after it.
    pub fn packets<'a>(&self, record: &RawRecord<'a>, out: &mut Vec<u8>) -> Option<Packets<'a>> {
        let shown = self.packets && self.intel_pt && record.header.kind == RecordType::AUXTRACE;
        shown.then(|| {
            out.extend_from_slice(b".\n");
            Packets::begin(record.payload, out)
        })
    }

    /// Begins the packets that a sample holds, to be written behind all else about it.
    pub fn sampled_packets<'a>(
        &self,
        sample: &Sample<'a>,
        out: &mut Vec<u8>,
    ) -> Option<Packets<'a>> {
        let trace = sample
            .aux
            .filter(|trace| self.packets && self.intel_pt && !trace.is_empty())?;
        out.push(b'\n');
        Some(Packets::begin(trace, out))
    }

    fn sample(&self, record: &RawRecord<'_>, event: &SessionEvent, out: &mut Vec<u8>) {
        match event.layout.decode_sample(record.body, self.endian) {
            Ok(sample) => {
                let cpu = sample.cpu.map_or(u32::MAX, |cpu| cpu.0);
                let time = sample.time.map_or(u64::MAX, |time| time.0);
                stamp::write(Some(Stamp { cpu, time }), self.fields, record, out);
                self.sample_text(record, event, &sample, out);
            }
            Err(error) => {
                stamp::write(Some(Stamp::TOOL), self.fields, record, out);
                put!(out, "PERF_RECORD_SAMPLE cannot be decoded: {error}\n");
            }
        }
    }

    fn sample_text(
        &self,
        record: &RawRecord<'_>,
        event: &SessionEvent,
        sample: &Sample<'_>,
        out: &mut Vec<u8>,
    ) {
        sample::head(record.header.misc, sample, event, out);
        chain::write(sample, event, out);
        branch::write(sample, event, out);
        registers::write(sample, self.architecture, out);
        sample::details(record.body, sample, out);
    }

    fn kernel_record(
        &self,
        record: &RawRecord<'_>,
        event: Option<&SessionEvent>,
        out: &mut Vec<u8>,
    ) {
        let id = event
            .map(|event| event.layout.sample_id(record.body, self.endian))
            .unwrap_or_default();
        let cpu = id.cpu.map_or(u32::MAX, |cpu| cpu.0);
        let time = id.time.map_or(u64::MAX, |time| time.0);
        stamp::write(
            self.stamped.then_some(Stamp { cpu, time }),
            self.fields,
            record,
            out,
        );
        let start = out.len();
        if let Err(error) = kernel::write(
            record,
            &Trailer {
                id,
                event,
                endian: self.endian,
            },
            self.consumer,
            out,
        ) {
            refuse(record.header.kind, &error, start, out);
        }
    }

    fn tool_record(&mut self, record: &RawRecord<'_>, out: &mut Vec<u8>) {
        stamp::write(
            self.stamped.then_some(Stamp::TOOL),
            self.fields,
            record,
            out,
        );
        let start = out.len();
        if self.in_file_order && record.header.kind == RecordType::FINISHED_ROUND {
            put!(out, "PERF_RECORD_FINISHED_ROUND");
            return out.extend_from_slice(UNHANDLED);
        }
        let written = match record.header.kind {
            RecordType::HEADER_FEATURE => self.features.write(record.body, out),
            _ => tool::write(record, self.endian, self.consumer, out),
        };
        if let Err(error) = written {
            refuse(record.header.kind, &error, start, out);
        }
    }

    /// Takes other events than it was made with: a stream announced more.
    pub fn set_events(&mut self, events: EventTable) {
        self.fields = events
            .events()
            .iter()
            .fold(SampleType::EMPTY, |all, event| all | event.attr.sample_type);
        self.events = events;
    }

    /// Appends where something is broken, in the place of the records that would stand there.
    pub fn damage(&self, damage: &Damage, out: &mut Vec<u8>) {
        stamp::write_gap(&self.file, damage, out);
        put!(out, ": damaged: {damage}\n");
    }

    /// Appends where a sample is at home: its thread, and what its address lies in.
    pub fn place(&self, comm: &str, tid: i32, object: &Object<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b" ... thread: ");
        out.extend_from_slice(sanitize(comm).as_bytes());
        out.push(b':');
        push_signed(out, tid);
        out.extend_from_slice(b"\n ...... dso: ");
        let object = match object {
            Object::Named(name) => sanitize(name),
            Object::Outside => "[hypervisor]".into(),
            Object::NotFound => "<not found>".into(),
        };
        out.extend_from_slice(object.as_bytes());
        out.push(b'\n');
    }
}

/// Appends the line of any of the kernel's records as `report -D` gives it, without the lines around it; nothing for a record
/// that cannot be decoded.
pub fn kernel_line(record: &RawRecord<'_>, endian: Endian, out: &mut Vec<u8>) {
    if record.header.kind == RecordType::SAMPLE {
        return out.extend_from_slice(b"PERF_RECORD_SAMPLE\n");
    }
    let start = out.len();
    let trailer = Trailer {
        id: SampleId::default(),
        event: None,
        endian,
    };
    if kernel::write(record, &trailer, Consumer::Report, out).is_err() {
        out.truncate(start);
    }
}

/// Replaces what was begun of a record's text by the reason why it has none.
fn refuse(kind: RecordType, error: &oxperf_wire::WireError, start: usize, out: &mut Vec<u8>) {
    out.truncate(start);
    put!(
        out,
        "PERF_RECORD_{} cannot be decoded: {error}\n",
        record_name(kind)
    );
}

/// The name behind `PERF_RECORD_`; tools' records go without the word for where they once stood.
fn record_name(kind: RecordType) -> &'static str {
    let name = kind
        .name()
        .map(|name| name.strip_prefix("HEADER_").unwrap_or(name));
    name.unwrap_or("UNKNOWN")
}
