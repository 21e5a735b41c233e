//! The commands that are run with failing calls.

use std::path::Path;

/// What a command does with recordings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// It reads the same recording each time, and says the same.
    Reads,
    /// As that, and what cannot be read is part of what it says.
    Examines,
    /// It makes a recording, into this file or, without one, to standard output.
    Records(Option<&'static str>),
}

/// A command line. `PROGRAM` stands for the program that the recordings say ran, `CACHE` for a cache of binaries that has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) words: &'static [&'static str],
    pub(crate) role: Role,
}

impl Case {
    /// The words of the command line, for inputs in this folder.
    pub(crate) fn words(&self, folder: &Path) -> Vec<String> {
        let path = |name| folder.join(name).display().to_string();
        let replaced = |word: &&str| {
            word.replace("PROGRAM", &path("tiny"))
                .replace("CACHE", &path("cache"))
        };
        self.words.iter().map(replaced).collect()
    }

    /// The command line for people.
    pub(crate) fn name(&self) -> String {
        self.words.join(" ")
    }
}

const fn reads(words: &'static [&'static str]) -> Case {
    Case {
        words,
        role: Role::Reads,
    }
}

/// The commands that read recordings.
pub(crate) const READING: [Case; 19] = [
    reads(&["report", "--stdio"]),
    reads(&["report", "--header-only"]),
    reads(&["script"]),
    reads(&["script", "-D"]),
    reads(&["annotate", "--stdio"]),
    reads(&["diff", "perf.data", "other.data"]),
    reads(&["evlist", "-v"]),
    reads(&["buildid-list"]),
    Case {
        words: &["data", "check"],
        role: Role::Examines,
    },
    reads(&["data", "convert", "--to-perf", "made.data"]),
    reads(&["data", "convert", "--to-json", "made.json"]),
    reads(&["data", "convert", "--to-ctf", "made.ctf"]),
    reads(&["export", "--format", "folded"]),
    reads(&["export", "--format", "firefox", "-o", "made.firefox"]),
    Case {
        words: &["symbols"],
        role: Role::Examines,
    },
    reads(&["bundle", "-o", "made.tar.zst"]),
    reads(&["archive", "--all", "--buildid-dir", "CACHE"]),
    reads(&["buildid-cache", "--add", "PROGRAM"]),
    reads(&["report", "--stdio", "-i", "bundled.tar.zst"]),
];

const fn records(words: &'static [&'static str], into: Option<&'static str>) -> Case {
    Case {
        words,
        role: Role::Records(into),
    }
}

/// The commands that record. Software events, so that they run anywhere.
pub(crate) const RECORDING: [Case; 3] = [
    records(
        &[
            "record",
            "-e",
            "task-clock:u",
            "-o",
            "made.data",
            "--",
            "PROGRAM",
        ],
        Some("made.data"),
    ),
    records(
        &[
            "record",
            "-z",
            "-g",
            "-e",
            "task-clock:u",
            "-o",
            "made.data",
            "--",
            "PROGRAM",
        ],
        Some("made.data"),
    ),
    records(
        &["record", "-e", "task-clock:u", "-o", "-", "--", "PROGRAM"],
        None,
    ),
];
