//! Protocol buffers: fields to bytes. Numbers that are zero are written too, readers take them alike.

/// Appends a varint field.
pub(super) fn number(field: u32, value: u64, out: &mut Vec<u8>) {
    varint(u64::from(field) << 3, out);
    varint(value, out);
}

/// Appends a field of bytes: a string or a message.
pub(super) fn bytes(field: u32, value: &[u8], out: &mut Vec<u8>) {
    varint(u64::from(field) << 3 | 2, out);
    varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

/// Appends a field of numbers one after another.
pub(super) fn packed(field: u32, values: impl IntoIterator<Item = u64>, out: &mut Vec<u8>) {
    let mut body = Vec::new();
    values
        .into_iter()
        .for_each(|value| varint(value, &mut body));
    bytes(field, &body, out);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
