//! Tests of the search and of its servers, against real folders and sockets.

#![allow(clippy::print_stderr)]

mod debuginfod;
mod dependencies;
#[allow(dead_code, reason = "no test of this crate needs all of it")]
mod elf;
mod locate;
