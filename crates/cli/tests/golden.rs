//! Goldens: recordings in text notation, commands, and what they print; each command is a test of its own.
//!
//! A case is a folder below `tests/golden`: `recording.txt` (the notation of `oxperf-testkit`) becomes `perf.data`,
//! and each line `FILE: ARGUMENTS` of `COMMANDS` is run over it; its output must be what FILE holds. Everything
//! beside, such as `kallsyms`, is there for the commands; NAME`.elf.txt` (the notation of `Image`) becomes NAME.
//! The test of a line is called `CASE::FILE`, without what stands behind the file's last dot where that is `txt`:
//! `cargo test -p oxperf --test golden -- chains::` runs those of a case. `cargo xtask bless` rewrites the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use oxperf_testkit::{Image, Recording};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let trials: Vec<Trial> = cases(&root).iter().flat_map(|case| trials(case)).collect();
    assert!(!trials.is_empty(), "no case below {}", root.display());
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn cases(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    cases.sort();
    cases
}

/// Returns a test for each command of a case, in a folder that they share and only read.
fn trials(case: &Path) -> Vec<Trial> {
    let name = case.file_name().unwrap().to_string_lossy().into_owned();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("golden")
        .join(&name);
    prepare(case, &folder);
    let commands = fs::read_to_string(case.join("COMMANDS")).unwrap();
    let lines = commands
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let trial = |line: &str| {
        let (file, arguments) = line.split_once(": ").expect("a line is FILE: ARGUMENTS");
        let golden = Golden {
            expected: case.join(file),
            folder: folder.clone(),
            arguments: arguments.to_owned(),
        };
        let short = file.strip_suffix(".txt").unwrap_or(file);
        Trial::test(format!("{name}::{short}"), move || golden.check())
    };
    lines.map(trial).collect()
}

/// Makes the folder with the recording and everything that lies beside it in the case.
fn prepare(case: &Path, folder: &Path) {
    copy(case, folder);
    let notation = fs::read_to_string(case.join("recording.txt")).unwrap();
    let recording =
        Recording::parse(&notation).unwrap_or_else(|error| panic!("{}: {error}", case.display()));
    fs::write(folder.join("perf.data"), recording.to_file()).unwrap();
}

/// Copies a folder with all below it; images in notation become files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else if let Some(image) = name.strip_suffix(".elf.txt") {
            let parsed = Image::parse(&fs::read_to_string(&path).unwrap());
            let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            fs::write(to.join(image), parsed.to_file()).unwrap();
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// A command and the file with what it prints.
struct Golden {
    expected: PathBuf,
    /// Holds the recording; the command runs there.
    folder: PathBuf,
    arguments: String,
}

impl Golden {
    fn check(&self) -> Result<(), Failed> {
        let printed = self.run();
        if std::env::var_os("OXPERF_BLESS").is_some() {
            fs::write(&self.expected, &printed)?;
            return Ok(());
        }
        let expected = fs::read_to_string(&self.expected).unwrap_or_default();
        difference(&expected, &printed).map_or(Ok(()), |difference| {
            Err(format!("{}: {difference}", self.expected.display()).into())
        })
    }

    /// Returns the output, the exit code and the messages as one text.
    fn run(&self) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
            .args(self.arguments.split_whitespace())
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .env_remove("XDG_CACHE_HOME")
            .env("TZ", "UTC")
            .output()
            .unwrap();
        let text = stable(&String::from_utf8_lossy(&output.stdout));
        let code = output.status.code().unwrap_or(-1);
        let messages = String::from_utf8_lossy(&output.stderr);
        format!("{text}-- exit {code}\n{messages}")
    }
}

/// Returns the first difference of two texts.
fn difference(expected: &str, printed: &str) -> Option<String> {
    let mut lines = expected.lines().zip(printed.lines());
    if let Some((expected, printed)) = lines.find(|(expected, printed)| expected != printed) {
        return Some(format!("\n  expected {expected:?}\n  printed  {printed:?}"));
    }
    let count = |text: &str| text.lines().count();
    (expected != printed).then(|| {
        format!(
            "{} lines expected, {} printed",
            count(expected),
            count(printed)
        )
    })
}

/// Leaves out the lines that depend on when and where the test runs.
fn stable(text: &str) -> String {
    let changing = ["# captured on", "\t\t\"captured-on\"", "# (Tip:"];
    let kept = text
        .lines()
        .filter(|line| !changing.iter().any(|start| line.starts_with(start)));
    kept.map(|line| format!("{line}\n")).collect()
}
