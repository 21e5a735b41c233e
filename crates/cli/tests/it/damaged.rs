//! Recordings with broken records: the commands go on behind them and show what is missing.

use std::fs;
use std::process::{Command, Output};

use oxperf_data::{RawRecord, Reader};
use oxperf_testkit::Recording;

use crate::support::{lossy, scratch};

/// Ten samples, a round, ten samples.
fn recording() -> Vec<u8> {
    let sample = |number: u64| {
        let (ip, time) = (0x40_0000 + number, 1000 + number);
        format!("sample mode=user ip={ip:#x} pid=7 tid=7 time={time}\n")
    };
    let samples = |numbers: std::ops::Range<u64>| numbers.map(sample).collect::<String>();
    let event = "event cycles sample=IP|TID|TIME flags=sample_id_all";
    let text = format!(
        "{event}\n{}finished_round\n{}",
        samples(0..10),
        samples(10..20)
    );
    Recording::parse(&text).unwrap().to_file()
}

/// Offset of the record with this number.
fn place(file: &[u8], number: usize) -> usize {
    let records: Vec<RawRecord<'_>> = Reader::open(file)
        .unwrap()
        .records()
        .unwrap()
        .map(Result::unwrap)
        .collect();
    records[number].offset.0 as usize
}

fn run(name: &str, file: &[u8], arguments: &[&str]) -> Output {
    let folder = scratch(module_path!());
    fs::write(folder.join(name), file).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
    command
        .args(arguments)
        .args(["-i", name])
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn commands_go_on_behind_broken_records() {
    let mut file = recording();
    let (first, second) = (place(&file, 4), place(&file, 15));
    file[first..first + 8].fill(0xff);
    // This one claims what follows it, too.
    file[second + 6] = 0x58;
    let warnings = format!(
        "Warning: no records from {first:#x} to {:#x}: 32 bytes of data skipped\n\
         Warning: no records from {second:#x} to {:#x}: 32 bytes of data skipped\n",
        first + 32,
        second + 32
    );
    let script = run("broken.data", &file, &["script", "-F", "ip"]);
    assert_eq!(lossy(&script.stdout).lines().count(), 18);
    assert_eq!(lossy(&script.stderr), warnings);
    for command in ["script", "report"] {
        let dump = run("broken.data", &file, &[command, "-D"]);
        let stdout = lossy(&dump.stdout);
        let line =
            format!("\n{first:#x}@broken.data [0x20]: damaged: no records from {first:#x} to ");
        assert!(stdout.contains(&line), "{command}: {stdout}");
        assert_eq!(
            stdout.matches(": PERF_RECORD_SAMPLE(").count(),
            18,
            "{command}"
        );
        assert_eq!(lossy(&dump.stderr), warnings, "{command}");
    }
    let stats = run("broken.data", &file, &["report", "--stats"]);
    assert!(
        lossy(&stats.stdout).contains("SAMPLE events:         18"),
        "{}",
        lossy(&stats.stdout)
    );
    assert_eq!(lossy(&stats.stderr), warnings);
}

#[test]
fn a_record_too_small_for_its_kind_is_named_with_its_offset() {
    let event = "event cycles sample=IP|TID|TIME flags=sample_id_all";
    let mapping = "mmap2 mode=user pid=7 tid=7 0x400000+0x1000@0 prot=5 flags=2 /bin/deep";
    let text = format!("{event}\n{mapping}\nsample mode=user ip=0x400010 pid=7 tid=7 time=1000\n");
    let mut file = Recording::parse(&text).unwrap().to_file();
    let mapping = place(&file, 0);
    file[mapping + 6..mapping + 8].copy_from_slice(&16u16.to_ne_bytes());
    let report = run("small.data", &file, &["report", "--stdio"]);
    let stderr = lossy(&report.stderr);
    let line = format!("Warning: at offset {mapping:#x}: MMAP2 (10) event size 16 too small\n");
    assert!(stderr.contains(&line), "{stderr}");
    assert!(
        stderr.contains("Warning:\n1 records could not be decoded\n"),
        "{stderr}"
    );
    assert_eq!(report.status.code(), Some(0));
}

#[test]
fn only_the_first_of_many_are_told_one_by_one() {
    let record = |kind: u64, words: &[u64]| {
        let head = kind | (8 + 8 * words.len() as u64) << 48;
        std::iter::once(head)
            .chain(words.iter().copied())
            .flat_map(u64::to_ne_bytes)
            .collect::<Vec<u8>>()
    };
    let attr = oxperf_abi::EventAttr {
        sample_type: oxperf_abi::SampleType::IP,
        ..Default::default()
    };
    let event = oxperf_data::WriterEvent {
        attr,
        name: "cycles".into(),
        ids: vec![],
    };
    let mut writer = oxperf_data::Writer::begin(Vec::new(), &[event]).unwrap();
    for _ in 0..100 {
        writer
            .append(
                &[
                    record(9, &[1]),
                    record(9, &[1]),
                    record(9, &[1]),
                    record(9, &[1]),
                ]
                .concat(),
            )
            .unwrap();
        writer.append(&record(1 << 20, &[u64::MAX])).unwrap();
    }
    let mut file = writer.finish(&Default::default()).unwrap();
    let data = Reader::open(&file).unwrap().data();
    for number in 0..100 {
        let at = data.offset as usize + 80 * number + 64;
        file[at..at + 8].fill(0xff);
    }
    let told = lossy(&run("many.data", &file, &["report", "--stats"]).stderr);
    assert_eq!(told.lines().count(), 33, "{told}");
    assert!(
        told.ends_with("Warning: 68 more damaged places, 1600 bytes of data lost in all\n"),
        "{told}"
    );
}
