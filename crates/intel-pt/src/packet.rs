//! Packets: the bytes of a trace as values, and values as bytes.
//!
//! A [`PacketReader`] walks over trace bytes. What begins no packet is an error with its place, after which the caller
//! either steps over a byte ([`PacketReader::skip`]) or goes on at the next PSB ([`PacketReader::resync`]).
//! [`encode`] is the inverse.

mod decode;
mod encode;
mod ip;
mod kind;
mod payload;
mod reader;
mod sync;
pub mod text;
mod tnt;

pub use encode::encode;
pub use ip::{Ip, IpCompression};
pub use kind::Packet;
pub use payload::{
    Block, BlockItem, ControlFlowEvent, EventData, ExecMode, ItemSize, ModeExec, ModeTsx, Mwait,
    Pip, PowerEntry, PowerExit, PtWrite, Tma, Trigger,
};
pub use reader::{BadPacket, PacketReader, Problem};
pub use sync::{PSB, find_psb};
pub use tnt::Tnt;

#[cfg(test)]
mod tests;
