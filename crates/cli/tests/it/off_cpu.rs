//! Time off the CPU, recorded without BPF: perf's own test, `record_offcpu.sh`, in short.

use std::process::Output;

use crate::support::{lossy, piped, scratch, stdout};

fn oxperf(arguments: &[&str]) -> Output {
    piped(&scratch(module_path!()), arguments, b"")
}

/// Records a program that sleeps 300 ms with this threshold; false where the machine does not let us.
fn record(file: &str, threshold: &str) -> bool {
    let options = ["record", "-N", "--off-cpu", "--off-cpu-thresh", threshold];
    let rest = ["-e", "dummy", "-o", file, "--", "sleep", "0.3"];
    let output = oxperf(&[&options[..], &rest].concat());
    if !output.status.success() || lossy(&output.stderr).contains("without stacks") {
        eprintln!("skipped: {}", lossy(&output.stderr));
        return false;
    }
    true
}

/// Thread, time in seconds, period and event of each sample off the CPU.
fn samples(file: &str) -> Vec<(String, f64, u64)> {
    let output = oxperf(&["script", "-F", "comm,time,period,event", "-G", "-i", file]);
    let text = stdout(&output);
    let samples = text.lines().filter(|line| line.contains("offcpu-time"));
    samples
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let time = words[1].trim_end_matches(':');
            (
                words[0].to_owned(),
                time.parse().unwrap(),
                words[2].parse().unwrap(),
            )
        })
        .collect()
}

/// A time behind all others, which perf gives to sums.
const OF_SUMS: f64 = 18_446_744_069.0;

#[test]
fn a_long_sleep_is_a_sample_at_its_end() {
    if !record("long.data", "200") {
        return;
    }
    let samples = samples("long.data");
    let own: Vec<_> = samples
        .iter()
        .filter(|(_, time, _)| *time < OF_SUMS)
        .collect();
    assert_eq!(own.len(), 1, "{samples:?}");
    assert!(own[0].0 == "sleep" && own[0].2 > 290_000_000, "{own:?}");
    let events = stdout(&oxperf(&["evlist", "-i", "long.data"]));
    assert!(events.contains("offcpu-time"), "{events}");
    let table = stdout(&oxperf(&["report", "--stdio", "-i", "long.data"]));
    assert!(table.contains("sleep"), "{table}");
}

#[test]
fn a_sleep_below_the_threshold_is_in_a_sum_at_the_end() {
    if !record("short.data", "60000") {
        return;
    }
    let samples = samples("short.data");
    assert!(samples.iter().all(|(_, time, _)| *time > OF_SUMS));
    let longest = samples.iter().map(|(_, _, period)| *period).max();
    assert!(longest > Some(290_000_000), "{samples:?}");
}

/// A page has time on and off the CPU as one event, whose time is that of the program.
#[test]
fn a_page_shows_time_on_and_off_the_cpu_together() {
    let folder = scratch(module_path!());
    let program = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.2";
    let options = [
        "profile",
        "-N",
        "--off-cpu",
        "-e",
        "cpu-clock",
        "-o",
        "both.data",
    ];
    let rest = ["--html", "both.html", "--", "sh", "-c", program];
    let output = oxperf(&[&options[..], &rest].concat());
    if !output.status.success() || lossy(&output.stderr).contains("without stacks") {
        eprintln!("skipped: {}", lossy(&output.stderr));
        return;
    }
    let page = std::fs::read_to_string(folder.join("both.html")).unwrap();
    assert!(page.contains("cpu-clock + offcpu-time"));
    let report = oxperf(&["report", "-i", "both.data", "--html", "report.html"]);
    assert!(report.status.success(), "{}", lossy(&report.stderr));
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("cpu-clock + offcpu-time"));
}
