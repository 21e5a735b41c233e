//! The checks, a file each family.

pub(crate) mod breakpoints;
pub(crate) mod build;
pub(crate) mod counters;
pub(crate) mod kernel;
pub(crate) mod parsing;
pub(crate) mod permissions;
pub(crate) mod recordings;
pub(crate) mod rings;
pub(crate) mod symbols;
pub(crate) mod trace;
pub(crate) mod tracepoints;
