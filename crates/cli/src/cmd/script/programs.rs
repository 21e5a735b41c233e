//! `-l`: the programs in this folder that `-s` could run, with what they say of themselves.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use oxperf_present::text::sanitize;

use crate::failure::Failure;
use crate::output::print_line;

/// How much of a program is looked at.
const HEAD: u64 = 4096;

/// Lists them.
pub(super) fn list() -> Result<(), Failure> {
    print_line("List of available trace scripts:")?;
    let mut files: Vec<PathBuf> = std::fs::read_dir(".")?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    files.sort();
    let mut scripts = files
        .iter()
        .filter_map(|path| Some((path, head(path)?)))
        .peekable();
    if scripts.peek().is_none() {
        print_line("  none in this folder; -g python or -g perl writes one to begin with")?;
    }
    for (path, head) in scripts {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        print_line(&format!(
            "  {:<36} {}",
            sanitize(&name),
            sanitize(said(&head))
        ))?;
    }
    Ok(())
}

/// The beginning of a script's text; `None` for all other files.
fn head(path: &Path) -> Option<String> {
    // A FIFO would never end.
    let file = path.is_file().then(|| File::open(path).ok()).flatten()?;
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head).ok()?;
    let by_name = matches!(
        path.extension().and_then(|suffix| suffix.to_str()),
        Some("py" | "pl")
    );
    (by_name || head.starts_with(b"#!")).then(|| String::from_utf8_lossy(&head).into_owned())
}

/// What a script says of itself: behind `description:`, else its first words that are no code.
fn said(head: &str) -> &str {
    let described = head
        .lines()
        .find_map(|line| Some(line.split_once("description:")?.1.trim()));
    let mut words = head
        .lines()
        .filter(|line| !line.starts_with("#!"))
        .map(str::trim);
    let first = || {
        words.find_map(|line| {
            line.strip_prefix('#')
                .or_else(|| line.strip_prefix("\"\"\""))
        })
    };
    described
        .or_else(first)
        .unwrap_or("")
        .trim()
        .trim_end_matches("\"\"\"")
        .trim_end_matches([':', ','])
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn scripts_say_what_they_are_for() {
        assert_eq!(
            said("#!/usr/bin/env python3\n\"\"\"Reads the events:\n\n"),
            "Reads the events"
        );
        assert_eq!(
            said("#!/bin/sh\n# first\n# description: what reads most\n"),
            "what reads most"
        );
        assert_eq!(said("print(1)\n"), "");
    }
}
