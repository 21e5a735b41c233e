//! Walks over stacks of objects that are assembled by hand.

#[allow(
    dead_code,
    reason = "these tests need less of it than those it was written for"
)]
#[path = "../../../objects/tests/it/elf.rs"]
mod elf;
mod survey;
mod tables;
mod walk;
