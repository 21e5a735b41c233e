//! Code that a kernel changes while it runs: copies of the changed pages over its memory.

use std::collections::BTreeMap;
use std::ops::Range;

use intel_pt::{Code, ImageId};
use oxperf_objects::KernelPiece;

const PAGE: u64 = 4096;
/// No instruction is longer: so much of what follows a page belongs to its copy.
const LONGEST: u64 = 15;
/// Marks changed pages; other images have numbers below.
const PATCHED_IMAGE: u64 = 1 << 61;
/// Addresses are offsets in the image, less this.
const BASE: u64 = 1 << 63;

/// Changed bytes, by the address of the first.
#[derive(Debug, Default)]
pub(super) struct Patches {
    copies: BTreeMap<u64, Copied>,
    version: u32,
}

#[derive(Debug)]
struct Copied {
    bytes: Vec<u8>,
    /// Bytes that are its own; those behind belong to what follows.
    own: u64,
}

impl Patches {
    /// Puts bytes in the place of those at an address. Bytes where there was no memory are memory from now on.
    pub(super) fn add<'m>(
        &mut self,
        address: u64,
        bytes: &[u8],
        memory: &dyn Fn(u64) -> Option<KernelPiece<'m>>,
    ) {
        let end = address.saturating_add(bytes.len() as u64);
        if bytes.is_empty() || address < BASE {
            return;
        }
        self.version = self.version.wrapping_add(1);
        let mut page = address.saturating_sub(LONGEST) & !(PAGE - 1);
        while page < end {
            self.copy(page, memory);
            page = page.saturating_add(PAGE);
        }
        if memory(address).is_none() {
            self.extend(address, bytes);
        }
        for (start, copied) in self.copies.range_mut(..end) {
            copied.overwrite(*start, address, bytes);
        }
    }

    /// Copies a page, as far as there is memory.
    fn copy<'m>(&mut self, page: u64, memory: &dyn Fn(u64) -> Option<KernelPiece<'m>>) {
        let Some(piece) = memory(page).or_else(|| memory(page.saturating_add(PAGE - 1))) else {
            return;
        };
        let start = page.max(piece.start);
        let end = page.saturating_add(PAGE);
        let first = (start - piece.start) as usize;
        let length = (end - start + LONGEST) as usize;
        let Some(bytes) = piece.bytes.get(first..) else {
            return;
        };
        let bytes = bytes[..length.min(bytes.len())].to_vec();
        let own = (end - start).min(bytes.len() as u64);
        self.copies.entry(start).or_insert(Copied { bytes, own });
    }

    /// Adds memory that was not there, to what ends there or as a copy of its own.
    fn extend(&mut self, address: u64, bytes: &[u8]) {
        let before = self.copies.range_mut(..=address).next_back();
        match before.filter(|(start, copied)| address - **start <= copied.own) {
            Some((start, copied)) => {
                let length = (address - start) as usize + bytes.len();
                copied.bytes.resize(length.max(copied.bytes.len()), 0);
                copied.own = copied.bytes.len() as u64;
            }
            None => {
                self.copies.insert(
                    address,
                    Copied {
                        bytes: bytes.to_vec(),
                        own: bytes.len() as u64,
                    },
                );
            }
        }
    }

    pub(super) fn version(&self) -> u32 {
        self.version
    }

    /// The changed code around an address.
    pub(super) fn at(&self, address: u64) -> Option<Code<'_>> {
        let (start, copied) = self.copies.range(..=address).next_back()?;
        let image = ImageId(PATCHED_IMAGE | u64::from(self.version));
        (address - start < copied.own).then_some(Code {
            image,
            offset: start - BASE,
            start: *start,
            bytes: &copied.bytes,
        })
    }

    /// The addresses around one that are not changed.
    pub(super) fn free_around(&self, address: u64) -> Range<u64> {
        let before = self.copies.range(..=address).next_back();
        let start = before.map_or(0, |(start, copied)| start.saturating_add(copied.own));
        let behind = self.copies.range(address..).next();
        start..behind.map_or(u64::MAX, |(start, _)| *start)
    }
}

impl Copied {
    /// Writes the part of `bytes` that lies here.
    fn overwrite(&mut self, start: u64, address: u64, bytes: &[u8]) {
        let skipped = start.saturating_sub(address);
        let Some(bytes) = usize::try_from(skipped)
            .ok()
            .and_then(|skipped| bytes.get(skipped..))
        else {
            return;
        };
        let Ok(first) = usize::try_from(address.saturating_sub(start)) else {
            return;
        };
        let here = self.bytes.iter_mut().skip(first);
        here.zip(bytes).for_each(|(to, from)| *to = *from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 0xffff_ffff_8100_0000;

    fn patched(changes: &[(u64, &[u8])]) -> Patches {
        static MEMORY: [u8; 3 * 4096] = [0x90; 3 * 4096];
        let mut patches = Patches::default();
        let memory = |address: u64| {
            let inside = (START..START + MEMORY.len() as u64).contains(&address);
            inside.then_some(KernelPiece {
                number: 0,
                start: START,
                bytes: &MEMORY,
            })
        };
        changes
            .iter()
            .for_each(|(address, bytes)| patches.add(*address, bytes, &memory));
        patches
    }

    #[test]
    fn a_change_is_seen_from_every_page_that_may_run_into_it() {
        let at = START + 4096 - 2;
        let patches = patched(&[(at, &[1, 2, 3, 4])]);
        assert_eq!(
            patches.at(at).map(|code| code.from(at)[..6].to_vec()),
            Some(vec![1, 2, 3, 4, 0x90, 0x90])
        );
        let second = START + 4096;
        assert_eq!(
            patches
                .at(second)
                .map(|code| code.from(second)[..3].to_vec()),
            Some(vec![3, 4, 0x90])
        );
        assert!(patches.at(START + 8192).is_none());
        assert_eq!(patches.free_around(START + 8192), START + 8192..u64::MAX);
        assert_eq!(patches.version(), 1);
    }

    #[test]
    fn memory_that_was_not_there_comes_with_its_bytes() {
        let island = START + (1 << 20);
        let patches = patched(&[(island, &[1, 2]), (island + 2, &[3]), (island, &[9])]);
        assert_eq!(
            patches.at(island).map(|code| code.bytes.to_vec()),
            Some(vec![9, 2, 3])
        );
        assert!(patches.at(island + 3).is_none());
        assert_eq!(patches.free_around(island + 100).start, island + 3);
    }
}
