//! Texts that end with a NUL, without padding.

use oxperf_wire::{Cursor, Encoder, WireError};

/// Reads a text and its end. Bytes that are not UTF-8 are replaced.
pub(super) fn take(cursor: &mut Cursor<'_>) -> Result<String, WireError> {
    let mut ahead = *cursor;
    let length = ahead.rest().iter().position(|byte| *byte == 0);
    let length = length.ok_or(WireError::UnterminatedString {
        offset: cursor.position(),
    })?;
    let text = cursor.bytes(length)?;
    cursor.u8()?;
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// Appends a text and its end.
pub(super) fn put(encoder: &mut Encoder, text: &str) {
    encoder.bytes(text.as_bytes());
    encoder.u8(0);
}
