//! From an address of a thread to a place in a dso.

use oxperf_abi::CpuMode;

use crate::map::MapTable;
use crate::{DsoId, Machine, MapId, SpaceId, Stretch, ThreadId};

/// Where an address lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Located {
    /// The mapping that shows it.
    pub map: MapId,
    /// What is mapped.
    pub dso: DsoId,
    /// The address in the dso's own space.
    pub address: u64,
}

impl Machine {
    /// The place of an address; `None` where nothing is mapped, and in guests and hypervisors.
    #[inline]
    pub fn locate(&self, thread: ThreadId, mode: CpuMode, address: u64) -> Option<Located> {
        let id = self.table(thread, mode)?.find(address)?;
        let map = &self.maps[id.0 as usize];
        Some(Located { map: id, dso: map.dso, address: map.dso_address(address) })
    }

    /// The stretch of address space around an address, with what it shows.
    #[inline]
    pub fn stretch(&self, thread: ThreadId, mode: CpuMode, address: u64) -> Option<Stretch> {
        self.table(thread, mode)?.stretch_at(address)
    }

    /// A number that is the same for two threads or moments only if every address means the same code.
    pub fn generation(&self, thread: ThreadId) -> u64 {
        let space = self.threads[thread.0 as usize].space;
        u64::from(self.kernel.version()) << 32 | u64::from(self.spaces[space.0 as usize].version())
    }

    /// The same for addresses of one mode alone.
    #[inline]
    pub fn version(&self, thread: ThreadId, mode: CpuMode) -> u32 {
        self.table(thread, mode).map_or(0, MapTable::version)
    }

    /// The address space of a thread.
    #[inline]
    pub fn space(&self, thread: ThreadId) -> SpaceId {
        self.threads[thread.0 as usize].space
    }

    #[inline]
    fn table(&self, thread: ThreadId, mode: CpuMode) -> Option<&MapTable> {
        match mode {
            CpuMode::Kernel => Some(&self.kernel),
            CpuMode::User => Some(&self.spaces[self.threads[thread.0 as usize].space.0 as usize]),
            CpuMode::Unknown | CpuMode::Hypervisor | CpuMode::GuestKernel | CpuMode::GuestUser => None,
        }
    }

    /// Which mode's mappings hold an address when the recording does not say. The user's come first: a kernel that was
    /// recorded as all of memory holds their addresses, too.
    pub fn guess_mode(&self, thread: ThreadId, address: u64) -> CpuMode {
        [CpuMode::User, CpuMode::Kernel]
            .into_iter()
            .find(|mode| self.locate(thread, *mode, address).is_some())
            .unwrap_or(CpuMode::Unknown)
    }
}
