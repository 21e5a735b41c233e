//! One symbol on its way into a table.

use oxperf_objects::elf::SymbolBinding;

/// A symbol as its source gives it, in the address space of its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolEntry<'a> {
    /// Address of the first byte.
    pub start: u64,
    /// Size in bytes; `None` where the source does not say: it then ends where the next one starts.
    pub size: Option<u64>,
    /// The name as the source spells it.
    pub name: SymbolName<'a>,
    /// Its visibility to other files.
    pub binding: SymbolBinding,
    /// True if it names data, and not code.
    pub is_data: bool,
}

/// The parts of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolName<'a> {
    /// The linker's name.
    pub linkage: &'a [u8],
    /// The text that is appended for the reader, such as `@plt`.
    pub suffix: Suffix,
}

impl<'a> SymbolName<'a> {
    /// A name without a suffix.
    pub fn plain(linkage: &'a [u8]) -> SymbolName<'a> {
        SymbolName {
            linkage,
            suffix: Suffix::None,
        }
    }
}

/// The text behind a linker's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suffix {
    /// Nothing.
    #[default]
    None,
    /// `@plt`: a stub that jumps to the function of that name.
    Plt,
}

impl Suffix {
    /// The text as the reader sees it.
    pub fn text(self) -> &'static str {
        match self {
            Suffix::None => "",
            Suffix::Plt => "@plt",
        }
    }
}

/// The rank of a [`SymbolBinding`] when one address has several names.
pub(crate) fn rank(binding: SymbolBinding) -> u8 {
    match binding {
        SymbolBinding::Weak => 0,
        SymbolBinding::Local | SymbolBinding::Other(_) => 1,
        SymbolBinding::Global => 2,
    }
}
