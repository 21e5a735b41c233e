//! Listings of real programs beside `objdump`: every line, with the names of where instructions go. Skips aloud where
//! there is no `objdump` for this machine's code. `OXPERF_DISASM_FILES` names further files, `OXPERF_DISASM_SHOW` how
//! many differing lines to print.
#![allow(clippy::print_stdout)]

use std::process::Command;

use oxperf_disasm::Syntax;
use oxperf_listing::{CodeIndex, CodeNames, ListingLine, list};
use oxperf_objects::{Contents, Elf};
use oxperf_symbols::Demangling;

/// The lines of `objdump` for a section, without bytes.
fn theirs(file: &str, section: &str) -> Option<Vec<String>> {
    let output = Command::new("objdump")
        .args(["-d", "-C", "-w", "--no-show-raw-insn", "-j", section, file])
        .env("LC_ALL", "C")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text
        .lines()
        .filter(|line| is_code(line))
        .map(str::trim_end)
        .map(str::trim_start);
    Some(lines.map(|line| line.replace('\t', " ")).collect())
}

fn is_code(line: &str) -> bool {
    let address = line
        .trim_start()
        .split([':', ' '])
        .next()
        .unwrap_or_default();
    !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn ours(image: &Elf<'_>, section: &str) -> Vec<String> {
    let index = CodeIndex::new(image, None);
    let names = CodeNames::new(&index, image, None, Demangling::On);
    let section = image.section(section.as_bytes()).expect("a section");
    let range = section.address..section.address + section.size;
    let listing = list(image, &names, range, Syntax::Att).expect("a listing");
    let digits = listing.address_digits;
    let line = |line: &ListingLine| match line {
        ListingLine::Label { address, name } => format!("{address:0digits$x} <{name}>:"),
        ListingLine::Zeros | ListingLine::Source(_) => String::new(),
        ListingLine::Instruction(found) => format!("{:x}: {}", found.address, found.text)
            .trim_end()
            .to_owned(),
    };
    listing
        .lines
        .iter()
        .filter(|line| **line != ListingLine::Zeros)
        .map(line)
        .collect()
}

#[test]
fn listings_are_objdumps() {
    let files = std::env::var("OXPERF_DISASM_FILES").unwrap_or_else(|_| "/bin/ls".to_owned());
    let show = std::env::var("OXPERF_DISASM_SHOW")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(5);
    for file in files.split_whitespace() {
        let contents = Contents::open(file.as_ref()).expect("a file");
        let image = Elf::parse(&contents).expect("an ELF file");
        let theirs = theirs(file, ".text").filter(|lines| !lines.is_empty());
        let Some(theirs) = theirs.filter(|_| image.is_x86()) else {
            println!("SKIPPED: no listing of {file} by objdump");
            continue;
        };
        let ours = ours(&image, ".text");
        let same = ours.iter().zip(&theirs).filter(|(a, b)| a == b).count();
        println!("{file}: {same} of {} lines the same", theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs).filter(|(a, b)| a != b).take(show) {
            println!("    objdump {theirs}\n    ours    {ours}");
        }
        assert!(same as f64 > 0.99 * theirs.len() as f64, "{file}");
    }
}
