//! A sample's addresses to frames: located now, named later.
//!
//! For whoever shows samples: [`FrameTable`] places each address of a sample in what was mapped at its moment and gives
//! it a small number, the same for the same place; [`Names`] tells what such a frame is called when somebody asks,
//! reading an object's symbols once, at the first question. Where objects and symbol lists are found is the business
//! of the caller's [`SymbolSource`]; nothing here opens a file.
//!
//! ```
//! use oxperf_abi::{CpuMode, Pid, Tid};
//! use oxperf_machine::Machine;
//! use oxperf_resolve::FrameTable;
//!
//! let mut machine = Machine::default();
//! let thread = machine.thread(Pid(1), Tid(1));
//! let mut frames = FrameTable::default();
//! let now = machine.mappings(thread);
//! let nowhere = frames.intern(&now, CpuMode::User, 0x1234);
//! assert_eq!(frames.intern(&now, CpuMode::User, 0x1234), nowhere);
//! assert_eq!(frames.take_fresh()[0].place, None);
//! ```

mod chain;
mod chains;
mod dso_addresses;
mod frames;
mod inlined;
mod kernel_names;
mod mappings;
mod names;
mod recent;
mod recorded;
mod regions;
mod slots;
mod source;
mod stitch;
mod unwinder;

pub use chains::{Chain, ChainLosses, ChainOptions, Chains};
pub use dso_addresses::{DsoAddress, DsoAddressId, DsoAddressTable};
pub use frames::{FrameId, FrameTable, LocatedFrame};
pub use inlined::{InlineStep, is_stub};
pub use kernel_names::KernelNames;
pub use mappings::{MappingsId, MappingsTable};
pub use names::{Name, Names, SymbolSource};
pub use oxperf_unwind::{UnwindEnd, UnwindEndCounts};
pub use recent::RecentAddresses;
pub use recorded::RecordedSymbols;
pub use regions::Regions;
pub use source::base_of_module;
pub use unwinder::{Unwinder, Unwound};
