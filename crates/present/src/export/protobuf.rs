//! Protocol buffers: fields to bytes and back. Numbers that are zero are written too, readers take them alike.

/// Appends a varint field.
pub(super) fn number(field: u32, value: u64, out: &mut Vec<u8>) {
    varint(u64::from(field) << 3, out);
    varint(value, out);
}

/// Appends a field of eight bytes.
pub(super) fn fixed64(field: u32, value: u64, out: &mut Vec<u8>) {
    varint(u64::from(field) << 3 | 1, out);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a field of bytes: a string or a message.
pub(super) fn bytes(field: u32, value: &[u8], out: &mut Vec<u8>) {
    prefix(field, value.len(), out);
    out.extend_from_slice(value);
}

/// Appends what stands before so many bytes of a field.
pub(super) fn prefix(field: u32, length: usize, out: &mut Vec<u8>) {
    varint(u64::from(field) << 3 | 2, out);
    varint(length as u64, out);
}

/// Appends a field of numbers one after another.
pub(super) fn packed(field: u32, values: impl IntoIterator<Item = u64>, out: &mut Vec<u8>) {
    message(field, out, |body| {
        values.into_iter().for_each(|value| varint(value, body));
    });
}

/// Appends a field of numbers of eight bytes each.
pub(super) fn packed_fixed64(
    field: u32,
    values: impl ExactSizeIterator<Item = u64>,
    out: &mut Vec<u8>,
) {
    prefix(field, 8 * values.len(), out);
    values.for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

/// Appends a field of bytes that are written in place.
pub(super) fn message(field: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    prefix(field, 0, out);
    let start = out.len();
    write(out);
    let length = out.len() - start;
    // Most are short: their length takes the one byte that is there already.
    if length < 0x80 {
        out[start - 1] = length as u8;
        return;
    }
    let mut exact = Vec::new();
    varint(length as u64, &mut exact);
    out.splice(start - 1..start, exact);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message with their numbers, up to the first place that is no field.
pub(super) fn fields(mut message: &[u8]) -> impl Iterator<Item = (u64, FieldValue<'_>)> {
    std::iter::from_fn(move || {
        let key = read_varint(&mut message)?;
        let value = match key & 7 {
            0 => FieldValue::Number(read_varint(&mut message)?),
            1 => {
                let (bytes, rest) = message.split_first_chunk()?;
                message = rest;
                FieldValue::Number(u64::from_le_bytes(*bytes))
            }
            2 => {
                let length = usize::try_from(read_varint(&mut message)?).ok()?;
                let (bytes, rest) = message.split_at_checked(length)?;
                message = rest;
                FieldValue::Bytes(bytes)
            }
            5 => {
                let (bytes, rest) = message.split_first_chunk()?;
                message = rest;
                FieldValue::Number(u64::from(u32::from_le_bytes(*bytes)))
            }
            _ => return None,
        };
        Some((key >> 3, value))
    })
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back() {
        let mut out = Vec::new();
        number(1, 300, &mut out);
        message(2, &mut out, |out| number(3, u64::MAX, out));
        fixed64(4, 7, &mut out);
        packed(5, [1, 128], &mut out);
        message(6, &mut out, |out| bytes(1, &[9; 200], out));
        let found: Vec<_> = fields(&out).collect();
        let mut inner = Vec::new();
        number(3, u64::MAX, &mut inner);
        let mut long = Vec::new();
        bytes(1, &[9; 200], &mut long);
        assert_eq!(
            found,
            [
                (1, FieldValue::Number(300)),
                (2, FieldValue::Bytes(&inner)),
                (4, FieldValue::Number(7)),
                (5, FieldValue::Bytes(&[1, 0x80, 1])),
                (6, FieldValue::Bytes(&long)),
            ]
        );
    }

    #[test]
    fn broken_messages_end() {
        let ends: [&[u8]; 5] = [&[0x80; 20], &[0x08], &[0x0a, 9, 1], &[0x0b, 0], &[0x09, 1]];
        for message in ends {
            assert_eq!(fields(message).count(), 0, "{message:?}");
        }
    }
}
