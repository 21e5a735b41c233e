//! Files that are not what they should be.

use oxperf_abi::{EventAttr, EventId, FileOffset};

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
    assert_eq!((reader.damage(), reader.data().size), (&[cut][..], found));
}

#[test]
fn ids_past_the_end_are_left_out() {
    let file = with(120 + 64 + 8, u64::MAX);
    let reader = Reader::open(&file).unwrap();
    assert!(matches!(reader.damage(), [Damage::PartCut { part: "event ids", .. }, ..]));
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

#[test]
fn records_that_are_elsewhere_or_compressed_are_refused() {
    let refused = |features: &FeatureSet| {
        let file = recording(features);
        let reader = Reader::open(&file).unwrap();
        reader.records().map(|_| ()).unwrap_err()
    };
    let mut directory = FeatureSet::new();
    directory.insert(&DirFormat { version: 1 });
    assert_eq!(refused(&directory), DataError::Directory);
    let mut compressed = FeatureSet::new();
    compressed.insert(&Compressed { method: 1, ..Compressed::default() });
    assert_eq!(refused(&compressed), DataError::Compressed);
}
