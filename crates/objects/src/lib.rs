//! Find and read the binaries that a recording names, by identity.
//!
//! For everybody who needs the bytes behind a mapping: symbols, inline frames, source lines, instructions. A file
//! whose build id differs from the recorded one is never handed out: its names would be wrong. Nothing here knows
//! of samples or threads, and nothing reads the environment: the caller says where files may lie ([`SearchPaths`]).
//!
//! ```
//! use oxperf_objects::{Elf, Locator, ObjectKind, SearchPaths, ObjectQuery};
//!
//! let locator = Locator::new(SearchPaths::default());
//! let program = std::env::current_exe().unwrap();
//! let path = program.as_os_str().as_encoded_bytes();
//! let found = locator.image(&ObjectQuery { path, build_id: None, kind: ObjectKind::User, process: None }).unwrap();
//! assert!(Elf::parse(&found.contents).unwrap().segments().len() > 1);
//!
//! let missing = ObjectQuery { path: b"/no/such/file", build_id: None, kind: ObjectKind::User, process: None };
//! assert_eq!(locator.image(&missing).unwrap_err().tried.len(), 1);
//! ```

mod cache;
mod contents;
mod crc;
mod debuginfod;
pub mod elf;
mod error;
mod kernel_copy;
mod kernel_list;
mod kernel_memory;
mod locate;
mod module_code;
mod object_query;
mod origin;
mod packed;
mod probe_names;
mod search_paths;
mod source_files;
mod vdso;

pub use cache::{BuildIdCache, CacheFile, Cached, parse_id};
pub use contents::{Contents, FileVersion};
pub use debuginfod::Debuginfod;
pub use elf::Elf;
pub use error::{ElfError, FetchError, Rejection};
pub use kernel_copy::{KERNEL_COPY_FILES, copy_kernel, is_copy_of};
pub use kernel_list::{KernelState, running_kernel_build_id};
pub use kernel_memory::{KernelMemory, KernelPiece, KernelSymbol};
pub use locate::{Found, Locator, NotFound};
pub use module_code::module_code;
pub use object_query::{ObjectKind, ObjectQuery};
pub use origin::{DebugFileOrigin, ObjectOrigin};
pub use probe_names::CachedMarker;
pub use search_paths::SearchPaths;
pub use source_files::{SourceFiles, SourceText};
