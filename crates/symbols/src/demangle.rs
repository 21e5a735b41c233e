//! Names for people: C++ and Rust, as perf shows them.

use std::fmt::Write;

/// Longest linker name that is demangled; longer ones are shown as they are.
const INPUT_LIMIT: usize = 1 << 16;
/// Longest demangled name; a short linker name can stand for an endless one.
const OUTPUT_LIMIT: usize = 1 << 16;
/// How deep a C++ name may nest.
const DEPTH_LIMIT: u32 = 192;

/// Whether names are demangled.
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
        return None;
    }
    rust(name).or_else(|| cpp(name))
}

fn rust(name: &str) -> Option<String> {
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let mut shown = Limited::default();
    write!(shown, "{demangled:#}").ok()?;
    Some(shown.0)
}

fn cpp(name: &str) -> Option<String> {
    let options = cpp_demangle::ParseOptions::default().recursion_limit(DEPTH_LIMIT);
    let symbol = cpp_demangle::BorrowedSymbol::new_with_options(name.as_bytes(), &options).ok()?;
    let options = cpp_demangle::DemangleOptions::new().recursion_limit(DEPTH_LIMIT);
    let mut shown = Limited::default();
    symbol.structured_demangle(&mut shown, &options).ok()?;
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
