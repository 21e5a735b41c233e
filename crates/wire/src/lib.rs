//! One perf record to and from bytes, in any byte order.
//!
//! For whoever holds the bytes of a record, from a file or a live ring: this crate frames, decodes and encodes it.
//! It needs the attribute of the record's event (see [`SampleLayout`]) and refuses to know where the bytes come
//! from, in what order records happened, or what an address means. Decoded records borrow from the input. Logs of code that
//! programs made at run time ([`JitDump`]) are records, too, of a form of their own.
//!
//! ```
//! use oxperf_abi::{Pid, RecordType, Misc, Tid};
//! use oxperf_wire::{Cursor, Encoder, Endian, RecordHeader, kernel::Comm};
//!
//! let comm = Comm { pid: Pid(7), tid: Tid(8), comm: b"make" };
//! let mut encoder = Encoder::new(Endian::Little);
//! encoder.record(RecordType::COMM, Misc::default(), |body| comm.encode(body));
//!
//! let mut cursor = Cursor::new(encoder.as_bytes(), Endian::Little);
//! let header = RecordHeader::decode(&mut cursor)?;
//! assert_eq!(header.size, 24);
//! assert_eq!(Comm::decode(&mut cursor)?, comm);
//! # Ok::<(), oxperf_wire::WireError>(())
//! ```

pub mod attr;
mod cursor;
mod encoder;
mod endian;
mod error;
mod header;
mod jitdump;
pub mod kernel;
mod layout;
mod read;
mod record_table;
mod sample;
mod sample_id;
pub mod simpleperf;
mod transcode;
pub mod user;
mod words;

pub use attr::StoredAttr;
pub use cursor::Cursor;
pub use encoder::Encoder;
pub use endian::Endian;
pub use error::WireError;
pub use header::RecordHeader;
pub use jitdump::{JitClock, JitCode, JitDump, JitDumpError, JitLine, JitUnwinding};
pub use kernel::open_chain;
pub use layout::SampleLayout;
pub use read::{ReadValue, ReadValues};
pub use sample::{BranchStack, Registers, Sample, SampleWeight, UserStack};
pub use sample_id::SampleId;
pub use transcode::{RecordBody, TranscodeError, body_sizes};
pub use words::Words;
