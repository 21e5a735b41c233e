//! This program itself: its code, symbols and source lines.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use oxperf_objects::{Contents, Elf, ObjectKind, ObjectQuery};
use oxperf_symbols::{StoreOptions, SymbolStore};

use super::symbols;
use crate::trial::ensure;
use crate::{Environment, Shortfall, Trial};

/// Bytes of code that are compared.
const BYTES: usize = 256;

/// Code in memory is the code in the file that is mapped there.
pub(crate) fn object_code(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let function: fn(&mut Trial<'_>) -> Result<(), Shortfall> = object_code;
    let address = function as usize as u64;
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(Shortfall::failure)?;
    let (path, offset) = maps
        .lines()
        .find_map(|line| place_in_file(line, address))
        .ok_or_else(|| Shortfall::failure(format!("no mapping holds {address:#x}")))?;
    trial.note(format_args!("{address:#x} is {path} at {offset:#x}"));
    let (mut memory, mut file) = ([0; BYTES], [0; BYTES]);
    let read = |from: &str, at: u64, into: &mut [u8]| {
        File::open(from)
            .and_then(|file| file.read_exact_at(into, at))
            .map_err(|error| Shortfall::skip(format!("{from}: {error}")))
    };
    read("/proc/self/mem", address, &mut memory)?;
    read(&path, offset, &mut file)?;
    ensure(memory == file, "the code in memory is not that of the file")?;
    match &trial.environment.objdump {
        Some(objdump) => disassembled(trial, &objdump.clone(), &path),
        None => Ok(()),
    }
}

/// The disassembler that the user named reads the file.
fn disassembled(trial: &mut Trial<'_>, objdump: &Path, file: &str) -> Result<(), Shortfall> {
    let output = Command::new(objdump)
        .args(["-d", "-j", ".init", file])
        .output()
        .map_err(|error| Shortfall::failure(format!("{}: {error}", objdump.display())))?;
    let lines = output.stdout.split(|byte| *byte == b'\n').count();
    trial.note(format_args!("{}: {lines} lines", objdump.display()));
    ensure(
        output.status.success() && lines > 4,
        format!("{} disassembles nothing", objdump.display()),
    )
}

/// The file and offset of an address, if this line of `/proc/self/maps` holds it.
fn place_in_file(line: &str, address: u64) -> Option<(String, u64)> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (start, end, offset) = (number(start)?, number(end)?, number(words.nth(1)?)?);
    let path = words.nth(2)?;
    (start..end)
        .contains(&address)
        .then(|| (path.to_owned(), address - start + offset))
}

/// The program has a build id, by which its symbols are found later.
pub(crate) fn build_id(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let contents = Contents::open(&trial.environment.program).map_err(Shortfall::failure)?;
    let image = Elf::parse(&contents).map_err(Shortfall::failure)?;
    let id = image
        .build_id()
        .ok_or_else(|| Shortfall::skip("the program was linked without a build id"))?;
    trial.note(format_args!("{id:?}"));
    Ok(())
}

/// The workloads' functions and data stand in the program under their names.
pub(crate) fn workload_symbols(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let own = Environment {
        dso: None,
        ..trial.environment.clone()
    };
    let table = symbols::table(&Trial::new(&own))?;
    let names: HashSet<String> = table
        .ids()
        .filter_map(|id| Some(table.symbol(id)?.name.to_owned()))
        .collect();
    trial.note(format_args!("{} names", names.len()));
    if !names.contains("main") {
        return Err(Shortfall::skip("the program is stripped"));
    }
    for workload in oxperf_workloads::ALL {
        for symbol in workload.symbols {
            ensure(
                names.contains(*symbol),
                format!("{}: no symbol '{symbol}'", workload.name),
            )?;
        }
    }
    Ok(())
}

/// Inlined functions of the program have their lines.
pub(crate) fn inlined_lines(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let store = SymbolStore::new(StoreOptions::default());
    let wanted = ObjectQuery {
        path: trial.environment.program.as_os_str().as_bytes(),
        build_id: None,
        kind: ObjectKind::User,
        process: None,
    };
    let table = store.object(&wanted).map_err(Shortfall::failure)?;
    let parent = table
        .ids()
        .filter_map(|id| table.symbol(id))
        .find(|symbol| symbol.name == "inlineloop_parent")
        .ok_or_else(|| Shortfall::skip("the program is stripped"))?;
    let source = store
        .source(&wanted)
        .map_err(|error| Shortfall::skip(format!("no debug information: {error}")))?;
    let mut inlined = 0;
    for offset in parent.start..parent.end {
        let lines: Vec<u32> = source
            .frames(offset)
            .iter()
            .filter_map(|frame| frame.line.as_ref())
            .filter(|line| line.file.ends_with("inlineloop.c"))
            .map(|line| line.line)
            .collect();
        if let [.., leaf, middle, parent] = lines[..] {
            trial.note(format_args!("{offset:x}: lines {leaf}, {middle}, {parent}"));
            inlined += usize::from(
                (20..30).contains(&leaf)
                    && (20..30).contains(&middle)
                    && (30..40).contains(&parent),
            );
        }
    }
    ensure(
        inlined > 0,
        "no address has the lines of the inlined functions",
    )
}
