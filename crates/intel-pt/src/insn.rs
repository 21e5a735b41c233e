//! Instructions, as far as control flow needs them.

mod class;
mod classify;
mod cursor;
mod emulated;
mod layout;
mod opcode;
mod prefixes;

pub use class::{Class, Flow, Instruction};
pub use classify::classify;
pub use emulated::announces_emulated_ptwrite;

#[cfg(test)]
mod tests;
