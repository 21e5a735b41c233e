//! The symbols that a stripped program keeps: those of the workloads of `test -w`, which scripts look for by name in
//! recordings of the program itself.

use std::path::Path;

use anyhow::Result;

use super::run_program;
use crate::workspace;

/// Writes a copy of a program without symbols and debug information but for those of the workloads.
pub(super) fn strip(program: &Path, copy: &Path) -> Result<()> {
    let mut arguments = vec!["--strip-all".to_owned()];
    for file in workspace::files()? {
        if file.starts_with("crates/workloads/src") {
            let text = std::fs::read_to_string(workspace::root().join(file))?;
            arguments.extend(names(&text).map(|name| format!("--keep-symbol={name}")));
        }
    }
    arguments.extend([program, copy].map(|path| path.display().to_string()));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run_program("objcopy", &arguments, &workspace::root())
}

/// The functions and data of a source text that keep their names in a program.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let marked = text.split("#[unsafe(no_mangle)]").skip(1);
    marked.filter_map(|behind| {
        let words: Vec<&str> = behind.split_whitespace().take(16).collect();
        let at = words
            .iter()
            .position(|word| ["fn", "static"].contains(word))?;
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let name = words[at + 1..].iter().find(|word| **word != "mut")?;
        name.split(|letter| !is_name(letter)).next()
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_of_functions_and_data_are_found() {
        let text = "fn a() {}\n#[unsafe(no_mangle)]\n#[inline(never)]\nextern \"C\" fn noploop(n: u32) {}\n#[unsafe(no_mangle)]\nstatic mut buf1: [u8; 3] = [0; 3];";
        assert_eq!(names(text).collect::<Vec<_>>(), ["noploop", "buf1"]);
    }
}
