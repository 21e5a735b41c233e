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
    record.record(oxperf_abi::RecordType::FINISHED_ROUND, Default::default(), |_| {});
    writer.append(record.as_bytes()).unwrap();
    writer.finish(features).unwrap()
}

/// The recording with the number at `place` replaced.
fn with(place: usize, value: u64) -> Vec<u8> {
    let mut file = recording(&FeatureSet::new());
    file[place..place + 8].copy_from_slice(&value.to_ne_bytes());
    file
}

#[test]
fn senseless_headers_are_refused() {
    let open = |file: &[u8]| Reader::open(file).map(|_| ()).unwrap_err();
    assert_eq!(open(&with(16, 0)), DataError::AttrSizeZero);
    assert_eq!(open(&with(16, 6)), DataError::AttrSizeSmall { expected: 80, found: 6 });
    let overlap = DataError::Overlap { attrs: FileOffset(120), data: FileOffset(121) };
    assert_eq!(open(&with(40, 121)), overlap);
}

#[test]
fn data_that_end_too_early_are_taken_as_far_as_they_go() {
    let file = with(48, 1 << 40);
    let reader = Reader::open(&file).unwrap();
    let found = file.len() as u64 - 280;
    let cut = Damage::PartCut { part: "data", offset: FileOffset(280), expected: 1 << 40, found };
    assert_eq!((reader.damage().listed(), reader.data().size), (&[cut][..], found));
}

#[test]
fn ids_past_the_end_are_left_out() {
    let file = with(120 + 64 + 8, u64::MAX);
    let reader = Reader::open(&file).unwrap();
    assert!(matches!(reader.damage().listed(), [Damage::PartCut { part: "event ids", .. }, ..]));
    assert_eq!(reader.events().len(), 2);
}

#[test]
fn an_attribute_larger_than_its_entry_is_refused() {
    let mut file = recording(&FeatureSet::new());
    file[124..128].copy_from_slice(&4096_u32.to_ne_bytes());
    assert!(matches!(Reader::open(&file), Err(DataError::Attr { offset: FileOffset(120), .. })));
}

#[test]
fn a_cut_feature_fails_alone() {
    let mut features = FeatureSet::new();
    features.insert(&Hostname("box".into()));
    features.insert(&NrCpus { available: 1, online: 1 });
    let file = recording(&features);
    let reader = Reader::open(&file[..file.len() - 8]).unwrap();
    assert_eq!(reader.features().get(), Ok(Some(Hostname("box".into()))));
    assert!(matches!(reader.features().get::<EventDesc>(), Err(DataError::FeatureCut { .. })));
    assert_eq!(reader.events()[0].name, None);
    // With its table gone, a feature is known but cannot be read.
    let reader = Reader::open(&file[..288]).unwrap();
    assert!(matches!(reader.features().get::<NrCpus>(), Err(DataError::FeatureCut { .. })));
    assert!(reader.features().bits().contains(FeatureId::NRCPUS));
}

/// Kinds of all records, however they are held.
fn kinds(source: Source<'_>) -> Vec<u32> {
    match source {
        Source::Borrowed(parts) => {
            parts.into_iter().flatten().map(|raw| raw.unwrap().header.kind.0).collect()
        }
        Source::Held(records) => records.map(|held| held.unwrap().header.kind.0).collect(),
    }
}

#[test]
fn records_that_are_elsewhere_or_compressed_come_from_the_source() {
    let mut directory = FeatureSet::new();
    directory.insert(&DirFormat { version: 1 });
    let (file, part) = (recording(&directory), little_or_big(&[4, 4]));
    let reader = Reader::open(&file).unwrap();
    assert_eq!(reader.records().map(|_| ()), Err(DataError::Directory));
    assert_eq!(reader.source().map(|_| ()).unwrap_err(), DataError::Directory);
    let reader = Reader::open_directory(&file, vec![&part, &part[..8]]).unwrap();
    assert_eq!(kinds(reader.source().unwrap()), [68, 4, 4, 4]);

    let mut compressed = FeatureSet::new();
    compressed.insert(&Compressed { method: 1, ..Compressed::default() });
    let file = recording(&compressed);
    let reader = Reader::open(&file).unwrap();
    assert_eq!(reader.records().map(|_| ()), Err(DataError::Compressed));
    assert_eq!(kinds(reader.source().unwrap()), [68]);
    compressed.insert(&Compressed { method: 9, ..Compressed::default() });
    let file = recording(&compressed);
    let unknown = Reader::open(&file).unwrap().source().map(|_| ()).unwrap_err();
    assert_eq!(unknown, DataError::CompressionMethod { method: 9 });
}

/// Records of these kinds without a body.
fn little_or_big(kinds: &[u32]) -> Vec<u8> {
    let mut encoder = oxperf_wire::Encoder::new(Endian::NATIVE);
    kinds.iter().for_each(|kind| encoder.record(RecordType(*kind), Default::default(), |_| {}));
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
    encoder.record(RecordType::HEADER_FEATURE, Default::default(), |body| body.u64(35));
    encoder.record(RecordType::SAMPLE, Default::default(), |body| body.u64(1));
    encoder.record(RecordType::FINISHED_ROUND, Default::default(), |_| {});
    encoder.into_bytes()
}

/// What a reader of the stream must know.
fn check_stream(reader: &Reader<'_>) {
    assert_eq!(reader.container(), Container::Stream);
    assert_eq!(
        (reader.events()[0].ids.as_slice(), reader.events()[0].name.as_deref()),
        (&[EventId(7)][..], Some("named"))
    );
    assert_eq!(reader.features().get(), Ok(Some(Hostname("box".into()))));
    assert_eq!(reader.features().bits().iter().collect::<Vec<_>>(), [FeatureId::HOSTNAME]);
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
    assert_eq!(open(&recording(&FeatureSet::new())), DataError::FileInStream);
    assert_eq!(open(b""), DataError::Empty);
    assert_eq!(open(&stream()[..12]), DataError::HeaderCut { expected: 104, found: 12 });
}
