//! Any trace of Intel PT over any code: decoding ends, gives no more items than the trace can hold, and gives the same
//! ones for the trace in one chunk and in two.
#![no_main]

use std::num::NonZeroU32;

use intel_pt::packet::{Packet, encode};
use intel_pt::{
    Config, Decoder, EmitOptions, ErrorKind, Event, FlatCode, Item, Period, QuickMode, Ratio,
    TraceChunk, Tsc,
};
use libfuzzer_sys::fuzz_target;

/// Address of the code.
const START: u64 = 0x40_0000;

fuzz_target!(|data: &[u8]| {
    let Some((&[options, period, size, cut], rest)) = data.split_first_chunk::<4>() else {
        return;
    };
    let (code, packets) = rest.split_at(rest.len().min(4 * usize::from(size)));
    let mut trace = Vec::new();
    encode(Packet::Psb, &mut trace);
    encode(Packet::PsbEnd, &mut trace);
    trace.extend_from_slice(packets);

    let wanted = wanted(options, period);
    let mut code = FlatCode::new(START, code.to_vec());
    let mut whole = decode(&trace, &[trace.len()], wanted, &mut code);
    let cut = usize::from(cut).min(trace.len());
    let mut parts = decode(&trace, &[cut, trace.len()], wanted, &mut code);
    // The value of an emulated PTWRITE is looked for within a chunk, as perf does: a cut may break it off.
    whole.retain(|(item, _)| !is_unnamed_write(item));
    parts.retain(|(item, _)| !is_unnamed_write(item));
    // Where PSBs follow each other directly, a cut decides which of them is found.
    assert!(whole == parts || wanted.quick == QuickMode::Psb);
});

/// Returns true if an item is the value of a PTWRITE without an address, or the error in its place.
fn is_unnamed_write(item: &Item) -> bool {
    match item {
        Item::Event(Event::PtWrite { ip: None, .. }) => true,
        Item::Error(error) => error.kind == ErrorKind::BrokenPtWrite,
        _ => false,
    }
}

fn wanted(options: u8, period: u8) -> EmitOptions {
    let period = match options & 3 {
        0 => Some(Period::Instructions(period.into())),
        1 => Some(Period::Ticks(period.into())),
        _ => None,
    };
    let quick = [
        QuickMode::Walk,
        QuickMode::Walk,
        QuickMode::Addresses,
        QuickMode::Psb,
    ][usize::from(options >> 4 & 3)];
    EmitOptions {
        paths: options & 4 != 0,
        period,
        events: options & 8 != 0,
        quick,
    }
}

/// The items of a trace that is pushed in chunks which end at `ends`, with the instructions up to each.
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
    let (mut start, mut items) = (0, Vec::new());
    for &end in ends {
        let (bytes, consecutive) = (&trace[start..end], start != 0);
        decoder.push(TraceChunk {
            bytes,
            offset: start as u64,
            consecutive,
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
                "more items than the trace can tell"
            );
            check(&decoder, item);
        }
    }
    items
}

/// Checks what a path says of itself.
fn check(decoder: &Decoder<'_>, item: Item) {
    if item != Item::Path {
        return;
    }
    let run = decoder.path();
    let executed =
        |visit: &intel_pt::BlockVisit| decoder.block(visit.block()).instructions().len() as u64;
    assert!(run.instructions <= run.visits.iter().map(executed).sum());
    assert!(
        run.decision
            .is_none_or(|decision| decision <= run.instructions)
    );
    for mark in run.marks {
        assert!(u64::from(mark.instruction) < executed(&run.visits[mark.visit as usize]));
    }
    assert!(
        decoder
            .branches()
            .all(|branch| branch.instructions <= run.instructions)
    );
}
