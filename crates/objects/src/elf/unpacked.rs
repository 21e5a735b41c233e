//! Sections as they were before a linker compressed them.
//!
//! Debug information is compressed in two ways: a flagged section with a header that names the method, and the older
//! `.zdebug_*` sections with a header of their own.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::ZlibDecoder;
use object::elf;

use super::{Elf, ElfSection};
use crate::contents::Contents;
use crate::packed::unpack;

/// Deflate cannot shrink more than this; what claims more is damaged, and would only fill the memory.
const RATIO_LIMIT: u64 = 1100;
/// The size that a tiny section may grow to whatever the ratio.
const SMALL: u64 = 1 << 16;

impl<'a> Elf<'a> {
    /// The bytes of the section of that name, such as `.debug_info`, unpacked where they are compressed; `None` where
    /// the file has no such section, or where it cannot be unpacked.
    pub fn unpacked(&self, name: &str) -> Option<Cow<'a, [u8]>> {
        if let Some(section) = self.section(name.as_bytes()) {
            let bytes = self.bytes_of(section)?;
            return match section.flags & u64::from(elf::SHF_COMPRESSED) {
                0 => Some(Cow::Borrowed(bytes)),
                _ => self.inflate(bytes).map(Cow::Owned),
            };
        }
        let older = format!(".z{}", name.strip_prefix('.')?);
        let bytes = self
            .bytes_of(self.section(older.as_bytes())?)?
            .strip_prefix(b"ZLIB")?;
        let (size, packed) = bytes.split_first_chunk::<8>()?;
        inflate_zlib(packed, u64::from_be_bytes(*size)).map(Cow::Owned)
    }

    /// Returns whether there is a section of that name, compressed or not.
    pub fn has_debug_section(&self, name: &str) -> bool {
        let holds = |section: &&ElfSection<'_>| section.kind != elf::SHT_NOBITS && section.size > 0;
        let older = name.strip_prefix('.').map(|rest| format!(".z{rest}"));
        let names = [Some(name.as_bytes()), older.as_ref().map(String::as_bytes)];
        names
            .into_iter()
            .flatten()
            .any(|name| self.section(name).filter(holds).is_some())
    }

    /// Returns whether a stripped program carries symbols along.
    pub fn has_mini_debug_info(&self) -> bool {
        self.section(b".gnu_debugdata").is_some()
    }

    /// The symbols that a stripped program carries along: an ELF file of its own (`.gnu_debugdata`).
    pub fn mini_debug_info(&self) -> Option<Contents> {
        unpack(self.bytes_of(self.section(b".gnu_debugdata")?)?).map(Contents::from_memory)
    }

    /// Unpacks what follows a compression header.
    fn inflate(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let word = |at: usize| {
            let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(if self.little_endian {
                u32::from_le_bytes(bytes)
            } else {
                u32::from_be_bytes(bytes)
            })
        };
        let long = |at: usize| {
            let (low, high) = if self.little_endian {
                (at, at + 4)
            } else {
                (at + 4, at)
            };
            Some(u64::from(word(high)?) << 32 | u64::from(word(low)?))
        };
        let (size, header) = if self.is_64 {
            (long(8)?, 24)
        } else {
            (u64::from(word(4)?), 12)
        };
        let packed = bytes.get(header..)?;
        match word(0)? {
            elf::ELFCOMPRESS_ZLIB => inflate_zlib(packed, size),
            elf::ELFCOMPRESS_ZSTD => zstd::bulk::decompress(packed, bounded(packed, size)?)
                .ok()
                .filter(|out| out.len() as u64 == size),
            _ => None,
        }
    }
}

fn inflate_zlib(packed: &[u8], size: u64) -> Option<Vec<u8>> {
    let size = bounded(packed, size)?;
    let mut out = vec![0; size];
    let mut unpacker = ZlibDecoder::new(packed);
    unpacker.read_exact(&mut out).ok()?;
    // That nothing follows is known when the checksum behind it has been read.
    (unpacker.read(&mut [0]).ok()? == 0).then_some(out)
}

/// The claimed size, where the packed bytes can come to that.
fn bounded(packed: &[u8], size: u64) -> Option<usize> {
    let most = (packed.len() as u64).saturating_mul(RATIO_LIMIT).max(SMALL);
    usize::try_from(size).ok().filter(|_| size <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_the_bytes_cannot_come_to_is_refused() {
        let mut packed = Vec::new();
        let level = flate2::Compression::default();
        flate2::read::ZlibEncoder::new(&[7; 1000][..], level)
            .read_to_end(&mut packed)
            .unwrap();
        assert_eq!(inflate_zlib(&packed, 1000), Some(vec![7; 1000]));
        assert_eq!(inflate_zlib(&packed, 999), None);
        assert_eq!(inflate_zlib(&packed, 1001), None);
        assert_eq!(inflate_zlib(&packed, u64::MAX), None);
    }
}
