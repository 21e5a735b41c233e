//! One line for each record that is no sample: `PERF_RECORD_COMM: ls:7/7` and its like.
//!
//! `script --show-...-events` and dumps share them. Values come in, bytes go out into the caller's buffer, with the
//! line's end; names from the file are made [`visible`] here.

mod bpf;
mod callchain_deferred;
mod cgroup;
mod lost;
mod mapping;
mod namespaces;
mod switch;
mod task;
mod text_poke;

use std::fmt;
use std::io::Write;

pub use bpf::{bpf_event, ksymbol};
pub use callchain_deferred::callchain_deferred;
pub use cgroup::cgroup;
pub use lost::{finished_round, lost};
pub use mapping::{mmap, mmap2};
pub use namespaces::namespaces;
pub use switch::{switch, switch_cpu_wide};
pub use task::{comm, exit, fork};
pub use text_poke::{PokedSymbol, text_poke};

use oxperf_abi::RecordType;
use oxperf_data::RawRecord;
use oxperf_wire::user::AuxtraceError;
use oxperf_wire::{Endian, SampleId};

use crate::dump::Consumer;
use crate::text::sanitize;

/// Appends what a decoder of hardware trace could not make sense of.
pub fn trace_error(out: &mut Vec<u8>, record: &AuxtraceError<'_>) {
    crate::dump::auxtrace::error(record, out);
}

/// Appends the line of any of the kernel's records; what cannot be decoded has none.
pub fn line(out: &mut Vec<u8>, record: &RawRecord<'_>, endian: Endian) {
    if record.header.kind == RecordType::SAMPLE {
        return out.extend_from_slice(b"PERF_RECORD_SAMPLE\n");
    }
    let start = out.len();
    let written = crate::dump::kernel::write(
        record,
        &SampleId::default(),
        None,
        endian,
        Consumer::Report,
        out,
    );
    if written.is_err() {
        out.truncate(start);
    }
}

/// Appends formatted text; appending to memory cannot fail.
fn put(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// A name from the file as it can stand in a terminal.
fn name(bytes: &[u8]) -> String {
    sanitize(&String::from_utf8_lossy(bytes)).into_owned()
}

/// What `write` appends, for tests.
#[cfg(test)]
fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}
