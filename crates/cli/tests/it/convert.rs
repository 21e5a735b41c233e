//! `data convert` and `data check`: what they write, and what they refuse.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oxperf_abi::{EventAttr, EventId};
use oxperf_data::features::{EventDesc, NamedEvent};
use oxperf_data::{FeatureSet, Reader, Writer};
use oxperf_testkit::Recording;
use oxperf_wire::StoredAttr;

use crate::support::scratch;

/// A folder for a test, with the recording of a golden case in it.
fn folder(test: &str, case: &str) -> PathBuf {
    let folder = scratch(module_path!()).join("convert").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let notation = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(case)
        .join("recording.txt");
    let recording = Recording::parse(&fs::read_to_string(notation).unwrap()).unwrap();
    fs::write(folder.join("perf.data"), recording.to_file()).unwrap();
    folder
}

fn oxperf(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
    command
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

/// Returns what a command that fails says last.
fn refusal(folder: &Path, arguments: &str) -> (Option<i32>, String) {
    let output = oxperf(folder, arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (
        output.status.code(),
        text.lines().last().unwrap_or_default().to_owned(),
    )
}

#[test]
fn a_killed_recording_becomes_one_that_was_closed() {
    let folder = folder("killed", "killed");
    let converted = oxperf(&folder, "data convert -i perf.data --to-perf plain.data");
    assert_eq!(
        converted.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&converted.stderr)
    );
    let (before, after) = (
        oxperf(&folder, "script -i perf.data"),
        oxperf(&folder, "script -i plain.data"),
    );
    assert!(!before.stdout.is_empty() && !before.stderr.is_empty());
    assert_eq!(
        (&before.stdout, after.stderr.as_slice()),
        (&after.stdout, &[][..])
    );
}

#[test]
fn a_big_endian_recording_becomes_one_of_this_machine() {
    let folder = folder("foreign", "big-endian");
    assert!(
        fs::read(folder.join("perf.data"))
            .unwrap()
            .starts_with(b"2ELIFREP")
    );
    assert_eq!(
        oxperf(&folder, "data convert -i perf.data --to-perf plain.data")
            .status
            .code(),
        Some(0)
    );
    assert!(
        fs::read(folder.join("plain.data"))
            .unwrap()
            .starts_with(&u64::from_le_bytes(*b"PERFILE2").to_ne_bytes())
    );
    for command in ["script", "evlist -v", "report --stats"] {
        let print = |file| oxperf(&folder, &format!("{command} -i {file}")).stdout;
        assert_eq!(print("perf.data"), print("plain.data"), "{command}");
    }
}

#[test]
fn attributes_of_a_newer_kernel_are_read_and_told_once() {
    let folder = folder("newer", "threads");
    let stored = StoredAttr {
        attr: EventAttr::default(),
        size: 160,
        extra: vec![9; 16],
    };
    let event = NamedEvent {
        stored,
        name: "cycles".into(),
        ids: vec![EventId(1)],
    };
    let writer = Writer::begin_described(
        Vec::new(),
        EventDesc {
            events: vec![event],
        },
    )
    .unwrap();
    let file = writer.finish(&FeatureSet::new()).unwrap();
    let written = Reader::open(&file).unwrap();
    assert_eq!(written.events()[0].stored.extra, [9; 16]);
    fs::write(folder.join("newer.data"), &file).unwrap();

    let listed = oxperf(&folder, "evlist -i newer.data");
    assert_eq!(listed.stdout, b"cycles\n");
    let said = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert_eq!(
        said.matches("16 bytes of the events' attributes are not understood")
            .count(),
        1,
        "{said}"
    );
    let converted = oxperf(&folder, "data convert -i newer.data --to-perf plain.data");
    assert!(
        String::from_utf8_lossy(&converted.stderr)
            .contains("1 events have settings that are newer")
    );
    let listed = oxperf(&folder, "evlist -i plain.data");
    assert_eq!(
        (&listed.stdout[..], &listed.stderr[..]),
        (&b"cycles\n"[..], &[][..])
    );
    let checked = oxperf(&folder, "data check newer.data");
    assert!(
        String::from_utf8_lossy(&checked.stdout)
            .contains("1 with settings newer than this program")
    );
}

#[test]
fn what_cannot_be_read_is_told_in_words_and_in_json() {
    let folder = folder("unreadable", "threads");
    fs::write(folder.join("text"), "hello").unwrap();
    let checked = oxperf(&folder, "data check text");
    assert_eq!(checked.status.code(), Some(2));
    assert!(checked.stdout.starts_with(b"text: unreadable\n") && checked.stderr.is_empty());
    let checked = oxperf(&folder, "data check --json nothing");
    let object =
        br#"{"oxperf_data_check":1,"file":"nothing","verdict":"unreadable","reason":"failed to open"#;
    assert!(checked.status.code() == Some(2) && checked.stdout.starts_with(object));
}

#[test]
fn nothing_is_overwritten_unasked() {
    let folder = folder("overwrite", "threads");
    let before = fs::read(folder.join("perf.data")).unwrap();
    let exists = (
        Some(255),
        "Output file exists. Use --force to overwrite it.".to_owned(),
    );
    assert_eq!(
        refusal(&folder, "data convert -i perf.data --to-perf perf.data"),
        exists
    );
    let (code, text) = refusal(
        &folder,
        "data convert -f -i perf.data --to-perf ./perf.data",
    );
    assert!(
        code == Some(255) && text.contains("the recording itself"),
        "{code:?} {text}"
    );
    assert_eq!(fs::read(folder.join("perf.data")).unwrap(), before);

    fs::write(folder.join("old"), "old").unwrap();
    assert_eq!(
        oxperf(&folder, "data convert -f -i perf.data --to-perf old")
            .status
            .code(),
        Some(0)
    );
    assert!(
        fs::read(folder.join("old"))
            .unwrap()
            .starts_with(b"PERFILE2")
    );
}

#[test]
fn mistakes_have_the_exit_codes_of_perf() {
    let folder = folder("mistakes", "threads");
    let codes = [
        "data",
        "data bogus",
        "data convert",
        "data convert -i none --to-perf x",
    ]
    .map(|arguments| oxperf(&folder, arguments).status.code());
    assert_eq!(codes, [Some(129), Some(129), Some(255), Some(255)]);
}
