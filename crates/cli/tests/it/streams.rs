//! A recording through a pipe: the commands print what they print of the same recording in a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use oxperf_abi::RecordType;
use oxperf_data::Reader;
use oxperf_testkit::Recording;
use oxperf_wire::Encoder;

use crate::support::{piped, scratch};

/// The recording of a golden case, as a file.
fn recording(case: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(case)
        .join("recording.txt");
    Recording::parse(&fs::read_to_string(path).unwrap())
        .unwrap()
        .to_file()
}

/// The same recording as `record -o -` writes it.
fn stream(file: &[u8]) -> Vec<u8> {
    let reader = Reader::open(file).unwrap();
    let mut out = Encoder::new(reader.endian());
    out.u64(u64::from_le_bytes(*b"PERFILE2"));
    out.u64(16);
    for event in reader.events() {
        out.record(RecordType::HEADER_ATTR, Default::default(), |body| {
            event.stored.encode(body);
            event.ids.iter().for_each(|id| body.u64(id.0));
        });
    }
    for id in reader.features().bits().iter() {
        let bytes = reader.features().raw(id).unwrap().unwrap();
        out.record(RecordType::HEADER_FEATURE, Default::default(), |body| {
            body.u64(u64::from(id.0));
            body.bytes(bytes);
        });
    }
    out.bytes(reader.data().slice(file));
    out.into_bytes()
}

/// Runs a command with these bytes on its standard input.
fn streamed(arguments: &[&str], bytes: &[u8]) -> Output {
    piped(&scratch(module_path!()), arguments, bytes)
}

fn cases() -> Vec<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folders = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir());
    folders
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn samples_through_a_pipe_look_as_from_a_file() {
    // Recordings of counts have no samples and none of these fields; "dump" has both, and renames its events on the way.
    let has_counts = |case: &&String| case.starts_with("stat-") || *case == "dump";
    for case in cases().iter().filter(|case| !has_counts(case)) {
        let file = recording(case);
        let path = scratch(module_path!()).join(format!("{case}.stream-test"));
        fs::write(&path, &file).unwrap();
        // A stream may rename its events on the way.
        let fields = "comm,tid,time,ip,sym";
        let from_file = Command::new(env!("CARGO_BIN_EXE_oxperf"))
            .args(["script", "-F", fields, "-i"])
            .arg(&path)
            .output()
            .unwrap();
        let from_pipe = streamed(&["script", "-F", fields], &stream(&file));
        let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text(&from_pipe), text(&from_file), "{case}");
        assert_eq!(from_pipe.status.code(), from_file.status.code(), "{case}");
    }
}

#[test]
fn a_file_comes_through_a_pipe() {
    for case in cases() {
        let file = recording(&case);
        let path = scratch(module_path!()).join(format!("{case}.pipe-test"));
        fs::write(&path, &file).unwrap();
        for command in [&["script"][..], &["report", "--stats"], &["evlist", "-v"]] {
            let mut named = Command::new(env!("CARGO_BIN_EXE_oxperf"));
            let named = named.args(command).arg("-i").arg(&path).output().unwrap();
            let through = streamed(&[command, &["-i", "-"]].concat(), &file);
            assert_eq!(
                through.status.code(),
                named.status.code(),
                "{case}: {command:?}"
            );
            assert_eq!(through.stdout, named.stdout, "{case}: {command:?}");
        }
    }
}

#[test]
fn a_call_graph_of_a_stream_without_chains_is_a_table() {
    let bytes = stream(&recording("two-events"));
    let graph = streamed(&["report", "--stdio", "-i", "-", "-g", "caller"], &bytes);
    let text = String::from_utf8(graph.stdout).unwrap();
    assert!(
        text.contains("100.00%") || text.contains("# Overhead"),
        "{text}"
    );
    let file = streamed(
        &["report", "--stdio", "-i", "-", "-g", "caller"],
        &recording("two-events"),
    );
    assert!(
        String::from_utf8(file.stderr)
            .unwrap()
            .contains("Selected -g")
    );
}

#[test]
fn what_is_no_recording_is_refused() {
    let output = streamed(&["script", "-i", "-"], &b"once upon a time ".repeat(1000));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(255));
    assert!(error.contains("incompatible file format"), "{error}");
}

/// What a terminal is told while `bytes` come through a pipe, the last 3 MB of them after more than half a second.
fn told_to_a_terminal(bytes: &[u8], redirected: &str) -> Option<String> {
    let folder = scratch(module_path!()).join(format!("progress-{}", redirected.len()));
    fs::create_dir_all(&folder).unwrap();
    let (first, second) = bytes.split_at(bytes.len() - (3 << 20));
    fs::write(folder.join("first"), first).unwrap();
    fs::write(folder.join("second"), second).unwrap();
    let program = env!("CARGO_BIN_EXE_oxperf");
    let line = format!("(cat first; sleep 1; cat second) | '{program}' script -i - {redirected}");
    let mut terminal = Command::new("script");
    terminal
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder)
        .env("TERM", "xterm")
        .stdin(Stdio::null());
    match terminal.output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            eprintln!("SKIPPED: there is no program `script` to make a terminal: {error}");
            None
        }
    }
}

#[test]
fn a_terminal_is_told_how_far_a_long_read_is() {
    let file = recording("chains");
    let mut bytes = stream(&file);
    let data = Reader::open(&file).unwrap().data().slice(&file).to_vec();
    bytes.extend(data.repeat((4 << 20) / data.len()));
    let Some(told) = told_to_a_terminal(&bytes, ">/dev/null") else {
        return;
    };
    assert!(told.contains(" MB read, "), "{told:?}");
    assert!(
        told.contains("MB/s\x1b[K\r\x1b[K"),
        "the line stays: {told:?}"
    );
    let Some(told) = told_to_a_terminal(&bytes, "2>/dev/null >/dev/null") else {
        return;
    };
    assert_eq!(told, "", "not on a terminal");
}
