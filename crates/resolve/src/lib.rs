//! A sample's addresses to located, lazily named frames.
