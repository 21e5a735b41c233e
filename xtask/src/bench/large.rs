//! A program with two gigabytes of debug information, of which samples touch a few units: what is read of it, by time and
//! memory. The program is written here, section by section; it is never run.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use oxperf_testkit::Recording;

use super::Options;
use super::read::{Input, Measure, run_one};

/// Samples with the functions that were inlined there.
const MEASURE: Measure = Measure::to_file("large-dwarf", &["script", "-F", "ip,sym,srcline"], 1);

/// Units of the program, and how many of them samples lie in.
const UNITS: u64 = 2048;
const TOUCHED: u64 = 16;
/// Types that each unit declares: a megabyte of entries that no address needs.
const TYPES: usize = 58_000;
/// Bytes of code of a unit; the second half of each function was inlined.
const CODE: u64 = 0x100;
/// Offset of the code in the file and in memory.
const TEXT_OFFSET: u64 = 0x1000;
const TEXT: u64 = 0x40_1000;
/// Address at which the recording has it mapped.
const MAPPED: u64 = 0x10_0000_0000;

/// Writes program and recording, measures, and removes what takes so much room.
pub(super) fn run(options: &Options) -> Result<()> {
    let program = options.folder.join("large");
    write_program(&program).with_context(|| program.display().to_string())?;
    let recording = write_recording(&options.folder, &program)?;
    let input = Input {
        cold: true,
        ..Input::local(recording)
    };
    let measured = run_one(&MEASURE, &input, options);
    std::fs::remove_file(&program)?;
    measured.map(drop)
}

fn write_recording(folder: &Path, program: &Path) -> Result<PathBuf> {
    let size = UNITS * CODE;
    let mut text = format!(
        "event cpu-clock sample=IP|TID|TIME|PERIOD|CALLCHAIN flags=sample_id_all\n\
         comm pid=1 tid=1 large\n\
         mmap2 mode=user pid=1 tid=1 {MAPPED:#x}+{size:#x}@{TEXT_OFFSET:#x} prot=5 flags=2 {}\n",
        program.display()
    );
    for touched in 0..TOUCHED {
        let ip = MAPPED + touched * (UNITS / TOUCHED) * CODE + CODE / 2;
        text += &format!(
            "sample mode=user ip={ip:#x} pid=1 tid=1 time={touched} period=1 chain=user,{ip:#x}\n"
        );
    }
    let recording = Recording::parse(&text).map_err(|error| anyhow::anyhow!("{error}"))?;
    let path = folder.join("large.data");
    std::fs::write(&path, recording.to_file())?;
    Ok(path)
}

/// One section's header.
struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    address: u64,
    offset: u64,
    size: u64,
}

fn write_program(path: &Path) -> Result<()> {
    let (info, line) = (Unit::new(), line_program());
    let text_size = UNITS * CODE;
    let mut offset = TEXT_OFFSET + text_size;
    let mut place = |name, size| {
        let section = Section {
            name,
            kind: 1,
            flags: 0,
            address: 0,
            offset,
            size,
        };
        offset += size;
        section
    };
    let text = Section {
        name: ".text",
        kind: 1,
        flags: 6,
        address: TEXT,
        offset: TEXT_OFFSET,
        size: text_size,
    };
    let abbreviations = abbreviations();
    let (symbols, strings) = symbols();
    let sections = [
        text,
        place(".debug_abbrev", abbreviations.len() as u64),
        place(".debug_line", UNITS * line(0).len() as u64),
        place(".debug_info", UNITS * info.bytes.len() as u64),
        Section {
            kind: 2,
            ..place(".symtab", symbols.len() as u64)
        },
        Section {
            kind: 3,
            ..place(".strtab", strings.len() as u64)
        },
    ];
    let names: Vec<u8> = std::iter::once(0)
        .chain(
            sections
                .iter()
                .flat_map(|section| section.name.bytes().chain([0])),
        )
        .chain(*b".shstrtab\0")
        .collect();
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    out.write_all(&file_header(
        offset + names.len() as u64,
        sections.len() as u16 + 2,
        text_size,
    ))?;
    out.write_all(&vec![0; (TEXT_OFFSET + text_size) as usize - HEADERS])?;
    out.write_all(&abbreviations)?;
    (0..UNITS).try_for_each(|unit| out.write_all(&line(unit)))?;
    let line_size = line(0).len() as u64;
    for unit in 0..UNITS {
        info.write(unit, unit * line_size, &mut out)?;
    }
    [&symbols, &strings, &names]
        .into_iter()
        .try_for_each(|bytes| out.write_all(bytes))?;
    out.write_all(&[0; 64])?;
    let mut name_at = 1;
    let last = Section {
        name: ".shstrtab",
        kind: 3,
        flags: 0,
        address: 0,
        offset,
        size: names.len() as u64,
    };
    for section in sections.iter().chain([&last]) {
        // The table of symbols names the section of its strings, and the size of an entry.
        let (link, entry) = if section.kind == 2 {
            (6 | 1 << 32, 24)
        } else {
            (0, 0)
        };
        let words = [
            section.flags,
            section.address,
            section.offset,
            section.size,
            link,
            1,
            entry,
        ];
        out.write_all(&[name_at, section.kind].map(u32::to_le_bytes).concat())?;
        out.write_all(&words.map(u64::to_le_bytes).concat())?;
        name_at += section.name.len() as u32 + 1;
    }
    Ok(out.flush()?)
}

/// A symbol for each unit's function, and their names.
fn symbols() -> (Vec<u8>, Vec<u8>) {
    let (mut table, mut strings) = (vec![0; 24], vec![0]);
    for unit in 0..UNITS {
        table.extend((strings.len() as u32).to_le_bytes());
        // A global function of the first section.
        table.extend([0x12, 0, 1, 0]);
        table.extend([TEXT + unit * CODE, CODE].map(u64::to_le_bytes).concat());
        strings.extend(format!("func_{unit:04}\0").as_bytes());
    }
    (table, strings)
}

/// Bytes of the file's and the only segment's header.
const HEADERS: usize = 64 + 56;

fn file_header(sections_at: u64, sections: u16, text_size: u64) -> Vec<u8> {
    let mut out = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    out.extend([2_u16, 62].map(u16::to_le_bytes).concat());
    out.extend(1_u32.to_le_bytes());
    out.extend([TEXT, 64, sections_at].map(u64::to_le_bytes).concat());
    out.extend(0_u32.to_le_bytes());
    out.extend(
        [64_u16, 56, 1, 64, sections, sections - 1]
            .map(u16::to_le_bytes)
            .concat(),
    );
    // PT_LOAD, readable and executable.
    out.extend([1_u32, 5].map(u32::to_le_bytes).concat());
    out.extend(
        [TEXT_OFFSET, TEXT, TEXT, text_size, text_size, 0x1000]
            .map(u64::to_le_bytes)
            .concat(),
    );
    out
}

/// The shapes of entries, as code, tag, has children, then (attribute, form) pairs.
fn abbreviations() -> Vec<u8> {
    let (name, low, high, line, string, address, data8, data1) =
        (3, 0x11, 0x12, 0x10, 8, 1, 7, 0x0b);
    let shapes: [&[u8]; 5] = [
        &[
            1, 0x11, 1, name, string, low, address, high, data8, line, 0x17,
        ],
        &[2, 0x2e, 0, name, string, 0x20, data1],
        &[3, 0x2e, 1, name, string, low, address, high, data8],
        &[
            4, 0x1d, 0, 0x31, 0x13, low, address, high, data8, 0x58, data1, 0x59, data1,
        ],
        &[5, 0x24, 0, name, string, 0x0b, data1, 0x3e, data1],
    ];
    shapes
        .iter()
        .flat_map(|shape| shape.iter().copied().chain([0, 0]))
        .chain([0])
        .collect()
}

/// A unit's entries, and where in them stands what differs from unit to unit.
struct Unit {
    bytes: Vec<u8>,
    names: [usize; 2],
    /// Each with its distance from the unit's first address.
    addresses: [(usize, u64); 3],
    line: usize,
}

/// The unit's number takes the place of the zeros.
const UNIT_NAME: &[u8] = b"unit_0000.c\0";
const FUNCTION_NAME: &[u8] = b"func_0000\0";

impl Unit {
    fn new() -> Unit {
        let mut bytes = vec![0; 4];
        bytes.extend([4, 0, 0, 0, 0, 0, 8]);
        bytes.push(1);
        let unit_name = bytes.len();
        bytes.extend(UNIT_NAME);
        let first = code_range(&mut bytes, CODE);
        let line = bytes.len();
        bytes.extend([0; 4]);
        let inlined = bytes.len() as u32;
        bytes.extend(b"\x02inlined_part\0\x01\x03");
        let function_name = bytes.len();
        bytes.extend(FUNCTION_NAME);
        let function = code_range(&mut bytes, CODE);
        bytes.push(4);
        bytes.extend(inlined.to_le_bytes());
        let call = code_range(&mut bytes, CODE / 2);
        bytes.extend([1, 7, 0]);
        for number in 0..TYPES {
            bytes.extend(format!("\x05type_{number:08}\0\x04\x05").as_bytes());
        }
        bytes.push(0);
        let length = (bytes.len() - 4) as u32;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        let addresses = [(first, 0), (function, 0), (call, CODE / 2)];
        Unit {
            bytes,
            names: [unit_name + 5, function_name + 5],
            addresses,
            line,
        }
    }

    fn write(&self, unit: u64, line: u64, out: &mut impl Write) -> Result<()> {
        let mut head = self.bytes[..1024].to_vec();
        let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
        let number = format!("{unit:04}");
        self.names.iter().for_each(|at| put(*at, number.as_bytes()));
        let start = TEXT + unit * CODE;
        self.addresses
            .iter()
            .for_each(|(at, distance)| put(*at, &(start + distance).to_le_bytes()));
        put(self.line, &(line as u32).to_le_bytes());
        out.write_all(&head)?;
        Ok(out.write_all(&self.bytes[1024..])?)
    }
}

/// Room for an address, and a size; where the address is to stand.
fn code_range(bytes: &mut Vec<u8>, size: u64) -> usize {
    let at = bytes.len();
    bytes.extend([0; 8]);
    bytes.extend(size.to_le_bytes());
    at
}

/// The line table of a unit: a line for each half of its code.
fn line_program() -> impl Fn(u64) -> Vec<u8> {
    |unit| {
        let mut head = vec![1, 1, 1, 0xfb, 14, 13];
        head.extend([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0]);
        head.extend(format!("unit_{unit:04}.c\0\0\0\0\0").as_bytes());
        let mut rows = vec![0, 9, 2];
        rows.extend((TEXT + unit * CODE).to_le_bytes());
        // Line 10; half the code on: line 20; the other half on: the end.
        rows.extend([3, 9, 1, 2, 0x80, 1, 3, 10, 1, 2, 0x80, 1, 0, 1, 1]);
        let mut out = ((2 + 4 + head.len() + rows.len()) as u32)
            .to_le_bytes()
            .to_vec();
        out.extend([4, 0]);
        out.extend((head.len() as u32).to_le_bytes());
        [out, head, rows].concat()
    }
}
