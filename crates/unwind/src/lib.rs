//! Registers and a copy of the stack to the addresses of a thread's calls.
//!
//! For whoever has a moment of a thread: what its registers held ([`Registers`]), the bytes of its stack
//! ([`StackCopy`]), and the objects that its code lies in ([`UnwindInfo`]). [`walk`] gives the addresses from the
//! innermost function outwards, and says why it ended ([`End`]). The rules are those of libdw, which perf unwinds with:
//! the same frames come out of the same input. Threads, mappings and recordings are not known here, and no file is
//! opened: the caller answers what lies at an address ([`Space`]).
//!
//! Every input is hostile. What is read from the copy is checked against its bounds, the steps of a walk and of a DWARF
//! expression are limited, and an object whose tables are damaged ends a walk and nothing else.
//!
//! ```
//! use oxperf_unwind::{Arch, Cache, End, Registers, Snapshot, Space, Spot, StackCopy, walk};
//!
//! /// Nothing is mapped anywhere.
//! struct Nowhere;
//! impl Space for Nowhere {
//!     fn spot(&self, _: u64) -> Spot<'_> {
//!         Spot::Nothing
//!     }
//! }
//!
//! let mut registers = Registers::new(Arch::X86_64, 0x1234);
//! registers.set(Arch::X86_64.stack_pointer(), 0x7fff_0000);
//! let stack = StackCopy { start: 0x7fff_0000, bytes: &[0; 64], little_endian: true, word_size: 8 };
//! let mut addresses = Vec::new();
//! let end = walk(&Snapshot { registers, stack }, &Nowhere, &mut Cache::default(), 127, &mut addresses);
//! assert_eq!((addresses, end), (vec![0x1234], End::Unmapped));
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
mod tables;
mod walk;

pub use arch::{Arch, Register};
pub use end::{End, EndCounts};
pub use info::UnwindInfo;
pub use registers::Registers;
pub use stack::StackCopy;
pub use walk::{Cache, ObjectKey, Snapshot, Space, Spot, walk};
