//! Registers and a copy of the stack to the addresses of a thread's calls.
//!
//! For whoever has a moment of a thread: what its registers held ([`RegisterFile`]), the bytes of its stack
//! ([`StackCopy`]), and the objects that its code lies in ([`UnwindInfo`]). [`walk`] gives the addresses from the
//! innermost function outwards, and says why it ended ([`UnwindEnd`]). The rules are those of libdw, which perf unwinds with:
//! the same frames come out of the same input. Threads, mappings and recordings are not known here, and no file is
//! opened: the caller answers what lies at an address ([`AddressSpace`]).
//!
//! [`FrameSurvey`] says whether an object's code keeps frame pointers, so that its callers are found without a copy.
//!
//! Every input is hostile. What is read from the copy is checked against its bounds, the steps of a walk and of a DWARF
//! expression are limited, and an object whose tables are damaged ends a walk and nothing else.
//!
//! ```
//! use oxperf_unwind::{Arch, UnwindCache, UnwindEnd, RegisterFile, Snapshot, AddressSpace, Location, StackCopy, walk};
//!
//! /// Nothing is mapped anywhere.
//! struct Nowhere;
//! impl AddressSpace for Nowhere {
//!     fn spot(&self, _: u64) -> Location<'_> {
//!         Location::Nothing
//!     }
//! }
//!
//! let mut registers = RegisterFile::new(Arch::X86_64, 0x1234);
//! registers.set(Arch::X86_64.stack_pointer(), 0x7fff_0000);
//! let stack = StackCopy { start: 0x7fff_0000, bytes: &[0; 64], little_endian: true, word_size: 8 };
//! let mut addresses = Vec::new();
//! let end = walk(&Snapshot { registers, stack }, &Nowhere, &mut UnwindCache::default(), 127, &mut addresses);
//! assert_eq!((addresses, end), (vec![0x1234], UnwindEnd::Unmapped));
//! ```

mod arch;
mod end;
mod expression;
mod frame_pointer;
mod info;
mod registers;
mod row;
mod stack;
mod step;
mod survey;
mod tables;
mod walk;

pub use arch::{Arch, Register};
pub use end::{UnwindEnd, UnwindEndCounts};
pub use info::UnwindInfo;
pub use registers::RegisterFile;
pub use stack::StackCopy;
pub use survey::FrameSurvey;
pub use walk::{AddressSpace, Location, ObjectKey, Snapshot, UnwindCache, walk};
