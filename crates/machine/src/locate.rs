//! From an address of a thread to a place in a dso.

use std::ops::Range;

use oxperf_abi::CpuMode;

use crate::map::MapTable;
use crate::{DsoId, Machine, MapId, Region, SpaceId, Thread, ThreadId};

/// An address with the mapping and the dso that hold it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MappedAddress {
    /// The mapping that shows it.
    pub map: MapId,
    /// The dso that is mapped.
    pub dso: DsoId,
    /// The address in the dso's own space.
    pub address: u64,
}

/// The mappings of a thread at a moment, whatever was mapped since. A copy costs next to nothing.
#[derive(Clone, Debug)]
pub struct Mappings {
    space: SpaceId,
    kernel: MapTable,
    user: MapTable,
    /// The kernel of the guest that the thread's process runs.
    guest: Option<MapTable>,
}

impl Mappings {
    /// The result of [`Machine::locate`] at that moment.
    #[inline]
    pub fn locate(&self, mode: CpuMode, address: u64) -> Option<MappedAddress> {
        self.table(mode)?.locate(address)
    }

    /// The region around an address.
    pub fn region(&self, mode: CpuMode, address: u64) -> Region {
        self.table(mode)
            .map_or(Region::NOTHING, |table| table.region(address))
    }

    /// The thread's address space.
    pub fn space(&self) -> SpaceId {
        self.space
    }

    /// The result of [`Machine::version`] at that moment.
    #[inline]
    pub fn version(&self, mode: CpuMode) -> u32 {
        self.table(mode).map_or(0, MapTable::version)
    }

    #[inline]
    fn table(&self, mode: CpuMode) -> Option<&MapTable> {
        match mode {
            CpuMode::Kernel => Some(&self.kernel),
            CpuMode::User => Some(&self.user),
            CpuMode::GuestKernel => self.guest.as_ref(),
            CpuMode::Unknown | CpuMode::Hypervisor | CpuMode::GuestUser => None,
        }
    }
}

impl Machine {
    /// The place of an address; `None` where nothing is mapped, in hypervisors and in the processes of guests.
    #[inline]
    pub fn locate(&self, thread: ThreadId, mode: CpuMode, address: u64) -> Option<MappedAddress> {
        self.table(thread, mode)?.locate(address)
    }

    /// The region around an address now.
    pub fn region(&self, thread: ThreadId, mode: CpuMode, address: u64) -> Region {
        self.table(thread, mode)
            .map_or(Region::NOTHING, |table| table.region(address))
    }

    /// The stretch of address space around an address, and the mapping that it shows.
    pub fn stretch(
        &self,
        thread: ThreadId,
        mode: CpuMode,
        address: u64,
    ) -> Option<(Range<u64>, MapId)> {
        self.table(thread, mode)?.stretch(address)
    }

    /// The mapping that an address of the kernel shows.
    pub fn kernel_map(&self, address: u64) -> Option<MapId> {
        self.objects
            .kernel_table()
            .locate(address)
            .map(|place| place.map)
    }

    /// The mappings of a thread now, to be asked later.
    pub fn mappings(&self, thread: ThreadId) -> Mappings {
        let Thread { space, pid, .. } = self.threads[thread.0 as usize];
        let guest = self.guests.kernel_of(pid).cloned();
        let (kernel, user) = (
            self.objects.kernel_table().clone(),
            self.spaces[space.0 as usize].clone(),
        );
        Mappings {
            space,
            kernel,
            user,
            guest,
        }
    }

    /// A number that is the same for two threads or moments only if every address means the same code.
    pub fn generation(&self, thread: ThreadId) -> u64 {
        let space = self.threads[thread.0 as usize].space;
        // Versions grow with each change of any table.
        let kernels = self
            .objects
            .kernel_table()
            .version()
            .max(self.version(thread, CpuMode::GuestKernel));
        u64::from(kernels) << 32 | u64::from(self.spaces[space.0 as usize].version())
    }

    /// A number of the mappings of one mode alone, as above.
    #[inline]
    pub fn version(&self, thread: ThreadId, mode: CpuMode) -> u32 {
        self.table(thread, mode).map_or(0, MapTable::version)
    }

    #[inline]
    fn table(&self, thread: ThreadId, mode: CpuMode) -> Option<&MapTable> {
        match mode {
            CpuMode::Kernel => Some(self.objects.kernel_table()),
            CpuMode::User => Some(&self.spaces[self.threads[thread.0 as usize].space.0 as usize]),
            CpuMode::GuestKernel => self.guests.kernel_of(self.threads[thread.0 as usize].pid),
            CpuMode::Unknown | CpuMode::Hypervisor | CpuMode::GuestUser => None,
        }
    }

    /// The mode whose mappings hold an address when the recording does not say. The user's come first: a kernel that
    /// was recorded as all of memory holds their addresses, too.
    pub fn guess_mode(&self, thread: ThreadId, address: u64) -> CpuMode {
        [CpuMode::User, CpuMode::Kernel]
            .into_iter()
            .find(|mode| self.locate(thread, *mode, address).is_some())
            .unwrap_or(CpuMode::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{Misc, Pid, Tid};
    use oxperf_wire::kernel::Mmap;

    #[test]
    fn what_was_mapped_is_known_when_something_else_is() {
        let mut machine = Machine::default();
        let map = |machine: &mut Machine, filename: &[u8]| {
            let mmap = Mmap {
                pid: Pid(7),
                tid: Tid(7),
                start: 0x1000,
                len: 0x1000,
                pgoff: 0,
                filename,
            };
            machine.apply_mmap(Misc(2), &mmap);
        };
        map(&mut machine, b"/old");
        let thread = machine.thread(Pid(7), Tid(7));
        let before = machine.mappings(thread);
        map(&mut machine, b"/new");
        let name = |located: Option<MappedAddress>| {
            located.map(|place| machine.dso(place.dso).name.as_str())
        };
        assert_eq!(name(before.locate(CpuMode::User, 0x1800)), Some("/old"));
        assert_eq!(
            name(machine.locate(thread, CpuMode::User, 0x1800)),
            Some("/new")
        );
        assert_eq!(before.locate(CpuMode::Kernel, 0x1800), None);
        assert_ne!(
            before.version(CpuMode::User),
            machine.version(thread, CpuMode::User)
        );
    }
}
