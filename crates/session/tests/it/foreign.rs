//! Recordings of a machine of the other byte order: written as such a machine would, they are rewritten to what they
//! were.

use std::fs;
use std::path::{Path, PathBuf};

use oxperf_abi::RecordType;
use oxperf_data::features::{EventDesc, NamedEvent};
use oxperf_data::{FeatureId, FileHeader, RawRecord, Reader, Records, Section};
use oxperf_session::rewrite;
use oxperf_tracepoint::{ByteOrder, Formatters, TracingData};
use oxperf_wire::{Encoder, Endian, RecordBody, SampleLayout, Words};

const OTHER: Endian = match Endian::NATIVE {
    Endian::Little => Endian::Big,
    Endian::Big => Endian::Little,
};
const OTHER_ORDER: ByteOrder = match OTHER {
    Endian::Little => ByteOrder::Little,
    Endian::Big => ByteOrder::Big,
};

/// The plain file of a recording as the other machine writes it.
fn foreign(plain: &Reader<'_>) -> Vec<u8> {
    let events: Vec<NamedEvent> = plain
        .events()
        .iter()
        .map(|event| named(event.clone()))
        .collect();
    let attr_size = u64::from(events[0].stored.size) + 16;
    let ids: u64 = events.iter().map(|event| event.ids.len() as u64 * 8).sum();
    let records = foreign_records(plain);
    let attrs = Section {
        offset: FileHeader::SIZE + ids,
        size: attr_size * events.len() as u64,
    };
    let data = Section {
        offset: attrs.end(),
        size: records.len() as u64,
    };
    let features: Vec<(FeatureId, Vec<u8>)> = plain
        .features()
        .bits()
        .iter()
        .filter_map(|id| Some((id, foreign_feature(plain, id)?)))
        .collect();
    let bits = features.iter().map(|(id, _)| *id).collect();
    let header = FileHeader {
        size: FileHeader::SIZE,
        attr_size,
        attrs,
        data,
        features: bits,
        ..FileHeader::default()
    };
    let mut file = Encoder::new(OTHER);
    header.encode(&mut file);
    events
        .iter()
        .flat_map(|event| &event.ids)
        .for_each(|id| file.u64(id.0));
    let mut place = FileHeader::SIZE;
    for event in &events {
        event.stored.encode(&mut file);
        file.u64(place);
        file.u64(event.ids.len() as u64 * 8);
        place += event.ids.len() as u64 * 8;
    }
    file.bytes(&records);
    let mut offset = data.end() + 16 * features.len() as u64;
    for (_, bytes) in &features {
        file.u64(offset);
        file.u64(bytes.len() as u64);
        offset += bytes.len() as u64;
    }
    features.iter().for_each(|(_, bytes)| file.bytes(bytes));
    file.into_bytes()
}

fn named(event: oxperf_data::EventEntry) -> NamedEvent {
    NamedEvent {
        stored: event.stored,
        name: event.name.unwrap_or_default(),
        ids: event.ids,
    }
}

fn foreign_feature(plain: &Reader<'_>, id: FeatureId) -> Option<Vec<u8>> {
    let bytes = plain.features().raw(id).unwrap()?.to_vec();
    match id {
        FeatureId::TRACING_DATA => {
            let mut tracing = TracingData::decode(&bytes).unwrap();
            tracing.order = OTHER_ORDER;
            Some(tracing.encode())
        }
        // They cannot be converted.
        FeatureId::BPF_PROG_INFO | FeatureId::BPF_BTF => None,
        id => Some(
            plain
                .features()
                .in_order(id, OTHER)
                .unwrap()
                .unwrap_or(bytes),
        ),
    }
}

fn foreign_records(plain: &Reader<'_>) -> Vec<u8> {
    let tracing = plain.features().raw(FeatureId::TRACING_DATA).unwrap();
    let formats = tracing.map(|bytes| Formatters::new(&TracingData::decode(bytes).unwrap()));
    let mut out = Encoder::new(OTHER);
    for record in plain.records().unwrap() {
        foreign_record(plain, &record.unwrap(), formats.as_ref(), &mut out);
    }
    out.into_bytes()
}

/// The shape of a record: that of the event whose id stands where all events have it.
fn layout(plain: &Reader<'_>, record: &RawRecord<'_>) -> SampleLayout {
    let layouts = || {
        plain
            .events()
            .iter()
            .map(|event| SampleLayout::new(&event.stored.attr))
    };
    let first = layouts().next().unwrap();
    let words = Words::new(record.body, Endian::NATIVE);
    let id = match record.header.kind {
        RecordType::SAMPLE => first.sample_id_word().and_then(|word| words.get(word)),
        kind if kind.is_user() => None,
        _ => first
            .trailer_id_word()
            .and_then(|word| words.get(words.len().checked_sub(word)?)),
    };
    let owner = plain
        .events()
        .iter()
        .position(|event| event.ids.iter().any(|known| Some(known.0) == id));
    layouts().nth(owner.unwrap_or(0)).unwrap()
}

fn foreign_record(
    plain: &Reader<'_>,
    record: &RawRecord<'_>,
    formats: Option<&Formatters>,
    out: &mut Encoder,
) {
    let (kind, misc) = (record.header.kind, record.header.misc);
    let layout = layout(plain, record);
    let body = RecordBody {
        kind,
        misc,
        bytes: record.body,
        endian: Endian::NATIVE,
        layout: &layout,
    };
    out.record(kind, misc, |out| {
        let turn = |raw: &mut [u8]| {
            let format = formats.and_then(|formats| formats.get(formats.event_of(raw)?));
            let turned =
                format.is_some_and(|format| format.event().reorder(raw, ByteOrder::NATIVE));
            // Events that are no tracepoints have empty raw data beside those that are.
            assert!(
                turned || raw.iter().all(|byte| *byte == 0),
                "{:?}",
                record.offset
            );
        };
        body.transcode(out, turn).unwrap();
    });
    out.bytes(record.payload);
}

/// Rewrites the recording at `path`, both as it is and as the other machine would have written it.
fn check(path: &Path) -> Result<(), String> {
    let file = fs::read(path).map_err(|error| error.to_string())?;
    let mut plain = Vec::new();
    let reader = Reader::open(&file).map_err(|error| error.to_string())?;
    rewrite(&reader, &mut plain).map_err(|error| error.to_string())?;
    let plain = Reader::open(&plain).unwrap();
    let foreign = foreign(&plain);
    let reader = Reader::open(&foreign).unwrap();
    assert_eq!(reader.endian(), OTHER);
    let mut again = Vec::new();
    let done = rewrite(&reader, &mut again).unwrap();
    assert_eq!(
        (done.undecodable, done.unknown_records, done.raw_unmapped),
        (0, 0, 0),
        "{}",
        path.display()
    );
    same(&plain, &Reader::open(&again).unwrap(), path);
    Ok(())
}

fn same(plain: &Reader<'_>, again: &Reader<'_>, path: &Path) {
    let records = |reader: &Reader<'_>| -> Vec<(u32, u16, Vec<u8>)> {
        let records: Records<'_> = reader.records().unwrap();
        let bytes = |record: RawRecord<'_>| {
            (
                record.header.kind.0,
                record.header.misc.0,
                [record.body, record.payload].concat(),
            )
        };
        records.map(|record| bytes(record.unwrap())).collect()
    };
    for (before, after) in records(plain).iter().zip(&records(again)) {
        assert_eq!(before, after, "{}", path.display());
    }
    assert_eq!(records(plain).len(), records(again).len());
    assert_eq!(plain.events(), again.events(), "{}", path.display());
    for id in again.features().bits().iter() {
        if id == FeatureId::EVENT_DESC {
            let desc = |reader: &Reader<'_>| reader.features().get::<EventDesc>().unwrap();
            assert_eq!(desc(plain), desc(again));
        }
        let plain = plain.features().in_order(id, Endian::NATIVE).unwrap();
        assert_eq!(
            plain,
            again.features().in_order(id, Endian::NATIVE).unwrap(),
            "{id} {}",
            path.display()
        );
    }
}

fn recordings(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            recordings(&path, found);
        } else if path.file_name().is_some_and(|name| name == "perf.data") {
            found.push(path);
        }
    }
}

#[test]
#[allow(clippy::print_stderr, reason = "what was skipped is for people")]
fn recordings_survive_the_other_byte_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let root = std::env::var_os("OXPERF_SHARED")
        .map_or(root, |shared| Path::new(&shared).join("fixtures"));
    let mut found = Vec::new();
    for folder in ["recorded", "pt"] {
        recordings(&root.join(folder), &mut found);
    }
    if found.is_empty() {
        eprintln!("SKIPPED: no recordings below {}", root.display());
    }
    for path in found
        .iter()
        .filter(|path| fs::metadata(path).is_ok_and(|file| file.len() < 4 << 20))
    {
        if let Err(reason) = check(path) {
            eprintln!("{}: {reason}", path.display());
        }
    }
}
