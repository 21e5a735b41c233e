//! Helpers of several topics: folders of their own, input by a pipe, places in a program's file.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use oxperf_objects::{Contents, Elf};
use oxperf_symbols::{Demangling, elf_table};

/// Returns the folder of a topic below the target directory; a topic is its module's path.
pub(crate) fn scratch(topic: &str) -> PathBuf {
    let name = topic.rsplit("::").next().unwrap_or(topic);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("it")
        .join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs the program in `folder` with these bytes on its standard input, in small pieces.
pub(crate) fn piped(folder: &Path, arguments: &[&str], bytes: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for piece in bytes.chunks(100) {
        // A command that refuses its input does not read all of it.
        let _ = input.write_all(piece);
    }
    drop(input);
    child.wait_with_output().unwrap()
}

/// Returns the standard output as text.
pub(crate) fn stdout(output: &Output) -> String {
    lossy(&output.stdout)
}

/// Returns bytes as text, whatever they are.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the addresses of a function in a program's file, by its symbol table.
pub(crate) fn function(program: &Path, name: &str) -> Range<u64> {
    let contents = Contents::open(program).unwrap();
    let image = Elf::parse(&contents).unwrap();
    let table = elf_table(&image, &image, Vec::new(), Demangling::On);
    let mut symbols = table.ids().filter_map(|id| table.symbol(id));
    let found = symbols.find(|symbol| symbol.name == name);
    let symbol = found.expect("the program has this function");
    symbol.start..symbol.end
}
