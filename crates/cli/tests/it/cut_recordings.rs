//! Recordings that were not finished, that were cut, or that somebody cuts while they are read.

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use oxperf_abi::{EventAttr, SampleType};
use oxperf_data::{PackedAs, Packer, Writer, WriterEvent};
use oxperf_testkit::Recording;
use oxperf_wire::{Encoder, Endian};

use crate::support::{lossy, scratch};

const EVENT: &str = "event cycles sample=IP|TID|TIME flags=sample_id_all\n";

fn samples(count: u64) -> String {
    let sample = |number: u64| {
        let (ip, time) = (0x40_0000 + number, 1000 + number);
        format!("sample mode=user ip={ip:#x} pid=7 tid=7 time={time}\n")
    };
    (0..count).map(sample).collect()
}

fn folder() -> PathBuf {
    scratch(module_path!())
}

fn write(name: &str, file: &[u8]) -> PathBuf {
    let path = folder().join(name);
    fs::write(&path, file).unwrap();
    path
}

fn run(arguments: &[&str], name: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
    command
        .args(arguments)
        .args(["-i", name])
        .current_dir(folder())
        .output()
        .unwrap()
}

fn lines(bytes: &[u8]) -> usize {
    String::from_utf8_lossy(bytes).lines().count()
}

/// The file of a recorder that was killed after it compressed 500 samples; with or without a checkpoint.
fn killed_while_compressing(packed_as: PackedAs, checkpoint: bool) -> Vec<u8> {
    let records = Recording::parse(&format!("{EVENT}{}", samples(500)))
        .unwrap()
        .records()
        .concat();
    let attr = EventAttr {
        sample_type: SampleType::IP | SampleType::TID | SampleType::TIME,
        ..EventAttr::default()
    };
    let event = WriterEvent {
        attr,
        name: "cycles".into(),
        ids: vec![],
    };
    let mut packed = Encoder::new(Endian::Little);
    let mut packer = Packer::new(3, packed_as).unwrap();
    records
        .chunks(4000)
        .for_each(|piece| packer.pack(piece, &mut packed).unwrap());
    let mut file = Vec::new();
    let mut writer = Writer::begin(&mut file, &[event]).unwrap();
    writer.append(packed.as_bytes()).unwrap();
    if checkpoint {
        writer.checkpoint().unwrap();
    }
    file
}

#[test]
fn what_a_killed_recorder_compressed_is_shown_by_every_command() {
    if cfg!(target_endian = "big") {
        return;
    }
    let forms = [
        (PackedAs::Exact, true),
        (PackedAs::Exact, false),
        (PackedAs::Padded, true),
    ];
    for (number, (packed_as, checkpoint)) in forms.into_iter().enumerate() {
        let (name, converted) = (
            format!("killed-{number}.data"),
            format!("killed-{number}.plain.data"),
        );
        write(&name, &killed_while_compressing(packed_as, checkpoint));
        let script = run(&["script", "-F", "ip"], &name);
        assert_eq!(
            (lines(&script.stdout), script.status.code()),
            (500, Some(0)),
            "{name}"
        );
        let told = lossy(&script.stderr);
        assert_eq!(
            told.matches("Warning: the recorder did not finish: ")
                .count(),
            1,
            "{name}: {told}"
        );
        let stats = lossy(&run(&["report", "--stats"], &name).stdout);
        assert!(
            stats.contains("SAMPLE events:        500"),
            "{name}: {stats}"
        );
        let report = lossy(&run(&["report", "--stdio"], &name).stdout);
        assert!(report.contains("# Samples: 500"), "{name}: {report}");
        let check = run(&["data", "check"], &name);
        let told = lossy(&check.stdout);
        assert!(
            told.contains("500 of them samples") && told.contains("the recorder did not finish"),
            "{told}"
        );
        assert_eq!(check.status.code(), Some(1));
        let convert = run(
            &["data", "convert", "--force", "--to-perf", &converted],
            &name,
        );
        assert!(convert.status.success(), "{}", lossy(&convert.stderr));
        let script = run(&["script", "-F", "ip"], &converted);
        assert_eq!(
            (lines(&script.stdout), lossy(&script.stderr)),
            (500, String::new()),
            "{name}"
        );
    }
}

#[test]
fn a_file_that_was_closed_is_whole() {
    for (text, verdict) in [(samples(3), 0), ("finished_round\n".to_owned(), 0)] {
        let file = Recording::parse(&format!("{EVENT}{text}feature hostname string=vm"))
            .unwrap()
            .to_file();
        write("closed.data", &file);
        assert_eq!(
            run(&["data", "check"], "closed.data").status.code(),
            Some(verdict)
        );
    }
    let file = Recording::parse(&format!("file unfinished=1\n{EVENT}{}", samples(3)))
        .unwrap()
        .to_file();
    write("unfinished.data", &file);
    assert_eq!(
        run(&["data", "check"], "unfinished.data").status.code(),
        Some(1)
    );
}

/// Commands that read a recording, with what they need.
const COMMANDS: [&[&str]; 9] = [
    &["report", "--stdio"],
    &["report", "--stats"],
    &["report", "--header-only"],
    &["script"],
    &["script", "-D"],
    &["annotate", "--stdio"],
    &["evlist"],
    &["buildid-list"],
    &["data", "convert", "--force", "--to-json", "/dev/null"],
];

#[test]
fn a_file_without_a_sample_left_is_refused_and_one_with_some_is_read() {
    let events = format!("{EVENT}comm pid=7 tid=7 sleep | time=90\n{}", samples(20));
    let recording = Recording::parse(&format!("{events}feature hostname string=vm")).unwrap();
    let whole = recording.to_file();
    let first = oxperf_data::Reader::open(&whole).unwrap().data().offset as usize
        + recording.records()[0].len();
    let second = first + recording.records()[1].len();
    for length in [0, 8, 103, 104, 200, first - 1, first, second - 1] {
        write("cut.data", &whole[..length]);
        for command in COMMANDS {
            let output = run(command, "cut.data");
            let told = lossy(&output.stderr);
            assert_eq!(
                output.status.code(),
                Some(255),
                "{command:?} of {length} bytes: {told}"
            );
            assert!(
                output.stdout.is_empty() && !told.is_empty(),
                "{command:?} of {length} bytes"
            );
        }
    }
    for length in [second, second + 100, whole.len() - 1, whole.len()] {
        write("cut.data", &whole[..length]);
        for command in COMMANDS
            .into_iter()
            .filter(|command| command[0] != "annotate")
        {
            let output = run(command, "cut.data");
            assert_eq!(
                output.status.code(),
                Some(0),
                "{command:?} of {length}: {}",
                lossy(&output.stderr)
            );
        }
    }
    let empty = Recording::parse(&format!(
        "{EVENT}finished_round\nfeature hostname string=vm"
    ));
    let empty = empty.unwrap().to_file();
    write("cut.data", &empty);
    assert_eq!(
        run(&["report", "--stdio"], "cut.data").status.code(),
        Some(0)
    );
}

#[test]
fn a_recording_that_is_truncated_while_it_is_read_is_told() {
    // Rounds let it show samples before it has read all.
    let rounds: String = samples(40_000)
        .lines()
        .enumerate()
        .map(|(at, line)| match at % 500 {
            0 => format!("finished_round\n{line}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let file = Recording::parse(&format!("{EVENT}{rounds}"))
        .unwrap()
        .to_file();
    let path = write("truncated.data", &file);
    let mut script = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(["script", "-D", "-i", "truncated.data"])
        .current_dir(folder())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = script.stdout.take().unwrap();
    out.read_exact(&mut [0; 100]).unwrap();
    // The text of all samples is longer than any buffer on its way: most of the file was not read yet.
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(100_000)
        .unwrap();
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).unwrap();
    drop(out);
    let output = script.wait_with_output().unwrap();
    let told = lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(255), "{told}");
    assert_eq!(
        told.matches("truncated.data: truncated while it was read")
            .count(),
        1,
        "{told}"
    );
    assert!(told.contains("Warning: no records from "), "{told}");
    let samples = lossy(&rest).matches("PERF_RECORD_SAMPLE(").count();
    assert!((1000..39_000).contains(&samples), "{samples}");
}

#[test]
fn compressed_records_that_hold_too_much_are_told() {
    if cfg!(target_endian = "big") {
        return;
    }
    let attr = EventAttr {
        sample_type: SampleType::IP,
        ..EventAttr::default()
    };
    let mut writer = Writer::begin(
        Vec::new(),
        &[WriterEvent {
            attr,
            ..WriterEvent::default()
        }],
    )
    .unwrap();
    let (mut packer, mut packed) = (
        Packer::new(3, PackedAs::Exact).unwrap(),
        Encoder::new(Endian::Little),
    );
    let rounds = Recording::parse("event cycles sample=IP\nfinished_round")
        .unwrap()
        .records()[0]
        .repeat(32 << 10);
    (0..600).for_each(|_| packer.pack(&rounds, &mut packed).unwrap());
    let size = packed.len() as u64;
    assert!(
        600 * rounds.len() as u64 > (1 << 20) + 4096 * size,
        "{size}"
    );
    writer.append(packed.as_bytes()).unwrap();
    let mut features = oxperf_data::FeatureSet::new();
    features.insert(&packer.feature());
    write("inflated.data", &writer.finish(&features).unwrap());
    let check = lossy(&run(&["data", "check", "--json"], "inflated.data").stdout);
    assert!(check.contains("\"kind\":\"inflated\""), "{check}");
    let told = lossy(&run(&["script"], "inflated.data").stderr);
    assert!(
        told.contains(" bytes, which no recorder writes: "),
        "{told}"
    );
}
