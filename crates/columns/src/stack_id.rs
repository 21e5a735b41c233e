//! The number of a stack: a hash of its content, so that equal stacks have equal numbers wherever they were recorded.
//!
//! The hashed text has the frames from the innermost outwards. A frame is the function's name and, after 0x1f, its object;
//! with source lines follow 0x1f, the file, a colon and the line, where these are known; an inlined function ends with 0x1f
//! and `i`. Behind each frame stands 0x1e. The number is the XXH3 hash of 64 bits, seed 0, as a signed number.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Ends each part of a frame but the last.
pub const PART: u8 = 0x1f;
/// Ends each frame.
pub const FRAME: u8 = 0x1e;

/// The number of a stack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StackId(pub i64);

/// The number of a stack, and a second hash that tells whether two stacks of one number are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackHash {
    /// The number.
    pub id: StackId,
    /// Differs, with all likelihood there is, where contents differ.
    pub check: u64,
}

impl StackHash {
    /// The hash of a stack's text.
    pub fn of(text: &[u8]) -> StackHash {
        StackHash {
            id: StackId(xxh3_64(text).cast_signed()),
            check: (xxh3_128(text) >> 64) as u64,
        }
    }
}

/// A frame of a stack of addresses as it is hashed.
#[derive(Clone, Copy, Debug)]
pub struct HashedAddress<'a> {
    /// The build id in hex; empty where it is not known.
    pub build_id: &'a str,
    /// The offset into the object.
    pub offset: i64,
    /// Function and object, where nobody can name it elsewhere: it has no build id, or the recorded machine named it.
    pub name: Option<(&'a str, &'a str)>,
}

impl HashedAddress<'_> {
    /// Adds the frame to a stack's text.
    pub fn write(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(self.build_id.as_bytes());
        text.push(PART);
        text.extend_from_slice(self.offset.to_string().as_bytes());
        if let Some((symbol, dso)) = self.name {
            text.push(PART);
            text.extend_from_slice(symbol.as_bytes());
            text.push(PART);
            text.extend_from_slice(dso.as_bytes());
        }
        text.push(FRAME);
    }
}

/// A frame as it is hashed.
#[derive(Clone, Copy, Debug)]
pub struct HashedFrame<'a> {
    /// The function.
    pub symbol: &'a str,
    /// Its object.
    pub dso: &'a str,
    /// File and line, where they are known and wanted.
    pub line: Option<(&'a str, i32)>,
    /// It is inlined into the next frame.
    pub inlined: bool,
}

impl HashedFrame<'_> {
    /// Adds the frame to a stack's text.
    pub fn write(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(self.symbol.as_bytes());
        text.push(PART);
        text.extend_from_slice(self.dso.as_bytes());
        if let Some((file, line)) = self.line {
            text.push(PART);
            text.extend_from_slice(file.as_bytes());
            text.push(b':');
            text.extend_from_slice(line.to_string().as_bytes());
        }
        if self.inlined {
            text.extend_from_slice(&[PART, b'i']);
        }
        text.push(FRAME);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published test values of XXH3: the empty input, and the definition above by hand.
    #[test]
    fn the_number_is_xxh3_of_the_text() {
        assert_eq!(
            StackHash::of(b"").id.0.cast_unsigned(),
            0x2d06_8005_38d3_94c2
        );
        let mut text = Vec::new();
        let frames = [
            ("work", "prog", None, true),
            ("main", "prog", Some(("a.c", 7)), false),
        ];
        for (symbol, dso, line, inlined) in frames {
            HashedFrame {
                symbol,
                dso,
                line,
                inlined,
            }
            .write(&mut text);
        }
        assert_eq!(text, b"work\x1fprog\x1fi\x1emain\x1fprog\x1fa.c:7\x1e");
    }
}
