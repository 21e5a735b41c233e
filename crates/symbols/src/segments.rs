//! Offsets into an object's file to its virtual addresses and back.

use oxperf_objects::Elf;
use oxperf_objects::elf::ElfSegment;

/// The virtual addresses of the bytes of an image.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments(Vec<ElfSegment>);

impl Segments {
    /// Those of an image.
    pub(crate) fn of(image: &Elf<'_>) -> Segments {
        Segments(image.segments().to_vec())
    }

    /// Those of an image that is known by its virtual addresses alone.
    pub(crate) fn by_address() -> Segments {
        let all = ElfSegment {
            offset: 0,
            address: 0,
            memory_size: u64::MAX,
        };
        Segments(vec![all])
    }

    /// The virtual address of the byte at an offset.
    pub(crate) fn address(&self, offset: u64) -> Option<u64> {
        let holds = |s: &&ElfSegment| offset >= s.offset && offset - s.offset < s.memory_size;
        let segment = self
            .0
            .iter()
            .filter(holds)
            .max_by_key(|segment| segment.offset)?;
        Some(
            offset
                .wrapping_sub(segment.offset)
                .wrapping_add(segment.address),
        )
    }

    /// Offset in the file of the byte at a virtual address.
    pub(crate) fn offset(&self, address: u64) -> Option<u64> {
        let holds = |s: &&ElfSegment| address >= s.address && address - s.address < s.memory_size;
        let segment = self.0.iter().find(holds)?;
        Some(
            address
                .wrapping_sub(segment.address)
                .wrapping_add(segment.offset),
        )
    }
}
