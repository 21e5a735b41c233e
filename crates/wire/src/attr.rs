//! `struct perf_event_attr`, every ABI size, both byte orders.

use oxperf_abi::{AttrFlags, BranchSampleType, EventAttr, EventType, ReadFormat, SampleType};

use crate::{Cursor, Encoder, Endian, WireError};

/// Size of the first ABI, and of an attribute that says 0.
pub const SIZE_VER0: u32 = 64;
/// Size of the newest ABI known here.
pub const SIZE_VER9: u32 = 144;

/// An attribute as a file holds it: its values, its own size, and the bytes past what this crate knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredAttr {
    /// The values; fields past `size` are zero.
    pub attr: EventAttr,
    /// Bytes that the attribute takes.
    pub size: u32,
    /// Bytes of a newer ABI, kept as they are.
    pub extra: Vec<u8>,
}

impl StoredAttr {
    /// Decodes the attribute at the start of `bytes`; its size field says how much of them it takes.
    pub fn decode(bytes: &[u8], endian: Endian) -> Result<StoredAttr, WireError> {
        let mut head = Cursor::new(bytes, endian);
        head.u32()?;
        let size = match head.u32()? {
            0 => SIZE_VER0,
            size if size < SIZE_VER0 => return Err(WireError::AttrSize { size }),
            size => size,
        };
        let stored = Cursor::new(bytes, endian).bytes(size as usize)?;
        let known = stored.len().min(SIZE_VER9 as usize);
        let mut padded = [0; SIZE_VER9 as usize];
        padded[..known].copy_from_slice(&stored[..known]);
        let attr = decode_fields(&mut Cursor::new(&padded, endian))?;
        Ok(StoredAttr {
            attr,
            size,
            extra: stored[known..].to_vec(),
        })
    }

    /// Makes the attribute take `size` bytes if it takes less; what is new is zero.
    pub fn grow(&mut self, size: u32) {
        self.size = self.size.max(size);
        self.extra
            .resize(self.size.saturating_sub(SIZE_VER9) as usize, 0);
    }

    /// Appends the attribute in its own size.
    pub fn encode(&self, encoder: &mut Encoder) {
        encode(&self.attr, self.size, encoder);
        encoder.bytes(&self.extra);
    }
}

fn decode_fields(cursor: &mut Cursor<'_>) -> Result<EventAttr, WireError> {
    let kind = EventType(cursor.u32()?);
    cursor.u32()?;
    let mut attr = EventAttr {
        kind,
        config: cursor.u64()?,
        sample_period: cursor.u64()?,
        sample_type: SampleType(cursor.u64()?),
        read_format: ReadFormat(cursor.u64()?),
        flags: decode_flags(cursor)?,
        wakeup_events: cursor.u32()?,
        bp_type: cursor.u32()?,
        config1: cursor.u64()?,
        config2: cursor.u64()?,
        branch_sample_type: BranchSampleType(cursor.u64()?),
        sample_regs_user: cursor.u64()?,
        sample_stack_user: cursor.u32()?,
        clockid: cursor.i32()?,
        sample_regs_intr: cursor.u64()?,
        aux_watermark: cursor.u32()?,
        sample_max_stack: cursor.u16()?,
        ..EventAttr::default()
    };
    cursor.u16()?;
    attr.aux_sample_size = cursor.u32()?;
    attr.aux_action = cursor.u32()?;
    attr.sig_data = cursor.u64()?;
    attr.config3 = cursor.u64()?;
    attr.config4 = cursor.u64()?;
    Ok(attr)
}

/// A big-endian recorder allots bit fields from the most significant bit of the 64-bit word down.
fn decode_flags(cursor: &mut Cursor<'_>) -> Result<AttrFlags, WireError> {
    let word = cursor.u64()?;
    Ok(AttrFlags(mirror_flags(word, cursor.endian())))
}

fn mirror_flags(word: u64, endian: Endian) -> u64 {
    match endian {
        Endian::Little => word,
        // precise_ip is two bits wide: its value is mirrored with the field's place, so mirror it back.
        Endian::Big => {
            let mut flags = AttrFlags(word.reverse_bits());
            let level = flags.precise_ip();
            flags.set_precise_ip((level & 1) << 1 | level >> 1);
            flags.0
        }
    }
}

/// Appends `attr` in `size` bytes; what does not fit is left out, what is unknown is zero.
pub fn encode(attr: &EventAttr, size: u32, encoder: &mut Encoder) {
    let mut whole = Encoder::new(encoder.endian());
    whole.u32(attr.kind.0);
    whole.u32(size);
    for word in [
        attr.config,
        attr.sample_period,
        attr.sample_type.0,
        attr.read_format.0,
    ] {
        whole.u64(word);
    }
    whole.u64(mirror_flags_for_encoding(attr.flags, encoder.endian()));
    whole.u32(attr.wakeup_events);
    whole.u32(attr.bp_type);
    for word in [
        attr.config1,
        attr.config2,
        attr.branch_sample_type.0,
        attr.sample_regs_user,
    ] {
        whole.u64(word);
    }
    whole.u32(attr.sample_stack_user);
    whole.i32(attr.clockid);
    whole.u64(attr.sample_regs_intr);
    whole.u32(attr.aux_watermark);
    whole.u16(attr.sample_max_stack);
    whole.u16(0);
    whole.u32(attr.aux_sample_size);
    whole.u32(attr.aux_action);
    for word in [attr.sig_data, attr.config3, attr.config4] {
        whole.u64(word);
    }
    let known = whole.as_bytes();
    encoder.bytes(&known[..known.len().min(size as usize)]);
}

fn mirror_flags_for_encoding(flags: AttrFlags, endian: Endian) -> u64 {
    match endian {
        Endian::Little => flags.0,
        Endian::Big => {
            let level = flags.precise_ip();
            let mut swapped = flags;
            swapped.set_precise_ip((level & 1) << 1 | level >> 1);
            swapped.0.reverse_bits()
        }
    }
}

/// The smallest ABI size that holds every field of `attr` that is not zero.
///
/// Old readers refuse sizes newer than their own even when the new fields are empty.
pub fn smallest_size(attr: &EventAttr) -> u32 {
    let used_from = [
        (144, attr.config4 != 0),
        (136, attr.config3 != 0),
        (128, attr.sig_data != 0),
        (120, attr.aux_sample_size != 0 || attr.aux_action != 0),
        (112, attr.aux_watermark != 0 || attr.sample_max_stack != 0),
        (104, attr.sample_regs_intr != 0),
        (
            96,
            attr.sample_regs_user != 0 || attr.sample_stack_user != 0 || attr.clockid != 0,
        ),
        (80, attr.branch_sample_type.0 != 0),
        (72, attr.config2 != 0),
    ];
    used_from
        .iter()
        .find(|(_, used)| *used)
        .map_or(SIZE_VER0, |(size, _)| *size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_attr() -> EventAttr {
        let mut flags = AttrFlags::DISABLED | AttrFlags::FREQ | AttrFlags::BUILD_ID;
        flags.set_precise_ip(1);
        EventAttr {
            kind: EventType::SOFTWARE,
            config: 1,
            sample_period: 4000,
            sample_type: SampleType::IP | SampleType::TID,
            flags,
            config3: 5,
            ..EventAttr::default()
        }
    }

    #[test]
    fn round_trips_in_both_byte_orders() {
        for endian in [Endian::Little, Endian::Big] {
            let mut encoder = Encoder::new(endian);
            encode(&sample_attr(), 136, &mut encoder);
            let stored = StoredAttr::decode(encoder.as_bytes(), endian).unwrap();
            assert_eq!(
                (stored.attr, stored.size),
                (sample_attr(), 136),
                "{endian:?}"
            );
        }
    }

    #[test]
    fn big_endian_flags_start_at_the_top_bit() {
        let mut encoder = Encoder::new(Endian::Big);
        encode(&sample_attr(), 64, &mut encoder);
        // disabled, then freq as bit 10, the lower bit of precise_ip as bit 16, build_id as bit 34.
        assert_eq!(
            encoder.as_bytes()[40..48],
            [0x80, 0x20, 0x80, 0, 0x20, 0, 0, 0]
        );
    }

    #[test]
    fn unknown_bytes_are_kept() {
        let mut encoder = Encoder::new(Endian::Little);
        encode(&sample_attr(), 160, &mut encoder);
        encoder.bytes(&[9; 16]);
        let stored = StoredAttr::decode(encoder.as_bytes(), Endian::Little).unwrap();
        assert_eq!(stored.extra, [9; 16]);
        let mut again = Encoder::new(Endian::Little);
        stored.encode(&mut again);
        assert_eq!(again.as_bytes(), encoder.as_bytes());
    }

    #[test]
    fn an_attribute_grows_by_zeros() {
        let mut stored = StoredAttr {
            attr: sample_attr(),
            size: 136,
            extra: Vec::new(),
        };
        stored.grow(152);
        let mut encoder = Encoder::new(Endian::Little);
        stored.encode(&mut encoder);
        let grown = StoredAttr::decode(encoder.as_bytes(), Endian::Little).unwrap();
        assert_eq!(
            (grown.attr, grown.size, grown.extra),
            (sample_attr(), 152, vec![0; 8])
        );
        stored.grow(64);
        assert_eq!(stored.size, 152);
    }

    #[test]
    fn size_follows_use() {
        assert_eq!(smallest_size(&EventAttr::default()), 64);
        assert_eq!(
            smallest_size(&EventAttr {
                sample_max_stack: 3,
                ..EventAttr::default()
            }),
            112
        );
        assert_eq!(smallest_size(&sample_attr()), 136);
    }

    #[test]
    fn small_and_cut_attributes_are_refused() {
        let mut encoder = Encoder::new(Endian::Little);
        encode(&sample_attr(), 64, &mut encoder);
        let mut bytes = encoder.into_bytes();
        assert!(matches!(
            StoredAttr::decode(&bytes[..60], Endian::Little),
            Err(WireError::Truncated { .. })
        ));
        bytes[4] = 32;
        assert_eq!(
            StoredAttr::decode(&bytes, Endian::Little),
            Err(WireError::AttrSize { size: 32 })
        );
    }
}
