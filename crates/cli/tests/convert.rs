//! `data convert`: what it writes, and what it refuses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oxperf_testkit::Recording;

/// A folder for a test, with the recording of a golden case in it.
fn folder(test: &str, case: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("convert").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let notation =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(case).join("recording.txt");
    let recording = Recording::parse(&fs::read_to_string(notation).unwrap()).unwrap();
    fs::write(folder.join("perf.data"), recording.to_file()).unwrap();
    folder
}

fn oxperf(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
    command.args(arguments.split_whitespace()).current_dir(folder).output().unwrap()
}

/// What a command that fails says last.
fn refusal(folder: &Path, arguments: &str) -> (Option<i32>, String) {
    let output = oxperf(folder, arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), text.lines().last().unwrap_or_default().to_owned())
}

#[test]
fn a_killed_recording_becomes_one_that_was_closed() {
    let folder = folder("killed", "killed");
    let converted = oxperf(&folder, "data convert -i perf.data --to-perf plain.data");
    assert_eq!(converted.status.code(), Some(0), "{}", String::from_utf8_lossy(&converted.stderr));
    let (before, after) = (oxperf(&folder, "script -i perf.data"), oxperf(&folder, "script -i plain.data"));
    assert!(!before.stdout.is_empty() && !before.stderr.is_empty());
    assert_eq!((&before.stdout, after.stderr.as_slice()), (&after.stdout, &[][..]));
}

#[test]
fn a_big_endian_recording_becomes_one_of_this_machine() {
    let folder = folder("foreign", "big-endian");
    assert!(fs::read(folder.join("perf.data")).unwrap().starts_with(b"2ELIFREP"));
    assert_eq!(oxperf(&folder, "data convert -i perf.data --to-perf plain.data").status.code(), Some(0));
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
fn nothing_is_overwritten_unasked() {
    let folder = folder("overwrite", "threads");
    let before = fs::read(folder.join("perf.data")).unwrap();
    let exists = (Some(255), "Output file exists. Use --force to overwrite it.".to_owned());
    assert_eq!(refusal(&folder, "data convert -i perf.data --to-perf perf.data"), exists);
    let (code, text) = refusal(&folder, "data convert -f -i perf.data --to-perf ./perf.data");
    assert!(code == Some(255) && text.contains("the recording itself"), "{code:?} {text}");
    assert_eq!(fs::read(folder.join("perf.data")).unwrap(), before);

    fs::write(folder.join("old"), "old").unwrap();
    assert_eq!(oxperf(&folder, "data convert -f -i perf.data --to-perf old").status.code(), Some(0));
    assert!(fs::read(folder.join("old")).unwrap().starts_with(b"PERFILE2"));
}

#[test]
fn mistakes_have_the_exit_codes_of_perf() {
    let folder = folder("mistakes", "threads");
    let codes = ["data", "data bogus", "data convert", "data convert -i none --to-perf x"]
        .map(|arguments| oxperf(&folder, arguments).status.code());
    assert_eq!(codes, [Some(129), Some(129), Some(255), Some(255)]);
}
