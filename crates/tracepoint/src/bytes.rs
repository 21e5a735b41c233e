//! Integers of any width in the recorder's byte order, read where the bytes allow it.

/// The byte order of the machine that made a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The byte order of the machine this program runs on.
    pub const NATIVE: ByteOrder = if cfg!(target_endian = "big") {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    };

    /// The unsigned number in `bytes`; `None` when there are no bytes or more than eight.
    pub fn unsigned(self, bytes: &[u8]) -> Option<u64> {
        if bytes.is_empty() || bytes.len() > 8 {
            return None;
        }
        let append = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(match self {
            ByteOrder::Little => bytes.iter().rev().fold(0, append),
            ByteOrder::Big => bytes.iter().fold(0, append),
        })
    }
}

/// Number of bytes that a C `long` of the recorded kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordSize {
    /// A 32-bit kernel.
    Four,
    /// A 64-bit kernel.
    Eight,
}

impl WordSize {
    /// The word of the machine this program runs on.
    pub const NATIVE: WordSize = if cfg!(target_pointer_width = "32") {
        WordSize::Four
    } else {
        WordSize::Eight
    };

    /// The size in bytes.
    pub fn bytes(self) -> u8 {
        match self {
            WordSize::Four => 4,
            WordSize::Eight => 8,
        }
    }

    /// The word of that many bytes, if there is one.
    pub fn from_bytes(bytes: u8) -> Option<WordSize> {
        match bytes {
            4 => Some(WordSize::Four),
            8 => Some(WordSize::Eight),
            _ => None,
        }
    }
}

/// The `size` bytes at `offset`, or `None` when they do not lie within `bytes`.
pub(crate) fn part(bytes: &[u8], offset: usize, size: usize) -> Option<&[u8]> {
    bytes.get(offset..offset.checked_add(size)?)
}

/// `bytes` up to the first NUL, or all of them.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_widths_read_in_both_orders() {
        assert_eq!(ByteOrder::Little.unsigned(&[1, 2, 3]), Some(0x030201));
        assert_eq!(ByteOrder::Big.unsigned(&[1, 2, 3]), Some(0x010203));
        assert_eq!(ByteOrder::Big.unsigned(&[]), None);
        assert_eq!(ByteOrder::Little.unsigned(&[0; 9]), None);
    }

    #[test]
    fn a_part_outside_is_absent() {
        assert_eq!(part(&[1, 2, 3], 1, 2), Some(&[2, 3][..]));
        assert_eq!(part(&[1, 2, 3], 2, 2), None);
        assert_eq!(part(&[1, 2, 3], usize::MAX, 2), None);
    }
}
