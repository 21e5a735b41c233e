//! The manual: a page for the program and one for each command, made from the definitions of the options and from
//! `docs/commands.md`, so that no page says what the parser does not take.
//!
//! [`page::Page`] is what a page says; [`roff`] writes it for `man`.

mod handbook;
mod markdown;
mod options;
mod page;
mod roff;
mod surroundings;

pub(crate) use page::pages;
pub(crate) use roff::{Edition, write};
