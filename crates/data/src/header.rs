//! The 104 bytes at the beginning of a file, both ways.

use oxperf_wire::{Cursor, Encoder, Endian};

use crate::{DataError, FeatureBits, FeatureId};

/// A stretch of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Section {
    /// Offset of its first byte, bytes from the start of the file.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
}

impl Section {
    /// Size of a section in the file.
    pub(crate) const STORED: u64 = 16;

    /// One past its last byte; the largest number when it would not fit.
    pub const fn end(self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    /// The bytes that `file` has of it; shorter than stated when the file ends before.
    pub fn slice(self, file: &[u8]) -> &[u8] {
        let at = |position: u64| {
            usize::try_from(position)
                .unwrap_or(usize::MAX)
                .min(file.len())
        };
        file.get(at(self.offset)..at(self.end()))
            .unwrap_or_default()
    }

    /// Reads the two numbers.
    pub(crate) fn decode(cursor: &mut Cursor<'_>) -> Result<Section, oxperf_wire::WireError> {
        Ok(Section {
            offset: cursor.u64()?,
            size: cursor.u64()?,
        })
    }

    /// Writes the two numbers.
    pub(crate) fn encode(self, encoder: &mut Encoder) {
        encoder.u64(self.offset);
        encoder.u64(self.size);
    }
}

/// The file header as stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FileHeader {
    /// Size that the header states for itself: 104, 72 without features, 16 before a stream.
    pub size: u64,
    /// Size of one attribute entry: the attribute and the place of its ids.
    pub attr_size: u64,
    /// The attribute entries.
    pub attrs: Section,
    /// The records. The size is 0 until the recorder first writes it.
    pub data: Section,
    /// Unused.
    pub event_types: Section,
    /// The features that follow the data.
    pub features: FeatureBits,
    /// True if it is of the first version, which differs in its magic number alone.
    pub first_version: bool,
}

impl FileHeader {
    /// Size of the header in the file, bytes.
    pub const SIZE: u64 = 104;
    /// Start of the size of the data.
    pub(crate) const DATA_SIZE_OFFSET: u64 = 48;
    pub(crate) const SIZE_WITHOUT_FEATURES: u64 = 72;
    /// Size of the header of a stream.
    pub const SIZE_OF_STREAM: u64 = 16;
    const MAGIC: u64 = u64::from_le_bytes(*b"PERFILE2");
    const MAGIC_VERSION_1: &[u8] = b"PERFFILE";

    /// Reads the header and finds the recorder's byte order.
    ///
    /// # Errors
    /// The file is of another kind, or ends within its header.
    pub fn decode(file: &[u8]) -> Result<(Endian, FileHeader), DataError> {
        let endian = detect(file)?;
        let cut = |expected: u64| DataError::HeaderCut {
            expected,
            found: file.len() as u64,
        };
        let mut cursor = Cursor::new(file, endian);
        cursor.u64().map_err(|_| cut(Self::SIZE))?;
        match cursor.u64().map_err(|_| cut(Self::SIZE))? {
            size @ Self::SIZE_OF_STREAM => Ok((
                endian,
                FileHeader {
                    size,
                    ..FileHeader::default()
                },
            )),
            stated => {
                // No version has another size: it was never written, or is broken.
                let short = stated == Self::SIZE_WITHOUT_FEATURES;
                let size = if short {
                    Self::SIZE_WITHOUT_FEATURES
                } else {
                    Self::SIZE
                };
                let mut header = Self::decode_body(size, &mut cursor).map_err(|_| cut(size))?;
                header.first_version = file.starts_with(Self::MAGIC_VERSION_1);
                Ok((endian, header))
            }
        }
    }

    fn decode_body(
        size: u64,
        cursor: &mut Cursor<'_>,
    ) -> Result<FileHeader, oxperf_wire::WireError> {
        let mut header = FileHeader {
            size,
            attr_size: cursor.u64()?,
            attrs: Section::decode(cursor)?,
            data: Section::decode(cursor)?,
            event_types: Section::decode(cursor)?,
            ..FileHeader::default()
        };
        if size == Self::SIZE {
            header.features = decode_bits(cursor)?;
        }
        Ok(header)
    }

    /// Writes the header, in 16 bytes before a stream.
    pub fn encode(&self, encoder: &mut Encoder) {
        if self.first_version {
            encoder.bytes(Self::MAGIC_VERSION_1);
        } else {
            encoder.u64(Self::MAGIC);
        }
        encoder.u64(self.size);
        if self.is_of_stream() {
            return;
        }
        encoder.u64(self.attr_size);
        self.attrs.encode(encoder);
        self.data.encode(encoder);
        self.event_types.encode(encoder);
        self.features
            .words()
            .iter()
            .for_each(|word| encoder.u64(*word));
    }

    /// Returns whether `bytes` begin as a recording does.
    pub fn is_magic(bytes: &[u8]) -> bool {
        detect(bytes).is_ok()
    }

    /// Returns whether a stream follows: nothing but records.
    pub const fn is_of_stream(&self) -> bool {
        self.size == Self::SIZE_OF_STREAM
    }

    /// Offset of the table of the features.
    pub const fn feature_table_offset(&self) -> u64 {
        self.data.end()
    }
}

/// The byte order by the magic number.
fn detect(file: &[u8]) -> Result<Endian, DataError> {
    if file.is_empty() {
        return Err(DataError::Empty);
    }
    let mut magic = [0; 8];
    let length = file.len().min(8);
    magic[..length].copy_from_slice(&file[..length]);
    match u64::from_le_bytes(magic) {
        FileHeader::MAGIC => Ok(Endian::Little),
        swapped if swapped == FileHeader::MAGIC.swap_bytes() => Ok(Endian::Big),
        _ if magic == FileHeader::MAGIC_VERSION_1 => Ok(detect_version_1(file)),
        _ => Err(DataError::NotPerfData { magic }),
    }
}

/// The first version's magic number reads the same in both byte orders; the size of an attribute entry does not.
fn detect_version_1(file: &[u8]) -> Endian {
    let mut cursor = Cursor::new(file, Endian::Big);
    let attr_size = cursor.bytes(16).and_then(|_| cursor.u64());
    if attr_size.is_ok_and(|size| size < 1 << 32) {
        Endian::Big
    } else {
        Endian::Little
    }
}

/// The feature bits. They are an array of the recorder's `long`, so a foreign file may need them half by half.
fn decode_bits(cursor: &mut Cursor<'_>) -> Result<FeatureBits, oxperf_wire::WireError> {
    let mut words = [0; 4];
    for word in &mut words {
        *word = cursor.u64()?;
    }
    let whole = FeatureBits::from_words(words);
    let halves = FeatureBits::from_words(words.map(|word| word.rotate_left(32)));
    let use_halves = !whole.contains(FeatureId::HOSTNAME) && halves.contains(FeatureId::HOSTNAME);
    Ok(if use_halves { halves } else { whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> FileHeader {
        FileHeader {
            size: FileHeader::SIZE,
            attr_size: 80,
            attrs: Section {
                offset: 104,
                size: 80,
            },
            data: Section {
                offset: 184,
                size: 8,
            },
            event_types: Section::default(),
            features: [FeatureId::HOSTNAME, FeatureId::CLN_SIZE, FeatureId(200)]
                .into_iter()
                .collect(),
            first_version: false,
        }
    }

    fn encoded(endian: Endian) -> Vec<u8> {
        let mut encoder = Encoder::new(endian);
        header().encode(&mut encoder);
        encoder.into_bytes()
    }

    #[test]
    fn headers_round_trip_in_both_byte_orders() {
        for endian in [Endian::Little, Endian::Big] {
            assert_eq!(FileHeader::decode(&encoded(endian)), Ok((endian, header())));
        }
    }

    #[test]
    fn the_first_version_tells_its_byte_order_by_a_size() {
        for endian in [Endian::Little, Endian::Big] {
            let header = FileHeader {
                first_version: true,
                ..header()
            };
            let mut encoder = Encoder::new(endian);
            header.encode(&mut encoder);
            assert!(encoder.as_bytes().starts_with(b"PERFFILE"));
            assert_eq!(FileHeader::decode(encoder.as_bytes()), Ok((endian, header)));
        }
    }

    #[test]
    fn bits_of_a_foreign_32_bit_recorder_are_half_words() {
        let mut bytes = encoded(Endian::Big);
        for word in bytes[72..].chunks_exact_mut(8) {
            word.rotate_left(4);
        }
        assert_eq!(FileHeader::decode(&bytes), Ok((Endian::Big, header())));
    }

    #[test]
    fn other_files_are_told_apart() {
        let whole = encoded(Endian::Little);
        let decode = |bytes: &[u8]| FileHeader::decode(bytes).map(|(_, header)| header);
        assert_eq!(decode(b""), Err(DataError::Empty));
        assert_eq!(
            decode(b"\x7fELF"),
            Err(DataError::NotPerfData {
                magic: *b"\x7fELF\0\0\0\0"
            })
        );
        assert_eq!(
            decode(b"PERFFILEhfe"),
            Err(DataError::HeaderCut {
                expected: 104,
                found: 11
            })
        );
        let stream = decode(b"PERFILE2\x10\0\0\0\0\0\0\0@");
        assert!(stream.is_ok_and(|header| header.is_of_stream()));
        assert_eq!(
            decode(&whole[..100]),
            Err(DataError::HeaderCut {
                expected: 104,
                found: 100
            })
        );
        assert_eq!(
            decode(&whole[..12]),
            Err(DataError::HeaderCut {
                expected: 104,
                found: 12
            })
        );
        let odd = [&whole[..8], &[33, 0, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(
            decode(&odd),
            Err(DataError::HeaderCut {
                expected: 104,
                found: 16
            })
        );
        let odd = [&whole[..8], &[33, 0, 0, 0, 0, 0, 0, 0], &whole[16..]].concat();
        assert_eq!(decode(&odd), Ok(header()));
    }

    #[test]
    fn a_section_past_the_end_has_what_is_there() {
        let file = [1, 2, 3, 4];
        assert_eq!(
            Section {
                offset: 2,
                size: u64::MAX
            }
            .slice(&file),
            [3, 4]
        );
        assert_eq!(
            Section {
                offset: u64::MAX,
                size: 1
            }
            .slice(&file),
            []
        );
    }
}
