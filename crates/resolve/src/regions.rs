//! Places of addresses, remembered for pieces of address space.
//!
//! Call chains that were read from what were no frame pointers are full of stray addresses: of heaps and stacks, each of
//! which comes once. But they lie close to each other, where nothing is mapped.

use oxperf_abi::CpuMode;
use oxperf_machine::{Machine, MappedObject, Mappings, Region, ThreadId};

use crate::DsoAddress;
use crate::recent::{Mix, Recent};

/// Pieces of address spaces with the objects that they show.
#[derive(Debug, Default)]
pub struct Regions {
    /// `None` where a chunk shows more than one thing.
    chunks: Recent<Chunk, Option<Option<MappedObject>>>,
}

impl Regions {
    /// The place of an address where this was mapped.
    #[inline]
    pub fn locate(&mut self, mappings: &Mappings, mode: CpuMode, ip: u64) -> Option<DsoAddress> {
        self.get(ip, mappings.version(mode), || mappings.region(mode, ip))
    }

    /// The place of an address of a thread, as the machine is now.
    #[inline]
    pub fn locate_now(
        &mut self,
        machine: &Machine,
        thread: ThreadId,
        mode: CpuMode,
        ip: u64,
    ) -> Option<DsoAddress> {
        self.get(ip, machine.version(thread, mode), || {
            machine.region(thread, mode, ip)
        })
    }

    #[inline]
    fn get(&mut self, ip: u64, version: u32, around: impl Fn() -> Region) -> Option<DsoAddress> {
        let chunk = Chunk {
            number: ip >> Chunk::BITS,
            version,
        };
        let known = self.chunks.get(chunk, || chunk.shown(around()));
        let shown = known.unwrap_or_else(|| around().shown())?;
        Some(shown.locate(ip).into())
    }
}

/// A piece of address space, as long as no mapping changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Chunk {
    number: u64,
    /// The result of [`Machine::version`]::version`] says: no two tables of mappings that differ have the same.
    version: u32,
}

impl Chunk {
    /// 64 KiB.
    const BITS: u32 = 16;

    /// The object that all of it shows, if that is one thing.
    #[inline]
    fn shown(self, around: Region) -> Option<Option<MappedObject>> {
        let first = self.number << Chunk::BITS;
        let last = first | ((1 << Chunk::BITS) - 1);
        around.holds(first, last).then(|| around.shown())
    }
}

impl Mix for Chunk {
    #[inline]
    fn mix(&self) -> u64 {
        self.number ^ u64::from(self.version) << 32
    }
}
