//! Kept texts are those that are written anew.

use std::io::Write;
use std::sync::Arc;

use intel_pt::{Config, EmitOptions, FlatCode, Item, TraceChunk};
use oxperf_machine::Machine;
use oxperf_session::{EventIndex, SampleEvent, SampleTextWriter};

use super::*;
use crate::ItraceOptions;
use crate::code::Images;
use crate::select::flags::BranchFilter;
use crate::select::point_sampler::tests::scene;
use crate::select::text_fast_path::Written;

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

/// What ran from 1000 on.
pub(in crate::select) fn trace() -> Vec<u8> {
    let psb = [0x02, 0x82].repeat(8);
    let tsc = |tsc: u8| [0x19, tsc, 0, 0, 0, 0, 0, 0];
    let start = [0x02, 0x23, 0x71, 0x00, 0x10, 0, 0, 0, 0];
    // Loops and compressed returns, twice the same; the last return tells its address.
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

/// The text of a whole trace, kept and not kept.
fn texts(shown: Shown, resolution: Option<u64>) -> [String; 2] {
    let writer = Arc::new(Plain { resolution });
    let written = Written::new(EventIndex(0), shown, writer);
    let (mut machine, images) = (Machine::default(), Images::default());
    let scribe = Scribe {
        written: &written,
        scene: scene(&mut machine, &images),
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
    let (mut texts, mut heads) = (BlockTexts::default(), [Heads::default(), Heads::default()]);
    let (mut out, state) = ([Vec::new(), Vec::new()], SampleFlags::default());
    loop {
        match decoder.next(&mut code) {
            Item::End => return out.map(|text| String::from_utf8(text).unwrap()),
            Item::Path => {
                let (run, moment) = (decoder.path(), &decoder.moment());
                texts.write_run(
                    &scribe,
                    &decoder,
                    (moment, state),
                    &mut heads[0],
                    &mut out[0],
                );
                heads[1].pass_to(run.before);
                let whole = Whole {
                    moment,
                    state,
                    decision: run.decision.unwrap_or(u64::MAX),
                };
                write_anew(&scribe, &decoder, &whole, &mut heads[1], &mut out[1]);
                heads[1].pass_to(moment.time);
            }
            Item::Error(error) => panic!("{error:?}"),
            _ => {}
        }
    }
}

#[test]
fn kept_texts_are_what_is_written_anew() {
    let calls = ItraceOptions::parse("c").unwrap();
    let all = BranchFilter::default();
    for shown in [
        Shown::Instructions,
        Shown::Branches(all),
        Shown::Branches(BranchFilter::new(&calls)),
    ] {
        for resolution in [None, Some(1), Some(16)] {
            let [kept, anew] = texts(shown, resolution);
            assert_eq!(kept, anew, "{shown:?} {resolution:?}");
            assert!(kept.lines().count() >= 4, "{kept}");
        }
    }
    let [branches, _] = texts(Shown::Branches(all), None);
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
fn lines_tell_the_time_of_the_branch_that_decided() {
    let [lines, _] = texts(Shown::Instructions, Some(1));
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
fn lines_of_a_world_are_its_own() {
    let mut texts = BlockTexts::default();
    texts.slots.blocks.push([7, NONE]);
    let worlds = [1, 2].map(|generation| World {
        generation,
        ..World::default()
    });
    texts.follow(0, worlds[0]);
    assert!(texts.slots.blocks.is_empty());
    texts.slots.blocks.push([8, 9]);
    texts.follow(0, worlds[1]);
    assert!(texts.slots.blocks.is_empty());
    texts.follow(0, worlds[0]);
    assert_eq!(texts.slots.blocks, [[8, 9]]);
    texts.follow(0, World::default());
    assert_eq!(texts.slots.blocks, [[7, NONE]]);
}
