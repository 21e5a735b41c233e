//! Events whose rings keep the newest records: what is in the file, and that perf reads it.

use std::process::Command;

use crate::recorder::{Folder, OXPERF, said};

/// Runs long enough for a ring of a page to go around many times.
const SPIN: &str = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";

/// The event and time in nanoseconds of each sample, in the order of `script`.
fn samples(script: &[u8]) -> Vec<(String, u64)> {
    let text = String::from_utf8_lossy(script);
    let sample = |line: &str| {
        let mut words = line.split_whitespace();
        let time = words.next()?.trim_end_matches(':').replace('.', "");
        let event = words.next()?.trim_end_matches(':').to_owned();
        Some((event, time.parse().ok()?))
    };
    text.lines().map(|line| sample(line).unwrap()).collect()
}

/// The span from the first to the last sample of an event, and their number.
fn span(samples: &[(String, u64)], event: &str) -> (u64, usize) {
    let times = samples.iter().filter(|sample| sample.0 == event);
    let times: Vec<u64> = times.map(|sample| sample.1).collect();
    let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else {
        panic!("no sample of {event}: {samples:?}");
    };
    (last - first, times.len())
}

#[test]
fn a_small_ring_keeps_the_newest_samples() {
    let folder = Folder::new("newest");
    if !folder.records() {
        return;
    }
    let words = [
        "record",
        "-N",
        "-m",
        "1",
        "-F",
        "4000",
        "--per-thread",
        "-T",
        "-e",
        "cpu-clock,task-clock/overwrite/",
        "-o",
        "f.data",
        "--",
        "sh",
        "-c",
        SPIN,
    ];
    let recorded = folder.run(OXPERF, &words);
    assert!(recorded.status.success(), "{}", said(&recorded));
    let shown = ["script", "-i", "f.data", "--ns", "-F", "time,event"];
    let script = folder.run(OXPERF, &shown);
    assert!(script.status.success(), "{}", said(&script));
    assert!(!said(&script).contains("order"), "{}", said(&script));
    let samples_here = samples(&script.stdout);
    assert!(samples_here.is_sorted_by_key(|sample| sample.1));
    let (whole, drained) = span(&samples_here, "cpu-clock");
    let (end, kept) = span(&samples_here, "task-clock/overwrite/");
    // A page holds about 85 samples of 48 bytes.
    assert!(kept >= 20 && drained > 2 * kept, "{kept} of {drained}");
    let last = |event: &str| {
        samples_here
            .iter()
            .rfind(|sample| sample.0 == event)
            .unwrap()
    };
    let gap = last("cpu-clock")
        .1
        .abs_diff(last("task-clock/overwrite/").1);
    assert!(
        gap < whole / 4,
        "the newest are {gap} ns from the end of {whole} ns; they span {end} ns"
    );
    if let Ok(perf) = Command::new("perf7")
        .args(shown)
        .current_dir(&folder.0)
        .output()
    {
        assert!(perf.status.success(), "{}", said(&perf));
        assert_eq!(samples(&perf.stdout), samples_here);
    }
}
