//! Traces that other tools keep for their tests, of processors and not of generators: the instructions are those that
//! libipt finds in them.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::instructions::instructions;
use intel_pt::{Code, CodeAddress, CodeSource, Errata, ImageId};
use object::{Object, ObjectSegment};

/// Code by address.
#[derive(Default)]
struct Memory(Vec<(u64, Vec<u8>)>);

impl Memory {
    /// Maps a program or library that is loaded at an address.
    fn map(&mut self, file: &Path, at: u64) {
        let bytes = fs::read(file).unwrap();
        let object = object::File::parse(&*bytes).unwrap();
        let first = object
            .segments()
            .map(|segment| segment.address())
            .min()
            .unwrap_or(0);
        for segment in object.segments() {
            self.0.push((
                segment.address() - first + at,
                segment.data().unwrap().to_vec(),
            ));
        }
    }
}

impl CodeSource for Memory {
    fn generation(&self) -> u64 {
        0
    }

    fn code(&self, at: CodeAddress) -> Option<Code<'_>> {
        let holds = |(start, bytes): &&(u64, Vec<u8>)| {
            at.ip
                .checked_sub(*start)
                .is_some_and(|offset| offset < bytes.len() as u64)
        };
        let (number, (start, bytes)) = self.0.iter().enumerate().find(|(_, piece)| holds(piece))?;
        Some(Code {
            image: ImageId(number as u64),
            offset: 0,
            start: *start,
            bytes,
        })
    }
}

/// The addresses in libipt's text; what it says of tracing itself stands behind `#`.
fn expected(text: &[u8]) -> Vec<u64> {
    let lines = std::str::from_utf8(text)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with('#'));
    lines
        .map(|line| u64::from_str_radix(line.trim(), 16).unwrap())
        .collect()
}

/// The lines of errors in the text.
fn error(text: &[u8]) -> Option<usize> {
    text.windows(7).position(|line| line == b"# error")
}

fn check(name: &str, ours: &[u64], theirs: &[u64]) {
    let differs = ours
        .iter()
        .zip(theirs)
        .position(|(ours, theirs)| ours != theirs);
    assert_eq!((differs, ours.len()), (None, theirs.len()), "{name}");
}

fn public() -> Option<PathBuf> {
    let shared =
        std::env::var_os("OXPERF_SHARED").map_or_else(|| "../../../shared".into(), PathBuf::from);
    let folder = Some(shared.join("fixtures/public")).filter(|folder| folder.is_dir());
    if folder.is_none() {
        eprintln!("SKIPPED: no public recordings beside the project (OXPERF_SHARED)");
    }
    folder
}

/// ARCUS keeps the pages of code with the trace.
#[test]
fn arcus() {
    let Some(public) = public() else { return };
    for (name, count) in [("hello", 147_458), ("last", 1_873_231)] {
        let files =
            crate::archive::gzip(&public.join(format!("derived/ARCUS-split/{name}.split.tar.gz")))
                .unwrap();
        let mut memory = Memory::default();
        for (file, bytes) in &files {
            let page = file
                .strip_prefix("xpage_")
                .and_then(|file| file.strip_suffix(".bin"));
            let start = page.map(|page| u64::from_str_radix(page, 16).unwrap());
            memory.0.extend(start.map(|start| (start, bytes.clone())));
        }
        let (_, trace) = files
            .iter()
            .find(|(file, _)| file.starts_with("pt_"))
            .unwrap();
        let theirs = expected(&files["expected_ips.libipt-2.0.5.txt"]);
        assert_eq!(theirs.len(), count);
        check(
            name,
            &instructions(trace, Errata::of(0, 0), &mut memory),
            &theirs,
        );
    }
}

/// A folder, the name of a trace in it, modules with where they were loaded, and how many more instructions there are.
type Case<'c> = (&'c str, &'c str, &'c [(&'c str, u64)], usize);

#[test]
fn lldb() {
    let Some(public) = public() else { return };
    let traces = public.join("llvm-llvm-project/lldb/test/API/commands/trace");
    let one = [("a.out", 0x40_0000)];
    let several = [
        ("a.out", 0x40_0000),
        ("libfoo.so", 0x7fff_f7bd_9000),
        ("libbar.so", 0x7fff_f79d_7000),
    ];
    // If code is missing, libipt goes on at the next PSB, and we at the next complete address, as perf does: so many
    // instructions more.
    let cases: [Case<'_>; 2] = [
        ("intelpt-trace", "3842849", &one, 0),
        ("intelpt-trace-multi-file", "multi-file", &several, 18),
    ];
    for (folder, name, modules, more) in cases {
        let mut memory = Memory::default();
        modules
            .iter()
            .for_each(|(file, at)| memory.map(&traces.join(folder).join(file), *at));
        let trace = fs::read(traces.join(folder).join(format!("{name}.trace"))).unwrap();
        let text =
            fs::read(public.join(format!("derived/lldb/{name}.expected_ips.libipt-2.0.5.txt")))
                .unwrap();
        let (before, behind) = text.split_at(error(&text).unwrap_or(text.len()));
        let (before, behind) = (expected(before), expected(behind));
        let ours = instructions(&trace, Errata::of(6, 79), &mut memory);
        assert!(
            ours.starts_with(&before) && ours.ends_with(&behind),
            "{name}: {ours:x?}"
        );
        assert_eq!(
            ours.len(),
            before.len() + more + behind.len(),
            "{name}: {ours:x?}"
        );
    }
}

#[test]
fn dynamorio() {
    let Some(public) = public() else { return };
    let folder = public.join("DynamoRIO-dynamorio/clients/drcachesim/drpt2trace/test_simple.raw");
    let mut memory = Memory::default();
    memory.map(&folder.join("hello"), 0x40_0000);
    let trace = fs::read(folder.join("pt.bin")).unwrap();
    let text = fs::read(public.join("derived/DynamoRIO/test_simple.expected_ips.libipt-2.0.5.txt"))
        .unwrap();
    let theirs = expected(&text);
    assert_eq!(theirs.len(), 8);
    check(
        "hello",
        &instructions(&trace, Errata::of(6, 85), &mut memory),
        &theirs,
    );
}
