//! Packets of libipt's tests beside what its own dumper printed for them.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use intel_pt::packet::text::ptdump::{Dump, Options};

/// Options of libipt's dumper that have no part in what packets are: what they add to a text, and why we do not.
const NOT_OF_PACKETS: [(&str, &str); 4] = [
    ("--sb:", "records of perf between the packets"),
    ("--time", "time is a decoder's matter"),
    ("--tcal", "the calibration of clocks is a decoder's matter"),
    ("--cpu", "no packet depends on the processor"),
];

/// Tests whose texts show what the processor meant to write: errata SKD007 and SKZ84 poison packets, and only a decoder that
/// knows the processor can say.
const MEANT: [&str; 2] = ["skd007\t", "skz84\t"];

/// The set's files by name; `None`, aloud, where it is not there.
fn files() -> Option<BTreeMap<String, Vec<u8>>> {
    let shared = std::env::var_os("OXPERF_SHARED")
        .map_or_else(|| PathBuf::from("../../../shared"), PathBuf::from);
    let archive = shared.join("fixtures/public/intel-libipt/pttc-out.tar.zst");
    let Ok(packed) = std::fs::read(&archive) else {
        eprintln!("SKIPPED: there is no {}", archive.display());
        return None;
    };
    Some(unpack(&zstd::decode_all(&*packed).unwrap()))
}

/// The plain files of a tar archive, without their folders.
fn unpack(mut tar: &[u8]) -> BTreeMap<String, Vec<u8>> {
    const BLOCK: usize = 512;
    let mut files = BTreeMap::new();
    let mut long_name = None;
    while let Some((header, rest)) = tar
        .split_at_checked(BLOCK)
        .filter(|(header, _)| header[0] != 0)
    {
        let size = usize::from_str_radix(text(&header[124..135]), 8).unwrap();
        let content = rest[..size].to_vec();
        match header[156] {
            b'L' => long_name = Some(text(&content).to_owned()),
            b'0' => {
                let name = long_name
                    .take()
                    .unwrap_or_else(|| text(&header[..100]).to_owned());
                files.insert(name.rsplit('/').next().unwrap().to_owned(), content);
            }
            _ => long_name = None,
        }
        tar = &rest[size.next_multiple_of(BLOCK)..];
    }
    files
}

/// Text up to the first NUL.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes.split(|byte| *byte == 0).next().unwrap()).unwrap()
}

#[test]
fn packets_are_those_of_ptdump() {
    let Some(files) = files() else { return };
    let (mut whole, mut without) = (0, BTreeMap::new());
    let rows = text(&files["MANIFEST.tsv"]).lines().skip(1);
    for row in rows.filter(|row| !MEANT.iter().any(|test| row.starts_with(test))) {
        let [test, _, _, options, _, names] = *row.split('\t').collect::<Vec<_>>() else {
            panic!("{row}")
        };
        for name in names.split(' ').filter(|name| name.contains("-ptdump")) {
            let expected = packets(text(&files[name]), options);
            assert_eq!(
                ours(&files[&format!("{test}.pt")], options),
                expected,
                "{name} {options}"
            );
            match NOT_OF_PACKETS
                .iter()
                .find(|(option, _)| options.contains(option))
            {
                Some((_, reason)) => *without.entry(*reason).or_insert(0) += 1,
                None => whole += 1,
            }
        }
    }
    assert!(whole > 350, "only {whole} texts");
    eprintln!("{whole} texts are the same; the same but for what is not of packets: {without:?}");
}

/// Our lines, columns apart by one blank.
fn ours(trace: &[u8], options: &str) -> Vec<String> {
    let given = |option| options.split(' ').any(|word| word == option);
    let options = Options {
        sync: !given("--no-sync"),
        offset: !given("--no-offset"),
        raw: given("--raw"),
        last_ip: given("--lastip"),
        exec_mode: given("--exec-mode"),
        cyc: !given("--no-cyc"),
    };
    let mut out = Vec::new();
    while Dump::new(trace, options).write(usize::MAX, &mut out) {}
    String::from_utf8(out)
        .unwrap()
        .lines()
        .map(squeeze)
        .collect()
}

/// The lines of libipt's text that are packets, columns apart by one blank.
fn packets(expected: &str, options: &str) -> Vec<String> {
    let timed = options.contains("--time") || options.contains("--tcal");
    let is_packet = |line: &&str| {
        let of_clocks = [
            "calibration error:",
            "error updating time:",
            "error printing time:",
        ];
        let of_clocks = timed && of_clocks.iter().any(|error| line.contains(error));
        let of_records =
            options.contains("--sb:") && (line.contains("PERF_RECORD_") || line.starts_with(' '));
        !line.is_empty()
            && !of_clocks
            && !of_records
            && !line.contains("failed to determine errata")
    };
    let lines = expected.lines().filter(is_packet).map(squeeze);
    lines
        .map(|line| if timed { without_time(&line) } else { line })
        .collect()
}

/// Cuts off what follows the payload: ` tsc +40`, ` tsc 00000000000a0001`, ` fcr +0.250`.
fn without_time(line: &str) -> String {
    let time = line
        .rfind(" tsc ")
        .filter(|at| *at > "0000000000000000".len())
        .or_else(|| line.find(" fcr "));
    line[..time.unwrap_or(line.len())].to_owned()
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
