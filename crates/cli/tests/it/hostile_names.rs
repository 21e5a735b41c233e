//! Names that would steer a terminal: in the thread's name, in a map of code made at run time, in the path of an object. Every
//! command prints them harmlessly.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use oxperf_testkit::Recording;

use crate::support::scratch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");
/// Clears the screen, sets the title, writes over the line.
const HOSTILE: &str = "x\x1b[2J\x1b]0;title\x07\r\x08\x7f\u{9b}31m";

/// A folder with the recorded machine's files, and the recording; made once for all tests.
fn prepared() -> (PathBuf, PathBuf) {
    static PREPARED: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    PREPARED.get_or_init(prepare).clone()
}

fn prepare() -> (PathBuf, PathBuf) {
    let folder = scratch(module_path!()).join("hostile-names");
    fs::create_dir_all(folder.join("root/tmp")).unwrap();
    let map = format!("7000 100 {HOSTILE}made\n");
    fs::write(folder.join("root/tmp/perf-9.map"), map).unwrap();
    // The notation knows no such bytes: they take the place of others of the same number.
    let stand_in = |byte: char| byte.to_string().repeat(HOSTILE.len());
    let (comm, path) = (stand_in('c'), stand_in('p'));
    let text = format!(
        "event cpu-clock sample=IP|TID|TIME|PERIOD|CALLCHAIN flags=sample_id_all\n\
         comm pid=9 tid=9 {}\n\
         mmap2 mode=user pid=9 tid=9 0x4000+0x1000@0 prot=5 flags=2 /{path}\n\
         mmap2 mode=user pid=9 tid=9 0x7000+0x1000@0 prot=5 flags=2 //anon\n\
         sample mode=user ip=0x7010 pid=9 tid=9 time=1 period=10 chain=user,0x7010,0x4010\n\
         sample mode=user ip=0x4010 pid=9 tid=9 time=2 period=10 chain=user,0x4010\n",
        &comm[..15],
    );
    let mut bytes = Recording::parse(&text).unwrap().to_file();
    replace(
        &mut bytes,
        &comm.as_bytes()[..15],
        &HOSTILE.as_bytes()[..15],
    );
    replace(&mut bytes, path.as_bytes(), HOSTILE.as_bytes());
    let recording = folder.join("perf.data");
    fs::write(&recording, bytes).unwrap();
    (folder, recording)
}

fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    assert_eq!(old.len(), new.len());
    let places: Vec<usize> = (0..bytes.len() - old.len())
        .filter(|&at| bytes[at..].starts_with(old))
        .collect();
    assert!(!places.is_empty());
    places
        .iter()
        .for_each(|&at| bytes[at..at + new.len()].copy_from_slice(new));
}

/// Returns what a command writes to both of its outputs.
fn output(words: &[&str]) -> String {
    let (folder, recording) = prepared();
    let output = Command::new(PROGRAM)
        .args(words)
        .arg("-i")
        .arg(recording)
        .arg("--symfs")
        .arg(folder.join("root"))
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

#[test]
fn no_command_prints_what_steers_a_terminal() {
    let commands: [&[&str]; 10] = [
        &["report", "--stdio"],
        &["report", "--stdio", "-s", "comm,dso,sym,srcline"],
        &["report", "--tasks"],
        &["report", "--mmaps"],
        &[
            "script",
            "--show-mmap-events",
            "--show-task-events",
            "-F",
            "+srcline",
        ],
        &["script", "-D"],
        &["annotate", "--stdio"],
        &["symbols"],
        &["symbols", "--json"],
        &["data", "check"],
    ];
    for words in commands {
        let text = match words {
            ["data", "check"] => checked(),
            _ => output(words),
        };
        let steering = text
            .chars()
            .find(|char| char.is_control() && !matches!(char, '\n' | '\t'));
        assert_eq!(steering, None, "{words:?}: {text:?}");
    }
}

fn checked() -> String {
    let (_, recording) = prepared();
    let output = Command::new(PROGRAM)
        .args(["data", "check"])
        .arg(recording)
        .output()
        .unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn the_names_are_still_told() {
    let text = output(&["script"]);
    assert!(text.contains("made") && text.contains(r"\x1b[2J"), "{text}");
}

#[test]
fn exported_files_hold_no_raw_control_characters_in_text_formats() {
    for format in ["folded", "speedscope", "firefox", "callgrind"] {
        let text = output(&["export", "--format", format, "-o", "-"]);
        let steering = text
            .chars()
            .find(|char| char.is_control() && !matches!(char, '\n' | '\t'));
        assert_eq!(steering, None, "{format}: {text:?}");
    }
}

/// Names longer than the widths that `format!` knows end no command.
#[test]
fn names_of_any_length_are_shown() {
    let (folder, recording) = prepared();
    let root = folder.join("long");
    fs::create_dir_all(root.join("tmp")).unwrap();
    let name = "n".repeat(70_000);
    fs::write(root.join("tmp/perf-9.map"), format!("7000 100 {name}\n")).unwrap();
    let commands: [&[&str]; 7] = [
        &["report", "--stdio"],
        &[
            "report",
            "--stdio",
            "-s",
            "sym,symoff,cpu,cycles",
            "-w",
            "70000,70000,70000,70000",
        ],
        &[
            "report",
            "--stdio",
            "-s",
            "sym,mispredict,symbol_from,symbol_to",
        ],
        &["script"],
        &["annotate", "--stdio"],
        &["symbols"],
        &["diff"],
    ];
    for words in commands {
        let mut command = Command::new(PROGRAM);
        command.args(words).env("HOME", "/nonexistent");
        match words {
            ["diff"] => command.args([&recording, &recording]),
            _ => command.arg("-i").arg(&recording),
        };
        let output = command.arg("--symfs").arg(&root).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code().is_some_and(|code| code != 101),
            "{words:?}: {said}"
        );
        assert!(!said.contains("panicked"), "{words:?}: {said}");
        if matches!(words, ["report", "--stdio"] | ["script"] | ["diff"]) {
            assert!(
                String::from_utf8_lossy(&output.stdout).contains(&name),
                "{words:?}: {said}"
            );
        }
    }
}
