//! Small state that packets refer to.

mod bound;
mod stack;

pub(crate) use bound::Bound;
pub(crate) use stack::{Change, ReturnStack};
