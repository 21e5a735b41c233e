//! Tests against servers that they are themselves.

#[cfg(feature = "https")]
mod https;
mod messages;
