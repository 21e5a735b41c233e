//! Random code and random traces: the decoder ends, panics never, and its items are consistent.

use std::num::NonZeroU32;

use intel_pt::packet::{Ip, IpCompression, Packet, Tnt, encode};
use intel_pt::{
    Config, Decoder, EmitOptions, ErrorKind, FlatCode, Item, Period, QuickMode, Ratio, TraceChunk,
    Tsc,
};

/// Traces that are tried; Miri is slow.
const ROUNDS: u64 = if cfg!(miri) { 2 } else { 400 };
/// The address of the code.
const START: u64 = 0x40_0000;

/// A small generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Code with many branches, some of them into the middle of instructions.
fn code(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < 600 {
        let near = (random.below(64) as u8).wrapping_sub(32);
        match random.below(12) {
            0..=2 => bytes.extend([0x74 + random.below(2) as u8, near]),
            3 => bytes.extend([0xeb, near]),
            4 => bytes.extend([
                0xe8,
                near,
                near.cast_signed().is_negative() as u8 * 0xff,
                0,
                0,
            ]),
            5 => bytes.push(0xc3),
            6 => bytes.extend([0xff, if random.below(2) == 0 { 0xd0 } else { 0xe0 }]),
            7 => bytes.extend([0x0f, 0x05]),
            8 => bytes.push(random.next() as u8),
            _ => bytes.push(0x90),
        }
    }
    bytes
}

/// A trace of packets that may follow each other or not, with some bytes changed.
fn trace(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(Packet::Psb, &mut bytes);
    encode(Packet::Pad, &mut bytes);
    for _ in 0..random.below(300) {
        encode(packet(random), &mut bytes);
    }
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] = random.next() as u8;
    }
    bytes
}

fn packet(random: &mut Random) -> Packet {
    let compressions = [
        IpCompression::Sext48,
        IpCompression::Update16,
        IpCompression::Update32,
    ];
    let compression = match random.below(12) {
        0 => IpCompression::Suppressed,
        other => compressions[other as usize % 3],
    };
    let ip = Ip::new(compression, START + random.below(620));
    match random.below(24) {
        0..=7 => Packet::Tnt(Tnt::short(random.next(), 1 + random.below(6) as u8).unwrap()),
        8 => Packet::Tnt(Tnt::long(random.next(), random.below(48) as u8).unwrap()),
        9..=12 => Packet::Tip(ip),
        13 => Packet::TipPgd(ip),
        14 => Packet::TipPge(ip),
        15 => Packet::Fup(ip),
        16 => Packet::Cyc(random.below(1 << 40)),
        17 => Packet::Mtc(random.next() as u8),
        18 => Packet::Tsc(random.below(1 << 56)),
        19 => Packet::Psb,
        20 => Packet::PsbEnd,
        21 => Packet::Ovf,
        22 => Packet::ExStop(random.below(2) == 0),
        _ => Packet::Cbr(random.below(256) as u16),
    }
}

#[test]
fn any_trace_over_any_code_ends() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for round in 0..ROUNDS {
        let mut code = FlatCode::new(START, code(&mut random));
        let trace = match round % 4 {
            0 => (0..500).map(|_| random.next() as u8).collect(),
            _ => trace(&mut random),
        };
        let wanted = wanted(&mut random);
        let whole = decode(&trace, &[trace.len()], wanted, &mut code);
        let cut = random.below(trace.len() as u64) as usize;
        let parts = decode(&trace, &[cut, trace.len()], wanted, &mut code);
        // Where PSBs follow each other directly, a cut decides which of them is found.
        assert!(
            whole == parts || wanted.quick == QuickMode::Psb,
            "round {round}, cut at {cut}: {whole:?}, {parts:?}"
        );
    }
}

fn wanted(random: &mut Random) -> EmitOptions {
    let period = match random.below(4) {
        0 => Some(Period::Instructions(random.below(8))),
        1 => Some(Period::Ticks(random.below(1000))),
        _ => None,
    };
    let quick = [
        QuickMode::Walk,
        QuickMode::Walk,
        QuickMode::Walk,
        QuickMode::Addresses,
        QuickMode::Psb,
    ][random.below(5) as usize];
    EmitOptions {
        paths: random.below(2) == 0,
        period,
        events: random.below(2) == 0,
        quick,
    }
}

/// The items of a trace that is fed in parts which end at `ends`.
fn decode(
    trace: &[u8],
    ends: &[usize],
    wanted: EmitOptions,
    code: &mut FlatCode,
) -> Vec<(Item, u64)> {
    let ratio = Some(Ratio {
        numerator: 200,
        denominator: 2,
    });
    let config = Config {
        tsc_to_crystal: ratio,
        mtc_shift: 3,
        max_non_turbo_ratio: NonZeroU32::new(24),
        ..Config::default()
    };
    let mut decoder = Decoder::new(config, wanted);
    let mut start = 0;
    let mut items = Vec::new();
    for &end in ends {
        let bytes = &trace[start..end];
        decoder.push(TraceChunk {
            bytes,
            offset: start as u64,
            consecutive: start != 0,
            reference: Some(Tsc(1)),
        });
        start = end;
        loop {
            let item = decoder.next(code);
            if item == Item::End {
                break;
            }
            items.push((item, decoder.moment().instructions));
            assert!(
                items.len() <= 8 * trace.len(),
                "more items than the trace can hold"
            );
            check(&decoder, item);
        }
    }
    items
}

fn check(decoder: &Decoder<'_>, item: Item) {
    if item != Item::Path {
        return;
    }
    let run = decoder.path();
    let blocks = run
        .visits
        .iter()
        .map(|visit| decoder.block(visit.block()).instructions().len() as u64);
    assert!(
        run.partial.is_none_or(
            |partial| u64::from(partial) <= blocks.clone().next_back().unwrap_or_default()
        )
    );
    assert!(run.instructions <= blocks.sum());
    for mark in run.marks {
        let block = decoder.block(run.visits[mark.visit as usize].block());
        assert!((mark.instruction as usize) < block.instructions().len());
    }
    assert!(
        decoder
            .branches()
            .all(|branch| branch.instructions <= run.instructions)
    );
}

/// A jump over the words that announce an emulated PTWRITE, then a jump back to it: a circle without any decision.
#[test]
fn a_circle_through_an_emulated_ptwrite_ends() {
    let circle = [&[0xeb, 16][..], b"\x0f\x0bperf,ptwrite  ", &[0xeb, 0xec]].concat();
    assert_eq!(circle.len(), 20);
    let begin = Packet::TipPge(Ip::new(IpCompression::Sext48, START));
    let outcomes = Packet::Tnt(Tnt::short(5, 3).unwrap());
    let elsewhere = Packet::Tip(Ip::new(IpCompression::Sext48, START));
    let exception = Packet::Fup(Ip::new(IpCompression::Sext48, START + 8));
    for next in [outcomes, elsewhere, exception] {
        let mut trace = Vec::new();
        for packet in [Packet::Psb, Packet::PsbEnd, begin, next] {
            encode(packet, &mut trace);
        }
        let wanted = EmitOptions {
            paths: true,
            events: true,
            ..EmitOptions::default()
        };
        let items = decode(
            &trace,
            &[trace.len()],
            wanted,
            &mut FlatCode::new(START, circle.clone()),
        );
        let ended = |(item, _): &(Item, u64)| matches!(item, Item::Error(error) if error.kind == ErrorKind::EndlessLoop);
        assert!(
            items.iter().any(ended) || matches!(next, Packet::Fup(_)),
            "{next:?}: {items:?}"
        );
    }
}
