//! What each sideband record does to the machine, one file a record.

mod comm;
mod jit;
mod ksymbol;
mod mmap;
mod task;

pub use jit::JitMapping;
