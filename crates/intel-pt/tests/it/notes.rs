//! The steps that a decoder notes for a log.

use std::num::NonZeroU32;

use intel_pt::{Config, Decoder, EmitOptions, FlatCode, Item, Note, Ratio, TraceChunk, Tsc};

/// The notes of a trace, packets as perf's log shows them.
fn notes(trace: &[u8]) -> String {
    let config = Config {
        tsc_to_crystal: Some(Ratio {
            numerator: 2,
            denominator: 1,
        }),
        max_non_turbo_ratio: NonZeroU32::new(24),
        ..Config::default()
    };
    let mut code = FlatCode::new(0x1000, vec![0x90, 0x75, 0xfd]);
    let mut decoder = Decoder::new(
        config,
        EmitOptions {
            paths: true,
            ..EmitOptions::default()
        },
    );
    decoder.keep_notes();
    let mut text = Vec::new();
    for (bytes, offset) in [(&trace[..40], 0), (&trace[40..], 40)] {
        decoder.push(TraceChunk {
            bytes,
            offset,
            consecutive: offset > 0,
            reference: None,
        });
        loop {
            let item = decoder.next(&mut code);
            for note in decoder.take_notes() {
                match note {
                    Note::Reads(read) => read.write_line(&mut text),
                    note => text.extend_from_slice(format!("{note:?}\n").as_bytes()),
                }
            }
            if item == Item::End {
                break;
            }
        }
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn packets_and_times() {
    // TSC, TMA, CBR, PSBEND with padding, TIP.PGE over the end of a stretch, TNT, MTC, a byte that is no packet.
    let rest = [
        0x19, 0xe8, 0x03, 0, 0, 0, 0, 0, 0x02, 0x73, 0x05, 0x00, 0, 0x02, 0, 0x02, 0x03, 0x18, 0,
        0x02, 0x23, 0, 0x71, 0x00, 0x10, 0, 0, 0, 0, 0x06, 0x59, 0x06, 0x29,
    ];
    let text = notes(&[&[0x02, 0x82].repeat(8)[..], &rest].concat());
    let lines: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        lines,
        [
            "SeeksPsb".to_owned(),
            "00000000: 02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82 PSB".to_owned(),
            "00000010: 19 e8 03 00 00 00 00 00 TSC 0x3e8".to_owned(),
            format!("{:?}", Note::Time(Tsc(1000))),
            "00000018: 02 73 05 00 00 02 00 TMA CTC 0x5 FC 0x2".to_owned(),
            "Ties { time: Tsc(998), mtc: 5, rest: 0 }".to_owned(),
            "0000001f: 02 03 18 00 CBR 0x18".to_owned(),
            "00000023: 02 23 00 PSBEND".to_owned(),
            "00000026: 71 00 10 00 00 00 00 TIP.PGE 0x1000".to_owned(),
            "0000002d: 06 TNT T (1)".to_owned(),
            "0000002e: 59 06 MTC 0x6".to_owned(),
            "Time(Tsc(1000))".to_owned(),
            "00000030: 29 Bad packet!".to_owned(),
        ]
    );
}
