//! Tests of the crate against the fake kernel and the running one.

mod live;
mod plans;
