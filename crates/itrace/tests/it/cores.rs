//! Trace that is decoded on several cores gives what one core gives, sample by sample and byte by byte.

use oxperf_itrace::{Cores, Window};

use crate::decode::{Decoded, Form, How, decode, each_case};

/// The smallest recordings, too: a stretch goes from each PSB to the next.
const MANY: Cores = Cores {
    count: 3,
    chunk_bytes: 1,
};

/// Bytes of a recording that is decoded in several ways, and of one that takes too long for a debug build.
const SMALL: usize = 100 << 10;
const TOO_LONG: usize = 2 << 20;

/// What is made of each recording; of the larger ones only the first few.
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
fn several_cores_tell_what_one_tells() {
    let mut by_workers = 0;
    let tested = each_case("cores", TOO_LONG, |case, file, root| {
        let few = if file.len() < SMALL {
            LETTERS.len()
        } else {
            FEW
        };
        for letters in LETTERS.into_iter().take(few) {
            let all = Window::ALL;
            let how = How {
                letters,
                cores: Cores::ONE,
                window: all,
                kept: all,
                form: PLACES,
            };
            let one = decode(file, root, how).text;
            let Decoded {
                text: many,
                shared,
                left_out,
            } = decode(file, root, How { cores: MANY, ..how });
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
    let [told, lines] = [false, true].map(|written| Form {
        short: true,
        written,
    });
    let tested = each_case("lines", SMALL, |case, file, root| {
        for letters in ["i0nse", "be", "cre", "qi0ns"] {
            let all = Window::ALL;
            let how = How {
                letters,
                cores: Cores::ONE,
                window: all,
                kept: all,
                form: told,
            };
            let told = decode(file, root, how).text;
            for cores in [Cores::ONE, MANY] {
                let lines = decode(
                    file,
                    root,
                    How {
                        cores,
                        form: lines,
                        ..how
                    },
                );
                let difference = told
                    .split(|byte| *byte == b'\n')
                    .zip(lines.text.split(|byte| *byte == b'\n'));
                let difference =
                    difference.map(|(told, line)| [told, line].map(String::from_utf8_lossy));
                let difference = difference.into_iter().find(|[told, line]| told != line);
                assert_eq!(difference, None, "{} {letters} {cores:?}", case.display());
                assert_eq!(told.len(), lines.text.len());
                by_workers += lines.shared;
            }
        }
    });
    assert!(by_workers > 0 || !tested);
}
