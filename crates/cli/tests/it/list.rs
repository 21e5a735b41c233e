//! `list` over a described machine: what stands in it, in text and as JSON, and exit codes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{scratch, stdout};

/// A machine with a core PMU that nobody can count on, two memory controllers, and a model with tables.
fn machine(topic: &str) -> PathBuf {
    let folder = scratch(topic);
    let devices = folder.join("bus/event_source/devices");
    for (pmu, files) in [
        (
            "cpu",
            &[
                ("type", "4"),
                ("format/event", "config:0-7"),
                ("format/edge", "config:18"),
                ("events/cycles", "event=0x3c"),
                ("events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"),
            ][..],
        ),
        ("uncore_imc_0", UNCORE),
        ("uncore_imc_1", UNCORE),
    ] {
        for (file, text) in files {
            let path = devices.join(pmu).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    folder
}

const UNCORE: &[(&str, &str)] = &[
    ("type", "20"),
    ("format/event", "config:0-7"),
    ("events/data_reads", "event=0x1,id=?"),
    ("events/data_reads.unit", "MiB"),
];

fn list(machine: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .arg("list")
        .args(words)
        .env("SYSFS_PATH", machine)
        .env("OXPERF_CPUID", "GenuineIntel-6-5E-3")
        .output()
        .unwrap()
}

#[test]
fn events_stand_below_their_topics() {
    let machine = machine("list-text");
    let text = stdout(&list(&machine, &["--no-desc", "--unit", "[cu]*", "pmu"]));
    let expected = "  mem-loads OR cpu/mem-loads/                        [Kernel PMU event]\n  \
        uncore_imc/data_reads,id=?/                        [Kernel PMU event]\n\ncache:\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("\npipeline:\n"), "{text}");
    assert!(text.contains("\n  inst_retired.any\n"), "{text}");
    let text = stdout(&list(&machine, &["--details", "inst_retired.any_p"]));
    let expected = "\npipeline:\n  inst_retired.any_p\n       [Unit: cpu]\n        cpu/event=0xc0,period=2000003/\n";
    assert_eq!(text, expected);
}

#[test]
fn long_lists_show_every_instance() {
    let machine = machine("list-long");
    let text = stdout(&list(&machine, &["-v", "data_reads"]));
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.split(' ').nth(2).unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "uncore_imc_0/data_reads,id=?/",
            "uncore_imc_1/data_reads,id=?/"
        ]
    );
}

#[test]
fn json_has_the_keys_of_perf() {
    let machine = machine("list-json");
    let text = stdout(&list(&machine, &["-j", "tool"]));
    assert!(
        text.starts_with("[\n{\n\t\"Unit\": \"tool\",\n\t\"Topic\": \"tool\",\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "\t\"EventName\": \"duration_time\",\n\t\"EventType\": \"Kernel PMU event\",\n"
        )
    );
    assert!(
        text.ends_with("\t\"Encoding\": \"tool/config=2/\"\n}\n]\n"),
        "{text}"
    );
    assert_eq!(
        stdout(&list(&machine, &["-j", "nothing-has-this-name"])),
        "[\n]\n"
    );
    let file = machine.join("list.json");
    let name = file.to_str().unwrap();
    assert_eq!(stdout(&list(&machine, &["-j", "-o", name, "tool"])), "");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn what_is_not_here_is_said() {
    let machine = machine("list-refused");
    let refused = list(&machine, &["--cputype", "atom"]);
    assert_eq!(refused.status.code(), Some(255));
    assert_eq!(refused.stderr, b"ERROR: cputype is not supported!\n");
    let refused = list(&machine, &["-o", "/proc/none/list", "sw"]);
    assert_eq!(
        (refused.status.code(), &*refused.stdout),
        (Some(255), &b""[..])
    );
    assert_eq!(stdout(&list(&machine, &["hwmon"])), "");
}

#[test]
fn names_alone_stand_on_one_line() {
    let machine = machine("list-names");
    let text = stdout(&list(&machine, &["--raw-dump", "sw"]));
    assert!(
        text.starts_with("alignment-faults bpf-output ") && text.ends_with(" user_time "),
        "{text}"
    );
    let text = stdout(&list(&machine, &["--raw-dump", "mem-loads"]));
    assert_eq!(text, "cpu/mem-loads/ ");
}

#[test]
fn why_says_what_an_event_is_here() {
    let machine = machine("list-why");
    let text = stdout(&list(&machine, &["--why", "task-clock"]));
    let expected = "task-clock\n  PMU       software\n  type      1 (PERF_TYPE_SOFTWARE)\n  words     config 0x1\n";
    assert!(text.starts_with(expected), "{text}");
    let text = stdout(&list(&machine, &["-j", "--why", "cpu/event=0xc0,edge/"]));
    assert!(text.contains("\"config\":\"0x400c0\""), "{text}");
    assert!(
        text.contains("\"Encoding\":\"cpu/event=0xc0,edge=0x1/\""),
        "{text}"
    );
    let refused = list(&machine, &["--why", "cyles"]);
    assert_eq!(refused.status.code(), Some(129));
}

#[test]
fn why_reads_what_no_kernel_counts() {
    let machine = machine("list-why-own");
    let sensor = machine.join("class/hwmon/hwmon0");
    fs::create_dir_all(&sensor).unwrap();
    for (file, text) in [("name", "coretemp"), ("temp1_input", "45500")] {
        fs::write(sensor.join(file), text).unwrap();
    }
    let text = stdout(&list(&machine, &["--why", "temp1"]));
    assert!(
        text.ends_with("  here      read by stat itself; now 45.5 'C\n"),
        "{text}"
    );
    let text = stdout(&list(&machine, &["-j", "--why", "target_cpu,user_time"]));
    assert!(text.contains("\"Countable\":true,\"Reason\":null,\"Value\":0"));
    assert_eq!(text.matches("\"Value\"").count(), 1, "{text}");
}

#[test]
fn why_explains_metrics() {
    let machine = machine("list-why-metric");
    let text = stdout(&list(&machine, &["--why", "page_faults_per_second"]));
    let expected = "page_faults_per_second\n  says      Page faults in a second of CPU time\n  \
        groups    Default\n  formula   software@page";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.ends_with("  here      can be measured\n"), "{text}");
    let text = stdout(&list(&machine, &["-j", "--why", "l1d_mpki"]));
    assert!(text.contains("\"MetricGroup\":\"mpki\""), "{text}");
}
