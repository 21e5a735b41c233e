//! Rust sources: the head of each file, and words that must not stay.

use super::{Findings, Source};

/// Macros that mark unfinished work.
const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Crates that may hold unsafe code.
const UNSAFE_CRATES: [&str; 3] = [
    "crates/sys/src",
    "crates/dlfilter/src",
    "crates/workloads/src",
];

/// What only the program itself and this task runner may do: crates take options instead.
const PROGRAM_ONLY: [&str; 3] = ["env::var(", "env::var_os(", "process::exit("];

/// Folders of the program itself.
const PROGRAMS: [&str; 2] = ["crates/cli", "xtask"];

/// Checks every Rust file.
pub(super) fn check(sources: &[Source], findings: &mut Findings) {
    for source in sources {
        check_head(source, findings);
        check_module_style(source, findings);
        check_surroundings(source, findings);
        check_options(source, findings);
        for (number, line) in source
            .text
            .lines()
            .enumerate()
            .filter(|(_, line)| is_code(line))
        {
            let place = format!("{}:{}", source.path.display(), number + 1);
            check_line(&place, line, source, findings);
        }
    }
}

fn check_head(source: &Source, findings: &mut Findings) {
    let head = source
        .text
        .lines()
        .find(|line| !line.is_empty() && !line.starts_with("#!"));
    if !head.is_some_and(|line| line.starts_with("//! ")) {
        findings.broken(
            source.path.display(),
            "begins without a //! line that says what it is for",
        );
    }
}

/// A module with parts is `x.rs` beside the folder `x`.
fn check_module_style(source: &Source, findings: &mut Findings) {
    if source.path.ends_with("mod.rs")
        && source
            .path
            .components()
            .any(|part| part.as_os_str() == "src")
    {
        findings.broken(
            source.path.display(),
            "a module with parts is x.rs beside x/",
        );
    }
}

/// Tests may ask for their fixtures; the code above them may not.
fn check_surroundings(source: &Source, findings: &mut Findings) {
    let parts = ["tests", "examples", "benches"];
    let for_tests = source
        .path
        .components()
        .any(|part| parts.iter().any(|name| part.as_os_str() == *name));
    if for_tests
        || PROGRAMS
            .iter()
            .any(|program| source.path.starts_with(program))
    {
        return;
    }
    let code = source
        .text
        .lines()
        .enumerate()
        .take_while(|(_, line)| *line != "#[cfg(test)]");
    for (number, line) in code.filter(|(_, line)| is_code(line)) {
        for call in PROGRAM_ONLY.iter().filter(|call| line.contains(**call)) {
            findings.broken(
                format!("{}:{}", source.path.display(), number + 1),
                format!("{call}) belongs to cli"),
            );
        }
    }
}

/// A command's options are values before anything but its `arguments.rs` sees them.
fn check_options(source: &Source, findings: &mut Findings) {
    let reads_options = source
        .path
        .components()
        .any(|part| part.as_os_str() == "arguments" || part.as_os_str() == "arguments.rs");
    if !source.path.starts_with("crates/cli/src") || reads_options {
        return;
    }
    for (number, line) in source.text.lines().enumerate() {
        if is_code(line) && line.contains("ArgMatches") {
            let place = format!("{}:{}", source.path.display(), number + 1);
            findings.broken(place, "ArgMatches belongs to files named arguments.rs");
        }
    }
}

fn check_line(place: &str, line: &str, source: &Source, findings: &mut Findings) {
    for name in MACROS.iter().filter(|name| calls(line, name)) {
        findings.broken(place, format!("{name}! must not stay"));
    }
    if line.trim_start().starts_with("#[ignore") {
        findings.broken(place, "a test that never runs proves nothing");
    }
    if has_unsafe(line)
        && !UNSAFE_CRATES
            .iter()
            .any(|place| source.path.starts_with(place))
    {
        findings.broken(
            place,
            "unsafe code belongs to crates/sys, crates/dlfilter and crates/workloads",
        );
    }
}

fn is_code(line: &str) -> bool {
    !line.trim_start().starts_with("//")
}

/// Returns true if `name!(` is called: not a part of a longer word.
fn calls(line: &str, name: &str) -> bool {
    let call = format!("{name}!(");
    line.match_indices(&call)
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn has_unsafe(line: &str) -> bool {
    let word = "unsafe ";
    let openers = ["{", "fn ", "impl ", "extern ", "trait "];
    line.match_indices(word).any(|(at, _)| {
        openers
            .iter()
            .any(|opener| line[at + word.len()..].starts_with(opener))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> usize {
        let mut findings = Findings::default();
        check(
            &[Source {
                path: "crates/x/src/lib.rs".into(),
                text: text.to_owned(),
            }],
            &mut findings,
        );
        findings.broken.len()
    }

    #[test]
    fn a_head_is_needed() {
        assert_eq!(broken("//! What it is.\n"), 0);
        assert_eq!(broken("use std::fs;\n"), 1);
        assert_eq!(broken(""), 1);
    }

    #[test]
    fn unfinished_work_is_found_in_code_only() {
        let name = MACROS[0];
        assert_eq!(broken(&format!("//! x\nfn f() {{ {name}!() }}\n")), 1);
        assert_eq!(broken(&format!("//! x\n// {name}!()\nmy_{name}!()\n")), 0);
    }

    #[test]
    fn only_the_program_reads_the_environment() {
        assert_eq!(broken("//! x\nlet a = std::env::var(\"A\");\n"), 1);
        assert_eq!(
            broken("//! x\n#[cfg(test)]\nmod tests { let a = std::env::var(\"A\"); }\n"),
            0
        );
    }

    #[test]
    fn unsafe_is_found() {
        assert_eq!(broken(&format!("//! x\n{} {{ x }}\n", "unsafe")), 1);
        assert_eq!(broken("//! x\nlet unsafe_code = 1;\n"), 0);
    }
}
