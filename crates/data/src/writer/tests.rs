//! Content of a file at each moment of its writing.

use std::io::{self, ErrorKind};

use oxperf_abi::{EventAttr, EventId, EventType};

use super::*;
use crate::FeatureId;
use crate::features::{Hostname, NrCpus};
use crate::{Damage, Reader};

/// A FINISHED_ROUND in this machine's byte order, with `extra` bytes of body.
fn record(extra: usize) -> Vec<u8> {
    let mut encoder = Encoder::new(Endian::NATIVE);
    encoder.record(
        oxperf_abi::RecordType::FINISHED_ROUND,
        Default::default(),
        |body| body.bytes(&vec![1; extra]),
    );
    encoder.into_bytes()
}

fn events() -> Vec<WriterEvent> {
    let clock = EventAttr {
        kind: EventType::SOFTWARE,
        ..EventAttr::default()
    };
    let deep = EventAttr {
        sample_max_stack: 9,
        ..clock
    };
    vec![
        WriterEvent {
            attr: clock,
            name: "cpu-clock".into(),
            ids: vec![EventId(5), EventId(6)],
        },
        WriterEvent {
            attr: deep,
            name: "deep".into(),
            ids: vec![EventId(7)],
        },
    ]
}

/// Takes bytes up to `limit` of file, then has no space; what lies before can be rewritten.
#[derive(Debug)]
struct Disk {
    bytes: Vec<u8>,
    limit: usize,
}

impl Output for Disk {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let room = self.limit.saturating_sub(offset as usize);
        match bytes.len().min(room) {
            0 => Err(ErrorKind::StorageFull.into()),
            count => self.bytes.write_at(&bytes[..count], offset),
        }
    }
}

#[test]
fn a_finished_file_reads_back() {
    let mut writer = Writer::begin(Vec::new(), &events()).unwrap();
    writer.append(&record(8)).unwrap();
    writer.append(&record(0)).unwrap();
    assert_eq!(writer.data_size(), 24);
    let mut features = FeatureSet::new();
    features.insert(&Hostname("box".into()));
    features.insert(&NrCpus {
        available: 2,
        online: 1,
    });
    features.insert_raw(FeatureId(200), vec![1, 2, 3]);
    let file = writer.finish(&features).unwrap();

    let reader = Reader::open(&file).unwrap();
    assert_eq!(reader.damage().listed(), []);
    assert_eq!(
        reader.header().data,
        Section {
            offset: 104 + 24 + 2 * 128,
            size: 24
        }
    );
    let names: Vec<_> = reader
        .events()
        .iter()
        .map(|event| event.name.as_deref())
        .collect();
    assert_eq!(names, [Some("cpu-clock"), Some("deep")]);
    let sizes: Vec<_> = reader
        .events()
        .iter()
        .map(|event| (event.stored.size, event.ids.len()))
        .collect();
    assert_eq!(sizes, [(112, 2), (112, 1)]);
    assert_eq!(reader.events()[1].ids, [EventId(7)]);
    assert_eq!(
        reader.features().get::<NrCpus>().unwrap(),
        Some(NrCpus {
            available: 2,
            online: 1
        })
    );
    assert_eq!(
        reader.features().raw(FeatureId(200)).unwrap(),
        Some(&[1, 2, 3][..])
    );
    assert_eq!(
        reader
            .records()
            .unwrap()
            .map(|item| item.unwrap().body.len())
            .collect::<Vec<_>>(),
        [8, 0]
    );
}

#[test]
fn a_killed_writer_leaves_all_up_to_its_checkpoint() {
    let mut disk = Disk {
        bytes: Vec::new(),
        limit: usize::MAX,
    };
    let mut writer = Writer::begin(&mut disk, &events()).unwrap();
    writer.append(&record(8)).unwrap();
    writer.checkpoint().unwrap();
    writer.append(&record(16)).unwrap();
    drop(writer);

    let reader = Reader::open(&disk.bytes).unwrap();
    // What reached the disk behind the checkpoint is read, too.
    let unfinished = Damage::NotFinished {
        offset: FileOffset(reader.data().offset),
        found: 40,
    };
    assert_eq!(
        (reader.data().size, reader.damage().listed()),
        (40, &[unfinished][..])
    );
    assert_eq!(reader.records().unwrap().count(), 2);
    assert_eq!(reader.features().bits(), Default::default());
    // Of a record that is cut there, nothing is.
    let cut = disk.bytes.len() - 1;
    let reader = Reader::open(&disk.bytes[..cut]).unwrap();
    assert_eq!(
        (reader.data().size, reader.records().unwrap().count()),
        (16, 1)
    );
}

#[test]
fn without_a_checkpoint_the_rest_of_the_file_is_taken() {
    let mut disk = Disk {
        bytes: Vec::new(),
        limit: usize::MAX,
    };
    let mut writer = Writer::begin(&mut disk, &events()).unwrap();
    writer.append(&record(8)).unwrap();
    drop(writer);

    let reader = Reader::open(&disk.bytes).unwrap();
    assert!(matches!(
        reader.damage().listed(),
        [Damage::NotFinished { found: 16, .. }]
    ));
    assert_eq!(reader.records().unwrap().count(), 1);
}

#[test]
fn a_full_disk_keeps_whole_records_and_says_so() {
    let front = 104 + 24 + 2 * 128;
    let mut disk = Disk {
        bytes: Vec::new(),
        limit: front + 16 + 20,
    };
    let mut writer = Writer::begin(&mut disk, &events()).unwrap();
    let error = writer
        .append(&[record(8), record(8), record(8)].concat())
        .unwrap_err();
    assert_eq!(
        (error.part, error.size, error.written, error.safe),
        (FilePart::Records, 48, 36, 32)
    );
    assert_eq!(
        (error.offset.0, error.source.kind()),
        (front as u64, ErrorKind::StorageFull)
    );
    // Room may come back; the cut record is written over.
    assert_eq!(writer.data_size(), 32);
    let error = writer.finish(&FeatureSet::new()).unwrap_err();
    assert_eq!((error.part, error.safe), (FilePart::Features, 32));

    let reader = Reader::open(&disk.bytes).unwrap();
    assert_eq!(reader.records().unwrap().filter(Result::is_ok).count(), 2);
    let unfinished = Damage::NotFinished {
        offset: FileOffset(front as u64),
        found: 32,
    };
    assert_eq!(
        (reader.damage().listed(), reader.header().features),
        (&[unfinished][..], Default::default())
    );
}

#[test]
fn no_room_for_the_front_is_an_error() {
    let error = Writer::begin(
        Disk {
            bytes: Vec::new(),
            limit: 50,
        },
        &events(),
    )
    .unwrap_err();
    assert_eq!(
        (error.part, error.written, error.safe),
        (FilePart::Front, 50, 0)
    );
}
