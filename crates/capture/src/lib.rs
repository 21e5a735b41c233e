//! Plan, open, drain and write events.
