//! A test for objects that can hold a function of a given name at all: those among whose linkers' names its words
//! stand.
//!
//! To look for the words takes a hundredth of the time that it takes to make a table of all names.

use oxperf_objects::Elf;

/// Words that every linker's name holds which is shown as a certain name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolPrefilter(Vec<String>);

impl SymbolPrefilter {
    /// The words of a name as it is shown, as far as they are sure to stand in the linker's name.
    ///
    /// Identifiers stand there as they are, in all manglings that are known here. What the languages themselves call
    /// something is abbreviated.
    pub fn of(shown: &str) -> SymbolPrefilter {
        let is_identifier =
            |word: &&str| word.len() >= SHORTEST && !word.starts_with(|c: char| c.is_ascii_digit());
        // A name of one word is no mangled one.
        let is_sure = |word: &&str| word.len() == shown.len() || !ABBREVIATED.contains(word);
        let words = shown.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
        let mut sure: Vec<String> = words
            .filter(is_identifier)
            .filter(is_sure)
            .map(str::to_owned)
            .collect();
        // Others have signs of their own.
        if !shown.is_ascii() {
            sure.clear();
        }
        sure.sort();
        sure.dedup();
        SymbolPrefilter(sure)
    }

    /// Returns whether one of a file's tables of symbols can hold a name with the words. A packed table is not looked
    /// through.
    pub(crate) fn may_stand_in(&self, file: &Elf<'_>) -> bool {
        if file.section(MINI_DEBUG_INFO).is_some() {
            return true;
        }
        let tables = [object::elf::SHT_SYMTAB, object::elf::SHT_DYNSYM];
        let names = tables
            .iter()
            .filter_map(|kind| file.names_of(file.section_of_kind(*kind)?));
        names.into_iter().any(|names| self.may_stand_among(names))
    }

    /// Returns whether these linkers' names, or this one, can hold the words.
    pub(crate) fn may_stand_among(&self, names: &[u8]) -> bool {
        self.0
            .iter()
            .all(|word| memchr::memmem::find(names, word.as_bytes()).is_some())
    }
}

/// The section that holds a packed file with a table of symbols.
const MINI_DEBUG_INFO: &[u8] = b".gnu_debugdata";

/// Shorter words stand everywhere.
const SHORTEST: usize = 3;

/// Words that C++ and Rust have signs for, or that describe what has no name.
const ABBREVIATED: [&str; 106] = [
    "TLS",
    "__float128",
    "__int128",
    "abi",
    "alignof",
    "allocator",
    "anonymous",
    "arg",
    "auto",
    "basic_iostream",
    "basic_istream",
    "basic_ostream",
    "basic_string",
    "bool",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "char_traits",
    "class",
    "clone",
    "closure",
    "co_await",
    "complex",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "construction",
    "covariant",
    "decimal128",
    "decimal32",
    "decimal64",
    "decltype",
    "default",
    "delete",
    "double",
    "dyn",
    "dynamic_cast",
    "enum",
    "false",
    "float",
    "for",
    "function",
    "guard",
    "half",
    "imaginary",
    "impl",
    "init",
    "initialization",
    "initializer",
    "instance",
    "int",
    "iostream",
    "isize",
    "istream",
    "lambda",
    "long",
    "namespace",
    "new",
    "noexcept",
    "non",
    "nullptr",
    "nullptr_t",
    "object",
    "operator",
    "ostream",
    "parameter",
    "reference",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "shim",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_cast",
    "std",
    "str",
    "string",
    "struct",
    "template",
    "temporary",
    "this",
    "throw",
    "thunk",
    "to",
    "transaction",
    "true",
    "typeid",
    "typeinfo",
    "typename",
    "union",
    "unnamed",
    "unsigned",
    "usize",
    "variable",
    "vector_size",
    "virtual",
    "void",
    "volatile",
    "vtable",
    "wchar_t",
    "wrapper",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(shown: &str) -> Vec<String> {
        SymbolPrefilter::of(shown).0
    }

    #[test]
    fn identifiers_are_sure() {
        let shown = "std::vector<unit, std::allocator<unit> >::operator[](unsigned long)";
        assert_eq!(words(shown), ["unit", "vector"]);
        assert_eq!(words("main"), ["main"]);
        assert_eq!(words("string"), ["string"]);
        let shown = "(anonymous namespace)::{lambda(char const*)#1}::operator()(char const*) const";
        let none = ["operator new(unsigned long)", shown, "f(gr\u{f6}\u{df}e)"];
        assert!(none.into_iter().all(|shown| words(shown).is_empty()));
    }
}
