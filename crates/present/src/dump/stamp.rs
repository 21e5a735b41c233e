//! The lines before a record's text: where it stands, its bytes, when and on which CPU it happened.

use crate::text::number::{push_decimal, push_prefixed};
use oxperf_abi::SampleType;
use oxperf_data::{Damage, RawRecord};
use oxperf_wire::Endian;

use super::hex;

/// Time and CPU of a record. A field that its event does not record is all ones, as perf prints it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stamp {
    pub(super) cpu: u32,
    pub(super) time: u64,
}

impl Stamp {
    /// Of records that tools write.
    pub(super) const TOOL: Stamp = Stamp { cpu: 0, time: 0 };
}

/// Appends `0xOFF@FILE [0xSIZE]: event: N` and the bytes.
pub(super) fn write_bytes(file: &[u8], record: &RawRecord<'_>, endian: Endian, out: &mut Vec<u8>) {
    out.push(b'\n');
    push_prefixed(out, record.offset.0);
    out.push(b'@');
    out.extend_from_slice(file);
    write_size(record, out);
    out.extend_from_slice(b": event: ");
    push_decimal(out, record.header.kind.0.into());
    out.extend_from_slice(b"\n.\n. ... raw event: size ");
    push_decimal(out, record.header.size.into());
    out.extend_from_slice(b" bytes\n");
    hex::write(header_bytes(record, endian), record.body, out);
    out.push(b'\n');
}

/// Appends `0xOFF@FILE [0xSIZE]` for a stretch without records.
pub(super) fn write_gap(file: &[u8], damage: &Damage, out: &mut Vec<u8>) {
    out.push(b'\n');
    push_prefixed(out, damage.offset().0);
    out.push(b'@');
    out.extend_from_slice(file);
    out.extend_from_slice(b" [");
    push_prefixed(out, damage.lost_bytes());
    out.push(b']');
}

fn write_size(record: &RawRecord<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b" [");
    push_prefixed(out, record.header.size.into());
    out.push(b']');
}

/// The header's bytes as they stand in the file.
fn header_bytes(record: &RawRecord<'_>, endian: Endian) -> [u8; 8] {
    let header = &record.header;
    let long = header.size > u32::from(u16::MAX);
    let high = if long {
        (header.size >> 16) as u16
    } else {
        header.misc.0
    };
    let low = header.size as u16;
    let ([k0, k1, k2, k3], [m0, m1], [s0, s1]) = match endian {
        Endian::Little => (
            header.kind.0.to_le_bytes(),
            high.to_le_bytes(),
            low.to_le_bytes(),
        ),
        Endian::Big => (
            header.kind.0.to_be_bytes(),
            high.to_be_bytes(),
            low.to_be_bytes(),
        ),
    };
    [k0, k1, k2, k3, m0, m1, s0, s1]
}

/// Appends `[CPU ][TIME ]0xOFF [0xSIZE]: `; `fields` are those that any event records. Without a stamp, records
/// carry neither.
pub(super) fn write(
    stamp: Option<Stamp>,
    fields: SampleType,
    record: &RawRecord<'_>,
    out: &mut Vec<u8>,
) {
    match stamp {
        None => out.extend_from_slice(b"-1 -1 "),
        Some(stamp) => {
            if fields.contains(SampleType::CPU) {
                push_decimal(out, stamp.cpu.into());
                out.push(b' ');
            }
            if fields.contains(SampleType::TIME) {
                push_decimal(out, stamp.time);
                out.push(b' ');
            }
        }
    }
    push_prefixed(out, record.offset.0);
    write_size(record, out);
    out.extend_from_slice(b": ");
}
