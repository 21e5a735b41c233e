//! The few things of the protobuf coding that simpleperf's features use.

use crate::FeatureFault;

/// A field's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The number; 0 for a value of another shape, as if the field were not there.
    pub(super) fn number(self) -> u64 {
        match self {
            Value::Number(number) => number,
            Value::Bytes(_) => 0,
        }
    }

    /// The bytes of a text or of a message; none for a number.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Value::Number(_) => &[],
            Value::Bytes(bytes) => bytes,
        }
    }

    pub(super) fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

/// Calls `field` for each field of a message, with its number.
pub(super) fn fields<'a>(
    mut message: &'a [u8],
    mut field: impl FnMut(u64, Value<'a>) -> Result<(), FeatureFault>,
) -> Result<(), FeatureFault> {
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut message)?),
            1 => Value::Number(fixed::<8>(&mut message).map(u64::from_le_bytes)?),
            5 => Value::Number(fixed::<4>(&mut message).map(u32::from_le_bytes)?.into()),
            2 => {
                let length = varint(&mut message)?;
                Value::Bytes(split(&mut message, length)?)
            }
            found => {
                return Err(FeatureFault::Value {
                    what: "type of a field",
                    found,
                });
            }
        };
        field(key >> 3, value)?;
    }
    Ok(())
}

/// The numbers of a repeated field, which come one by one or packed into bytes.
pub(super) fn numbers(value: Value<'_>, numbers: &mut Vec<u64>) -> Result<(), FeatureFault> {
    match value {
        Value::Number(number) => numbers.push(number),
        Value::Bytes(mut packed) => {
            while !packed.is_empty() {
                numbers.push(varint(&mut packed)?);
            }
        }
    }
    Ok(())
}

fn varint(bytes: &mut &[u8]) -> Result<u64, FeatureFault> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = fixed(bytes)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(FeatureFault::Value {
        what: "length of a number in bytes",
        found: 11,
    })
}

fn fixed<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], FeatureFault> {
    let (head, rest) = bytes.split_first_chunk().ok_or_else(|| cut(N as u64))?;
    *bytes = rest;
    Ok(*head)
}

fn split<'a>(bytes: &mut &'a [u8], length: u64) -> Result<&'a [u8], FeatureFault> {
    let split = usize::try_from(length)
        .ok()
        .and_then(|length| bytes.split_at_checked(length));
    let (head, rest) = split.ok_or_else(|| cut(length))?;
    *bytes = rest;
    Ok(head)
}

fn cut(found: u64) -> FeatureFault {
    FeatureFault::Value {
        what: "size of a field that does not fit",
        found,
    }
}

/// Appends a number; 0 is not written, as it is what a missing field means.
pub(super) fn put_number(out: &mut Vec<u8>, field: u64, value: u64) {
    if value != 0 {
        put_varint(out, field << 3);
        put_varint(out, value);
    }
}

/// Appends a text or a message.
pub(super) fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(out, field << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a number of a packed field.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_shape() {
        let mut message = Vec::new();
        put_number(&mut message, 1, 300);
        put_bytes(&mut message, 2, b"path");
        put_number(&mut message, 3, u64::MAX);
        message.extend([4 << 3 | 1, 1, 0, 0, 0, 0, 0, 0, 0, 5 << 3 | 5, 2, 0, 0, 0]);
        let mut seen = Vec::new();
        fields(&message, |number, value| {
            seen.push((number, value));
            Ok(())
        })
        .unwrap();
        let number = |field, value| (field, Value::Number(value));
        let expected = [
            number(1, 300),
            (2, Value::Bytes(b"path")),
            number(3, u64::MAX),
            number(4, 1),
            number(5, 2),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn broken_messages_are_faults() {
        for message in [
            &[0x08][..],
            &[0x12, 9, 1],
            &[0x0b],
            &[0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255],
        ] {
            assert!(fields(message, |_, _| Ok(())).is_err(), "{message:?}");
        }
    }
}
