//! The functions at a place of the code: the function that has it, and those that were inlined there.

use std::sync::Arc;

use oxperf_machine::Objects;
use oxperf_symbols::{SourceFrame, SourceLine};

use crate::{DsoAddress, Name, Names};

/// One of the functions that a place belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineStep {
    /// The name of a function that was inlined; `None` for the one that the symbol names. Untrusted.
    pub inlined: Option<Arc<str>>,
    /// The line of the code, or of the call of the next inner function, in the function's text.
    pub line: Option<SourceLine>,
}

/// perf asks its own library first, which lays out programs and libraries that may lie anywhere from here on. About
/// addresses below, as the file has them, it asks `addr2line`.
const LAID_OUT_FROM: u64 = 0x1_0000;

impl Names<'_> {
    /// The functions that a place with a symbol belongs to, innermost first; always at least the symbol's own.
    ///
    /// The function that has the code goes by its symbol. As in perf it counts as inlined where it was cloned (where the
    /// symbol is the function's name and a suffix such as `.constprop.0`) and `addr2line` is asked about it.
    pub fn steps(&self, objects: &Objects, place: &DsoAddress, name: &Name<'_>) -> Vec<InlineStep> {
        let frames = self
            .source(objects, place.dso)
            .map(|source| source.frames(place.address));
        let Some((outermost, inner)) = frames.as_deref().and_then(<[SourceFrame]>::split_last)
        else {
            return vec![InlineStep {
                inlined: None,
                line: None,
            }];
        };
        let inner = inner
            .iter()
            .map(|frame| step(frame, |other| other != name.text));
        let address = self.object_address(objects, place);
        inner
            .chain([step(outermost, |other| {
                counts_as_inlined(address, name.text, other)
            })])
            .collect()
    }

    /// Returns whether the tools that perf asks know a function at a place whose line nobody knows: the object has
    /// debug information, and what is there is no stub.
    pub fn is_known_to_tools(&self, objects: &Objects, place: &DsoAddress) -> bool {
        let is_function = |name: Name<'_>| !is_stub(name.text);
        self.source(objects, place.dso).is_some()
            && self.name(objects, place).is_some_and(is_function)
    }
}

/// Returns whether a name is one of the linkage table, which stands in no file: perf makes it up.
pub fn is_stub(name: &str) -> bool {
    name.ends_with("@plt") || name == ".plt"
}

/// A frame, shown by its own name where that counts.
fn step(frame: &SourceFrame, counts: impl Fn(&str) -> bool) -> InlineStep {
    let inlined = frame.function.as_ref().filter(|name| counts(name));
    InlineStep {
        inlined: inlined.cloned(),
        line: frame.line.clone(),
    }
}

/// Returns whether a function that has the code itself, at an address as its file has it, counts as inlined into its
/// symbol.
fn counts_as_inlined(address: u64, symbol: &str, function: &str) -> bool {
    address < LAID_OUT_FROM && is_clone(symbol, function)
}

/// Returns whether a symbol names a copy of a function that the compiler made for a purpose.
fn is_clone(symbol: &str, function: &str) -> bool {
    let suffix = symbol.strip_prefix(function);
    suffix.is_some_and(|suffix| suffix.starts_with('.') || suffix.starts_with(" [clone"))
}

#[cfg(test)]
mod tests {
    use super::{counts_as_inlined, is_clone};

    #[test]
    fn clones_are_told_by_their_suffix() {
        assert!(is_clone("foo.constprop.0", "foo"));
        assert!(is_clone("foo(int) [clone .cold]", "foo(int)"));
        assert!(
            !is_clone("foo", "foo")
                && !is_clone("malloc", "__libc_malloc")
                && !is_clone("food", "foo")
        );
    }

    #[test]
    fn clones_count_as_inlined_where_addr2line_is_asked() {
        let of_clone = |address| counts_as_inlined(address, "foo.part.0", "foo");
        assert_eq!(
            [0x12f0, 0xffff, 0x1_0000, 0x40_1000].map(of_clone),
            [true, true, false, false]
        );
        assert!(!counts_as_inlined(0x12f0, "foo", "foo"));
    }
}
