//! Sessions over whole recordings.

mod foreign;
mod forms;
mod jit;
