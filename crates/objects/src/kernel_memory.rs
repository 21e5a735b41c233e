//! A kernel's memory by address: from copies of it (`kcore`), from its image (`vmlinux`) or from the running kernel.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use oxperf_abi::{BuildId, KERNEL_START};

use crate::contents::Contents;
use crate::elf::{Elf, FileType};
use crate::error::Rejection;

/// `SHT_SYMTAB`.
const SYMTAB: u32 = 2;

/// The address of a symbol while recording: what tells how far a kernel was moved, or whether a copy is of the same
/// boot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelSymbol<'a> {
    /// Its name, usually `_text`.
    pub name: &'a [u8],
    /// Its address.
    pub address: u64,
}

/// Stretches of a kernel's memory.
#[derive(Debug)]
pub struct KernelMemory {
    contents: Contents,
    /// Address of the first byte, and where the bytes are.
    pieces: Vec<(u64, Range<usize>)>,
    /// Distance that an image was moved by.
    moved: u64,
}

/// A stretch of a kernel's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelPiece<'a> {
    /// Its number in its memory.
    pub number: usize,
    /// The address of its first byte.
    pub start: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl KernelMemory {
    /// A copy of a kernel's memory, as `perf record --kcore` makes it: a core file.
    ///
    /// # Errors
    /// The file cannot be read, or is no ELF file.
    pub fn copied(path: &Path) -> Result<KernelMemory, Rejection> {
        KernelMemory::loaded(Contents::open(path)?, 0)
    }

    /// A kernel's image, moved so that the symbol has its address.
    ///
    /// # Errors
    /// The file cannot be read, is no ELF file, is another one than the build id says, or lacks the symbol.
    pub fn image(
        path: &Path,
        build_id: Option<BuildId>,
        symbol: Option<KernelSymbol<'_>>,
    ) -> Result<KernelMemory, Rejection> {
        let contents = Contents::open(path)?;
        let moved = {
            let image = Elf::parse(&contents)?;
            check_build_id(&image, build_id)?;
            symbol.map_or(Ok(0), |symbol| {
                moved_by(&image, symbol).ok_or(Rejection::NoSymbols)
            })?
        };
        KernelMemory::loaded(contents, moved)
    }

    /// Parts of the running kernel's memory, from `/proc/kcore`: those at the addresses that are wanted, without gaps in
    /// them.
    ///
    /// # Errors
    /// The file cannot be read, or is no ELF file.
    pub fn running(path: &Path, wanted: &[Range<u64>]) -> Result<KernelMemory, Rejection> {
        const HEADERS: usize = 1 << 16;
        const LARGEST: u64 = 1 << 28;
        let unreadable = |error: std::io::Error| Rejection::Unreadable(error.kind());
        let file = File::open(path).map_err(unreadable)?;
        let mut headers = vec![0; HEADERS];
        let read = file.read_at(&mut headers, 0).map_err(unreadable)?;
        headers.truncate(read);
        let (mut bytes, mut pieces) = (Vec::new(), Vec::new());
        for segment in Elf::parse(&headers)?.segments() {
            for range in wanted {
                let start = range.start.max(segment.address);
                let end = range
                    .end
                    .min(segment.address.saturating_add(segment.memory_size));
                if start >= end || end - start > LARGEST {
                    continue;
                }
                let at = bytes.len();
                bytes.resize(at + (end - start) as usize, 0);
                let place = segment.offset.saturating_add(start - segment.address);
                file.read_exact_at(&mut bytes[at..], place)
                    .map_err(unreadable)?;
                pieces.push((start, at..bytes.len()));
            }
        }
        Ok(KernelMemory {
            contents: Contents::from_memory(bytes),
            pieces,
            moved: 0,
        })
    }

    /// Memory that is there already: addresses and bytes.
    pub fn of_parts(parts: impl IntoIterator<Item = (u64, Vec<u8>)>) -> KernelMemory {
        let (mut bytes, mut pieces) = (Vec::new(), Vec::new());
        for (start, part) in parts {
            let at = bytes.len();
            bytes.extend_from_slice(&part);
            pieces.push((start, at..bytes.len()));
        }
        KernelMemory {
            contents: Contents::from_memory(bytes),
            pieces,
            moved: 0,
        }
    }

    fn loaded(contents: Contents, moved: u64) -> Result<KernelMemory, Rejection> {
        let length = contents.len() as u64;
        let piece = |segment: &crate::elf::ElfSegment| {
            let start = segment.address.wrapping_add(moved);
            let end = segment
                .offset
                .saturating_add(segment.memory_size)
                .min(length);
            let bytes = usize::try_from(segment.offset).ok()?..usize::try_from(end).ok()?;
            (start >= KERNEL_START && !bytes.is_empty()).then_some((start, bytes))
        };
        let pieces = Elf::parse(&contents)?
            .segments()
            .iter()
            .filter_map(piece)
            .collect();
        Ok(KernelMemory {
            contents,
            pieces,
            moved,
        })
    }

    /// The symbols of an image, where they were while recording; none of copies, which have none.
    pub fn symbols(&self) -> Vec<(Box<[u8]>, u64)> {
        let Ok(image) = Elf::parse(&self.contents) else {
            return Vec::new();
        };
        let Some(table) = image.section_of_kind(SYMTAB) else {
            return Vec::new();
        };
        let named = image
            .symbols(table)
            .filter(|symbol| !symbol.name.is_empty());
        named
            .map(|symbol| (symbol.name.into(), symbol.value.wrapping_add(self.moved)))
            .collect()
    }

    /// The stretch that holds an address.
    pub fn at(&self, address: u64) -> Option<KernelPiece<'_>> {
        let holds = |(start, bytes): &&(u64, Range<usize>)| {
            address
                .checked_sub(*start)
                .is_some_and(|distance| distance < bytes.len() as u64)
        };
        let number = self.pieces.iter().position(|piece| holds(&piece))?;
        let (start, bytes) = self.pieces.get(number)?;
        Some(KernelPiece {
            number,
            start: *start,
            bytes: self.contents.get(bytes.clone())?,
        })
    }
}

fn check_build_id(image: &Elf<'_>, wanted: Option<BuildId>) -> Result<(), Rejection> {
    let Some(wanted) = wanted else { return Ok(()) };
    match image.build_id() {
        Some(found) if found.padded() == wanted.padded() => Ok(()),
        Some(found) => Err(Rejection::BuildIdDiffers { found }),
        None => Err(Rejection::NoBuildId),
    }
}

/// Distance that an image was moved by.
fn moved_by(image: &Elf<'_>, symbol: KernelSymbol<'_>) -> Option<u64> {
    if image.file_type() == FileType::Relocatable {
        return None;
    }
    let table = image.section_of_kind(SYMTAB)?;
    let found = image
        .symbols(table)
        .find(|found| found.name == symbol.name)?;
    Some(symbol.address.wrapping_sub(found.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_found_by_address() {
        let memory = KernelMemory::of_parts([(0x1000, vec![1, 2, 3]), (0x2000, vec![4])]);
        assert_eq!(
            memory.at(0x1002),
            Some(KernelPiece {
                number: 0,
                start: 0x1000,
                bytes: &[1, 2, 3]
            })
        );
        assert_eq!(
            memory.at(0x2000).map(|piece| (piece.number, piece.bytes)),
            Some((1, &[4][..]))
        );
        assert_eq!(
            [0xfff, 0x1003, 0x2001].map(|address| memory.at(address)),
            [None; 3]
        );
    }
}
