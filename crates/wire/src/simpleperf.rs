//! The records that simpleperf, Android's profiler, adds: their numbers are above 32768, their sizes have 32 bits. The
//! pieces of records that were too long for an older form (SPLIT, SPLIT_END) are bytes alone.

mod callchain;
mod debug;
mod dso;
mod event_id;
mod kernel_symbol;
mod symbol;
mod tracing_data;
mod unwinding_result;

pub use callchain::Callchain;
pub use debug::Debug;
pub use dso::SimpleperfDso;
pub use event_id::EventIds;
pub use kernel_symbol::SimpleperfKernelSymbols;
pub use symbol::SimpleperfSymbol;
pub use tracing_data::SimpleperfTracingData;
pub use unwinding_result::UnwindingResult;

/// Writes a body and checks what is read back, and that no cut of it is read beyond its end.
#[cfg(test)]
fn round_trip(
    encode: impl FnOnce(&mut crate::Encoder),
    mut is_same: impl FnMut(&mut crate::Cursor<'_>) -> bool,
) {
    let mut body = crate::Encoder::new(crate::Endian::Little);
    encode(&mut body);
    let bytes = body.into_bytes();
    for length in 0..=bytes.len() {
        let same = is_same(&mut crate::Cursor::new(
            &bytes[..length],
            crate::Endian::Little,
        ));
        assert!(same || length < bytes.len(), "not the same");
    }
}

#[cfg(test)]
fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
