//! One line for each record that is no sample: `PERF_RECORD_COMM: ls:7/7` and its like.
//!
//! [`KernelRecord::decode`] is the dispatch by kind; [`KernelRecord::write_line`] appends the line that `script
//! --show-...-events` prints. [`dump`](crate::dump) stands on both and has other lines for a few kinds. Bytes go out into the
//! caller's buffer, with the line's end; names from the file are made harmless here.

mod bpf;
mod callchain_deferred;
mod cgroup;
mod decoded;
mod lost;
mod mapping;
mod namespaces;
mod switch;
mod task;
mod text_poke;
mod trace_error;

pub use decoded::{KernelRecord, RecordSubject};
pub use lost::finished_round;
pub use text_poke::PokedSymbol;
pub use trace_error::trace_error;

use oxperf_abi::Misc;

use crate::text::sanitize;

impl KernelRecord<'_> {
    /// Appends the record's line; nothing for kinds that `script` has no line for. `misc` is the flag word of its header,
    /// `symbol` the one that a TEXT_POKE changes, if it is known.
    pub fn write_line(&self, misc: Misc, symbol: Option<PokedSymbol<'_>>, out: &mut Vec<u8>) {
        match self {
            KernelRecord::Mmap(record) => mapping::mmap(out, misc, record),
            KernelRecord::Mmap2(record) => mapping::mmap2(out, record),
            KernelRecord::Comm(record) => task::comm(out, misc, record),
            KernelRecord::Fork(record) => task::fork(out, record),
            KernelRecord::Exit(record) => task::exit(out, record),
            KernelRecord::Namespaces(record) => namespaces::namespaces(out, record),
            KernelRecord::Switch => switch::switch(out, misc),
            KernelRecord::SwitchCpuWide(record) => switch::switch_cpu_wide(out, misc, record),
            KernelRecord::Ksymbol(record) => bpf::ksymbol(out, record),
            KernelRecord::BpfEvent(record) => bpf::bpf_event(out, record),
            KernelRecord::Cgroup(record) => cgroup::cgroup(out, record),
            KernelRecord::TextPoke(record) => text_poke::text_poke(out, record, symbol),
            KernelRecord::Lost(record) => lost::lost(out, record),
            KernelRecord::CallchainDeferred(record) => {
                callchain_deferred::callchain_deferred(out, record)
            }
            KernelRecord::LostSamples(_)
            | KernelRecord::Read(_)
            | KernelRecord::Aux(_)
            | KernelRecord::ItraceStart(_)
            | KernelRecord::AuxOutputHwId(_)
            | KernelRecord::Other(_) => {}
        }
    }
}

/// A name from the file as it can stand in a terminal.
fn name(bytes: &[u8]) -> String {
    sanitize(&String::from_utf8_lossy(bytes)).into_owned()
}

/// The text that `write` appends, for tests.
#[cfg(test)]
fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}
