//! One field of a tracepoint's record: where it lies, what it is, and its value in given bytes.

use crate::bytes::{ByteOrder, part, until_nul};

/// A field as the format text declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatField {
    /// The name, without type and brackets.
    pub name: String,
    /// The declared type, without the name; `__data_loc char[]`, `unsigned long`, `void *`.
    pub declared: String,
    /// Bytes from the record's start.
    pub offset: usize,
    /// Bytes the field takes at `offset`; for dynamic fields, the size of the word that says where the data is.
    pub size: usize,
    /// True if the number is a two's complement one.
    pub signed: bool,
    /// The type of the bytes.
    pub kind: FieldKind,
}

/// The type of a field's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A number of the field's size.
    Integer,
    /// An address in the recorded machine.
    Pointer,
    /// `char` elements in place, ended by a NUL or by the field's end.
    Text,
    /// Elements of that many bytes, in place.
    Array {
        /// Bytes of one element.
        element: usize,
    },
    /// `char` elements elsewhere in the record.
    DynamicText(Anchor),
    /// Elements of that many bytes, elsewhere in the record.
    DynamicArray {
        /// The origin that the location counts from.
        anchor: Anchor,
        /// Bytes of one element.
        element: usize,
    },
}

/// The origin that the location of a dynamic field counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The record's start (`__data_loc`).
    Record,
    /// The end of the location word (`__rel_loc`).
    FieldEnd,
}

/// A field's value in one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number without sign.
    Unsigned(u64),
    /// A number with sign.
    Signed(i64),
    /// An address in the recorded machine.
    Pointer(u64),
    /// Text up to its NUL; untrusted, may be no UTF-8.
    Text(&'a [u8]),
    /// The raw bytes of an array's elements.
    Array {
        /// All elements.
        bytes: &'a [u8],
        /// Bytes of one element.
        element: usize,
    },
}

impl FormatField {
    /// The field's bytes: in place, or where its location word points; `None` when they are not in the record.
    pub fn bytes<'a>(&self, record: &'a [u8], order: ByteOrder) -> Option<&'a [u8]> {
        match self.anchor() {
            None => part(record, self.offset, self.size),
            Some(anchor) => self.dynamic_bytes(record, order, anchor),
        }
    }

    /// The field's value, or `None` when its bytes are not in the record or are no number of up to 8 bytes.
    pub fn value<'a>(&self, record: &'a [u8], order: ByteOrder) -> Option<Value<'a>> {
        let bytes = self.bytes(record, order)?;
        match self.kind {
            FieldKind::Integer => number(bytes, order, self.signed),
            FieldKind::Pointer => order.unsigned(bytes).map(Value::Pointer),
            FieldKind::Text | FieldKind::DynamicText(_) => Some(Value::Text(until_nul(bytes))),
            FieldKind::Array { element } | FieldKind::DynamicArray { element, .. } => {
                Some(Value::Array { bytes, element })
            }
        }
    }

    /// Bytes of one element, for arrays and texts; the field's size otherwise.
    pub(crate) fn element(&self) -> usize {
        match self.kind {
            FieldKind::Integer | FieldKind::Pointer => self.size,
            FieldKind::Text | FieldKind::DynamicText(_) => 1,
            FieldKind::Array { element } | FieldKind::DynamicArray { element, .. } => element,
        }
    }

    /// Returns whether the field's bytes lie elsewhere in the record.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.anchor().is_some()
    }

    fn anchor(&self) -> Option<Anchor> {
        match self.kind {
            FieldKind::DynamicText(anchor) | FieldKind::DynamicArray { anchor, .. } => Some(anchor),
            _ => None,
        }
    }

    fn dynamic_bytes<'a>(
        &self,
        record: &'a [u8],
        order: ByteOrder,
        anchor: Anchor,
    ) -> Option<&'a [u8]> {
        let word = order.unsigned(part(record, self.offset, self.size)?)?;
        let (at, size) = ((word & 0xffff) as usize, (word >> 16 & 0xffff) as usize);
        match anchor {
            Anchor::Record => part(record, at, size),
            Anchor::FieldEnd => part(
                record,
                self.offset.checked_add(self.size)?.checked_add(at)?,
                size,
            ),
        }
    }
}

fn number(bytes: &[u8], order: ByteOrder, signed: bool) -> Option<Value<'_>> {
    let unsigned = order.unsigned(bytes)?;
    Some(if signed {
        Value::Signed(extend_sign(unsigned, bytes.len()))
    } else {
        Value::Unsigned(unsigned)
    })
}

/// `number` of `size` bytes (1 to 8) as a signed number.
pub(crate) fn extend_sign(number: u64, size: usize) -> i64 {
    let unused = 64 - 8 * size.clamp(1, 8) as u32;
    (number << unused) as i64 >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: FieldKind, offset: usize, size: usize, signed: bool) -> FormatField {
        FormatField {
            name: "f".into(),
            declared: String::new(),
            offset,
            size,
            signed,
            kind,
        }
    }

    #[test]
    fn numbers_keep_their_sign_and_order() {
        let short = field(FieldKind::Integer, 1, 2, true);
        assert_eq!(
            short.value(&[0, 0xfd, 0xff], ByteOrder::Little),
            Some(Value::Signed(-3))
        );
        assert_eq!(
            short.value(&[0, 0xff, 0xfd], ByteOrder::Big),
            Some(Value::Signed(-3))
        );
        assert_eq!(short.value(&[0, 0xff], ByteOrder::Big), None);
    }

    #[test]
    fn dynamic_text_lies_where_the_word_says() {
        let text = field(FieldKind::DynamicText(Anchor::Record), 0, 4, false);
        assert_eq!(
            text.value(b"\x04\0\x03\0ab\0", ByteOrder::Little),
            Some(Value::Text(b"ab"))
        );
        assert_eq!(text.value(b"\x04\0\x04\0ab\0", ByteOrder::Little), None);
        let relative = field(FieldKind::DynamicText(Anchor::FieldEnd), 1, 4, false);
        assert_eq!(
            relative.value(b"_\x01\0\x02\0_abc", ByteOrder::Little),
            Some(Value::Text(b"ab"))
        );
        assert_eq!(
            text.value(b"\0\x03\0\x04ab\0", ByteOrder::Big),
            Some(Value::Text(b"ab"))
        );
    }
}
