//! A record of a tracepoint in the other byte order.

use crate::bytes::ByteOrder;
use crate::field::{Anchor, FieldKind, FormatField};
use crate::format::EventFormat;

impl EventFormat {
    /// Turns every number in a record of this event round; `from` is the order that it is in. Says whether all of
    /// its fields lie inside of it and were understood; those that do not stay as they are.
    pub fn reorder(&self, record: &mut [u8], from: ByteOrder) -> bool {
        self.all_fields()
            .filter(|field| !reorder_field(field, record, from))
            .count()
            == 0
    }
}

fn reorder_field(field: &FormatField, record: &mut [u8], from: ByteOrder) -> bool {
    let end = field.offset.saturating_add(field.size);
    let Some(place) = record.get(field.offset..end) else {
        return false;
    };
    let elsewhere = match field.kind {
        FieldKind::DynamicText(anchor) | FieldKind::DynamicArray { anchor, .. } => {
            // The word tells the place only while it is in its old order.
            let Some(word) = from.unsigned(place) else {
                return false;
            };
            let start = match anchor {
                Anchor::Record => 0,
                Anchor::FieldEnd => end,
            };
            Some((
                start + (word & 0xffff) as usize,
                (word >> 16 & 0xffff) as usize,
            ))
        }
        _ => None,
    };
    let inside = match field.kind {
        // A number of more than 8 bytes is a structure that the text does not describe.
        FieldKind::Integer | FieldKind::Pointer if field.size > 8 => return false,
        FieldKind::Array { element } => element,
        FieldKind::Text => 1,
        FieldKind::Integer
        | FieldKind::Pointer
        | FieldKind::DynamicText(_)
        | FieldKind::DynamicArray { .. } => field.size,
    };
    turn(&mut record[field.offset..end], inside);
    match (elsewhere, field.kind) {
        (Some((start, size)), FieldKind::DynamicArray { element, .. }) => {
            let bytes = record.get_mut(start..start.saturating_add(size));
            bytes.map(|bytes| turn(bytes, element)).is_some()
        }
        _ => true,
    }
}

/// Turns each element round.
fn turn(bytes: &mut [u8], element: usize) {
    if element > 1 {
        bytes.chunks_exact_mut(element).for_each(<[u8]>::reverse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"name: f\nID: 7\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
        \tfield:char comm[4];\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned short args[2];\toffset:12;\tsize:4;\tsigned:0;\n\
        \tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:0;\n\
        \tfield:__data_loc unsigned int[] list;\toffset:20;\tsize:4;\tsigned:0;\n\
        print fmt: \"\"\n";

    /// A record in either order.
    fn record(big: bool) -> Vec<u8> {
        let order = |bytes: &[u8]| -> Vec<u8> {
            if big {
                bytes.iter().rev().copied().collect()
            } else {
                bytes.to_vec()
            }
        };
        let mut out = Vec::new();
        for number in [&[7, 0][..], &[0, 0], &[0x34, 0x12, 0, 0]] {
            out.extend(order(number));
        }
        out.extend(b"make");
        for number in [&[1, 0][..], &[2, 0], &[24, 0, 4, 0], &[28, 0, 8, 0]] {
            out.extend(order(number));
        }
        out.extend(b"abc\0");
        for number in [[5, 0, 0, 0], [6, 0, 0, 0]] {
            out.extend(order(&number));
        }
        out
    }

    #[test]
    fn numbers_turn_and_text_stays() {
        let format = EventFormat::parse(TEXT).unwrap();
        for (big, from) in [(true, ByteOrder::Big), (false, ByteOrder::Little)] {
            let mut turned = record(big);
            assert!(format.reorder(&mut turned, from));
            assert_eq!(turned, record(!big));
        }
    }

    #[test]
    fn places_outside_of_the_record_are_told() {
        let format = EventFormat::parse(TEXT).unwrap();
        let whole = record(true);
        for length in 0..whole.len() {
            assert!(
                !format.reorder(&mut whole[..length].to_vec(), ByteOrder::Big),
                "{length}"
            );
        }
    }
}
