//! Names for addresses inside an object.
//!
//! For everybody who has (object, offset) and wants a function's name: a [`SymbolStore`] finds the object by identity,
//! builds its [`SymbolTable`] once and hands it out; a table answers from any thread. Which symbols count, where they end
//! and which name of an address wins is as in perf 7.2. Nothing here knows of samples, threads or mappings, and an
//! unknown address stays unknown: there is no guessed name.
//!
//! ```
//! use oxperf_symbols::{StoreOptions, SymbolStore};
//! use oxperf_objects::{ObjectKind, ObjectQuery};
//!
//! let store = SymbolStore::new(StoreOptions::default());
//! let program = std::env::current_exe().unwrap();
//! let path = program.as_os_str().as_encoded_bytes();
//! let table = store.object(&ObjectQuery { path, build_id: None, kind: ObjectKind::User, process: None }).unwrap();
//! let first = table.ids().next().unwrap();
//! assert_eq!(table.lookup(table.symbol(first).unwrap().start), Some(first));
//! ```

mod builder;
mod cache;
mod choice;
mod demangle;
mod display_names;
mod elf;
mod entry;
mod kallsyms;
mod kernel;
mod module;
mod names;
mod names_from;
mod perf_map;
mod reference_symbol;
mod segments;
mod source;
mod spans;
mod store;
mod symbol_prefilter;
mod table;

pub use builder::build;
pub use cache::{CacheEntry, Topic};
pub use choice::{
    ChosenSymbol, NamedSymbol, NotChosen, SymbolChoice, choose_in_kallsyms, listed_kernel_text,
};
pub use demangle::{Demangling, demangle};
pub use elf::{Stub, StubTarget, elf_table, linkage_stubs};
pub use entry::{Suffix, SymbolEntry, SymbolName};
pub use kallsyms::kallsyms_table;
pub use kernel::vmlinux_table;
pub use module::{ModuleMapping, module_base};
pub use names_from::NamesFrom;
pub use oxperf_objects::elf::SymbolBinding;
pub use perf_map::perf_map_table;
pub use reference_symbol::ReferenceSymbol;
pub use source::{
    DebugInfo, FrameBase, LocationEntry, Scope, Scopes, SourceFrame, SourceLine, TypeFacts, TypeId,
    TypeKind, TypeMember, TypeReader, UnitId, Variable, VariableLocation,
};
pub use store::{
    BuildIdMismatch, GuestPlaces, KernelSource, Lookup, SourceLookup, StoreOptions, SymbolStore,
    Unavailable, Unreadable,
};
pub use symbol_prefilter::SymbolPrefilter;
pub use table::{Symbol, SymbolId, SymbolTable};
