//! The library that makes calls fail, and what it says of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kinds of calls, in the order in which the library counts them.
pub(crate) const KINDS: [&str; 14] = [
    "read",
    "write",
    "mmap",
    "poll",
    "open",
    "descriptor",
    "fork",
    "thread",
    "alloc",
    "change",
    "stat",
    "ioctl",
    "perf_event",
    "wait",
];

/// Bytes that the library keeps for the name of what it made to fail.
const WHAT: usize = 240;

/// The call that fails, and its error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// One of [`KINDS`].
    pub(crate) kind: &'static str,
    /// The number of the call, from 1.
    pub(crate) at: u64,
    /// The error number; 0 makes reads and writes short.
    pub(crate) errno: i32,
    /// All later calls fail, too.
    pub(crate) forever: bool,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rest = if self.forever {
            " and all later ones"
        } else {
            ""
        };
        write!(f, "{} {}{rest} with {}", self.kind, self.at, self.errno)
    }
}

/// The library and a program to look at, built by the machine's compiler.
pub(crate) struct Built {
    pub(crate) library: PathBuf,
    pub(crate) program: PathBuf,
}

/// Builds both; `None` where there is no compiler, or a C library whose calls the library does not know.
pub(crate) fn build(folder: &Path) -> Option<Built> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults");
    let built = Built {
        library: folder.join("preload.so"),
        program: folder.join("tiny"),
    };
    let compile = |options: &[&str], source: &str, to: &Path| {
        let output = Command::new("cc")
            .args(options)
            .arg("-o")
            .arg(to)
            .arg(sources.join(source))
            .output()
            .ok()?;
        if !output.status.success() {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        }
        output.status.success().then_some(())
    };
    compile(
        &["-O1", "-Wall", "-shared", "-fPIC"],
        "preload.c",
        &built.library,
    )?;
    compile(&["-O1", "-g", "-no-pie"], "tiny.c", &built.program)?;
    Some(built)
}

/// What the library counted and did in a run.
#[derive(Clone, Debug)]
pub(crate) struct State {
    counts: [u64; KINDS.len()],
    /// Number of calls that were made to fail.
    pub(crate) injected: u64,
    /// The first of them, and its file.
    pub(crate) what: String,
}

impl State {
    /// Makes the file that the library maps.
    pub(crate) fn prepare(file: &Path) {
        fs::write(file, vec![0; (KINDS.len() + 1) * 8 + WHAT]).unwrap();
    }

    /// Reads it after the run.
    pub(crate) fn read(file: &Path) -> State {
        let bytes = fs::read(file).unwrap();
        let (words, what) = bytes.split_at((KINDS.len() + 1) * 8);
        let word = |at: usize| u64::from_ne_bytes(words[at * 8..at * 8 + 8].try_into().unwrap());
        let what = what.split(|byte| *byte == 0).next().unwrap_or_default();
        State {
            counts: std::array::from_fn(word),
            injected: word(KINDS.len()),
            what: String::from_utf8_lossy(what).into_owned(),
        }
    }

    /// Number of calls of a kind.
    pub(crate) fn count(&self, kind: &str) -> u64 {
        let at = KINDS
            .iter()
            .position(|known| *known == kind)
            .expect("a kind that the library knows");
        self.counts[at]
    }
}
