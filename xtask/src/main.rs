//! The project's own tasks: `cargo xtask tidy|sweep|damage|differences|dist|faults|tsan|fuzz|miri|bench|bless|pmu-events`.
//!
//! For people who work on oxperf and for `.ci/run`. Nothing here is part of the program; the tasks run the built
//! binary from outside, as a user would.

// A task runner talks to its user.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod bench;
mod binary;
mod bless;
mod damage;
mod differences;
mod dist;
mod faults;
mod fuzz;
mod miri;
mod mutation;
mod parallel;
mod pmu_events;
mod process;
mod sweep;
mod tidy;
mod tsan;
mod workspace;

use std::process::ExitCode;

use args::Args;

const USAGE: &str = "\
cargo xtask TASK

  tidy                          check layers, lints, licences, heads, links and sizes
  sweep [--filter S] [--only script,report,..] [--jobs N] [--bin F] [--all]
        [--no-recorded] [--no-pt] [--no-public] [--mutations N] [--differential N]
                                compare our text with perf's over ../shared/fixtures; read 20,000
                                damaged recordings: nothing may crash, hang or eat memory; and 600
                                beside perf7, counting who reads what
  sweep --perf-tests [--filter S,..] [--ours F] [--lend] [--jobs N] [--table] [--prefix DIR]
                                perf's own test scripts with ours as perf, beside perf 7.2; --lend also with the
                                missing commands lent by perf 7.2; --table writes docs/perf-tests.md
  sweep --stat [--filter S] [--bin F]
                                stat on made-up machines beside perf7: the lines of xtask/stat-lines.txt
  sweep --stacks [--filter S] [--bin F]
                                the share of complete stacks that profile takes of programs in several languages
  sweep --clients [--bin F]     programs that call perf or read its text, with oxperf and with perf7 (docs/clients.md)
  damage [--runs N] [--seed N] [--bin F]
                                changed bytes in recordings of ../shared through the readers: nothing may crash
  differences                   make docs/differences/ of xtask/differences.tsv
  dist [--profile P] [--bin F]  make target/dist: a static program, manual pages, completions and documents, as an archive
                                and as a package for Debian
  faults [TEST]                 make every call of the fault tests fail, one a run
  tsan [--all]                  tests of what threads share, under ThreadSanitizer (nightly, rust-src)
  fuzz [--seconds N] [--runs N] [--seed N] [--target NAME,..] [--jobs N] [--found DIR] [--select-corpus]
                                every fuzz target for 20 s from its committed inputs, 2 at a time; --found keeps what
                                reaches new code; --select-corpus chooses the committed inputs from that
  miri                          tests of what takes bytes apart, interpreted, where nightly has Miri
  bench [report|script|decode|pt|record|..] [--runs N] [--ref-runs N] [--bin F] [--table] [--processes N]
                                measure against perf7 on ../shared/bench; --table prints the table of
                                docs/performance.md
  pmu-events [--facts DIR] [--check]
                                pack the tables of events of ../shared/pmu-events/facts into crates/pmu-events, or compare
  bless [TEST ARGS]             run the tests and rewrite the project's own expected texts

../shared is found beside the project or where OXPERF_SHARED says; the binary is built unless --bin or OXPERF says.";

fn main() -> ExitCode {
    if let Some(code) = sweep::perf_tests::launcher::run() {
        return code;
    }
    let mut args = Args::from_env();
    let outcome = match args.positional().as_deref() {
        Some("tidy") => tidy::run(args),
        Some("sweep") => sweep::run(args),
        Some("differences") => differences::run(args),
        Some("dist") => dist::run(args),
        Some("damage") => damage::run(args),
        Some("faults") => faults::run(args),
        Some("tsan") => tsan::run(args),
        Some("fuzz") => fuzz::run(args),
        Some("miri") => miri::run(args),
        Some("bench") => bench::run(args),
        Some("pmu-events") => pmu_events::run(args),
        Some("bless") => bless::run(args),
        Some(other) => Err(anyhow::anyhow!("no task {other:?}\n{USAGE}")),
        None => Err(anyhow::anyhow!("which task?\n{USAGE}")),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}
