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
mod switch_cpu_wide;
mod task;
mod text_poke;
mod throttle;

pub use aux::Aux;
pub use aux_output_hw_id::AuxOutputHwId;
pub use bpf_event::BpfEvent;
pub use callchain_deferred::{CallchainDeferred, open_chain};
pub use cgroup::Cgroup;
pub use comm::Comm;
pub use itrace_start::ItraceStart;
pub use ksymbol::Ksymbol;
pub use lost::Lost;
pub use lost_samples::LostSamples;
pub use mmap::Mmap;
pub use mmap2::{FileIdentity, Mmap2};
pub use namespaces::{Namespace, Namespaces};
pub use read::ReadRecord;
pub use switch_cpu_wide::SwitchCpuWide;
pub use task::TaskEvent;
pub use text_poke::TextPoke;
pub use throttle::Throttle;

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
