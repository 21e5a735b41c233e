//! The listing form beside `objdump`: every instruction of real programs, bytes from its listing, text compared with
//! it. Skips aloud where there is no `objdump` for x86-64. `OXPERF_DISASM_FILES` names further files,
//! `OXPERF_DISASM_SHOW` how many kinds of differing lines to print.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use oxperf_disasm::{Disassembler, LineLayout, Syntax, Width};

/// The comparison so far: for each mnemonic how often, with an example.
#[derive(Default)]
struct Comparison {
    lines: u64,
    same: u64,
    different: BTreeMap<String, (u64, String)>,
}

impl Comparison {
    fn compare(&mut self, bytes: &[u8], ours: &str, theirs: &str) {
        self.lines += 1;
        if ours == theirs {
            self.same += 1;
            return;
        }
        let mnemonic = theirs
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        let example = || format!("{bytes:02x?}\n    objdump {theirs:?}\n    ours    {ours:?}");
        self.different
            .entry(mnemonic)
            .or_insert_with(|| (0, example()))
            .0 += 1;
    }

    fn share(&self) -> f64 {
        self.same as f64 / self.lines.max(1) as f64
    }

    fn show(&self, limit: usize) {
        let mut kinds: Vec<_> = self.different.values().collect();
        kinds.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        for (count, example) in kinds.into_iter().take(limit) {
            println!("{count:8} {example}");
        }
    }
}

/// One line of a listing: address, bytes, text without the names of addresses.
fn parse(line: &str) -> Option<(u64, Vec<u8>, String)> {
    let mut fields = line.splitn(3, '\t');
    let address = u64::from_str_radix(fields.next()?.trim().strip_suffix(':')?, 16).ok()?;
    let bytes = fields
        .next()?
        .split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16));
    let bytes: Vec<u8> = bytes.collect::<Result<_, _>>().ok()?;
    Some((address, bytes, without_names(fields.next()?)))
}

fn without_names(text: &str) -> String {
    let named = text.split_once(" <").map_or(text, |(bare, _)| bare);
    named.trim_end().to_owned()
}

fn compare(file: &str, intel: bool) -> Option<Comparison> {
    let style = if intel { "intel" } else { "att" };
    let mut child = Command::new("objdump")
        .args(["-d", "-w", "-M", style, file])
        .env("LC_ALL", "C")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let syntax = if intel { Syntax::Intel } else { Syntax::Att };
    let mut disassembler = Disassembler::new(Width::Bits64, syntax, LineLayout::Listing);
    let mut found = Comparison::default();
    let mut ours = String::new();
    for line in BufReader::new(child.stdout.take()?)
        .lines()
        .map_while(Result::ok)
    {
        let Some((address, bytes, theirs)) = parse(&line) else {
            continue;
        };
        ours.clear();
        let length = disassembler.write(&bytes, address, &mut |_, _| false, &mut ours);
        if length != Some(bytes.len()) {
            ours = format!("{length:?} {ours}");
        }
        found.compare(&bytes, ours.trim_end(), &theirs);
    }
    child.wait().ok()?;
    (found.lines > 0).then_some(found)
}

#[test]
fn listings_are_objdumps() {
    let files = std::env::var("OXPERF_DISASM_FILES").unwrap_or_else(|_| "/bin/ls".to_owned());
    let show = std::env::var("OXPERF_DISASM_SHOW")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(8);
    for (file, intel) in files
        .split_whitespace()
        .flat_map(|file| [(file, false), (file, true)])
    {
        let Some(found) = compare(file, intel) else {
            println!("SKIPPED: no listing of {file} by objdump for x86-64");
            continue;
        };
        let style = if intel { "Intel" } else { "AT&T" };
        println!(
            "{file}, {style}: {} of {} lines the same ({:.4}%)",
            found.same,
            found.lines,
            found.share() * 100.0
        );
        found.show(show);
        assert!(
            found.share() > 0.99,
            "{file}, {style}: {:.4}",
            found.share()
        );
    }
}
