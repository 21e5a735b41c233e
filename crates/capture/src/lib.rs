//! Plan, open, drain and write events.

pub mod host;
