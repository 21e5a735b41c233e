//! Trace that is decoded on several cores gives what one core gives, sample by sample and byte by byte.

use oxperf_itrace::{Cores, Window};

use crate::decode::{DecodeSetup, Decoded, Form, decode, each_case};

/// Splits the smallest recordings, too: a chunk goes from each PSB to the next.
const MANY: Cores = Cores {
    count: 3,
    chunk_bytes: 1,
};

/// Bytes of a recording that is decoded in several ways, and of one that takes too long for a debug build.
const SMALL: usize = 100 << 10;
const TOO_LONG: usize = 2 << 20;

/// The samples that are made of each recording; of the larger ones only the first few.
const LETTERS: [&str; 15] = [
    "be",
    "i1usg8l3e",
    "iyxwpoIegG",
    "i0nse",
    "cr",
    "eZ",
    "wpxIoe",
    "icyA",
    "i100nsyg2G2L4",
    "i1uscrl",
    "s500cbi10us",
    "i3i",
    "qbi",
    "i50igl",
    "qi0ns",
];

/// So many of the larger ones.
const FEW: usize = 2;

const PLACES: Form = Form {
    short: false,
    written: true,
};

#[test]
fn several_cores_give_the_samples_of_one() {
    let mut by_workers = 0;
    let tested = each_case("cores", TOO_LONG, |case, file, root| {
        let few = if file.len() < SMALL {
            LETTERS.len()
        } else {
            FEW
        };
        for letters in LETTERS.into_iter().take(few) {
            let all = Window::ALL;
            let setup = DecodeSetup {
                letters,
                cores: Cores::ONE,
                window: all,
                kept: all,
                form: PLACES,
            };
            let one = decode(file, root, setup).text;
            let Decoded {
                text: many,
                shared,
                left_out,
            } = decode(
                file,
                root,
                DecodeSetup {
                    cores: MANY,
                    ..setup
                },
            );
            assert!(
                one == many,
                "{} {letters}: {} and {} bytes",
                case.display(),
                one.len(),
                many.len()
            );
            assert_eq!(left_out, 0);
            by_workers += shared;
        }
    });
    assert!(by_workers > 0 || !tested);
}

#[test]
fn lines_are_those_of_the_samples() {
    let mut by_workers = 0;
    let [samples, lines] = [false, true].map(|written| Form {
        short: true,
        written,
    });
    let tested = each_case("lines", SMALL, |case, file, root| {
        for letters in ["i0nse", "be", "cre", "qi0ns"] {
            let all = Window::ALL;
            let setup = DecodeSetup {
                letters,
                cores: Cores::ONE,
                window: all,
                kept: all,
                form: samples,
            };
            let samples = decode(file, root, setup).text;
            for cores in [Cores::ONE, MANY] {
                let lines = decode(
                    file,
                    root,
                    DecodeSetup {
                        cores,
                        form: lines,
                        ..setup
                    },
                );
                let difference = samples
                    .split(|byte| *byte == b'\n')
                    .zip(lines.text.split(|byte| *byte == b'\n'));
                let difference =
                    difference.map(|(samples, line)| [samples, line].map(String::from_utf8_lossy));
                let difference = difference
                    .into_iter()
                    .find(|[samples, line]| samples != line);
                assert_eq!(difference, None, "{} {letters} {cores:?}", case.display());
                assert_eq!(samples.len(), lines.text.len());
                by_workers += lines.shared;
            }
        }
    });
    assert!(by_workers > 0 || !tested);
}
