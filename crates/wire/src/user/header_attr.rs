//! An event's attribute and ids: what a stream has instead of the file's table.

use crate::{Cursor, Encoder, StoredAttr, WireError, Words};

/// HEADER_ATTR: one event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderAttr<'a> {
    /// Its attribute.
    pub stored: StoredAttr,
    /// Its ids.
    pub ids: Words<'a>,
}

impl<'a> HeaderAttr<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<HeaderAttr<'a>, WireError> {
        let endian = cursor.endian();
        let body = cursor.rest();
        let stored = StoredAttr::decode(body, endian)?;
        let ids = body.get(stored.size as usize..).unwrap_or_default();
        Ok(HeaderAttr {
            stored,
            ids: Words::new(ids, endian),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        self.stored.encode(encoder);
        self.ids.iter().for_each(|id| encoder.u64(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;
    use oxperf_abi::EventAttr;

    #[test]
    fn round_trips() {
        let attr = EventAttr {
            config: 3,
            sample_period: 4000,
            ..EventAttr::default()
        };
        let ids = [9, 0, 0, 0, 0, 0, 0, 0];
        let record = HeaderAttr {
            stored: StoredAttr {
                attr,
                size: 136,
                extra: Vec::new(),
            },
            ids: Words::new(&ids, Endian::Little),
        };
        let mut body = Encoder::new(Endian::Little);
        record.encode(&mut body);
        let bytes = body.as_bytes();
        assert_eq!(
            HeaderAttr::decode(&mut Cursor::new(bytes, Endian::Little)),
            Ok(record)
        );
        assert!(HeaderAttr::decode(&mut Cursor::new(&bytes[..40], Endian::Little)).is_err());
    }
}
