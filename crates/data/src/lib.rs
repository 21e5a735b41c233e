//! The `perf.data` container: read and write.
//!
//! For everybody who has the bytes of a recording, or makes one. [`Reader`] opens a file image (usually a memory
//! map): header, events with their ids, features, and the records as borrowed frames, undecoded. [`Writer`] lays a
//! recording out so that it can be read at every moment, also after the recorder was killed. What a record or an
//! attribute means is the business of `oxperf-wire`; naming anything is nobody's business here.
//!
//! Every form of a recording is read: one file, the files of a directory, a stream that comes through a pipe or was
//! saved; plain or compressed ([`Reader::source`]).
//!
//! Offsets are followed, no order of the parts is assumed, and nothing in a file can make the reader panic, loop or
//! allocate more than a small multiple of the file's size. What is broken but can be passed over is a [`Damage`].
//!
//! ```
//! use oxperf_abi::{EventAttr, EventId};
//! use oxperf_data::{FeatureSet, Reader, Writer, WriterEvent, features::Hostname};
//!
//! let events = [WriterEvent { attr: EventAttr::default(), name: "cycles".into(), ids: vec![EventId(7)] }];
//! let mut writer = Writer::begin(Vec::new(), &events)?;
//! writer.append(&[68, 0, 0, 0, 0, 0, 8, 0])?; // a FINISHED_ROUND of a little-endian recorder
//! let mut features = FeatureSet::new();
//! features.insert(&Hostname("box".into()));
//! let file = writer.finish(&features)?;
//!
//! let reader = Reader::open(&file)?;
//! assert_eq!(reader.events()[0].ids, [EventId(7)]);
//! assert_eq!(reader.features().get::<Hostname>()?, Some(Hostname("box".into())));
//! # if cfg!(target_endian = "little") {
//! assert_eq!(reader.records()?.count(), 1);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod damage;
mod error;
pub mod features;
mod header;
mod reader;
mod writer;

pub use damage::{Damage, DamageList};
pub use error::{DataError, FeatureFault};
pub use features::{Feature, FeatureBits, FeatureId, FeatureSet};
pub use header::{FileHeader, Section};
pub use reader::{
    BufferedBytes, BufferedRecords, Container, EventEntry, Features, Framed, RawRecord, Reader,
    RecordSource, Records,
};
pub use writer::{
    FilePart, Output, PackedAs, Packer, PartWriter, StreamWriter, WriteError, Writer, WriterEvent,
    directory,
};
