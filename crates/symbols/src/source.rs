//! Source lines and inlined functions, from DWARF 2 to 5.
//!
//! A [`DebugInfo`] stands on the mapped sections of one object. The first question reads where units lie and which
//! addresses they cover; a unit's lines and functions are read when the first address of it is asked for, and a function's
//! inlined calls when an address in that function is. What is kept is plain data, so that all threads may ask at once.

mod answers;
mod entry;
mod files;
mod functions;
mod in_files;
mod info;
mod inlined;
mod lines;
mod names;
mod no_line;
mod object;
mod sections;
mod split;
mod types;
mod unit_head;
mod units;

use std::sync::Arc;

pub use info::DebugInfo;
pub use object::UnitId;
pub use types::{
    FrameBase, LocationEntry, Scope, Scopes, TypeFacts, TypeId, TypeKind, TypeMember, TypeReader,
    Variable, VariableLocation,
};

/// Bytes of a section, as gimli reads them.
type Slice<'a> = gimli::EndianSlice<'a, gimli::RunTimeEndian>;
/// All sections, as gimli reads them.
type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
/// A unit, as gimli reads it.
type GimliUnit<'a> = gimli::Unit<Slice<'a>>;

/// A place in source text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The file's path as the compiler wrote it, made absolute with its working directory; of code without lines the file's
    /// name as its symbols have it, which may be empty. Untrusted.
    pub file: Arc<str>,
    /// The line, from 1; 0 where the compiler says that there is none, and of code without lines whose file alone is known.
    pub line: u32,
    /// The column, from 1; 0 where it is not known.
    pub column: u32,
}

/// One of the functions that an address belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceFrame {
    /// The function's name: the linker's name demangled where there is one, else the name in its scope; `None` where none
    /// is known. Untrusted.
    pub function: Option<Arc<str>>,
    /// The line of the address, or of the call of the next inner function.
    pub line: Option<SourceLine>,
}
