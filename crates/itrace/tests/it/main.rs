//! Recordings of the fixtures decoded in several ways: on one core and on several, whole and in part.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

mod cores;
mod decode;
mod window;
