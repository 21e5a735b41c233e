//! What each sideband record does to the machine, one file a record.

mod comm;
mod ksymbol;
mod mmap;
mod task;
