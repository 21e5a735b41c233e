//! CTF 1.8, the form of `data convert --to-ctf`: a folder that babeltrace2 and other viewers of traces read.
//!
//! [`Metadata`] is the text that says how everything is laid out; a [`CtfPacket`] holds events of one CPU, one after
//! another. What an event holds comes from one place for both: [`SampleClass`] for the samples of an event of the
//! recording, [`Sideband`] for the records that tell of tasks and mappings. Names and fields are perf's.

mod layout;
mod metadata;
mod names;
mod packet;
mod sample;
mod sideband;

pub use layout::EventClass;
pub use metadata::{Clock, Metadata};
pub use packet::CtfPacket;
pub use sample::SampleClass;
pub use sideband::Sideband;
