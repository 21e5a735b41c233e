//! `sweep --clients`: programs of other people that call `perf` or read its text, unchanged, with oxperf and with perf7 as the
//! `perf` that they find. Both get the same recording, made by oxperf; what a client makes of it has to be the same.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::args::Args;
use crate::process::in_path;
use crate::{binary, workspace};

/// A client.
struct Client {
    /// Its program; what is not in PATH is skipped.
    program: &'static str,
    /// What the shell runs. `perf.data` has call chains, `flat.data` none; standard output is compared.
    script: &'static str,
}

const CLIENTS: [Client; 10] = [
    Client {
        program: "stackcollapse-perf.pl",
        script: "perf script -i perf.data | stackcollapse-perf.pl",
    },
    Client {
        program: "inferno-collapse-perf",
        script: "perf script -i perf.data | inferno-collapse-perf",
    },
    Client {
        program: "flamegraph.js",
        script: "perf script -i perf.data | flamegraph.js -t perf",
    },
    Client {
        program: "gprof2dot",
        script: "perf script -i perf.data | gprof2dot -f perf",
    },
    Client {
        program: "perf2bolt",
        script: "perf2bolt -nl -p flat.data -o bolt.fdata ./hot >&2 && cat bolt.fdata",
    },
    Client {
        program: "create_gcov",
        script: "create_gcov --binary=./hot --profile=flat.data --gcov=hot.gcov -use_lbr=false >&2 && od -c hot.gcov",
    },
    Client {
        program: "samply",
        script: "samply import perf.data --save-only -o samply.json >&2 && cat samply.json",
    },
    Client {
        program: "flamegraph",
        script: "flamegraph --deterministic --perfdata perf.data -o flame.svg >&2 && cat flame.svg",
    },
    Client {
        program: "llvm-profgen",
        script: "perf script -F ip,brstack -i branches.data >branches.txt && llvm-profgen --binary=./hot --perfscript=branches.txt --output=/dev/stdout",
    },
    Client {
        program: "babeltrace2",
        script: "rm -rf trace && perf data convert --to-ctf trace -i perf.data >&2 && babeltrace2 trace",
    },
];

const HOT: &str = "\
int inner(int x) { for (int i = 0; i < 1000; i++) x = x * 31 + i; return x; }
int outer(int x) { return inner(x) + 1; }
int main(void) { int s = 0; for (int i = 0; i < 300000; i++) s += outer(i); return s == 7; }
";

/// What came of a client.
enum Outcome {
    Same(usize),
    Differs,
    OursAlone,
    PerfAlone(String),
    Neither,
}

/// Runs the clients that are there; fails where one works with perf7 and not so with oxperf.
pub(super) fn run(mut args: Args) -> Result<ExitCode> {
    let ours = binary::find(&mut args)?;
    args.finish()?;
    let Some(theirs) = in_path("perf7") else {
        println!("SKIPPED: there is no perf7 to compare with");
        return Ok(ExitCode::SUCCESS);
    };
    let folder = workspace::scratch("sweep/clients")?;
    let ours = as_perf(&folder.join("ours"), &ours)?;
    let theirs = as_perf(&folder.join("theirs"), &theirs)?;
    record(&folder, &ours)?;
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for client in &CLIENTS {
        if in_path(client.program).is_none() {
            println!("SKIPPED   {:24} is not installed", client.program);
            skipped += 1;
            continue;
        }
        let (state, text) = described(&compare(client, &folder, [&ours, &theirs])?);
        println!("{state:9} {:24} {text}", client.program);
        match state {
            "ok" => passed += 1,
            "FAILED" => failed += 1,
            _ => skipped += 1,
        }
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn described(outcome: &Outcome) -> (&'static str, String) {
    match outcome {
        Outcome::Same(bytes) => ("ok", format!("the same {bytes} bytes")),
        Outcome::OursAlone => ("ok", "works with oxperf, not with perf7".to_owned()),
        Outcome::Neither => ("SKIPPED", "works with neither here".to_owned()),
        Outcome::Differs => ("FAILED", "differs; see target/sweep/clients".to_owned()),
        Outcome::PerfAlone(problem) => ("FAILED", format!("works with perf7 alone: {problem}")),
    }
}

/// A folder in which a program is called `perf`.
fn as_perf(folder: &Path, program: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let link = folder.join("perf");
    let _ = fs::remove_file(&link);
    symlink(program, &link)?;
    Ok(folder.to_path_buf())
}

/// Builds a program and records it, with call chains and without.
fn record(folder: &Path, perf: &Path) -> Result<()> {
    fs::write(folder.join("hot.c"), HOT)?;
    let script = "cc -O1 -g -fno-omit-frame-pointer -fno-inline -Wl,--emit-relocs hot.c -o hot && \
        perf record -q -F 999 -g -o perf.data ./hot && perf record -q -F 999 -e cpu-clock -o flat.data ./hot && echo made";
    let (_, problem) = shell(script, folder, perf)?;
    ensure!(
        problem.is_none(),
        "no recording: {}",
        problem.unwrap_or_default()
    );
    Ok(())
}

/// Runs a client with both; keeps both texts.
fn compare(client: &Client, folder: &Path, [ours, theirs]: [&Path; 2]) -> Result<Outcome> {
    let (our_text, our_problem) = shell(client.script, folder, ours)?;
    let (their_text, their_problem) = shell(client.script, folder, theirs)?;
    fs::write(folder.join(format!("{}.ours", client.program)), &our_text)?;
    fs::write(
        folder.join(format!("{}.theirs", client.program)),
        &their_text,
    )?;
    Ok(match (our_problem, their_problem) {
        (Some(_), Some(_)) => Outcome::Neither,
        (Some(problem), None) => Outcome::PerfAlone(problem),
        (None, Some(_)) => Outcome::OursAlone,
        (None, None) if our_text == their_text => Outcome::Same(our_text.len()),
        (None, None) => Outcome::Differs,
    })
}

/// Runs a script with a `perf` first in PATH; returns what it prints, and the last line of its complaint where it fails.
fn shell(script: &str, folder: &Path, perf: &Path) -> Result<(Vec<u8>, Option<String>)> {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("timeout")
        .args(["120", "bash", "-o", "pipefail", "-c", script])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", perf.display()))
        .env("LC_ALL", "C")
        .output()
        .context("timeout did not start")?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = complaint.lines().last().unwrap_or("no word").to_owned();
    let failed = !output.status.success() || output.stdout.is_empty();
    Ok((output.stdout, failed.then_some(last)))
}
