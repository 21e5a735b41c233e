//! The moments of cycles: those before a branch that was not taken belong to the item that follows.

use intel_pt::{Config, Cycles, Decoder, EmitOptions, FlatCode, Item, Period, TraceChunk};

/// `nop; jnz` to the nop, twice; and a trace: taken after 5 cycles, not taken after 3 more, then taken after 1 more.
const CODE: [u8; 6] = [0x90, 0x75, 0xfd, 0x90, 0x75, 0xfd];
const TRACE: [u8; 15] = [
    0x02, 0x23, 0x71, 0x00, 0x10, 0, 0, 0, 0, 0x2b, 0x06, 0x1b, 0x04, 0x0b, 0x06,
];

/// Of each run: the cycles before its decision and with it, and whether these are known for exactly that moment.
fn runs(wanted: EmitOptions) -> Vec<(u64, Cycles, bool)> {
    let trace = [&[0x02, 0x82].repeat(8)[..], &TRACE].concat();
    let mut code = FlatCode::new(0x1000, CODE.to_vec());
    let mut decoder = Decoder::new(Config::default(), wanted);
    decoder.push(TraceChunk {
        bytes: &trace,
        offset: 0,
        consecutive: false,
        reference: None,
    });
    let mut runs = Vec::new();
    loop {
        match decoder.next(&mut code) {
            Item::Path => {
                let (run, moment) = (decoder.path(), decoder.moment());
                assert!(moment.cycles_counted);
                assert_eq!(run.decision, Some(2));
                runs.push((run.cycles_before.exact, moment.cycles, moment.cycles_fresh));
            }
            Item::End => return runs,
            _ => {}
        }
    }
}

#[test]
fn branches_that_are_not_taken_have_no_exact_cycles() {
    let found = runs(EmitOptions {
        paths: true,
        ..EmitOptions::default()
    });
    let cycles = |exact, rough| Cycles { exact, rough };
    assert_eq!(
        found,
        [
            (0, cycles(5, 5), true),
            (5, cycles(5, 8), false),
            (5, cycles(9, 9), true)
        ]
    );
}

#[test]
fn sampled_ones_have() {
    let period = Some(Period::Instructions(2));
    let found = runs(EmitOptions {
        paths: true,
        period,
        ..EmitOptions::default()
    });
    assert_eq!(found[1], (5, Cycles { exact: 8, rough: 8 }, true));
}
