//! A part of the time that is asked for alone has the samples that it has among all others.

use oxperf_abi::PerfTime;
use oxperf_itrace::{Cores, Window};

use crate::decode::{DecodeSetup, Form, decode, each_case};

/// Bytes of a recording that takes too long for a debug build.
const TOO_LONG: usize = 100 << 10;

const LETTERS: [&str; 4] = ["ce", "wpxIoe", "i1usgl4e", "i0nse"];

const WHOLE: Form = Form {
    short: false,
    written: false,
};

#[test]
fn a_window_has_the_samples_that_it_has_among_all() {
    let (mut compared, mut left_out) = (0, 0);
    let tested = each_case("window", TOO_LONG, |case, file, root| {
        for letters in LETTERS {
            for (first, last) in [
                (613_732_990_000, 613_733_000_000),
                (613_733_100_000, 613_733_140_000),
            ] {
                let counts = letters.starts_with("i1");
                let kept = Window {
                    first: PerfTime(first),
                    last: PerfTime(last),
                    counts,
                };
                let setup = DecodeSetup {
                    letters,
                    cores: Cores::ONE,
                    window: Window::ALL,
                    kept,
                    form: WHOLE,
                };
                let all = decode(file, root, setup).text;
                let part = decode(
                    file,
                    root,
                    DecodeSetup {
                        window: kept,
                        ..setup
                    },
                );
                left_out += part.left_out;
                assert_eq!(part.shared, 0);
                let part = part.text;
                assert!(
                    all == part,
                    "{} {letters}: {} and {} bytes",
                    case.display(),
                    all.len(),
                    part.len()
                );
                compared += all.len();
            }
        }
    });
    assert!(compared > 0 && left_out > 0 || !tested);
}
