//! MMAP and MMAP2: address space gains a mapping.

use std::sync::Arc;

use oxperf_abi::{BuildId, CpuMode, Misc, Pid, Tid};
use oxperf_wire::kernel::{FileIdentity, Mmap, Mmap2};

use crate::dso::DsoKey;
use crate::{DsoId, DsoKind, GuestId, KernelReference, Machine, Map};

const KERNEL: &str = "[kernel.kallsyms]";
const GUEST_KERNEL: &str = "[guest.kernel.kallsyms";
const PROT_EXEC: u32 = 4;
const MAP_HUGETLB: u32 = 0x40000;
/// simpleperf's mark on code that was made at run time and that it wrote to a file: the file's symbols stand at the
/// addresses of the process.
const PROT_JIT_SYMBOLS: u32 = 0x4000;

/// The fields that both records have.
struct Mapping<'a> {
    pid: Pid,
    tid: Tid,
    start: u64,
    len: u64,
    pgoff: u64,
    /// `PROT_*` bits; an MMAP record tells only whether it can be executed.
    prot: u32,
    /// `MAP_*` bits; an MMAP record has none.
    flags: Option<u32>,
    build_id: Option<BuildId>,
    inode: Option<(u32, u32, u64)>,
    filename: &'a [u8],
}

impl Mapping<'_> {
    /// Returns whether it lies where 32-bit programs have their memory.
    fn is_low(&self) -> bool {
        self.start <= u64::from(u32::MAX)
    }

    fn map(&self, dso: DsoId, bias: u64) -> Map {
        Map {
            start: self.start,
            end: self.start.saturating_add(self.len),
            dso,
            bias,
            prot: Some(self.prot),
            flags: self.flags,
            file_offset: self.pgoff,
            inode: self.inode.map(|(_, _, inode)| inode),
        }
    }
}

impl Machine {
    /// Applies an MMAP record.
    pub fn apply_mmap(&mut self, misc: Misc, mmap: &Mmap<'_>) {
        self.apply_mapping(
            misc,
            &Mapping {
                pid: mmap.pid,
                tid: mmap.tid,
                start: mmap.start,
                len: mmap.len,
                pgoff: mmap.pgoff,
                prot: if misc.has(Misc::MMAP_DATA) {
                    0
                } else {
                    PROT_EXEC
                },
                flags: None,
                build_id: None,
                inode: None,
                filename: mmap.filename,
            },
        );
    }

    /// Applies an MMAP2 record.
    pub fn apply_mmap2(&mut self, misc: Misc, mmap: &Mmap2<'_>) {
        let (build_id, inode) = match mmap.identity {
            FileIdentity::BuildId(id) => (id, None),
            FileIdentity::Inode {
                major,
                minor,
                inode,
                ..
            } => (None, Some((major, minor, inode))),
        };
        self.apply_mapping(
            misc,
            &Mapping {
                pid: mmap.pid,
                tid: mmap.tid,
                start: mmap.start,
                len: mmap.len,
                pgoff: mmap.pgoff,
                prot: mmap.prot,
                flags: Some(mmap.flags),
                build_id,
                inode,
                filename: mmap.filename,
            },
        );
    }

    fn apply_mapping(&mut self, misc: Misc, mapping: &Mapping<'_>) {
        match misc.cpu_mode() {
            CpuMode::Kernel => self.map_kernel(mapping),
            CpuMode::GuestKernel => self.map_guest_kernel(mapping),
            CpuMode::GuestUser | CpuMode::Hypervisor => {}
            CpuMode::User | CpuMode::Unknown => self.map_user(mapping),
        }
    }

    fn map_guest_kernel(&mut self, mapping: &Mapping<'_>) {
        let guest = GuestId::of(mapping.pid);
        let name = String::from_utf8_lossy(mapping.filename).into_owned();
        let addresses = mapping.start..mapping.start.saturating_add(mapping.len);
        if mapping.start == 0 {
            // The recorder was not shown any addresses.
            return;
        }
        let image = name
            .strip_prefix(GUEST_KERNEL)
            .and_then(|rest| rest.split_once(']'));
        let Some((_, symbol)) = image else {
            return self.map_guest(guest, name, DsoKind::GuestModule(guest), addresses);
        };
        if mapping.pgoff != 0 && !symbol.is_empty() {
            let reference = KernelReference {
                symbol: symbol.to_owned(),
                address: mapping.pgoff,
            };
            Arc::make_mut(&mut self.objects.guests).insert(guest, reference);
        }
        let image = name[..name.len() - symbol.len()].to_owned();
        // As the host's: what follows the text is the kernel's, too.
        self.map_guest(
            guest,
            image,
            DsoKind::GuestKernel(guest),
            addresses.start..u64::MAX,
        );
    }

    fn map_kernel(&mut self, mapping: &Mapping<'_>) {
        let name = String::from_utf8_lossy(mapping.filename).into_owned();
        match name.strip_prefix(KERNEL) {
            Some(symbol) => self.map_kernel_image(mapping, symbol),
            None => self.map_module(mapping, name),
        }
    }

    fn map_kernel_image(&mut self, mapping: &Mapping<'_>, symbol: &str) {
        if mapping.pgoff != 0 && !symbol.is_empty() {
            let reference = KernelReference {
                symbol: symbol.to_owned(),
                address: mapping.pgoff,
            };
            self.objects.kernel_reference = Some(Arc::new(reference));
        }
        let key = DsoKey {
            name: KERNEL.to_owned(),
            kind: DsoKind::Kernel,
            build_id: mapping.build_id,
            inode: None,
        };
        let dso = self.find_or_add_dso(key);
        // The record ends with the kernel's text, but init code and data follow it: the image goes on up to
        // whatever else is mapped above.
        let end = u64::MAX;
        let map = self.add_map(Map {
            end,
            prot: Some(PROT_EXEC),
            ..mapping.map(dso, 0)
        });
        let (version, shown) = (self.next_version(), self.map(map).shown(map));
        let kernel = self.objects.kernel_table_mut();
        kernel.insert_below(mapping.start, shown);
        kernel.stamp(version);
    }

    fn map_module(&mut self, mapping: &Mapping<'_>, name: String) {
        if mapping.start == 0 {
            // The recorder was not allowed to see addresses: this one is nobody's.
            return;
        }
        let key = DsoKey {
            name,
            kind: DsoKind::Module,
            build_id: mapping.build_id,
            inode: None,
        };
        let dso = self.find_or_add_dso(key);
        // A module's symbols come from the kernel's list, which holds addresses.
        self.insert_mapping(mapping, dso, 0, true);
    }

    fn map_user(&mut self, mapping: &Mapping<'_>) {
        let (dso, bias) = self.user_dso(mapping);
        self.insert_mapping(mapping, dso, bias, false);
    }

    fn insert_mapping(&mut self, mapping: &Mapping<'_>, dso: DsoId, bias: u64, kernel: bool) {
        let map = mapping.map(dso, bias);
        let (start, end) = (map.start, map.end);
        let map = self.add_map(map);
        if kernel {
            return self.insert_kernel(start, end, map);
        }
        let thread = self.thread(mapping.pid, mapping.tid);
        let space = self.threads[thread.0 as usize].space;
        self.insert_user(space, start, end, map);
    }

    /// The dso of a user mapping, and what takes its addresses there.
    fn user_dso(&mut self, mapping: &Mapping<'_>) -> (DsoId, u64) {
        let name = String::from_utf8_lossy(mapping.filename).into_owned();
        let at_addresses = mapping.prot & PROT_JIT_SYMBOLS != 0;
        let in_file = if at_addresses {
            0
        } else {
            mapping.pgoff.wrapping_sub(mapping.start)
        };
        if is_plain_memory(&name, mapping.flags) {
            return (self.memory_dso(name, mapping), 0);
        }
        let kind = if name == VDSO {
            DsoKind::Vdso
        } else {
            DsoKind::File
        };
        let name = if kind == DsoKind::Vdso && mapping.is_low() {
            VDSO_32.to_owned()
        } else {
            name
        };
        let inode = if kind == DsoKind::File {
            mapping.inode
        } else {
            None
        };
        let dso = self.find_or_add_dso(DsoKey {
            name,
            kind,
            build_id: mapping.build_id,
            inode,
        });
        self.objects.dsos.note_process(dso, mapping.pid);
        (dso, in_file)
    }

    /// Executable memory without a file is where just-in-time compilers put code: its names may be in a map file.
    fn memory_dso(&mut self, name: String, mapping: &Mapping<'_>) -> DsoId {
        let executable = mapping.prot & PROT_EXEC != 0;
        let name = if executable {
            format!("/tmp/perf-{}.map", mapping.pid)
        } else {
            name
        };
        self.find_or_add_dso(DsoKey {
            name,
            kind: DsoKind::Anonymous,
            build_id: None,
            inode: None,
        })
    }
}

/// The kernel's page of code in programs, and what it is called in 32-bit ones, where it is another.
const VDSO: &str = "[vdso]";
const VDSO_32: &str = "[vdso32]";

/// Returns whether a mapping shows no file.
fn is_plain_memory(name: &str, flags: Option<u32>) -> bool {
    const PREFIXES: [&str; 6] = [
        "//anon",
        "/dev/zero",
        "/anon_hugepage",
        "[stack",
        "/SYSV",
        "[heap]",
    ];
    flags.is_some_and(|flags| flags & MAP_HUGETLB != 0)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXECUTABLE: Mmap2<'static> = Mmap2 {
        pid: Pid(9),
        tid: Tid(9),
        start: 0x7000,
        len: 0x1000,
        pgoff: 0x3000,
        identity: FileIdentity::BuildId(None),
        prot: PROT_EXEC,
        flags: 2,
        filename: b"//anon",
    };

    fn located(machine: &mut Machine, mode: CpuMode, address: u64) -> (String, u64) {
        let thread = machine.thread(Pid(9), Tid(9));
        let place = machine.locate(thread, mode, address).unwrap();
        (machine.dso(place.dso).name.clone(), place.address)
    }

    #[test]
    fn files_are_placed_by_offset_and_plain_memory_by_address() {
        let mut machine = Machine::default();
        machine.apply_mmap2(Misc(2), &EXECUTABLE);
        assert_eq!(
            located(&mut machine, CpuMode::User, 0x7010),
            ("/tmp/perf-9.map".to_owned(), 0x7010)
        );
        machine.apply_mmap2(
            Misc(2),
            &Mmap2 {
                filename: b"/bin/x",
                ..EXECUTABLE
            },
        );
        assert_eq!(
            located(&mut machine, CpuMode::User, 0x7010),
            ("/bin/x".to_owned(), 0x3010)
        );
    }

    #[test]
    fn programs_of_32_bits_have_a_vdso_of_their_own() {
        let mut machine = Machine::default();
        for (start, name) in [(0xf7f4_a000, VDSO_32), (0x7fff_1234_5000, VDSO)] {
            machine.apply_mmap2(
                Misc(2),
                &Mmap2 {
                    start,
                    pgoff: 0,
                    filename: VDSO.as_bytes(),
                    ..EXECUTABLE
                },
            );
            assert_eq!(
                located(&mut machine, CpuMode::User, start + 5),
                (name.to_owned(), 5)
            );
        }
    }

    #[test]
    fn a_replaced_file_is_another_dso() {
        let mut machine = Machine::default();
        let with_inode = |inode| Mmap2 {
            identity: FileIdentity::Inode {
                major: 1,
                minor: 2,
                inode,
                generation: 0,
            },
            filename: b"/bin/x",
            ..EXECUTABLE
        };
        machine.apply_mmap2(Misc(2), &with_inode(5));
        machine.apply_mmap2(Misc(2), &with_inode(5));
        assert_eq!(machine.objects().dsos().len(), 1);
        machine.apply_mmap2(Misc(2), &with_inode(6));
        assert_eq!(machine.objects().dsos().len(), 2);
    }

    #[test]
    fn the_kernel_image_yields_to_its_modules() {
        let mut machine = Machine::default();
        let module = Mmap {
            pid: Pid(-1),
            tid: Tid(0),
            start: 0x9000,
            len: 0x1000,
            pgoff: 0,
            filename: b"[ext4]",
        };
        machine.apply_mmap(Misc(1), &module);
        let filename = b"[kernel.kallsyms]_text";
        let image = Mmap {
            start: 0x1000,
            len: 0x10000,
            pgoff: 0x1000,
            filename,
            ..module
        };
        machine.apply_mmap(Misc(1), &image);
        assert_eq!(
            located(&mut machine, CpuMode::Kernel, 0x9010),
            ("[ext4]".to_owned(), 0x9010)
        );
        assert_eq!(
            located(&mut machine, CpuMode::Kernel, 0x2000),
            (KERNEL.to_owned(), 0x2000)
        );
        assert_eq!(
            machine.objects().kernel_reference().unwrap().symbol,
            "_text"
        );
    }
}
