//! Cached texts are those that are written without a cache.

use std::io::Write;
use std::sync::Arc;

use intel_pt::{Config, EmitOptions, FlatCode, Item, TraceChunk};
use oxperf_machine::Machine;
use oxperf_session::{EventIndex, SampleEvent, SampleTextWriter};

use super::*;
use crate::ItraceOptions;
use crate::code::Images;
use crate::select::flags::BranchFilter;
use crate::select::point_sampler::tests::sampler;
use crate::select::text_fast_path::TextFastPath;

/// Writes the moment and the place as they are.
struct Plain {
    resolution: Option<u64>,
}

impl SampleTextWriter for Plain {
    fn prefix_resolution(&self) -> Option<u64> {
        self.resolution
    }

    fn write_prefix(&self, _: &Machine, moment: &SampleEvent<'_>, out: &mut Vec<u8>) {
        let time = moment.sample.time.unwrap().0 / self.resolution.unwrap();
        write!(out, "{time} {} ", moment.period).unwrap();
    }

    fn write_location(&self, _: &Machine, sample: &SampleEvent<'_>, out: &mut Vec<u8>) {
        let flags = sample.traced.unwrap().flags.0;
        writeln!(
            out,
            "{:x}>{:x} {flags}",
            sample.sample.ip.unwrap(),
            sample.sample.addr.unwrap()
        )
        .unwrap();
    }
}

/// Two callers of a function that loops, and back to the first.
pub(in crate::select) fn code() -> FlatCode {
    #[rustfmt::skip]
    let bytes = vec![
        0xe8, 0x0b, 0, 0, 0, // 1000: call 1010
        0xe8, 0x06, 0, 0, 0, // 1005: call 1010
        0xeb, 0xf4, // 100a: jmp 1000
        0x90, 0x90, 0x90, 0x90,
        0x75, 0xfe, // 1010: jnz 1010
        0xc3, // 1012: ret
    ];
    FlatCode::new(0x1000, bytes)
}

/// The trace of code that ran from 1000 on.
pub(in crate::select) fn trace() -> Vec<u8> {
    let psb = [0x02, 0x82].repeat(8);
    let tsc = |tsc: u8| [0x19, tsc, 0, 0, 0, 0, 0, 0];
    let start = [0x02, 0x23, 0x71, 0x00, 0x10, 0, 0, 0, 0];
    // Loops and compressed returns, twice the same; the last return has its address.
    let outcomes = [0b0101_1010, 0b0111_0110];
    let again = [0b0101_1010, 0b0111_0110, 0b0000_0100];
    [
        &psb[..],
        &tsc(0x10),
        &start,
        &outcomes,
        &tsc(0x14),
        &again,
        &tsc(0x28),
        &[0x2d, 0x0a, 0x10],
    ]
    .concat()
}

/// The text of a whole trace, with the cache and without it.
fn texts(selection: TextSelection, resolution: Option<u64>) -> [String; 2] {
    let writer = Arc::new(Plain { resolution });
    let path = TextFastPath::new(EventIndex(0), selection, writer);
    let (mut machine, images) = (Machine::default(), Images::default());
    let text_synth = TextSynth {
        path: &path,
        sampler: sampler(&mut machine, &images),
    };
    let (trace, mut code) = (trace(), code());
    let mut decoder = Decoder::new(
        Config::default(),
        EmitOptions {
            paths: true,
            ..EmitOptions::default()
        },
    );
    decoder.push(TraceChunk {
        bytes: &trace,
        offset: 0,
        consecutive: false,
        reference: None,
    });
    let mut cache = BlockTextCache::default();
    let mut prefixes = [LinePrefix::default(), LinePrefix::default()];
    let mut texts = [Vec::new(), Vec::new()];
    let [cached_prefix, uncached_prefix] = &mut prefixes;
    let [cached_text, uncached_text] = &mut texts;
    let mut cached = LineWriter {
        prefix: cached_prefix,
        out: cached_text,
    };
    let mut uncached = LineWriter {
        prefix: uncached_prefix,
        out: uncached_text,
    };
    loop {
        match decoder.next(&mut code) {
            Item::End => return texts.map(|text| String::from_utf8(text).unwrap()),
            Item::Path => {
                let (ran, moment) = (decoder.path(), &decoder.moment());
                let now = PathState {
                    moment,
                    state: SampleFlags::default(),
                };
                cache.write_path(&text_synth, &decoder, now, &mut cached);
                uncached.prefix.advance_to(ran.before);
                let context = PathContext {
                    now,
                    decision: ran.decision,
                };
                write_uncached(&text_synth, &decoder, context, &mut uncached);
                uncached.prefix.advance_to(moment.time);
            }
            Item::Error(error) => panic!("{error:?}"),
            _ => {}
        }
    }
}

#[test]
fn cached_texts_are_those_without_a_cache() {
    let calls = ItraceOptions::parse("c").unwrap();
    let all = BranchFilter::ALL;
    for selection in [
        TextSelection::Instructions,
        TextSelection::Branches(all),
        TextSelection::Branches(BranchFilter::new(&calls.events)),
    ] {
        for resolution in [None, Some(1), Some(16)] {
            let [cached, uncached] = texts(selection, resolution);
            assert_eq!(cached, uncached, "{selection:?} {resolution:?}");
            assert!(cached.lines().count() >= 4, "{cached}");
        }
    }
    let [branches, _] = texts(TextSelection::Branches(all), None);
    let returns: Vec<&str> = branches
        .lines()
        .filter(|line| line.starts_with("1012>"))
        .collect();
    assert!(
        returns.contains(&"1012>1005 5") && returns.contains(&"1012>100a 5"),
        "{returns:?}"
    );
}

#[test]
fn lines_show_the_time_of_the_branch_that_decided() {
    let [lines, _] = texts(TextSelection::Instructions, Some(1));
    let times: Vec<&str> = lines
        .lines()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert!(times.is_sorted(), "{lines}");
    assert_eq!((times[0], times.last()), ("16", Some(&"40")), "{lines}");
    assert!(times.contains(&"20"));
    let last = lines.lines().last().unwrap();
    assert!(last.contains(" 1012>"), "{lines}");
    assert!(
        lines
            .lines()
            .all(|line| line.split(' ').nth(1) == Some("1"))
    );
}

#[test]
fn lines_of_a_variant_are_its_own() {
    let slots = |numbers: [Option<usize>; 2]| {
        let mut slots = VisitSlots::default();
        for (taken, number) in [false, true].into_iter().zip(numbers) {
            number
                .into_iter()
                .for_each(|number| slots.set_at(0, taken, number));
        }
        slots
    };
    let mut texts = BlockTextCache::default();
    texts.current.blocks = slots([Some(7), None]);
    let variants = [1, 2].map(|generation| Variant {
        generation,
        ..Variant::default()
    });
    texts.follow(0, variants[0]);
    assert_eq!(texts.current.blocks, VisitSlots::default());
    texts.current.blocks = slots([Some(8), Some(9)]);
    texts.follow(0, variants[1]);
    assert_eq!(texts.current.blocks, VisitSlots::default());
    texts.follow(0, variants[0]);
    assert_eq!(texts.current.blocks, slots([Some(8), Some(9)]));
    texts.follow(0, Variant::default());
    assert_eq!(texts.current.blocks, slots([Some(7), None]));
}
