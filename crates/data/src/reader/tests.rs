//! Files that are not what they should be.

use oxperf_abi::{EventAttr, EventId, FileOffset, RecordType};

use super::*;
use crate::features::{DirFormat, Hostname, NrCpus};
use crate::{FeatureSet, Writer, WriterEvent};

/// A recording of two events, one round mark and the given features.
fn recording(features: &FeatureSet) -> Vec<u8> {
    let event = |name: &str, id| WriterEvent {
        attr: EventAttr::default(),
        name: name.into(),
        ids: vec![EventId(id)],
    };
    let mut writer = Writer::begin(Vec::new(), &[event("a", 1), event("b", 2)]).unwrap();
    let mut record = oxperf_wire::Encoder::new(Endian::NATIVE);
    record.record(
        oxperf_abi::RecordType::FINISHED_ROUND,
        Default::default(),
        |_| {},
    );
    writer.append(record.as_bytes()).unwrap();
    writer.finish(features).unwrap()
}

/// The recording with the number at `place` replaced.
fn with(place: usize, value: u64) -> Vec<u8> {
    let mut file = recording(&FeatureSet::new());
    file[place..place + 8].copy_from_slice(&value.to_ne_bytes());
    file
}

/// A recording of forty samples, with names and a host.
fn long_recording() -> Vec<u8> {
    let event = |name: &str, id| WriterEvent {
        attr: EventAttr {
            sample_type: oxperf_abi::SampleType::IDENTIFIER,
            ..EventAttr::default()
        },
        name: name.into(),
        ids: vec![EventId(id)],
    };
    let mut writer = Writer::begin(Vec::new(), &[event("a", 1), event("b", 2)]).unwrap();
    let mut records = oxperf_wire::Encoder::new(Endian::NATIVE);
    for index in 0..40 {
        records.record(RecordType::SAMPLE, Default::default(), |body| {
            body.u64(1 + index % 2)
        });
    }
    writer.append(records.as_bytes()).unwrap();
    let mut features = FeatureSet::new();
    features.insert(&Hostname("box".into()));
    writer.finish(&features).unwrap()
}

/// The parts of the long recording that are read after `change`: names of the events, ids, records, host, damage.
fn read_changed(
    change: impl FnOnce(&mut Vec<u8>),
) -> (Vec<String>, usize, usize, bool, Vec<String>) {
    let mut file = long_recording();
    change(&mut file);
    let reader = Reader::open(&file).unwrap();
    let names = reader
        .events()
        .iter()
        .map(|event| event.name.clone().unwrap_or_default())
        .collect();
    let ids = reader.events().iter().map(|event| event.ids.len()).sum();
    let records = reader.records().unwrap();
    let (good, bad): (Vec<_>, Vec<_>) = records.partition(Result::is_ok);
    let damage = reader
        .damage()
        .listed()
        .iter()
        .copied()
        .chain(bad.into_iter().filter_map(Result::err));
    let host = reader
        .features()
        .get::<Hostname>()
        .is_ok_and(|host| host.is_some());
    (
        names,
        ids,
        good.len(),
        host,
        damage.map(|damage| damage.to_string()).collect(),
    )
}

fn put(file: &mut [u8], place: usize, value: u64) {
    file[place..place + 8].copy_from_slice(&value.to_ne_bytes());
}

#[test]
fn a_header_that_lies_about_one_part_loses_nothing() {
    let names = vec!["a".to_owned(), "b".to_owned()];
    let whole = (names.clone(), 2, 40, true);
    let (got_names, ids, records, host, damage) = read_changed(|_| ());
    assert_eq!(
        ((got_names, ids, records, host), damage.len()),
        (whole.clone(), 0)
    );
    // Its size, the size of an entry, the place and the size of the attributes, those of the data.
    for (place, values) in [
        (8, vec![0, 33, u64::MAX]),
        (16, vec![0, 6, 81, 4096, u64::MAX]),
        (24, vec![0, 7, 304, 1 << 40, u64::MAX]),
        (32, vec![1 << 40, u64::MAX]),
        (40, vec![0, 1, 104, 120, 272, 1 << 40, u64::MAX]),
        (48, vec![0, 1, 16, 320, 639, 641, 1 << 40, u64::MAX]),
    ] {
        for value in values {
            let (got_names, ids, records, host, damage) =
                read_changed(|file| put(file, place, value));
            assert_eq!(
                (got_names, ids, records, host),
                whole,
                "{value} at {place}: {damage:?}"
            );
            assert!(!damage.is_empty() || place == 8, "{value} at {place}");
        }
    }
}

#[test]
fn a_header_that_was_never_written_hides_no_samples() {
    let (names, ids, records, host, damage) = read_changed(|file| file[8..104].fill(0));
    assert_eq!(
        (names.len(), ids, records, host),
        (2, 2, 40, false),
        "{damage:?}"
    );
    assert!(
        damage[0]
            .starts_with("no records at 0x0, where the header says that the data are; found at "),
        "{damage:?}"
    );
    assert!(
        damage
            .iter()
            .any(|line| line.ends_with("2 are taken from the place before the data")),
        "{damage:?}"
    );
}

#[test]
fn attributes_that_are_gone_are_taken_from_their_description() {
    let (names, ids, records, _, damage) = read_changed(|file| file[104..272].fill(0xff));
    assert_eq!(
        (names, ids, records),
        (vec!["a".to_owned(), "b".to_owned()], 2, 40),
        "{damage:?}"
    );
    assert!(
        damage
            .iter()
            .any(|line| line.ends_with("2 are taken from their description")),
        "{damage:?}"
    );
}

#[test]
fn features_that_are_not_in_the_file_are_told() {
    let place = {
        let file = long_recording();
        let reader = Reader::open(&file).unwrap();
        reader.data().end() as usize
    };
    let (_, _, records, host, damage) = read_changed(|file| put(file, place, 1 << 40));
    assert_eq!((records, host), (40, false));
    assert!(
        damage[0].starts_with("HOSTNAME at 0x10000000000: "),
        "{damage:?}"
    );
}

#[test]
fn data_that_end_too_early_are_taken_as_far_as_they_go() {
    let file = with(48, 1 << 40);
    let reader = Reader::open(&file).unwrap();
    // The table of the features gives their end all the same.
    let found = 8;
    let cut = Damage::PartCut {
        part: "data",
        offset: FileOffset(280),
        expected: 1 << 40,
        found,
    };
    assert_eq!(
        (reader.damage().listed(), reader.data().size),
        (&[cut][..], found)
    );
}

#[test]
fn ids_past_the_end_are_left_out() {
    let file = with(120 + 64 + 8, u64::MAX);
    let reader = Reader::open(&file).unwrap();
    assert!(matches!(
        reader.damage().listed(),
        [
            Damage::PartCut {
                part: "event ids",
                ..
            },
            ..
        ]
    ));
    assert_eq!(reader.events().len(), 2);
}

#[test]
fn an_attribute_larger_than_its_entry_is_left_out() {
    let mut file = recording(&FeatureSet::new());
    file[124..128].copy_from_slice(&4096_u32.to_ne_bytes());
    let reader = Reader::open(&file).unwrap();
    let lost = Damage::PartUnusable {
        part: "attributes",
        offset: FileOffset(120),
        size: 160,
    };
    assert_eq!(reader.damage().listed()[0], lost);
    assert_eq!(reader.events().len(), 2);
}

#[test]
fn a_cut_feature_fails_alone() {
    let mut features = FeatureSet::new();
    features.insert(&Hostname("box".into()));
    features.insert(&NrCpus {
        available: 1,
        online: 1,
    });
    let file = recording(&features);
    let reader = Reader::open(&file[..file.len() - 8]).unwrap();
    assert_eq!(reader.features().get(), Ok(Some(Hostname("box".into()))));
    assert!(matches!(
        reader.features().get::<EventDesc>(),
        Err(DataError::FeatureCut { .. })
    ));
    assert_eq!(reader.events()[0].name, None);
    // With its table gone, a feature is known but cannot be read.
    let reader = Reader::open(&file[..288]).unwrap();
    assert!(matches!(
        reader.features().get::<NrCpus>(),
        Err(DataError::FeatureCut { .. })
    ));
    assert!(reader.features().bits().contains(FeatureId::NRCPUS));
}

/// Kinds of all records, however they are held.
fn kinds(source: RecordSource<'_>) -> Vec<u32> {
    match source {
        RecordSource::Borrowed(parts) => parts
            .into_iter()
            .flatten()
            .map(|raw| raw.unwrap().header.kind.0)
            .collect(),
        RecordSource::Buffered(records) => {
            records.map(|held| held.unwrap().header.kind.0).collect()
        }
    }
}

#[test]
fn records_that_are_elsewhere_or_compressed_come_from_the_source() {
    let mut directory = FeatureSet::new();
    directory.insert(&DirFormat { version: 1 });
    let (file, part) = (recording(&directory), little_or_big(&[4, 4]));
    let reader = Reader::open(&file).unwrap();
    assert_eq!(reader.records().map(|_| ()), Err(DataError::Directory));
    assert_eq!(
        reader.source().map(|_| ()).unwrap_err(),
        DataError::Directory
    );
    let reader = Reader::open_directory(&file, vec![&part, &part[..8]]).unwrap();
    assert_eq!(kinds(reader.source().unwrap()), [68, 4, 4, 4]);

    let mut compressed = FeatureSet::new();
    compressed.insert(&Compression {
        method: 1,
        ..Compression::default()
    });
    let file = recording(&compressed);
    let reader = Reader::open(&file).unwrap();
    assert_eq!(reader.records().map(|_| ()), Err(DataError::Compressed));
    assert_eq!(kinds(reader.source().unwrap()), [68]);
    compressed.insert(&Compression {
        method: 9,
        ..Compression::default()
    });
    let file = recording(&compressed);
    let unknown = Reader::open(&file)
        .unwrap()
        .source()
        .map(|_| ())
        .unwrap_err();
    assert_eq!(unknown, DataError::CompressionMethod { method: 9 });
}

/// Records of these kinds without a body.
fn little_or_big(kinds: &[u32]) -> Vec<u8> {
    let mut encoder = oxperf_wire::Encoder::new(Endian::NATIVE);
    kinds
        .iter()
        .for_each(|kind| encoder.record(RecordType(*kind), Default::default(), |_| {}));
    encoder.into_bytes()
}

/// A stream: its header, one event, its name, a feature, the end of the features, a sample.
fn stream() -> Vec<u8> {
    let mut encoder = oxperf_wire::Encoder::new(Endian::NATIVE);
    encoder.u64(u64::from_le_bytes(*b"PERFILE2"));
    encoder.u64(16);
    encoder.record(RecordType::HEADER_ATTR, Default::default(), |body| {
        oxperf_wire::attr::encode(&EventAttr::default(), 64, body);
        body.u64(7);
    });
    encoder.record(RecordType::EVENT_UPDATE, Default::default(), |body| {
        body.u64(2);
        body.u64(7);
        body.c_string_padded(b"named");
    });
    let mut host = oxperf_wire::Encoder::new(Endian::NATIVE);
    crate::Feature::encode(&Hostname("box".into()), &mut host);
    encoder.record(RecordType::HEADER_FEATURE, Default::default(), |body| {
        body.u64(3);
        body.bytes(host.as_bytes());
    });
    encoder.record(RecordType::HEADER_FEATURE, Default::default(), |body| {
        body.u64(35)
    });
    encoder.record(RecordType::SAMPLE, Default::default(), |body| body.u64(1));
    encoder.record(RecordType::FINISHED_ROUND, Default::default(), |_| {});
    encoder.into_bytes()
}

/// Checks the facts that a reader of the stream must know.
fn check_stream(reader: &Reader<'_>) {
    assert_eq!(reader.container(), Container::Stream);
    assert_eq!(
        (
            reader.events()[0].ids.as_slice(),
            reader.events()[0].name.as_deref()
        ),
        (&[EventId(7)][..], Some("named"))
    );
    assert_eq!(reader.features().get(), Ok(Some(Hostname("box".into()))));
    assert_eq!(
        reader.features().bits().iter().collect::<Vec<_>>(),
        [FeatureId::HOSTNAME]
    );
    assert_eq!(kinds(reader.source().unwrap()), [64, 78, 80, 80, 9, 68]);
}

#[test]
fn a_stream_is_read_alike_from_a_pipe_and_from_a_file() {
    let bytes = stream();
    check_stream(&Reader::open(&bytes).unwrap());
    let reader = Reader::open_stream(Box::new(std::io::Cursor::new(bytes))).unwrap();
    check_stream(&reader);
    assert_eq!(reader.source().map(|_| ()).unwrap_err(), DataError::Stream);
}

#[test]
fn what_is_no_stream_is_refused_as_one() {
    let open = |bytes: &[u8]| {
        let input = Box::new(std::io::Cursor::new(bytes.to_vec()));
        Reader::open_stream(input).map(|_| ()).unwrap_err()
    };
    assert_eq!(
        open(&recording(&FeatureSet::new())),
        DataError::FileInStream
    );
    assert_eq!(open(b""), DataError::Empty);
    assert_eq!(
        open(&stream()[..12]),
        DataError::HeaderCut {
            expected: 104,
            found: 12
        }
    );
}
