//! `sweep --stacks`: `profile` over ordinary programs of several languages, compiled with and without frame pointers. Of the
//! samples of each so many have to reach the start of their thread; nobody says how stacks are to be taken.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::args::Args;
use crate::process::in_path;
use crate::{binary, workspace};

/// Of a hundred samples so many have to reach the start of their thread.
const WANTED: f64 = 97.0;

/// A program: what builds it, where it has to be built, and what runs it, in a folder with the sources.
struct Subject {
    name: &'static str,
    build: &'static str,
    run: &'static [&'static str],
}

const SUBJECTS: [Subject; 14] = [
    Subject {
        name: "c",
        build: "gcc -O2 work.c -o c",
        run: &["./c"],
    },
    Subject {
        name: "c-frame-pointers",
        build: "gcc -O2 -fno-omit-frame-pointer work.c -o c-frame-pointers",
        run: &["./c-frame-pointers"],
    },
    Subject {
        name: "c-static",
        build: "gcc -O2 -static work.c -o c-static",
        run: &["./c-static"],
    },
    Subject {
        name: "c-stripped",
        build: "gcc -O3 -s work.c -o c-stripped",
        run: &["./c-stripped"],
    },
    Subject {
        name: "c++",
        build: "g++ -O2 -pthread work.cpp -o c++",
        run: &["./c++"],
    },
    Subject {
        name: "c++-frame-pointers",
        build: "g++ -O2 -fno-omit-frame-pointer -pthread work.cpp -o c++-frame-pointers",
        run: &["./c++-frame-pointers"],
    },
    Subject {
        name: "rust",
        build: "rustc -O work.rs -o rust",
        run: &["./rust"],
    },
    Subject {
        name: "rust-frame-pointers",
        build: "rustc -O -C force-frame-pointers=yes work.rs -o rust-frame-pointers",
        run: &["./rust-frame-pointers"],
    },
    Subject {
        name: "go",
        build: "GOCACHE=$PWD/cache go build -o go work.go",
        run: &["./go"],
    },
    Subject {
        name: "python",
        build: "",
        run: &["python3", "work.py"],
    },
    Subject {
        name: "python-script",
        build: "chmod +x work.py",
        run: &["./work.py"],
    },
    Subject {
        name: "node",
        build: "",
        run: &["node", "work.js"],
    },
    Subject {
        name: "java",
        build: "javac Work.java",
        run: &["java", "-cp", ".", "Work"],
    },
    Subject {
        name: "shell",
        build: "gcc -O2 work.c -o c",
        run: &["sh", "-c", "./c 40 && ./c 40 | sort"],
    },
];

/// Functions that begin threads. What calls `__libc_start_main` is `_start`, whether it has a symbol or not.
const STARTS: [&str; 15] = [
    "_start",
    "_dl_start_user",
    "clone",
    "__clone",
    "clone3",
    "__clone3",
    "start_thread",
    "ret_from_fork_asm",
    "runtime.goexit",
    "runtime.goexit.abi0",
    "runtime.mstart",
    "runtime.mstart.abi0",
    "runtime.mcall",
    "runtime.rt0_go.abi0",
    "_rt0_amd64_linux",
];

/// Runs all programs, or those whose name holds the `--filter`; fails when one has too few complete stacks.
pub(super) fn run(mut args: Args) -> Result<ExitCode> {
    let filter = args.value("--filter")?.unwrap_or_default();
    let oxperf = binary::find(&mut args)?;
    args.finish()?;
    let folder = workspace::scratch("stacks")?;
    copy_sources(&folder)?;
    let mut good = true;
    for subject in &SUBJECTS {
        if subject.name.contains(&filter) {
            good &= check(subject, &oxperf, &folder)?;
        }
    }
    Ok(super::exit_code(good))
}

fn copy_sources(folder: &Path) -> Result<()> {
    let sources = workspace::root().join("xtask/stacks");
    for entry in std::fs::read_dir(&sources).with_context(|| sources.display().to_string())? {
        let entry = entry?;
        std::fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    Ok(())
}

/// Prints the line of a program; false where it has too few complete stacks.
fn check(subject: &Subject, oxperf: &Path, folder: &Path) -> Result<bool> {
    let tools = [compiler(subject.build), Some(subject.run[0])];
    let is_missing = |tool: &&str| !tool.starts_with("./") && in_path(tool).is_none();
    if let Some(tool) = tools.into_iter().flatten().find(is_missing) {
        println!("{:<20} SKIPPED: there is no {tool}", subject.name);
        return Ok(true);
    }
    let built = Command::new("sh")
        .args(["-e", "-c", subject.build])
        .current_dir(folder)
        .status()?;
    ensure!(built.success(), "{}: it was not built", subject.name);
    let recording = folder.join(format!("{}.data", subject.name));
    let said = profile(subject, oxperf, folder, &recording)?;
    let share = share(&samples(oxperf, &recording)?);
    let way = said.lines().find(|line| line.starts_with("Stacks: "));
    let good = share.percent() >= WANTED;
    println!(
        "{:<20} {:6.2}% of {} samples {} {}",
        subject.name,
        share.percent(),
        share.all,
        if good { "ok" } else { "TOO FEW" },
        way.unwrap_or_default()
    );
    Ok(good)
}

/// The program that a command line of the shell starts.
fn compiler(build: &str) -> Option<&str> {
    build
        .split(' ')
        .find(|word| !word.is_empty() && !word.contains('='))
}

/// Profiles the program; gives what was told.
fn profile(subject: &Subject, oxperf: &Path, folder: &Path, recording: &Path) -> Result<String> {
    let page: PathBuf = recording.with_extension("html");
    let output = Command::new("timeout")
        .args(["-k", "5", "120"])
        .arg(oxperf)
        .args(["profile", "-N", "-o"])
        .arg(recording)
        .arg("--html")
        .arg(page)
        .arg("--")
        .args(subject.run)
        .current_dir(folder)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{}: {said}", subject.name);
    Ok(said)
}

/// Every sample with its frames, as text.
fn samples(oxperf: &Path, recording: &Path) -> Result<String> {
    let output = Command::new(oxperf)
        .args(["script", "--no-inline", "-F", "comm,tid,ip,sym", "-i"])
        .arg(recording)
        .output()?;
    ensure!(
        output.status.success(),
        "script: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How many samples reach the start of their thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Share {
    all: usize,
    complete: usize,
}

impl Share {
    fn percent(self) -> f64 {
        if self.all == 0 {
            return 0.0;
        }
        self.complete as f64 * 100.0 / self.all as f64
    }
}

/// Counts the samples of a text: a line for each, its frames indented below, an empty line behind.
fn share(text: &str) -> Share {
    let mut share = Share::default();
    for sample in text
        .split("\n\n")
        .filter(|sample| !sample.trim().is_empty())
    {
        let frames = sample.lines().filter(|line| line.starts_with([' ', '\t']));
        let names: Vec<&str> = frames.filter_map(name_of).collect();
        share.all += 1;
        share.complete += usize::from(is_complete(&names));
    }
    share
}

/// The name of a frame's line, behind its address.
fn name_of(line: &str) -> Option<&str> {
    line.trim().split_once(' ').map(|(_, name)| name)
}

fn is_complete(names: &[&str]) -> bool {
    match names {
        [.., caller, _] if caller.starts_with("__libc_start_main") => true,
        [.., last] => STARTS.contains(last),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_reach_a_start_are_counted() {
        let text = "\
c 7
\t  401 work
\t  402 main
\t  403 _start

c 7
\t  401 work
\t  402 main
\t  403 __libc_start_main@@GLIBC_2.34
\t  404 [unknown]

c 7
\t  401 work
\t  402 main

c 7
";
        let expected = Share {
            all: 4,
            complete: 2,
        };
        assert_eq!((share(text), share(text).percent()), (expected, 50.0));
        assert_eq!(Share::default().percent(), 0.0);
    }

    #[test]
    fn variables_before_a_compiler_are_none() {
        assert_eq!(compiler("A=b go build"), Some("go"));
        assert_eq!(compiler(""), None);
    }
}
