//! Damaged records among good ones, however they come: good ones come out, the others are reported.

use std::io::Read;

use oxperf_abi::{AttrFlags, EventAttr, EventId, SampleType};
use oxperf_wire::{Endian, StoredAttr};

use super::EventEntry;
use super::framing::Framing;
use super::records::Records;
use super::sanity::SanityCheck;
use super::stream::Streamed;
use crate::{Damage, Section};
use oxperf_abi::FileOffset;

const ROUND: [u8; 8] = [68, 0, 0, 0, 0, 0, 8, 0];

/// A record of a kind with these words.
fn record(kind: u32, words: &[u64]) -> Vec<u8> {
    let head = u64::from(kind) | (8 + 8 * words.len() as u64) << 48;
    std::iter::once(head)
        .chain(words.iter().copied())
        .flat_map(u64::to_le_bytes)
        .collect()
}

/// A sample of event 7: id, address, two words of raw data.
fn sample(number: u64) -> Vec<u8> {
    record(
        9,
        &[7, 0xffff_ffff_8100_0000 + number, 16 | number << 32, number],
    )
}

fn samples(numbers: std::ops::Range<u64>) -> Vec<u8> {
    numbers.flat_map(sample).collect()
}

fn plausible() -> SanityCheck {
    let attr = EventAttr {
        sample_type: SampleType::IDENTIFIER | SampleType::IP,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..EventAttr::default()
    };
    let stored = StoredAttr {
        attr,
        size: 136,
        extra: Vec::new(),
    };
    let entry = EventEntry {
        stored,
        ids: vec![EventId(7)],
        name: None,
    };
    SanityCheck::new(Framing {
        endian: Endian::Little,
    })
    .with_events(&[entry])
}

type Item = Result<(u64, u32), Damage>;

/// Gives at most `self.1` bytes at once.
struct Drops(std::io::Cursor<Vec<u8>>, usize);

impl Read for Drops {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len());
        self.0.read(&mut buffer[..count])
    }
}

/// Places and kinds of the records and the damage between them; the same from an image and from a stream.
fn walk(data: &[u8]) -> Vec<Item> {
    let section = Section {
        offset: 0,
        size: data.len() as u64,
    };
    let image: Vec<Item> = Records::new(data, section, plausible())
        .map(|item| item.map(|raw| (raw.offset.0, raw.header.kind.0)))
        .collect();
    for at_once in [data.len() / 50 + 7, 1 << 20] {
        let input = Drops(std::io::Cursor::new(data.to_vec()), at_once);
        let stream: Vec<Item> = Streamed::new(Box::new(input), 0, plausible())
            .map(|item| item.map(|held| (held.offset.0, held.header.kind.0)))
            .collect();
        assert_eq!(stream, image, "{at_once} bytes at once");
    }
    image
}

/// The damage, and how many records came out beside it.
fn outcome(data: &[u8]) -> (Vec<Damage>, usize) {
    let items = walk(data);
    let good = items.iter().filter(|item| item.is_ok()).count();
    (items.into_iter().filter_map(Result::err).collect(), good)
}

fn gap(from: usize, to: usize) -> Damage {
    Damage::Gap {
        from: FileOffset(from as u64),
        to: FileOffset(to as u64),
    }
}

#[test]
fn a_size_below_the_header_loses_its_record_alone() {
    let mut data = samples(0..20);
    data[40 * 5 + 6..40 * 5 + 8].copy_from_slice(&[4, 0]);
    assert_eq!(outcome(&data), (vec![gap(200, 240)], 19));
}

#[test]
fn several_gaps_are_told_apart() {
    let mut data = samples(0..40);
    for index in [0, 9, 10, 30] {
        data[40 * index..40 * index + 8].fill(0xff);
    }
    assert_eq!(
        outcome(&data),
        (vec![gap(0, 40), gap(360, 440), gap(1200, 1240)], 36)
    );
}

#[test]
fn garbage_of_any_length_is_passed_over() {
    for length in [8, 24, 1000, 300_000, 2_000_000] {
        let mut state = 1_u64;
        let garbage = (0..length).map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        });
        let data: Vec<u8> = samples(0..5)
            .into_iter()
            .chain(garbage)
            .chain(samples(0..5))
            .collect();
        assert_eq!(
            outcome(&data),
            (vec![gap(200, 200 + length)], 10),
            "{length}"
        );
    }
}

#[test]
fn missing_bytes_put_the_rest_out_of_step() {
    let data = [samples(0..5), sample(5)[..37].to_vec(), samples(6..20)].concat();
    // The record that is too short takes bytes of the one behind it.
    let (damage, good) = outcome(&data);
    assert_eq!((damage, good), (vec![gap(200, 237)], 19));
}

#[test]
fn a_size_that_is_too_large_does_not_swallow_what_follows() {
    for size in [0x48_u16, 0x120, 0x8010, 0x8028] {
        let mut data = samples(0..2000);
        data[40 * 5 + 6..40 * 5 + 8].copy_from_slice(&size.to_le_bytes());
        let (damage, good) = outcome(&data);
        if size == 0x8028 || !(u64::from(size)).is_multiple_of(40) {
            assert_eq!((damage, good), (vec![gap(200, 240)], 1999), "{size:#x}");
        }
    }
}

#[test]
fn a_trace_that_states_a_wrong_size_does_not_swallow_what_follows() {
    let trace = |size: u64| [record(71, &[size, 0, 0, 0, 0]), vec![0xa5; 4096]].concat();
    let data = |size| [samples(0..5), trace(size), samples(0..2000)].concat();
    assert_eq!(outcome(&data(4096)), (vec![], 2006));
    for size in [1 << 14, 1 << 40, u64::MAX] {
        let (damage, good) = outcome(&data(size));
        assert_eq!(
            (damage, good),
            (vec![gap(200, 200 + 48 + 4096)], 2005),
            "{size:#x}"
        );
    }
}

#[test]
fn records_inside_of_a_record_are_none_of_their_own() {
    let inner = samples(0..50);
    let outer = [record(71, &[inner.len() as u64, 0, 0, 0, 0]), inner].concat();
    let mut data = [samples(0..5), outer.clone(), samples(0..20)].concat();
    let after = 200 + outer.len();
    data[after..after + 8].fill(0xff);
    assert_eq!(outcome(&data), (vec![gap(after, after + 40)], 25));
}

#[test]
fn records_of_unknown_kinds_are_no_damage_where_the_next_ones_fit() {
    let data = [
        samples(0..5),
        record(100, &[1]),
        record(1000, &[1, 2]),
        samples(0..5),
    ]
    .concat();
    assert_eq!(outcome(&data), (vec![], 12));
    let data = [samples(0..5), record(1000, &[1, 2])].concat();
    assert_eq!(outcome(&data), (vec![], 6));
}

#[test]
fn a_mark_at_the_end_is_found() {
    let mut data = [samples(0..5), ROUND.to_vec()].concat();
    data[160..168].fill(0xff);
    assert_eq!(outcome(&data), (vec![gap(160, 200)], 5));
}

#[test]
fn a_cut_record_is_told_with_what_it_should_be() {
    let data = samples(0..5);
    let cut = |length: usize| outcome(&data[..length]).0;
    let told = |expected, found| {
        vec![Damage::RecordCut {
            offset: FileOffset(160),
            expected,
            found,
        }]
    };
    assert_eq!(
        (cut(199), cut(168), cut(163)),
        (told(40, 39), told(40, 8), told(8, 3))
    );
    assert_eq!(cut(160), []);
}

#[test]
fn time_grows_with_the_bytes_whatever_they_hold() {
    // Each of these made a naive search look again and again at the same bytes.
    let broken = vec![0xff; 8];
    let embedded = [
        record(71, &[800_000, 0, 0, 0, 0]),
        ROUND.repeat(100_000),
        broken.clone(),
    ]
    .concat();
    let heads = record(71, &[1 << 40, 0, 0, 0, 0]).repeat(20_000);
    let pairs = [ROUND.repeat(2), broken.clone()].concat().repeat(20_000);
    let nested = (1..2000)
        .rev()
        .flat_map(|left: u64| record(71, &[left * 48, 0, 0, 0, 0]))
        .collect::<Vec<u8>>();
    for data in [
        embedded,
        heads,
        pairs,
        nested,
        vec![0; 1 << 20],
        ROUND[..7].repeat(100_000),
    ] {
        let bytes: u64 = walk(&data)
            .iter()
            .filter_map(|item| item.err())
            .map(|damage| damage.lost_bytes())
            .sum();
        assert!(bytes <= data.len() as u64);
    }
}

#[test]
fn every_changed_byte_loses_little() {
    let original = [samples(0..6), ROUND.to_vec(), samples(6..12)].concat();
    for place in 0..original.len() {
        for value in [0, 1, 0x41, 0x80, 0xff] {
            let mut data = original.clone();
            data[place] ^= value;
            let (damage, good) = outcome(&data);
            let lost: u64 = damage.iter().map(Damage::lost_bytes).sum();
            // A size that is wrong and yet ends where a record begins cannot be told from a right one.
            let unnoticed = damage.is_empty() && good >= 9;
            assert!(
                unnoticed || good >= 11 && lost <= 80,
                "byte {place} ^ {value:#x}: {damage:?}, {good} records"
            );
        }
    }
}
