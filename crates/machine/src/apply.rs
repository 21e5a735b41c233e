//! The effect of each sideband record on the machine, one file a record.

mod comm;
mod jit;
mod ksymbol;
mod mmap;
mod task;

pub use jit::JitMapping;
