//! Instructions, as far as control flow needs them.

mod class;

pub use class::{Class, Flow, Instruction};
