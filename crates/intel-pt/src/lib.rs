//! Intel Processor Trace, for any program that holds trace bytes.
//!
//! [`packet`] turns bytes into packets and back. A decoder then needs the code that ran, from a [`CodeSource`], and
//! gives the flow of control as [`Item`]s. Nothing here opens a file, starts a thread or knows who recorded the trace;
//! what a caller has to supply are bytes.
//!
//! Source of the formats: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3, "Intel Processor
//! Trace", and what perf and libipt print for the same bytes.
//!
//! ```
//! use intel_pt::packet::{Packet, PacketReader};
//! let trace = [0x02, 0x23, 0x06, 0x00];
//! let packets: Vec<_> = PacketReader::new(&trace).map(|packet| packet.unwrap()).collect();
//! assert_eq!(packets[0], Packet::PsbEnd);
//! assert_eq!(packets[2], Packet::Pad);
//! ```

mod code;
mod config;
mod decoder;
mod errata;
mod event;
mod graph;
pub mod insn;
mod item;
mod note;
pub mod packet;
mod path;
mod state;
mod time;

pub use code::{Code, CodeAddress, CodeSource, FlatCode, ImageId};
pub use config::{Config, EmitOptions, Period, QuickMode, Ratio};
pub use decoder::{Checkpoint, Decoder, PsbScanner, TraceChunk};
pub use errata::Errata;
pub use event::{BlockValue, Event, RatioPlace, Transfer, TransferCause};
pub use item::{Cycles, Error, ErrorKind, Item, Mode, Moment, Tsc};
pub use note::{Measured, Note, Read};
pub use path::{BasicBlock, BlockId, BlockVisit, Branch, Located, Mark, Path};
pub use time::{Choice, Choices, Guess};
