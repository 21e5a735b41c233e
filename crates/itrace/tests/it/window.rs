//! Where a part of the time is asked for, that part is told as it would be among all others.

use oxperf_abi::PerfTime;
use oxperf_itrace::{Cores, Window};

use crate::decode::{Form, How, decode, each_case};

/// Bytes of a recording that takes too long for a debug build.
const TOO_LONG: usize = 100 << 10;

const LETTERS: [&str; 4] = ["ce", "wpxIoe", "i1usgl4e", "i0nse"];

const WHOLE: Form = Form {
    short: false,
    written: false,
};

#[test]
fn a_window_is_told_as_it_would_be_among_all() {
    let (mut told, mut left_out) = (0, 0);
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
                let how = How {
                    letters,
                    cores: Cores::ONE,
                    window: Window::ALL,
                    kept,
                    form: WHOLE,
                };
                let all = decode(file, root, how).text;
                let part = decode(
                    file,
                    root,
                    How {
                        window: kept,
                        ..how
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
                told += all.len();
            }
        }
    });
    assert!(told > 0 && left_out > 0 || !tested);
}
