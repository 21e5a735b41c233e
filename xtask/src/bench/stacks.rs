//! How many stacks are unwound to the place where their thread began, beside perf: of a C++ and a Rust program with debug
//! information and without frame pointers.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::names::{once, record};
use super::{Options, program, reference};

const RUST: &str = include_str!("program/stacks.rs");

/// Functions in which threads begin: nothing calls them.
const BEGINNINGS: [&str; 5] = ["_start", "clone3", "__clone3", "clone", "__clone"];

/// Counts both programs' stacks.
///
/// # Errors
/// A program or tool that does not run; fewer complete stacks than perf has.
pub(super) fn run(options: &Options) -> Result<()> {
    let cpp = program::build(&options.folder)?.map(|program| ("C++", program, "100"));
    let rust = ("Rust", rust_program(&options.folder)?, "40");
    for (language, program, rounds) in cpp.into_iter().chain([rust]) {
        let recording = once(options, &format!("stacks-{language}.data"), |output| {
            record(&options.binary, 997, &[&program, Path::new(rounds)], output)
        })?;
        let (all, complete) = count(&options.binary, &recording)?;
        println!("stacks {language}: {complete} of {all} complete");
        if let Some(perf) = reference() {
            let (all, perf_has) = count(perf, &recording)?;
            println!("stacks {language}: {perf_has} of {all} complete by perf7");
            ensure!(complete >= perf_has, "perf7 has more complete stacks");
        }
    }
    Ok(())
}

/// Builds the Rust program once.
fn rust_program(folder: &Path) -> Result<PathBuf> {
    let (source, program) = (folder.join("stacks.rs"), folder.join("stacks"));
    if !program.is_file() {
        std::fs::write(&source, RUST)?;
        let unfinished = folder.join("stacks.unfinished");
        let mut compiler = Command::new("rustc");
        compiler
            .args(["--edition=2024", "-O", "-g", "-o"])
            .arg(&unfinished)
            .arg(&source);
        ensure!(
            compiler.status().context("rustc")?.success(),
            "rustc failed"
        );
        std::fs::rename(unfinished, &program)?;
    }
    Ok(program)
}

/// All samples of a recording, and those whose last caller is where a thread begins.
fn count(tool: &Path, recording: &Path) -> Result<(usize, usize)> {
    let mut command = Command::new(tool);
    command
        .args(["script", "--no-inline", "-F", "comm,ip,sym", "-i"])
        .arg(recording);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let stacks: Vec<&str> = text
        .split("\n\n")
        .filter(|stack| !stack.trim().is_empty())
        .collect();
    let begins = |stack: &&&str| {
        let last = stack
            .lines()
            .next_back()
            .and_then(|line| line.split_whitespace().nth(1));
        last.is_some_and(|name| BEGINNINGS.contains(&name))
    };
    Ok((stacks.len(), stacks.iter().filter(begins).count()))
}
