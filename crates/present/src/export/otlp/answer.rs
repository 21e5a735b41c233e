//! What receivers answer.

use super::super::protobuf::{FieldValue, fields};

/// What a receiver says of a message that it took: the message `ExportProfilesPartialSuccess`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialSuccess {
    /// Profiles that it did not take.
    pub rejected: u64,
    /// Its reason, or what it would have liked better; untrusted.
    pub message: String,
}

impl PartialSuccess {
    /// The remark in a message `ExportProfilesServiceResponse`, if there is one.
    pub fn decode(response: &[u8]) -> Option<PartialSuccess> {
        let remark = bytes_of(response, 1)?;
        let rejected = fields(remark).find_map(|field| match field {
            (1, FieldValue::Number(number)) => Some(number),
            _ => None,
        });
        let message = bytes_of(remark, 2).map(String::from_utf8_lossy);
        let found = PartialSuccess {
            rejected: rejected.unwrap_or(0),
            message: message.unwrap_or_default().into_owned(),
        };
        (found.rejected > 0 || !found.message.is_empty()).then_some(found)
    }
}

/// The words of a refusal: of a message `google.rpc.Status`; untrusted.
pub fn status_message(status: &[u8]) -> Option<String> {
    let message = bytes_of(status, 2)?;
    Some(String::from_utf8_lossy(message).into_owned())
}

fn bytes_of(message: &[u8], wanted: u64) -> Option<&[u8]> {
    fields(message).find_map(|field| match field {
        (number, FieldValue::Bytes(bytes)) if number == wanted => Some(bytes),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_read_and_silence_is_none() {
        assert_eq!(PartialSuccess::decode(b""), None);
        assert_eq!(PartialSuccess::decode(&[0x0a, 0]), None);
        assert_eq!(PartialSuccess::decode(b"\xff\xff"), None);
        let remark = PartialSuccess::decode(b"\x0a\x06\x08\x02\x12\x02no").unwrap();
        assert_eq!((remark.rejected, &remark.message[..]), (2, "no"));
    }

    #[test]
    fn the_words_of_a_refusal_are_read() {
        let words = status_message(b"\x08\x03\x12\x03bad");
        assert_eq!(words.as_deref(), Some("bad"));
        assert_eq!(status_message(b"<html>"), None);
    }
}
