//! Strings inside features, and the feature that is only strings: CMDLINE.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, decode_list, encode_list};
use crate::FeatureFault;

/// Reads a length and so many bytes; the text ends at the first NUL. Bytes that are not UTF-8 are replaced.
pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<String, FeatureFault> {
    let length = cursor.u32()?;
    let bytes = cursor.items(u64::from(length), 1)?;
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// Writes a length and the text with its NUL, padded to 64 bytes as perf does.
pub(super) fn encode(encoder: &mut Encoder, text: &str) {
    let padded = (text.len() + 1).next_multiple_of(64);
    encoder.u32(padded as u32);
    encoder.bytes(text.as_bytes());
    encoder.bytes(&vec![0; padded - text.len()]);
}

/// Reads a count and so many strings.
pub(super) fn decode_all(cursor: &mut Cursor<'_>) -> Result<Vec<String>, FeatureFault> {
    decode_list(cursor, decode)
}

/// Writes a count and the strings.
pub(super) fn encode_all(encoder: &mut Encoder, texts: &[String]) {
    encode_list(encoder, texts, |encoder, text| encode(encoder, text));
}

/// The recorder's command line; the first is the path of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CmdLine(pub Vec<String>);

impl Feature for CmdLine {
    const ID: FeatureId = FeatureId::CMDLINE;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<CmdLine, FeatureFault> {
        Ok(CmdLine(decode_all(cursor)?))
    }

    fn encode(&self, encoder: &mut Encoder) {
        encode_all(encoder, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{from_little, little, round_trip};
    use super::*;

    #[test]
    fn cmdline_round_trips() {
        round_trip(&CmdLine(vec![
            "/usr/bin/perf".into(),
            "x".repeat(64),
            String::new(),
        ]));
    }

    #[test]
    fn a_string_is_padded_to_64_and_ends_at_its_nul() {
        let bytes = little(&CmdLine(vec!["x".repeat(63), "y".repeat(64)]));
        assert_eq!(bytes.len(), 4 + (4 + 64) + (4 + 128));
        assert_eq!(
            from_little(b"\x01\0\0\0\x05\0\0\0ab\0cd"),
            Ok(CmdLine(vec!["ab".into()]))
        );
        assert_eq!(
            from_little(b"\x01\0\0\0\x02\0\0\0a\xff"),
            Ok(CmdLine(vec!["a\u{fffd}".into()]))
        );
    }

    #[test]
    fn a_count_beyond_the_bytes_is_an_error_not_memory() {
        assert!(from_little::<CmdLine>(&[0xff; 64]).is_err());
    }
}
