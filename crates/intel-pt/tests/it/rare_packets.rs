//! The items of rare packets: outcomes before the TIP packet that they wait for, addresses that tracing ends with, the
//! abort of a transaction behind a branch.

use intel_pt::{
    Config, Decoder, EmitOptions, Errata, ErrorKind, FlatCode, Item, QuickMode, TraceChunk, Tsc,
};

/// PSB and TSC 1000, PSBEND, TIP.PGE to 0x1000, then `rest`.
fn trace(rest: &[u8]) -> Vec<u8> {
    let head = [
        0x19, 0xe8, 0x03, 0, 0, 0, 0, 0, 0x02, 0x23, 0x71, 0x00, 0x10, 0, 0, 0, 0,
    ];
    [&[0x02, 0x82].repeat(8)[..], &head, rest].concat()
}

/// TSC 5000.
const LATER: [u8; 8] = [0x19, 0x88, 0x13, 0, 0, 0, 0, 0];

fn decoder(trace: &[u8], errata: Errata, quick: QuickMode) -> Decoder<'_> {
    let wanted = EmitOptions {
        paths: true,
        quick,
        ..EmitOptions::default()
    };
    let mut decoder = Decoder::new(
        Config {
            errata,
            ..Config::default()
        },
        wanted,
    );
    decoder.push(TraceChunk {
        bytes: trace,
        offset: 0,
        consecutive: false,
        reference: None,
    });
    decoder
}

/// The items behind the first one, which is the beginning at 0x1000.
fn items(decoder: &mut Decoder<'_>, code: &mut FlatCode) -> Vec<Item> {
    assert_eq!(
        decoder.next(code),
        Item::Begin {
            to: 0x1000,
            enabled: true,
            end: false
        }
    );
    let mut items = Vec::new();
    while items.last() != Some(&Item::End) {
        items.push(decoder.next(code));
    }
    items
}

#[test]
fn an_outcome_that_waits_tells_no_time_before_it_is_followed() {
    // jmp *%rax; nop; jnz to the nop
    let mut code = FlatCode::new(0x1000, vec![0xff, 0xe0, 0x90, 0x75, 0xfd]);
    let trace = trace(&[&LATER[..], &[0x06, 0x2d, 0x02, 0x10]].concat());
    let mut decoder = decoder(&trace, Errata::default(), QuickMode::Walk);
    assert_eq!(
        decoder.next(&mut code),
        Item::Begin {
            to: 0x1000,
            enabled: true,
            end: false
        }
    );
    assert_eq!(decoder.next(&mut code), Item::Path);
    let run = decoder.path();
    assert_eq!(
        (run.before, decoder.moment().time),
        (Some(Tsc(1000)), Some(Tsc(5000)))
    );
    assert_eq!((run.instructions, run.decision), (3, Some(3)));
    let branches: Vec<_> = decoder
        .branches()
        .map(|branch| (branch.from.ip, branch.to))
        .collect();
    assert_eq!(branches, [(0x1000, Some(0x1002)), (0x1003, Some(0x1002))]);
}

#[test]
fn hops_tell_every_address() {
    let mut code = FlatCode::new(0x1000, vec![0x90]);
    // TIP.PGD with an address, then a FUP while nothing is traced.
    let trace = trace(&[0x21, 0x10, 0x10, 0x3d, 0x20, 0x10]);
    let mut decoder = decoder(&trace, Errata::default(), QuickMode::Addresses);
    let expected = [
        Item::Address { ip: 0x1000 },
        Item::Begin {
            to: 0x1010,
            enabled: false,
            end: true,
        },
        Item::Address { ip: 0x1020 },
        Item::End,
    ];
    assert_eq!(items(&mut decoder, &mut code), expected);
}

#[test]
fn a_branch_into_an_abort_leads_there_where_the_processor_may_tell_otherwise() {
    // jnz 1004; nop; nop; ret. The outcome says that it goes on behind the branch, but the abort is at it.
    let mut code = FlatCode::new(0x1000, vec![0x75, 0x02, 0x90, 0x90, 0xc3]);
    let trace = trace(&[0x04, 0x99, 0x22, 0x3d, 0x00, 0x10, 0x2d, 0x04, 0x10]);
    let broadwell = Errata::of(6, 0x4f);
    let found = items(&mut decoder(&trace, broadwell, QuickMode::Walk), &mut code);
    let abort = Item::Async {
        from: 0x1000,
        to: Some(0x1004),
        end: false,
        abort: true,
    };
    assert_eq!(found, [Item::Path, abort, Item::End]);
    let others = items(
        &mut decoder(&trace, Errata::default(), QuickMode::Walk),
        &mut code,
    );
    let mismatch =
        |item: &Item| matches!(item, Item::Error(error) if error.kind == ErrorKind::Mismatch);
    assert!(others.iter().any(mismatch), "{others:?}");
}
