//! Protocol buffers: fields to bytes. Numbers that are zero are written too, readers take them alike.

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
