//! A record as a list of its fields, for events whose print expression cannot be used.

use crate::bytes::{ByteOrder, until_nul};
use crate::field::{FormatField, Value};
use crate::harmless;

/// Appends ` name=value` for each of `fields`; `value` appends a field's.
pub(crate) fn write(
    out: &mut Vec<u8>,
    fields: &[FormatField],
    value: impl Fn(&FormatField, &mut Vec<u8>),
) {
    let mut text = Vec::new();
    for field in fields {
        out.push(b' ');
        harmless::append(out, field.name.as_bytes());
        out.push(b'=');
        text.clear();
        value(field, &mut text);
        harmless::append(out, &text);
    }
}

/// Appends the value of a field as it stands in the record, nothing if it lies outside.
pub(crate) fn value(out: &mut Vec<u8>, field: &FormatField, record: &[u8], order: ByteOrder) {
    match field.value(record, order) {
        Some(Value::Array { bytes, element }) if element > 1 => elements(out, bytes),
        Some(Value::Text(_) | Value::Array { .. }) => {
            bytes(out, field.bytes(record, order).unwrap_or_default())
        }
        Some(value) => number(out, field, value),
        None => {}
    }
}

fn number(out: &mut Vec<u8>, field: &FormatField, value: Value<'_>) {
    match value {
        Value::Pointer(address) => hex(out, address),
        Value::Unsigned(number) if field.is_long() => hex(out, number),
        Value::Unsigned(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Signed(number) if field.is_long() && field.size == 4 => {
            hex(out, u64::from(number as u32))
        }
        Value::Signed(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Text(_) | Value::Array { .. } => {}
    }
}

fn hex(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(format!("{number:#x}").as_bytes());
}

/// Returns whether they are meant as text or not, bytes that read as text are shown as text.
fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let text = until_nul(bytes);
    match text
        .iter()
        .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
    {
        true => out.extend_from_slice(text),
        false => elements(out, bytes),
    }
}

fn elements(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"ARRAY[");
    for (place, byte) in bytes.iter().enumerate() {
        let separator = if place > 0 { ", " } else { "" };
        out.extend_from_slice(format!("{separator}{byte:02x}").as_bytes());
    }
    out.push(b']');
}

impl FormatField {
    /// Returns whether the declaration says `long`: such numbers are listed in hexadecimal.
    fn is_long(&self) -> bool {
        self.declared.contains("long")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventFormat;

    #[test]
    fn each_kind_of_field_has_its_form() {
        let text = "name: x\nID: 1\n\
            \tfield:unsigned long a;\toffset:0;\tsize:2;\tsigned:0;\n\
            \tfield:int b;\toffset:2;\tsize:1;\tsigned:1;\n\
            \tfield:char c[3];\toffset:3;\tsize:3;\tsigned:0;\n\
            \tfield:u8 d[2];\toffset:1;\tsize:2;\tsigned:0;\n\
            \tfield:void * e;\toffset:0;\tsize:2;\tsigned:0;\n\
            \tfield:long f;\toffset:99;\tsize:8;\tsigned:0;\n";
        let format = EventFormat::parse(text.as_bytes()).expect("a format");
        let mut out = Vec::new();
        let record = b"\x10\x01\xffa\n\0";
        write(&mut out, &format.fields, |field, text| {
            value(text, field, record, ByteOrder::Little)
        });
        let expected = " a=0x110 b=-1 c=a\\n d=ARRAY[01, ff] e=0x110 f=";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}
