//! The records that the kernel writes, one file each: bodies without the sample id trailer.

mod aux;
mod aux_output_hw_id;
mod bpf_event;
mod callchain_deferred;
mod cgroup;
mod comm;
mod itrace_start;
mod ksymbol;
mod lost;
mod lost_samples;
mod mmap;
mod mmap2;
mod namespaces;
mod read;
mod switch;
mod switch_cpu_wide;
mod task;
mod text_poke;
mod throttle;

use crate::record_table::{ANY, PATH, TRAILER, record_table};

pub use callchain_deferred::open_chain;
pub use mmap2::FileIdentity;
pub use namespaces::Namespace;

record_table! {
    MMAP => mmap::Mmap, 40..=40 + PATH;
    LOST => lost::Lost, 8..=16 + TRAILER;
    COMM => comm::Comm, 16..=64 + TRAILER;
    EXIT | FORK => task::TaskEvent, 24..=24 + TRAILER;
    THROTTLE | UNTHROTTLE => throttle::Throttle, 24..=24 + TRAILER;
    READ => read::ReadRecord, 16..=ANY,
        (body, cursor) => ReadRecord::decode(body.layout.read_format, cursor);
    MMAP2 => mmap2::Mmap2, 72..=72 + PATH, (body, cursor) => Mmap2::decode(body.misc, cursor);
    AUX => aux::Aux, 16..=24 + TRAILER;
    ITRACE_START => itrace_start::ItraceStart, 8..=8 + TRAILER;
    LOST_SAMPLES => lost_samples::LostSamples, 8..=16 + TRAILER;
    SWITCH => switch::Switch, 0..=TRAILER;
    SWITCH_CPU_WIDE => switch_cpu_wide::SwitchCpuWide, 8..=8 + TRAILER;
    NAMESPACES => namespaces::Namespaces, 16..=ANY;
    KSYMBOL => ksymbol::Ksymbol, 24..=16 + 256 + TRAILER;
    BPF_EVENT => bpf_event::BpfEvent, 16..=16 + TRAILER;
    CGROUP => cgroup::Cgroup, 16..=ANY;
    TEXT_POKE => text_poke::TextPoke, 16..=ANY;
    AUX_OUTPUT_HW_ID => aux_output_hw_id::AuxOutputHwId, 8..=8 + TRAILER;
    CALLCHAIN_DEFERRED => callchain_deferred::CallchainDeferred, 16..=ANY;
}

#[cfg(test)]
use crate::{Cursor, Encoder, Endian, WireError};

/// Encodes `record` in both byte orders, hands the bytes to `check`, and demands an error for every cut.
#[cfg(test)]
fn round_trip<T>(
    record: &T,
    encode: fn(&T, &mut Encoder),
    check: impl Fn(&mut Cursor<'_>) -> Result<(), WireError>,
) {
    for endian in [Endian::Little, Endian::Big] {
        let mut encoder = Encoder::new(endian);
        encode(record, &mut encoder);
        let bytes = encoder.as_bytes();
        check(&mut Cursor::new(bytes, endian)).expect("the whole record decodes");
        assert!(
            check(&mut Cursor::new(&bytes[..bytes.len() / 2], endian)).is_err(),
            "half a record decodes"
        );
    }
}
