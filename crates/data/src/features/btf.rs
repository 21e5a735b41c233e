//! Names of types in BTF, the kernel's compact type information.

use oxperf_wire::{Cursor, Endian, WireError};

/// The name of the type with number `wanted` (the first is 1); `None` when the bytes do not have it.
pub(super) fn type_name(btf: &[u8], wanted: u32, endian: Endian) -> Option<String> {
    let (types, strings) = sections(btf, endian)?;
    let mut types = Cursor::new(types, endian);
    for _ in 1..wanted {
        skip_type(&mut types).ok()?;
    }
    let name = strings.get(types.u32().ok()? as usize..)?;
    let name = name
        .split(|byte| *byte == 0)
        .next()
        .filter(|name| !name.is_empty())?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// The bytes of the types and of the strings.
fn sections(btf: &[u8], endian: Endian) -> Option<(&[u8], &[u8])> {
    const MAGIC: u16 = 0xeb9f;
    let mut header = Cursor::new(btf, endian);
    if header.u16().ok()? != MAGIC {
        return None;
    }
    header.u16().ok()?;
    let body = btf.get(header.u32().ok()? as usize..)?;
    let mut section = || {
        let (offset, size) = (header.u32().ok()? as usize, header.u32().ok()? as usize);
        body.get(offset..)?.get(..size)
    };
    Some((section()?, section()?))
}

/// Passes over one type: its fixed part, and what its kind has behind.
fn skip_type(types: &mut Cursor<'_>) -> Result<(), WireError> {
    types.u32()?;
    let info = types.u32()?;
    types.u32()?;
    let members = u64::from(info & 0xffff);
    let (count, size) = match info >> 24 & 0x1f {
        1 | 14 | 17 => (1, 4),
        3 => (1, 12),
        4 | 5 | 15 | 19 => (members, 12),
        6 | 13 => (members, 8),
        _ => (0, 0),
    };
    types.items(count, size).map(|_| ())
}

#[cfg(test)]
mod tests {
    use oxperf_wire::Encoder;

    use super::*;

    /// An integer, a prototype with two parameters, a function.
    fn example(endian: Endian) -> Vec<u8> {
        let mut types = Encoder::new(endian);
        for word in [1, 1 << 24, 4, 32] {
            types.u32(word);
        }
        for word in [0, 13 << 24 | 2, 1, 0, 1, 0, 1] {
            types.u32(word);
        }
        for word in [5, 12 << 24, 2] {
            types.u32(word);
        }
        let strings = b"\0int\0do_ret\0";
        let mut btf = Encoder::new(endian);
        btf.u16(0xeb9f);
        btf.u16(1);
        for word in [
            24,
            0,
            types.len() as u32,
            types.len() as u32,
            strings.len() as u32,
        ] {
            btf.u32(word);
        }
        btf.bytes(types.as_bytes());
        btf.bytes(strings);
        btf.into_bytes()
    }

    #[test]
    fn names_are_found_behind_other_types() {
        for endian in [Endian::Little, Endian::Big] {
            let btf = example(endian);
            let names: Vec<_> = (1..=4)
                .map(|wanted| type_name(&btf, wanted, endian))
                .collect();
            assert_eq!(
                names,
                [Some("int".into()), None, Some("do_ret".into()), None],
                "{endian:?}"
            );
        }
    }

    #[test]
    fn broken_bytes_have_no_names() {
        let btf = example(Endian::Little);
        for length in 0..btf.len() - 1 {
            assert_eq!(type_name(&btf[..length], 3, Endian::Little), None);
        }
        assert_eq!(type_name(&btf, u32::MAX, Endian::Little), None);
    }
}
