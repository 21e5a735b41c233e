//! An attribute in either byte order: what was decoded must be the same after it was encoded and decoded again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_wire::{Encoder, Endian, SampleLayout, StoredAttr};

fuzz_target!(|input: (bool, &[u8], &[u8])| {
    let (big, bytes, sample) = input;
    let endian = if big { Endian::Big } else { Endian::Little };
    let Ok(stored) = StoredAttr::decode(bytes, endian) else {
        return;
    };
    let mut encoder = Encoder::new(endian);
    stored.encode(&mut encoder);
    assert_eq!(
        StoredAttr::decode(encoder.as_bytes(), endian).as_ref(),
        Ok(&stored)
    );
    let layout = SampleLayout::new(&stored.attr);
    let _ = layout.decode_sample(sample, endian);
    let _ = layout.sample_id(sample, endian);
});
