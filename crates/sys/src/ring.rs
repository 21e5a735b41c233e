//! Rings shared with the kernel.
//!
//! [`data`] carries records. The AUX area, where hardware traces land, gets its own room beside it.

mod data;
mod page;
mod positions;
mod region;

pub use data::{DataRing, RingError, RingPages};
pub use page::TimeConversion;
