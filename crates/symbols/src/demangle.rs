//! Names for people: C++ and Rust, as perf shows them.

mod cpp;

use std::fmt::Write;

/// Longest linker name that is demangled; longer ones are shown as they are.
const INPUT_LIMIT: usize = 1 << 16;
/// Longest demangled name; a short linker name can stand for an endless one.
const OUTPUT_LIMIT: usize = 1 << 16;

/// True if names are demangled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Demangling {
    /// C++ and Rust names are shown as in the source.
    #[default]
    On,
    /// Names are shown as the linker knows them.
    Off,
}

impl Demangling {
    /// The name for the reader. Bytes that are no UTF-8 are replaced.
    pub(crate) fn show(self, linkage: &[u8], suffix: &str) -> Box<str> {
        let name = String::from_utf8_lossy(linkage);
        let shown = match self {
            Demangling::On => demangle(&name),
            Demangling::Off => None,
        };
        let mut shown = shown.unwrap_or_else(|| name.into_owned());
        shown.push_str(suffix);
        shown.into_boxed_str()
    }
}

/// The source's name, where the linker's name is a mangled one.
pub fn demangle(name: &str) -> Option<String> {
    if name.len() > INPUT_LIMIT {
        return None;
    }
    if name.starts_with("_R") {
        return rust(name);
    }
    if !name.starts_with("_Z") {
        return ocaml(name);
    }
    // As in perf, Rust's old names come first: any path of plain identifiers counts as one.
    rust(name).or_else(|| cpp::demangle(name))
}

/// OCaml's `camlStdlib__List__map_123`: modules are joined by two underscores, other characters stand as `$` and two
/// hex digits.
fn ocaml(name: &str) -> Option<String> {
    let mut rest = name
        .strip_prefix("caml")
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))?;
    let mut shown = String::new();
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("__") {
            shown.push('.');
            rest = after;
        } else if let Some((character, after)) = escaped(rest) {
            shown.push(character);
            rest = after;
        } else {
            shown.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    Some(shown)
}

fn escaped(text: &str) -> Option<(char, &str)> {
    let (digits, after) = text.strip_prefix('$')?.split_at_checked(2)?;
    Some((char::from(u8::from_str_radix(digits, 16).ok()?), after))
}

fn rust(name: &str) -> Option<String> {
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let mut shown = Limited::default();
    write!(shown, "{demangled:#}").ok()?;
    Some(shown.0)
}

/// Text that refuses to grow without bound.
#[derive(Default)]
struct Limited(String);

impl std::fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len().saturating_add(text.len()) > OUTPUT_LIMIT {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(&str, &str)]) {
        for (name, expected) in cases {
            assert_eq!(demangle(name).as_deref(), Some(*expected), "{name}");
        }
    }

    #[test]
    fn rust_names_lose_their_hash() {
        check(&[
            (
                "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
                "core::fmt::Formatter::pad",
            ),
            (
                "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.123456",
                "core::fmt::Formatter::pad",
            ),
            ("_ZN3foo17h05af221e174051e9E.cold", "foo.cold"),
            ("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"),
        ]);
    }

    #[test]
    fn ocaml_modules_are_joined_by_dots() {
        check(&[
            ("camlStdlib__List__map_123", "Stdlib.List.map_123"),
            ("camlA__$2b_1", "A.+_1"),
        ]);
        assert_eq!(demangle("caml_foo"), None);
    }

    #[test]
    fn other_names_stay() {
        for name in [
            "main",
            "__Z3foov",
            "_Z",
            "_Zq",
            "_R",
            "_ZL3foo.llvm.1",
            "_Z1fDO",
            "",
        ] {
            assert_eq!(demangle(name), None, "{name}");
        }
    }

    #[test]
    fn a_hostile_name_ends_soon() {
        let deep = format!("_Z1f{}i", "P".repeat(20_000));
        assert_eq!(demangle(&deep), None);
        let brackets = format!("_Z1f{}v{}", "PF".repeat(100), "vvE".repeat(100));
        assert!(demangle(&brackets).is_some());
        let chain: String = (0..1200).map(|n| format!("PS{}_", base36(n))).collect();
        assert_eq!(
            demangle(&format!("_Z1fPiPS_{chain}")),
            None,
            "pointers to pointers, each by reference"
        );
        // Each type holds the one before twice: 2^100 characters.
        let parts: String = (0..60)
            .map(|n| format!("St4pairIS{}_S{}_E", base36(n), base36(n)))
            .collect();
        assert!(demangle(&format!("_Z1fi{parts}")).is_none_or(|shown| shown.len() <= OUTPUT_LIMIT));
    }

    fn base36(number: u32) -> String {
        let digit = |value: u32| {
            char::from_digit(value, 36)
                .unwrap_or('0')
                .to_ascii_uppercase()
        };
        if number < 36 {
            digit(number).to_string()
        } else {
            format!("{}{}", digit(number / 36), digit(number % 36))
        }
    }
}
