//! Guests: the kernels of virtual machines that run on the recorded one.

use oxperf_abi::{KERNEL_START, Pid};
use rustc_hash::FxHashMap;

use crate::dso::DsoKey;
use crate::map::MapTable;
use crate::{DsoKind, KernelReference, Machine, Map};

/// A guest, by the process that runs it; `None` for the guest that is meant where no process is told.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct GuestId(pub Option<Pid>);

impl GuestId {
    /// The guest that a process runs; no process has the numbers below 1.
    pub fn of(process: Pid) -> GuestId {
        GuestId(Some(process).filter(|process| process.0 > 0))
    }
}

/// A module of a guest's kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuestModule {
    /// Its bracketed name.
    pub name: String,
    /// Its first address.
    pub start: u64,
    /// Bytes that it has.
    pub length: u64,
}

/// A guest's kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guest {
    pub(crate) kernel: MapTable,
}

/// The reference symbol of each guest's kernel.
pub(crate) type References = FxHashMap<GuestId, KernelReference>;

/// All guests that are known.
#[derive(Debug, Default)]
pub(crate) struct Guests(FxHashMap<GuestId, Guest>);

impl Guests {
    /// The guest that a process runs.
    fn of(&self, process: Option<Pid>) -> Option<&Guest> {
        let own = process.and_then(|process| self.0.get(&GuestId::of(process)));
        own.or_else(|| self.0.get(&GuestId::default()))
    }

    /// The mappings of the kernel of the guest that a process runs.
    #[inline]
    pub(crate) fn kernel_of(&self, process: Option<Pid>) -> Option<&MapTable> {
        if self.0.is_empty() {
            None
        } else {
            self.of(process).map(|guest| &guest.kernel)
        }
    }

    pub(crate) fn entry(&mut self, guest: GuestId) -> &mut Guest {
        self.0.entry(guest).or_default()
    }
}

impl Machine {
    /// A guest's kernel is known before any record tells of it, with the modules that are in it.
    pub fn know_guest(&mut self, guest: GuestId, modules: &[GuestModule]) {
        let name = match guest {
            GuestId(None) => "[guest.kernel.kallsyms]".to_owned(),
            GuestId(Some(process)) => format!("[guest.kernel.kallsyms.{process}]"),
        };
        self.map_guest(
            guest,
            name,
            DsoKind::GuestKernel(guest),
            KERNEL_START..u64::MAX,
        );
        for GuestModule {
            name,
            start,
            length,
        } in modules
        {
            let addresses = *start..start.saturating_add(*length);
            self.map_guest(guest, name.clone(), DsoKind::GuestModule(guest), addresses);
        }
    }

    /// A guest's kernel gains a mapping; a kernel's image goes below what is there already, and on to the end of memory.
    pub(crate) fn map_guest(
        &mut self,
        guest: GuestId,
        name: String,
        kind: DsoKind,
        addresses: std::ops::Range<u64>,
    ) {
        let dso = self.find_or_add_dso(DsoKey {
            name,
            kind,
            build_id: None,
            inode: None,
        });
        let (start, end) = (addresses.start, addresses.end);
        let map = Map {
            start,
            end,
            dso,
            bias: 0,
            prot: None,
            flags: None,
            file_offset: start,
            inode: None,
        };
        let map = self.add_map(map);
        let (version, shown) = (self.next_version(), self.map(map).shown(map));
        let kernel = &mut self.guests.entry(guest).kernel;
        if matches!(kind, DsoKind::GuestKernel(_)) {
            kernel.insert_below(start, shown);
        } else {
            kernel.insert(start, end, shown);
        }
        kernel.stamp(version);
    }
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{CpuMode, Misc, Tid};
    use oxperf_wire::kernel::Mmap;

    use super::*;

    const TEXT: u64 = 0xffff_ffff_8100_0000;

    fn name(machine: &mut Machine, process: i32, address: u64) -> Option<String> {
        let thread = machine.thread(Pid(process), Tid(process));
        let place = machine.locate(thread, CpuMode::GuestKernel, address)?;
        assert_eq!(place.address, address);
        assert_eq!(
            machine
                .mappings(thread)
                .locate(CpuMode::GuestKernel, address),
            Some(place)
        );
        Some(machine.dso(place.dso).name.clone())
    }

    #[test]
    fn each_process_sees_its_guest_or_the_one_that_is_meant() {
        let mut machine = Machine::default();
        assert_eq!(name(&mut machine, 7, TEXT), None);
        let module = GuestModule {
            name: "[ext4]".to_owned(),
            start: TEXT + 0x1000,
            length: 0x1000,
        };
        machine.know_guest(GuestId(None), &[module]);
        assert_eq!(
            name(&mut machine, 7, TEXT).as_deref(),
            Some("[guest.kernel.kallsyms]")
        );
        assert_eq!(
            name(&mut machine, 7, TEXT + 0x1800).as_deref(),
            Some("[ext4]")
        );
        machine.know_guest(GuestId::of(Pid(7)), &[]);
        assert_eq!(
            name(&mut machine, 7, TEXT + 0x1800).as_deref(),
            Some("[guest.kernel.kallsyms.7]")
        );
        assert_eq!(
            name(&mut machine, 8, TEXT + 0x1800).as_deref(),
            Some("[ext4]")
        );
    }

    #[test]
    fn records_tell_of_guests() {
        let mut machine = Machine::default();
        let guest_kernel = Misc(4);
        let filename = b"[guest.kernel.kallsyms.7]_text";
        let image = Mmap {
            pid: Pid(7),
            tid: Tid(0),
            start: TEXT,
            len: 0x1000,
            pgoff: TEXT,
            filename,
        };
        machine.apply_mmap(guest_kernel, &image);
        let module = Mmap {
            start: TEXT + 0x100_0000,
            pgoff: 0,
            filename: b"[xfs]",
            ..image
        };
        machine.apply_mmap(guest_kernel, &module);
        assert_eq!(
            name(&mut machine, 7, TEXT + 5).as_deref(),
            Some("[guest.kernel.kallsyms.7]")
        );
        assert_eq!(
            name(&mut machine, 7, TEXT + 0x100_0005).as_deref(),
            Some("[xfs]")
        );
        assert_eq!(name(&mut machine, 8, TEXT + 5), None);
        let reference = machine
            .objects()
            .guest_reference(GuestId::of(Pid(7)))
            .unwrap();
        assert_eq!(
            (reference.symbol.as_str(), reference.address),
            ("_text", TEXT)
        );
        assert_eq!(machine.objects().kernel_reference(), None);
    }
}
