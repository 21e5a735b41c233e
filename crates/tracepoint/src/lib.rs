//! Tracepoints: what their records hold and how they read as text.
//!
//! For everybody who shows a tracepoint's sample: a [`EventFormat`] is the parsed text of tracefs' `format` file, a
//! [`Formatter`] turns the RAW bytes of one sample into the text `perf script` shows, [`TracingData`] is the
//! `perf.data` section that carries those texts, and [`Tracefs`] is where a recorder reads them.
//!
//! It refuses to know about `perf.data` as a whole, about symbols (a [`KernelSymbols`] is asked) and about where its
//! output goes. Any byte may be wrong: a field outside its record reads as absent, an expression that cannot be
//! understood turns into a list of the fields, and control characters from a record never reach the output raw.
//!
//! ```
//! use oxperf_tracepoint::{ByteOrder, EventFormat, Formatter};
//! let text = "name: hello\nID: 7\nformat:\n\
//!     \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
//!     \tfield:int pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
//!     print fmt: \"pid=%d\", REC->pid\n";
//! let format = EventFormat::parse(text.as_bytes())?;
//! let formatter = Formatter::new(format, ByteOrder::Little);
//! let mut out = Vec::new();
//! formatter.format(&[7, 0, 0, 0, 42, 0, 0, 0], &mut out);
//! assert_eq!(out, b"pid=42");
//! # Ok::<(), oxperf_tracepoint::TracepointError>(())
//! ```

mod bytes;
mod error;
mod field;
mod format;
mod formatter;
mod harmless;
mod listing;
mod names;
mod print;
mod printk;
mod reorder;
mod tracefs;
mod tracing_data;

pub use bytes::{ByteOrder, WordSize};
pub use error::TracepointError;
pub use field::{Anchor, FieldKind, FormatField, Value};
pub use format::EventFormat;
pub use formatter::{Formatter, Formatters};
pub use names::{KernelFunction, KernelSymbols, NoSymbols};
pub use printk::PrintkStrings;
pub use tracefs::{MemoryTracefs, SystemTracefs, Tracefs};
pub use tracing_data::{SystemFormat, TracingData};
