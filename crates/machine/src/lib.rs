//! The recorded machine at a moment: which threads live, what they are called, and what is mapped where.
//!
//! For whoever walks a recording in time order: feed every sideband record to [`Machine::apply_comm`] and its
//! siblings, then ask [`Machine::locate`] where an address of a thread lies. A located address is a place in a
//! [`Dso`]; what it is called is another crate's business. This crate opens no file and resolves no symbol.
//!
//! ```
//! use oxperf_abi::{CpuMode, Misc, Pid, Tid};
//! use oxperf_machine::Machine;
//! use oxperf_wire::kernel::Mmap;
//!
//! let mut machine = Machine::default();
//! let mmap = Mmap { pid: Pid(7), tid: Tid(7), start: 0x40_0000, len: 0x1000, pgoff: 0x200, filename: b"/bin/x" };
//! machine.apply_mmap(Misc(2), &mmap);
//! let thread = machine.thread(Pid(7), Tid(7));
//! let place = machine.locate(thread, CpuMode::User, 0x40_0010).unwrap();
//! assert_eq!(place.address, 0x210);
//! assert_eq!(machine.dso(place.dso).name, "/bin/x");
//! ```

mod apply;
mod comm;
mod dso;
mod guests;
mod locate;
mod machine;
mod map;
mod objects;
mod range_map;
mod thread;

pub use apply::JitMapping;
pub use comm::CommId;
pub use dso::{CodeMapping, Dso, DsoId, DsoKind, JitSymbol};
pub use guests::{GuestId, GuestModule};
pub use locate::{MappedAddress, Mappings};
pub use machine::{KernelReference, Machine};
pub use map::{Map, MapId, MappedObject, Region};
pub use objects::Objects;
pub use thread::{SpaceId, Thread, ThreadId};
