//! What `data convert --to-perf` writes opens in perf 6.1 and 7.2 without a warning, and shows the same samples there as
//! the recording shows here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use oxperf_testkit::Recording;

use crate::support::scratch;

/// Names of recordings whose form perf 6.1, 7.2 or both do not read.
const FORMS: [&str; 4] = ["pipe", "zstd", "threads", "stat"];

/// What perf says when something is wrong with a file.
const TROUBLE: [&str; 5] = [
    "WARNING",
    "ERROR",
    "incompatible",
    "failed",
    "properly terminated",
];

/// A recording that was made by hand, of a machine of the other byte order.
fn foreign(folder: &Path) -> PathBuf {
    let notation =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/big-endian/recording.txt");
    let recording = Recording::parse(&fs::read_to_string(notation).unwrap()).unwrap();
    let path = folder.join("foreign.data");
    fs::write(&path, recording.to_file()).unwrap();
    path
}

/// Recordings of all forms beside the project.
fn shared() -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("OXPERF_SHARED")
        .map_or(beside, PathBuf::from)
        .join("fixtures/recorded");
    let versions = fs::read_dir(&root)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let cases = versions.flat_map(|version| fs::read_dir(version).into_iter().flatten().flatten());
    let of_a_form = cases.filter(|case| {
        let name = case.file_name().to_string_lossy().into_owned();
        FORMS.iter().any(|form| name.contains(form))
    });
    let found: Vec<PathBuf> = of_a_form
        .map(|case| case.path().join("perf.data"))
        .filter(|path| path.exists())
        .collect();
    if found.is_empty() {
        eprintln!("SKIPPED: no recordings below {}", root.display());
    }
    found
}

fn run(program: &str, arguments: &[&str], recording: &Path) -> Option<Output> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .arg("-i")
        .arg(recording)
        .stdin(Stdio::null())
        .env("TZ", "UTC");
    command.output().ok()
}

/// The samples, by what every version prints alike but for blanks.
fn samples(program: &str, recording: &Path) -> Option<Output> {
    run(program, &["script", "-F", "tid,time"], recording)
}

/// The times of the samples; of a stream they are printed with call chains, of a file without.
fn times(output: &Output) -> Vec<f64> {
    let text = String::from_utf8_lossy(&output.stdout);
    let time = |word: &str| word.strip_suffix(':')?.parse().ok();
    text.split_whitespace().filter_map(time).collect()
}

/// Converts a recording and lets a perf open it; `None` when there is no such perf.
fn check(perf: &str, recording: &Path, converted: &Path) -> Option<()> {
    let oxperf = env!("CARGO_BIN_EXE_oxperf");
    let target = converted.to_str().unwrap();
    let output = run(
        oxperf,
        &["data", "convert", "-f", "--to-perf", target],
        recording,
    )?;
    assert!(
        output.status.success(),
        "{}: {output:?}",
        recording.display()
    );
    let found = [
        samples(perf, converted)?,
        run(perf, &["evlist", "-v"], converted)?,
    ];
    for output in &found {
        let said = String::from_utf8_lossy(&output.stderr);
        let trouble = TROUBLE.iter().find(|word| said.contains(**word));
        assert!(
            output.status.success() && trouble.is_none(),
            "{perf} of {}: {said}",
            recording.display()
        );
    }
    let here = times(&samples(oxperf, recording)?);
    // Of counts without samples perf shows the counts.
    assert!(
        here.is_empty() || here == times(&found[0]),
        "{perf} shows other samples of {}",
        recording.display()
    );
    Some(())
}

#[test]
fn perf_opens_what_was_converted() {
    let folder = scratch(module_path!()).join("perf-opens");
    fs::create_dir_all(&folder).unwrap();
    let recordings: Vec<PathBuf> = std::iter::once(foreign(&folder)).chain(shared()).collect();
    for perf in ["perf", "perf7"] {
        if recordings
            .iter()
            .try_for_each(|recording| check(perf, recording, &folder.join("plain")))
            .is_none()
        {
            eprintln!("SKIPPED: there is no {perf} here");
        }
    }
}
