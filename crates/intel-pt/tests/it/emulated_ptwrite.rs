//! PTWRITE where the processor has none: its value is in the outcomes of the branches behind it.

use intel_pt::packet::{Ip, IpCompression, Packet, Tnt, encode};
use intel_pt::{Config, Decoder, EmitOptions, Error, ErrorKind, Event, FlatCode, Item, TraceChunk};

const START: u64 = 0x40_0000;

/// Bytes of a jump over the words that announce an emulated PTWRITE.
const ANNOUNCEMENT: &[u8] = b"\xeb\x10\x0f\x0bperf,ptwrite  ";

/// So many announcements, then branches to the instruction behind them.
fn code(announcements: usize) -> FlatCode {
    let code = [ANNOUNCEMENT.repeat(announcements), [0x75, 0].repeat(80)].concat();
    FlatCode::new(START, code)
}

/// A trace that begins before the announcements and has twelve packets of six outcomes.
fn trace() -> Vec<u8> {
    let begin = Packet::TipPge(Ip::new(IpCompression::Sext48, START));
    let outcomes = Packet::Tnt(Tnt::short(0b10_0001, 6).unwrap());
    let mut trace = Vec::new();
    [Packet::Psb, Packet::PsbEnd, begin]
        .into_iter()
        .chain([outcomes; 12])
        .for_each(|packet| encode(packet, &mut trace));
    trace
}

/// The items of the trace in chunks that end at `ends`, with the instructions up to each.
fn decode(ends: &[usize], events: bool, mut code: FlatCode) -> Vec<(Item, u64)> {
    let options = EmitOptions {
        events,
        ..EmitOptions::default()
    };
    let (trace, mut items, mut start) = (trace(), Vec::new(), 0);
    let mut decoder = Decoder::new(Config::default(), options);
    for &end in ends {
        decoder.push(TraceChunk {
            bytes: &trace[start..end],
            offset: start as u64,
            consecutive: start != 0,
            reference: None,
        });
        start = end;
        loop {
            let item = decoder.next(&mut code);
            if !matches!(item, Item::Event(Event::Psb { .. })) {
                items.push((item, decoder.moment().instructions));
            }
            if item == Item::End {
                break;
            }
        }
    }
    items
}

/// The value is looked for within a chunk, as perf does. All else is the same in one chunk and in two.
#[test]
fn a_value_ends_with_its_chunk() {
    let length = trace().len();
    let whole = decode(&[length], true, code(1));
    let value = (0..64).fold(0, |value: u64, bit| {
        value << 1 | u64::from(matches!(bit % 6, 0 | 5))
    });
    let write = Item::Event(Event::PtWrite { value, ip: None });
    let begin = |item: &Item| matches!(item, Item::Begin { .. });
    assert!(begin(&whole[0].0));
    assert_eq!(whole[1..], [(write, 1), (Item::End, 73)]);
    for cut in length - 11..length - 1 {
        let parts = decode(&[cut, length], true, code(1));
        let error = Item::Error(Error {
            kind: ErrorKind::BrokenPtWrite,
            ip: Some(START + ANNOUNCEMENT.len() as u64),
        });
        let parts: Vec<_> = parts
            .into_iter()
            .filter(|(item, _)| *item != Item::End)
            .collect();
        assert_eq!(parts[1..], [(error, 1)], "cut at {cut}");
    }
}

/// Outcomes that are left behind an announcement come before the next packet, also where no item was made of it.
#[test]
fn two_announcements_in_one_packet_keep_the_order_of_outcomes() {
    let length = trace().len();
    for announcements in 1..=3 {
        let mut with_events = decode(&[length], true, code(announcements));
        with_events.retain(|(item, _)| !matches!(item, Item::Event(_)));
        assert_eq!(with_events, decode(&[length], false, code(announcements)));
    }
}
