//! `annotate` over a recording of this very program: its own code is at hand on every machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use oxperf_testkit::Recording;

use crate::support::{function, scratch};

const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");
/// Address at which the recording has the program's file mapped.
const BASE: u64 = 0x10_0000_0000;

/// A recording with three samples at the first instruction of `main`, each of period 10.
fn recording(name: &str) -> PathBuf {
    let start = function(PROGRAM.as_ref(), "main").start;
    let text = format!(
        "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all\n\
         comm pid=1 tid=1 x\n\
         mmap2 mode=user pid=1 tid=1 {BASE:#x}+0x40000000@0 prot=5 flags=2 {PROGRAM}\n\
         sample mode=user ip={ip:#x} pid=1 tid=1 time=1 period=10\n\
         sample mode=user ip={ip:#x} pid=1 tid=1 time=2 period=10\n\
         sample mode=user ip={ip:#x} pid=1 tid=1 time=3 period=10\n",
        ip = BASE + start,
    );
    write(name, &text)
}

/// The file of a recording in notation.
fn write(name: &str, text: &str) -> PathBuf {
    let folder = scratch(module_path!());
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, Recording::parse(text).unwrap().to_file()).unwrap();
    path
}

fn annotate(name: &str, options: &[&str]) -> (String, String) {
    annotate_file(&recording(name), options)
}

fn annotate_file(file: &Path, options: &[&str]) -> (String, String) {
    let output = Command::new(PROGRAM)
        .args(["annotate", "--stdio", "--no-source", "-i"])
        .arg(file)
        .args(options)
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_sampled_instruction_has_all_the_cost() {
    let (text, errors) = annotate("percent", &["main"]);
    let title = " Percent |\tSource code & Disassembly of oxperf for cpu-clock (3 samples, percent: local period)";
    assert_eq!((text.lines().next(), errors.as_str()), (Some(title), ""));
    let costs: Vec<&str> = text
        .lines()
        .skip(8)
        .filter_map(|line| line.split_once(" : "))
        .map(|(cost, _)| cost)
        .collect();
    assert_eq!(costs[0], "  100.00");
    assert!(
        costs.len() > 1 && costs[1..].iter().all(|cost| *cost == "    0.00"),
        "{text}"
    );
}

#[test]
fn columns_hold_what_was_asked_for() {
    let (samples, _) = annotate("samples", &["-n"]);
    assert!(samples.contains("\n       3 :   "), "{samples}");
    let (periods, _) = annotate("periods", &["--show-total-period"]);
    assert!(periods.contains("\n          30 :   "), "{periods}");
    let (nothing, _) = annotate("nothing", &["no_such_function"]);
    assert_eq!(nothing, "");
}

#[test]
fn functions_stand_in_order_of_what_all_threads_spent_in_them() {
    let [main, start] =
        ["main", "_start"].map(|name| BASE + function(PROGRAM.as_ref(), name).start);
    let sample = |ip: u64, thread: u32, period: u32| {
        format!("sample mode=user ip={ip:#x} pid=1 tid={thread} time=1 period={period}\n")
    };
    let text = format!(
        "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all\n\
         comm pid=1 tid=1 one\n\
         comm pid=1 tid=2 two\n\
         mmap2 mode=user pid=1 tid=1 {BASE:#x}+0x40000000@0 prot=5 flags=2 {PROGRAM}\n{}{}{}",
        sample(start, 1, 50),
        sample(main, 1, 30),
        sample(main, 2, 40),
    );
    let (text, _) = annotate_file(&write("threads", &text), &["--stdio2"]);
    let functions: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once("() /"))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(functions, ["main", "_start"]);
}

#[test]
fn what_is_counted_of_a_named_function_is_its_own() {
    let main = function(PROGRAM.as_ref(), "main");
    let (start, end) = (main.start, main.end);
    let [inside, outside] = [start, end + 0x10_0000].map(|place| BASE + place);
    let file = write(
        "named",
        &format!(
            "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all\n\
             comm pid=1 tid=1 x\n\
             mmap2 mode=user pid=1 tid=1 {BASE:#x}+0x40000000@0 prot=5 flags=2 {PROGRAM}\n\
             sample mode=user ip={inside:#x} pid=1 tid=1 time=1 period=10\n\
             sample mode=user ip={outside:#x} pid=1 tid=1 time=2 period=990\n",
        ),
    );
    let (text, _) = annotate_file(&file, &["--stdio2", "--percent-limit", "50", "main"]);
    let title = text.lines().next().unwrap_or_default();
    assert!(
        title.starts_with("Samples: 1  of event 'cpu-clock'"),
        "{title}"
    );
    assert!(title.contains("Event count (approx.): 10, "), "{title}");
}

#[test]
fn code_that_is_not_to_be_found_is_told_once() {
    let (text, errors) = annotate("missing", &["--symfs", "/nonexistent"]);
    assert_eq!(text, "");
    // Without the file there is no symbol either: nothing to complain of.
    assert_eq!(errors, "");
}

#[test]
fn functions_of_the_kernel_are_looked_for_when_no_program_has_the_name() {
    let file = write(
        "kernel",
        "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all\n\
         mmap mode=kernel pid=-1 tid=0 0xffffffff81000000+0x1000000@0xffffffff81000000 [kernel.kallsyms]_text\n\
         comm pid=1 tid=1 x\n\
         sample mode=kernel ip=0xffffffff81000104 pid=1 tid=1 time=1 period=10\n",
    );
    let kallsyms = file.with_extension("kallsyms");
    fs::write(
        &kallsyms,
        "ffffffff81000000 T _text\nffffffff81000100 T vfs_read\n",
    )
    .unwrap();
    let options = ["--kallsyms", kallsyms.to_str().unwrap(), "vfs_read"];
    let (text, errors) = annotate_file(&file, &options);
    assert_eq!(text, "");
    assert!(errors.contains("Couldn't annotate vfs_read"), "{errors}");
}
