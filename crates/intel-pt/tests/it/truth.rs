//! Recordings with known truth: every instruction and every branch, in order, and no error.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Maps, Recording, follow, read};
use intel_pt::{Decoder, EmitOptions, Item};
use sha2::{Digest, Sha256};

/// Cases with one thread and no loss, small enough for a debug build.
const CASES: [&str; 10] = [
    "static-loop",
    "static-indirect",
    "static-jmp",
    "static-signals",
    "dyn-true",
    "dyn-ls",
    "pow-cyc",
    "pow-loop",
    "pw-fup",
    "pw-nofup-cyc",
];

fn fixtures() -> Option<PathBuf> {
    let shared =
        std::env::var_os("OXPERF_SHARED").map_or_else(|| "../../../shared".into(), PathBuf::from);
    Some(shared.join("fixtures/pt")).filter(|path| path.is_dir())
}

#[test]
fn every_instruction_and_branch_is_found() {
    let Some(fixtures) = fixtures() else {
        eprintln!("SKIPPED: no fixtures beside the project (OXPERF_SHARED)");
        return;
    };
    for name in CASES {
        check(name, &fixtures.join(name));
    }
}

fn check(name: &str, case: &Path) {
    let recording = read(&case.join("perf.data"));
    let symfs = follow(&case.join("symfs")).expect("the case has a symfs");
    let mut maps = Maps::read(&case.join("maps.txt"), &symfs);
    let truth = fs::read_to_string(case.join("truth.sha256")).expect("the case has sums");
    let thread = thread(case);
    let found = decode(&recording, &mut maps, thread);
    for (what, text) in [
        ("truth.insn", &found.instructions),
        ("truth.branches", &found.branches),
    ] {
        let line = truth
            .lines()
            .find(|line| line.ends_with(what))
            .expect("the sum is listed");
        let sum = Sha256::digest(text)
            .iter()
            .fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert!(
            line.starts_with(&sum),
            "{name}: {what}: {} lines, expected {line}",
            text.lines().count()
        );
    }
    assert_eq!(found.errors, 0, "{name}");
}

/// The only thread of a case.
fn thread(case: &Path) -> u32 {
    let meta = fs::read_to_string(case.join("meta.json")).expect("the case has a description");
    let (_, behind) = meta.split_once("\"tid\": ").expect("a thread is named");
    behind
        .split(|digit: char| !digit.is_ascii_digit())
        .next()
        .and_then(|tid| tid.parse().ok())
        .expect("a number")
}

#[derive(Default)]
struct Found {
    instructions: String,
    branches: String,
    errors: u32,
}

fn decode(recording: &Recording, maps: &mut Maps, thread: u32) -> Found {
    let mut found = Found::default();
    let wanted = EmitOptions {
        paths: true,
        ..EmitOptions::default()
    };
    for buffers in recording.queues.values() {
        let mut decoder = Decoder::new(recording.config, wanted);
        let mut stretches = buffers.iter().map(|buffer| buffer.stretch());
        loop {
            match decoder.next(maps) {
                Item::End => match stretches.next() {
                    Some(stretch) => decoder.push(stretch),
                    None => break,
                },
                item => found.add(item, &decoder, thread),
            }
        }
    }
    found
}

impl Found {
    fn add(&mut self, item: Item, decoder: &Decoder<'_>, thread: u32) {
        match item {
            Item::Path => self.add_run(decoder, thread),
            Item::Begin { to, .. } => writeln!(self.branches, "{thread} 0 {to:x} tr_strt").unwrap(),
            Item::Async { from, to, .. } => {
                writeln!(
                    self.branches,
                    "{thread} {from:x} {:x} async_end",
                    to.unwrap_or_default()
                )
                .unwrap();
            }
            Item::Error(_) => self.errors += 1,
            _ => {}
        }
    }

    fn add_run(&mut self, decoder: &Decoder<'_>, thread: u32) {
        let run = decoder.path();
        for (index, visit) in run.visits.iter().enumerate() {
            let block = decoder.block(visit.block()).instructions();
            let partial = run.partial.filter(|_| index + 1 == run.visits.len());
            for instruction in &block[..partial.map_or(block.len(), |partial| partial as usize)] {
                writeln!(self.instructions, "{thread} {:x}", instruction.ip).unwrap();
            }
        }
        for branch in decoder.branches() {
            let (from, to) = (branch.from.ip, branch.to.unwrap_or_default());
            writeln!(
                self.branches,
                "{thread} {from:x} {to:x} {}",
                kind(branch.from.class)
            )
            .unwrap();
        }
    }
}

fn kind(class: intel_pt::insn::Class) -> &'static str {
    use intel_pt::insn::Class;
    match class {
        Class::Conditional | Class::Loop => "jcc",
        Class::Jump => "jmp",
        Class::JumpIndirect => "jmp_ind",
        Class::Call => "call",
        Class::CallIndirect => "call_ind",
        Class::Return => "ret",
        Class::Syscall => "syscall",
        _ => "other",
    }
}
