//! Packets in words: as perf's dump shows them, and as libipt's `ptdump` does.

mod line;
mod number;
pub mod perf;
pub mod ptdump;
