//! A stream that comes in pieces, and the same bytes saved to a file: events, features, records and damage are alike.

#![no_main]

use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;
use oxperf_data::{Damage, Reader, RecordSource};

/// Gives a few bytes at once.
struct Drops(Cursor<Vec<u8>>, usize);

impl Read for Drops {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len());
        self.0.read(&mut buffer[..count])
    }
}

/// A record: where it stands, its kind, its body, what follows outside of its size.
type Item = Result<(u64, u32, Vec<u8>, Vec<u8>), Damage>;

fn items(reader: &Reader<'_>) -> Vec<Item> {
    let Ok(RecordSource::Buffered(records)) = reader.source() else {
        let Ok(RecordSource::Borrowed(parts)) = reader.source() else {
            return Vec::new();
        };
        let owned = |raw: oxperf_data::RawRecord<'_>| {
            (
                raw.offset.0,
                raw.header.kind.0,
                raw.body.to_vec(),
                raw.payload.to_vec(),
            )
        };
        return parts
            .into_iter()
            .flatten()
            .map(|item| item.map(owned))
            .collect();
    };
    let owned = |held: oxperf_data::Framed<oxperf_data::BufferedBytes<'_>>| {
        (
            held.offset.0,
            held.header.kind.0,
            held.body.as_ref().to_vec(),
            held.payload.as_ref().to_vec(),
        )
    };
    records.map(|item| item.map(owned)).collect()
}

fuzz_target!(|input: (u8, &[u8])| {
    let (at_once, records) = input;
    let bytes = [&b"PERFILE2\x10\0\0\0\0\0\0\0"[..], records].concat();
    let saved = Reader::open(&bytes).expect("a header that is right");
    let drops = Drops(Cursor::new(bytes.clone()), usize::from(at_once) + 1);
    let piped = Reader::open_stream(Box::new(drops)).expect("a header that is right");
    assert_eq!(piped.events(), saved.events());
    assert_eq!(piped.damage(), saved.damage());
    assert_eq!(piped.features().bits(), saved.features().bits());
    // A saved stream may hold compressed records without a feature that says so; then it is not looked into.
    if saved.compression() == piped.compression() && saved.compression().is_none() {
        let (saved, piped) = (items(&saved), items(&piped));
        let packed = |item: &Item| matches!(item, Ok((_, 81 | 83, ..)));
        if !saved.iter().any(packed) {
            assert_eq!(piped, saved);
        }
    }
});
