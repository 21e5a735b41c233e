//! The code of a function line by line, as listings show it.
//!
//! For views that put costs beside instructions: [`CodeNames`] knows what a binary's addresses are called, the way
//! `objdump` calls them, and [`list`] turns a stretch of a binary into [`ListingLine`]s. What ran how often, and how lines are
//! laid out, is the business of
//! others. [`DataTypes`] finds the types of the data that instructions work on. Between instructions [`interleave`] puts the source text that [`SourceFiles`](oxperf_objects::SourceFiles) finds.
//!
//! ```
//! use oxperf_listing::{CodeIndex, CodeNames, ListingLine, list};
//! use oxperf_disasm::Syntax;
//! use oxperf_objects::{Elf, Locator, ObjectKind, SearchPaths, ObjectQuery};
//! use oxperf_symbols::Demangling;
//!
//! let program = std::env::current_exe().unwrap();
//! let path = program.as_os_str().as_encoded_bytes();
//! let found = Locator::new(SearchPaths::default()).image(&ObjectQuery { path, build_id: None, kind: ObjectKind::User, process: None }).unwrap();
//! let image = Elf::parse(&found.contents).unwrap();
//! let index = CodeIndex::new(&image, None);
//! let names = CodeNames::new(&index, &image, None, Demangling::On);
//! let text = image.section(b".text").unwrap();
//! let listing = list(&image, &names, text.address..text.address + 64, Syntax::Att).unwrap();
//! assert_eq!(listing.section, ".text");
//! assert!(matches!(listing.lines[0], ListingLine::Label { address, .. } if address == text.address));
//! ```

mod data_types;
mod lines;
mod names;
mod source;
mod versions;

pub use data_types::{
    DataAccess, DataField, DataLayout, DataNames, DataTypes, Miss, NamedData, typed_data,
};
pub use lines::{ListError, ListedInstruction, Listing, ListingLine, list};
pub use names::{CodeIndex, CodeNames};
pub use source::interleave;
