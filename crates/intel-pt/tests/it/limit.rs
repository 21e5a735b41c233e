//! A time limit: the items of later packets wait, but the code up to the next branch is that of before, and errors
//! do not wait.

use intel_pt::{
    Code, CodeAddress, CodeSource, Config, Decoder, EmitOptions, ErrorKind, ImageId, Item,
    TraceChunk, Tsc,
};

/// Code at 0x1000 that is there, or not.
struct Mapped(Option<&'static [u8]>);

impl CodeSource for Mapped {
    fn generation(&self) -> u64 {
        u64::from(self.0.is_some())
    }

    fn code(&self, at: CodeAddress) -> Option<Code<'_>> {
        let code = Code {
            image: ImageId(0),
            offset: 0,
            start: 0x1000,
            bytes: self.0?,
        };
        (!code.from(at.ip).is_empty()).then_some(code)
    }
}

/// `nop; jnz` to the nop.
const LOOP: Mapped = Mapped(Some(&[0x90, 0x75, 0xfd]));
/// `jmp` to a `nop; jnz` to the jump.
const JUMP: Mapped = Mapped(Some(&[0xeb, 0x00, 0x90, 0x75, 0xfb]));

/// PSB and TSC 1000, PSBEND, TIP.PGE to 0x1000, then `rest`.
fn trace(rest: &[u8]) -> Vec<u8> {
    let head = [
        0x19, 0xe8, 0x03, 0, 0, 0, 0, 0, 0x02, 0x23, 0x71, 0x00, 0x10, 0, 0, 0, 0,
    ];
    [&[0x02, 0x82].repeat(8)[..], &head, rest].concat()
}

/// TSC 5000.
const LATER: [u8; 8] = [0x19, 0x88, 0x13, 0, 0, 0, 0, 0];

fn decoder(trace: &[u8]) -> Decoder<'_> {
    let mut decoder = Decoder::new(
        Config::default(),
        EmitOptions {
            paths: true,
            ..EmitOptions::default()
        },
    );
    decoder.push(TraceChunk {
        bytes: trace,
        offset: 0,
        consecutive: false,
        reference: None,
    });
    decoder.set_limit(Some(Tsc(4000)));
    decoder
}

/// The branches of a run.
fn branches(decoder: &Decoder<'_>) -> Vec<(u64, Option<u64>)> {
    decoder
        .branches()
        .map(|branch| (branch.from.ip, branch.to))
        .collect()
}

/// Decodes to the pause, takes the code away, and goes on without a limit.
fn across(decoder: &mut Decoder<'_>, mut code: Mapped) -> Vec<Item> {
    while decoder.next(&mut code) != Item::Pause {}
    assert_eq!(decoder.moment().time, Some(Tsc(5000)));
    decoder.set_limit(None);
    let (mut items, mut nothing) = (Vec::new(), Mapped(None));
    while items.last() != Some(&Item::End) {
        let item = decoder.next(&mut nothing);
        if item == Item::Path {
            let expected = if code.0 == LOOP.0 {
                (0x1001, Some(0x1000))
            } else {
                (0x1000, Some(0x1002))
            };
            assert_eq!(branches(decoder), [expected]);
        }
        items.push(item);
    }
    items
}

fn missing(ip: u64) -> Item {
    Item::Error(intel_pt::Error {
        kind: ErrorKind::MissingCode,
        ip: Some(ip),
    })
}

#[test]
fn the_next_branch_is_in_the_code_of_before() {
    let trace = trace(&[&LATER[..], &[0x0e]].concat());
    let items = across(&mut decoder(&trace), LOOP);
    assert_eq!(items, [Item::Path, missing(0x1000), Item::End]);
    let items = across(&mut decoder(&trace), JUMP);
    assert_eq!(items, [Item::Path, missing(0x1002), Item::End]);
}

#[test]
fn errors_do_not_wait() {
    let trace = trace(&[&LATER[..], &[0x29, 0x0e]].concat());
    let mut decoder = decoder(&trace);
    let mut code = LOOP;
    assert_eq!(
        decoder.next(&mut code),
        Item::Begin {
            to: 0x1000,
            enabled: true,
            end: false
        }
    );
    let bad = intel_pt::Error {
        kind: ErrorKind::BadPacket,
        ip: Some(0x1000),
    };
    assert_eq!(decoder.next(&mut code), Item::Error(bad));
    assert_eq!(decoder.next(&mut code), Item::Pause);
}

#[test]
fn nothing_comes_between_an_outcome_and_its_deferred_address() {
    // jmp *%rax, and TNT, CYC, TIP.
    let mut code = Mapped(Some(&[0xff, 0xe0]));
    let trace = trace(&[0x06, 0x0b, 0x2d, 0x00, 0x10]);
    let mut decoder = decoder(&trace);
    let mut errors = 0;
    loop {
        match decoder.next(&mut code) {
            Item::Error(error) => {
                assert_eq!((error.kind, error.ip), (ErrorKind::Mismatch, Some(0x1000)));
                errors += 1;
            }
            Item::End => break,
            _ => {}
        }
    }
    assert_eq!(errors, 1);
}
