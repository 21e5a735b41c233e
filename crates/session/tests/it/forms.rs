//! One recording in every form: the same samples come out, in the same order.

use std::io::Write;
use std::ops::ControlFlow;

use oxperf_abi::{AttrFlags, EventAttr, EventId, EventType, Misc, RecordType, SampleType};
use oxperf_data::features::{Compression, DirFormat};
use oxperf_data::{Container, FeatureId, FeatureSet, Reader, Writer, WriterEvent};
use oxperf_machine::Machine;
use oxperf_session::{EventIndex, EventTable, NoSink, SampleEvent, Session, Sink, rewrite};
use oxperf_tracepoint::{Formatters, SystemFormat, TracingData};
use oxperf_wire::{Encoder, Endian};

/// Notes the addresses of the samples.
#[derive(Default)]
struct Addresses(Vec<u64>);

impl Sink for Addresses {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, _: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        self.0.extend(event.sample.ip);
        ControlFlow::Continue(())
    }
}

fn attr() -> EventAttr {
    let sample_type = SampleType::IP | SampleType::TIME;
    EventAttr {
        sample_type,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..EventAttr::default()
    }
}

/// A sample at an address and a time.
fn sample(ip: u64, time: u64) -> Vec<u8> {
    record(RecordType::SAMPLE, |body| {
        [ip, time].iter().for_each(|word| body.u64(*word))
    })
}

fn round() -> Vec<u8> {
    record(RecordType::FINISHED_ROUND, |_| {})
}

fn record(kind: RecordType, body: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut encoder = Encoder::new(Endian::NATIVE);
    encoder.record(kind, Misc::default(), body);
    encoder.into_bytes()
}

fn file(records: &[u8], features: &FeatureSet) -> Vec<u8> {
    let event = WriterEvent {
        attr: attr(),
        name: "cycles".into(),
        ids: vec![EventId(1)],
    };
    let mut writer = Writer::begin(Vec::new(), &[event]).unwrap();
    writer.append(records).unwrap();
    writer.finish(features).unwrap()
}

/// The bytes as compressed records that hold so many each.
fn compressed(records: &[u8], each: usize) -> Vec<u8> {
    let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    let packed = records.chunks(each).map(|piece| {
        zstd.write_all(piece).unwrap();
        zstd.flush().unwrap();
        let bytes = std::mem::take(zstd.get_mut());
        record(RecordType::COMPRESSED2, |body| {
            body.u64(bytes.len() as u64);
            body.bytes(&bytes);
        })
    });
    packed.flatten().collect()
}

fn stream(records: &[u8]) -> Vec<u8> {
    let head = record(RecordType::HEADER_ATTR, |body| {
        oxperf_wire::attr::encode(&attr(), 64, body);
        body.u64(1);
    });
    let magic = u64::from_le_bytes(*b"PERFILE2");
    [
        &magic.to_ne_bytes()[..],
        &16_u64.to_ne_bytes(),
        &head,
        records,
    ]
    .concat()
}

fn addresses(reader: &Reader<'_>) -> Vec<u64> {
    let mut sink = Addresses::default();
    let finished = Session::new(reader).run(&mut sink).unwrap();
    assert_eq!(
        (
            finished.diagnostics.out_of_order,
            finished.diagnostics.damage.listed()
        ),
        (0, &[][..])
    );
    sink.0
}

/// Rewrites the recording; the plain file has the same samples and tells nothing of the form.
fn rewritten(reader: &Reader<'_>) -> Vec<u8> {
    let mut file = Vec::new();
    let done = rewrite(reader, &mut file).unwrap();
    assert_eq!((done.samples, done.damage.count()), (7, 0));
    let plain = Reader::open(&file).unwrap();
    assert_eq!(
        (
            plain.container(),
            plain.compression(),
            plain.damage().listed()
        ),
        (Container::File, None, &[][..])
    );
    assert_eq!(addresses(&plain), IN_ORDER);
    assert_eq!(plain.records().unwrap().count() as u64, done.records);
    assert_eq!(plain.events()[0].stored.attr, attr());
    assert_eq!(plain.events()[0].ids, [EventId(1)]);
    file
}

fn features(add: impl FnOnce(&mut FeatureSet)) -> FeatureSet {
    let mut features = FeatureSet::new();
    add(&mut features);
    features
}

/// Two CPUs whose rings are emptied in turn.
fn records() -> Vec<u8> {
    let first = [sample(1, 10), sample(3, 30), sample(2, 20), round()];
    let second = [
        sample(5, 50),
        sample(4, 40),
        round(),
        sample(7, 70),
        sample(6, 60),
    ];
    [first.concat(), second.concat()].concat()
}

const IN_ORDER: [u64; 7] = [1, 2, 3, 4, 5, 6, 7];

#[test]
fn files_plain_and_compressed() {
    let plain = file(&records(), &FeatureSet::new());
    assert_eq!(addresses(&Reader::open(&plain).unwrap()), IN_ORDER);
    rewritten(&Reader::open(&plain).unwrap());
    let compression = Compression {
        version: 1,
        method: 1,
        mmap_size: 4096,
        ..Compression::default()
    };
    for each in [5, 24, 100, 1000] {
        let packed = file(
            &compressed(&records(), each),
            &features(|set| set.insert(&compression)),
        );
        assert_eq!(
            addresses(&Reader::open(&packed).unwrap()),
            IN_ORDER,
            "{each} bytes each"
        );
        assert_eq!(
            rewritten(&Reader::open(&packed).unwrap()),
            rewritten(&Reader::open(&plain).unwrap())
        );
    }
}

#[test]
fn a_recorder_that_was_killed_has_not_said_that_it_compressed() {
    let mut packed = file(&compressed(&records(), 30), &FeatureSet::new());
    packed[48..56].fill(0);
    let mut sink = Addresses::default();
    Session::new(&Reader::open(&packed).unwrap())
        .run(&mut sink)
        .unwrap();
    assert_eq!(sink.0, IN_ORDER);
}

#[test]
fn directories_plain_and_compressed() {
    let parts = [
        [sample(7, 70), sample(1, 10), sample(4, 40)],
        [sample(2, 20), sample(6, 60), sample(5, 50)],
    ];
    let parts = parts.map(|part| part.concat());
    let data = |set: &FeatureSet| file(&sample(3, 30), set);
    let open = |data: &[u8], parts: &[Vec<u8>]| {
        let parts = parts.iter().map(Vec::as_slice).collect();
        let reader = Reader::open_directory(data, parts).unwrap();
        rewritten(&reader);
        addresses(&reader)
    };
    let plain = features(|set| set.insert(&DirFormat { version: 1 }));
    assert_eq!(open(&data(&plain), &parts), IN_ORDER);
    let packed = features(|set| {
        set.insert(&DirFormat { version: 1 });
        set.insert(&Compression {
            version: 1,
            method: 1,
            ..Compression::default()
        });
    });
    assert_eq!(
        open(&data(&packed), &parts.map(|part| compressed(&part, 30))),
        IN_ORDER
    );
}

#[test]
fn streams_plain_and_compressed() {
    for bytes in [stream(&records()), stream(&compressed(&records(), 30))] {
        assert_eq!(addresses(&Reader::open(&bytes).unwrap()), IN_ORDER);
        let open = || Reader::open_stream(Box::new(std::io::Cursor::new(bytes.clone()))).unwrap();
        assert_eq!(addresses(&open()), IN_ORDER);
        rewritten(&open());
    }
}

#[test]
fn a_plain_file_has_what_perf_demands() {
    let tracepoint = EventAttr {
        kind: EventType::TRACEPOINT,
        config: 7,
        ..attr()
    };
    let event = |attr| WriterEvent {
        attr,
        name: "sched:sched_switch:u".into(),
        ids: vec![EventId(1)],
    };
    let mut writer = Writer::begin(Vec::new(), &[event(tracepoint)]).unwrap();
    let unreadable = record(RecordType::COMM, |body| body.u32(1));
    let unknown = record(RecordType(99), |body| body.u64(1));
    writer
        .append(&[unreadable, unknown, sample(1, 10)].concat())
        .unwrap();
    let mut file = Vec::new();
    let before = writer
        .finish(&features(|set| {
            set.insert_raw(FeatureId::BPF_BTF, Vec::new())
        }))
        .unwrap();
    let done = rewrite(&Reader::open(&before).unwrap(), &mut file).unwrap();
    assert_eq!(
        (done.records, done.undecodable, done.unknown_records),
        (1, 1, 1)
    );
    assert_eq!(done.assumed_cpus, Some(1));

    let plain = Reader::open(&file).unwrap();
    let bits: Vec<_> = plain.features().bits().iter().collect();
    assert_eq!(
        bits,
        [
            FeatureId::TRACING_DATA,
            FeatureId::NRCPUS,
            FeatureId::EVENT_DESC
        ]
    );
    let tracing = plain
        .features()
        .raw(FeatureId::TRACING_DATA)
        .unwrap()
        .unwrap();
    let formats = Formatters::new(&TracingData::decode(tracing).unwrap());
    assert_eq!(
        (formats.broken(), formats.name(7).as_deref()),
        (0, Some("sched:sched_switch"))
    );
}

#[test]
fn formats_in_a_record_of_simpleperf_become_those_of_the_file() {
    let format =
        b"name: tick\nID: 7\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
    let system = SystemFormat {
        system: "timer".into(),
        formats: vec![format.to_vec()],
    };
    let mut tracing = TracingData::decode(&plain_tracing()).unwrap();
    tracing.systems = vec![system];
    let body = tracing.encode();
    // Its header has a size of 32 bits, the high half where others have flags.
    let mut out = Encoder::new(Endian::NATIVE);
    out.u32(RecordType::SIMPLEPERF_TRACING_DATA.0);
    out.u16(0);
    out.u16(12 + body.len() as u16);
    out.u32(body.len() as u32);
    out.bytes(&body);

    let mut written = Vec::new();
    let done = rewrite(
        &Reader::open(&file(&out.into_bytes(), &FeatureSet::new())).unwrap(),
        &mut written,
    )
    .unwrap();
    assert_eq!((done.unknown_records, done.undecodable), (0, 0));
    let plain = Reader::open(&written).unwrap();
    let section = plain
        .features()
        .raw(FeatureId::TRACING_DATA)
        .unwrap()
        .unwrap();
    assert_eq!(
        Formatters::new(&TracingData::decode(section).unwrap())
            .name(7)
            .as_deref(),
        Some("timer:tick")
    );
}

/// Tracing data with nothing but what perf demands.
fn plain_tracing() -> Vec<u8> {
    let tracepoint = EventAttr {
        kind: EventType::TRACEPOINT,
        config: 7,
        ..attr()
    };
    let event = WriterEvent {
        attr: tracepoint,
        name: "timer:tick".into(),
        ids: vec![EventId(1)],
    };
    let before = Writer::begin(Vec::new(), &[event])
        .unwrap()
        .finish(&FeatureSet::new())
        .unwrap();
    let mut written = Vec::new();
    rewrite(&Reader::open(&before).unwrap(), &mut written).unwrap();
    let plain = Reader::open(&written).unwrap();
    plain
        .features()
        .raw(FeatureId::TRACING_DATA)
        .unwrap()
        .unwrap()
        .to_vec()
}

#[test]
fn a_plain_file_is_never_without_records() {
    let mut written = Vec::new();
    rewrite(
        &Reader::open(&file(&[], &FeatureSet::new())).unwrap(),
        &mut written,
    )
    .unwrap();
    let plain = Reader::open(&written).unwrap();
    assert_eq!(
        (plain.damage().listed(), plain.records().unwrap().count()),
        (&[][..], 1)
    );
}

/// Notes the names of the events that samples belong to.
#[derive(Default)]
struct Named {
    names: Vec<String>,
    samples: Vec<String>,
}

impl Sink for Named {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn event_update(&mut self, events: &EventTable, index: EventIndex) -> bool {
        self.names.resize(events.events().len(), String::new());
        self.names[index.0].clone_from(&events.events()[index.0].name);
        true
    }

    fn sample(&mut self, _: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        self.samples.push(self.names[event.event.0].clone());
        ControlFlow::Continue(())
    }
}

#[test]
fn a_stream_may_describe_events_between_its_samples() {
    let attr = |config| EventAttr {
        sample_type: SampleType::IDENTIFIER,
        config,
        ..EventAttr::default()
    };
    let header_attr = |config, id| {
        record(RecordType::HEADER_ATTR, |body| {
            oxperf_wire::attr::encode(&attr(config), 64, body);
            body.u64(id);
        })
    };
    let renamed = record(RecordType::EVENT_UPDATE, |body| {
        [2, 1].iter().for_each(|word| body.u64(*word));
        body.c_string_padded(b"other");
    });
    let sample = |id| record(RecordType::SAMPLE, |body| body.u64(id));
    let head = [u64::from_le_bytes(*b"PERFILE2"), 16]
        .map(u64::to_ne_bytes)
        .concat();
    let records = [
        header_attr(0, 1),
        sample(1),
        header_attr(1, 2),
        sample(2),
        renamed,
        sample(1),
        sample(3),
    ]
    .concat();
    let bytes = [head, records].concat();
    for reader in [
        Reader::open(&bytes),
        Reader::open_stream(Box::new(std::io::Cursor::new(bytes.clone()))),
    ] {
        let mut sink = Named {
            names: vec!["first".to_owned()],
            ..Named::default()
        };
        let finished = Session::new(&reader.unwrap()).run(&mut sink).unwrap();
        assert_eq!(sink.samples, ["first", "instructions", "other"]);
        assert_eq!(
            (
                finished.diagnostics.unknown_ids,
                finished.diagnostics.samples
            ),
            (1, 3)
        );
    }
}
