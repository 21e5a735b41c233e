//! From an address of a thread to a place in a dso.

use oxperf_abi::CpuMode;

use crate::{DsoId, Machine, MapId, ThreadId};

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
        let table = match mode {
            CpuMode::Kernel => &self.kernel,
            CpuMode::User => &self.spaces[self.threads[thread.0 as usize].space.0 as usize],
            CpuMode::Unknown | CpuMode::Hypervisor | CpuMode::GuestKernel | CpuMode::GuestUser => {
                return None;
            }
        };
        let id = table.find(address)?;
        let map = &self.maps[id.0 as usize];
        Some(Located { map: id, dso: map.dso, address: map.dso_address(address) })
    }

    /// Which mode's mappings hold an address when the recording does not say.
    pub fn guess_mode(&self, thread: ThreadId, address: u64) -> CpuMode {
        [CpuMode::Kernel, CpuMode::User]
            .into_iter()
            .find(|mode| self.locate(thread, *mode, address).is_some())
            .unwrap_or(CpuMode::Unknown)
    }
}
