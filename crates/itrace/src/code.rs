//! The code that ran: what the machine has mapped at a moment, from the files that it maps.

mod instruction;
mod kernel;
mod modules;
mod patches;

use std::sync::OnceLock;

use intel_pt::{Code, CodeAddress, CodeSource, ImageId};
use oxperf_abi::{CpuMode, KERNEL_START, Pid};
use oxperf_machine::{Dso, DsoId, DsoKind, GuestId, Machine, Map, ThreadId};
use oxperf_objects::{Contents, Locator, ObjectKind, ObjectQuery, SearchPaths};
use oxperf_session::CodeWidth;

use crate::trace::CodeChange;
pub(crate) use instruction::code_width;
pub use instruction::{CodeBytes, CodeInstruction};
use kernel::KernelCode;
pub use kernel::KernelSearchPaths;
use modules::ModuleCode;

/// The places where code is looked for.
#[derive(Clone, Debug, Default)]
pub struct CodeSearchPaths {
    /// The files of user space.
    pub files: SearchPaths,
    /// The kernel.
    pub kernel: KernelSearchPaths,
    /// The kernels of guests; that of [`GuestId::default`] is of all who are not there.
    pub guest_kernels: Vec<(GuestId, KernelSearchPaths)>,
    /// The code of guests is the process' that runs them.
    pub guest_code: bool,
}

/// The files of a machine's objects and its kernel, each looked for once.
#[derive(Debug, Default)]
pub struct Images {
    places: CodeSearchPaths,
    locator: Locator,
    files: Vec<OnceLock<Option<Contents>>>,
    modules: Vec<OnceLock<Option<ModuleCode>>>,
    kernel: OnceLock<KernelCode>,
    guest_kernels: Vec<OnceLock<KernelCode>>,
    /// Changes of the kernel's code that are still to come, the last one first.
    changes: Vec<CodeChange>,
}

impl Images {
    /// Looks for files in these places.
    pub fn new(places: CodeSearchPaths) -> Images {
        let guest_kernels = places
            .guest_kernels
            .iter()
            .map(|_| OnceLock::new())
            .collect();
        Images {
            locator: Locator::new(places.files.clone()),
            places,
            guest_kernels,
            ..Images::default()
        }
    }

    /// Takes note of all changes of the kernel's code, in order of time: till they come the old code runs.
    pub(crate) fn expect(&mut self, changes: &[CodeChange]) {
        self.changes = changes.to_vec();
    }

    /// The kernel's code changes.
    pub(crate) fn apply_text_poke(&mut self, machine: &Machine, address: u64, new: &[u8]) {
        self.kernel(machine);
        if let Some(kernel) = self.kernel.get_mut() {
            kernel.patch(address, new);
        }
    }

    /// The mode that an address belongs to.
    pub(crate) fn mode_of(&self, ip: u64, guest: bool) -> CpuMode {
        match (guest, mode_of(ip)) {
            (true, CpuMode::Kernel) => CpuMode::GuestKernel,
            // The guest's code is the process', and so are its names.
            (true, _) if !self.places.guest_code => CpuMode::GuestUser,
            (_, mode) => mode,
        }
    }

    fn kernel(&self, machine: &Machine) -> &KernelCode {
        self.kernel
            .get_or_init(|| KernelCode::find(&self.places.kernel, machine.objects(), &self.changes))
    }

    /// The kernel of the guest that a process runs.
    fn guest_kernel(&self, machine: &Machine, process: Option<Pid>) -> Option<&KernelCode> {
        let guests = &self.places.guest_kernels;
        let number = |wanted| guests.iter().position(|(guest, _)| *guest == wanted);
        let own = process.and_then(|process| number(GuestId::of(process)));
        let number = own.or_else(|| number(GuestId::default()))?;
        let (guest, places) = &guests[number];
        let find = || KernelCode::find_of_guest(places, machine.objects().guest_reference(*guest));
        Some(self.guest_kernels.get(number)?.get_or_init(find))
    }

    /// The code of a thread from an address on: at most `length` bytes, fewer where its object ends, none where it is not
    /// known.
    pub fn read(
        &mut self,
        machine: &Machine,
        thread: ThreadId,
        ip: u64,
        length: usize,
    ) -> CodeBytes {
        self.grow(machine);
        let at = CodeAddress { ip, guest: false };
        let thread = ThreadCode {
            machine,
            images: self,
            thread: Some(thread),
        };
        let Some(code) = thread.code_of(at) else {
            return CodeBytes::default();
        };
        let from = usize::try_from(ip.wrapping_sub(code.start)).unwrap_or(usize::MAX);
        let bytes = code.bytes.get(from..).unwrap_or_default();
        CodeBytes {
            bytes: bytes[..length.min(bytes.len())].to_vec(),
            width: thread.width(at),
        }
    }

    /// Makes room for the objects that the machine knows now.
    pub(crate) fn grow(&mut self, machine: &Machine) {
        let count = machine.objects().dsos().len().max(self.files.len());
        self.files.resize_with(count, OnceLock::new);
        self.modules.resize_with(count, OnceLock::new);
    }

    /// The bytes of an object, where its file can be found.
    pub(crate) fn bytes(&self, machine: &Machine, id: DsoId) -> Option<&[u8]> {
        let file = self.files.get(id.0 as usize)?;
        file.get_or_init(|| self.open(machine.dso(id))).as_deref()
    }

    /// The code of a kernel module, from its file.
    fn module(&self, machine: &Machine, map: &Map, kernel: &KernelCode) -> Option<&ModuleCode> {
        let dso = machine.dso(map.dso);
        let find = || ModuleCode::find(dso, map.start, &self.locator, &|name| kernel.symbol(name));
        let slot = self
            .modules
            .get(map.dso.0 as usize)
            .filter(|_| dso.kind == DsoKind::Module)?;
        // It may have been loaded again elsewhere.
        slot.get_or_init(find)
            .as_ref()
            .filter(|module| module.start == map.start)
    }

    fn open(&self, dso: &Dso) -> Option<Contents> {
        let kind = match dso.kind {
            DsoKind::File => ObjectKind::User,
            DsoKind::Vdso => ObjectKind::Vdso,
            DsoKind::Kernel
            | DsoKind::Module
            | DsoKind::GuestKernel(_)
            | DsoKind::GuestModule(_)
            | DsoKind::Anonymous
            | DsoKind::KernelSymbol
            | DsoKind::Jit => return None,
        };
        let wanted = ObjectQuery {
            path: dso.name.as_bytes(),
            build_id: dso.build_id,
            kind,
            process: dso.process,
        };
        self.locator.image(&wanted).ok().map(|found| found.contents)
    }
}

/// The mode that an address belongs to.
#[inline]
pub(crate) fn mode_of(ip: u64) -> CpuMode {
    if ip >= KERNEL_START {
        CpuMode::Kernel
    } else {
        CpuMode::User
    }
}

/// The meaning of addresses while a thread runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadCode<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) images: &'m Images,
    /// `None` when the task that runs is not known: then there is no code of user space.
    pub(crate) thread: Option<ThreadId>,
}

impl<'m> ThreadCode<'m> {
    /// The width of the code at an address, as its file says.
    pub(crate) fn width(self, at: CodeAddress) -> CodeWidth {
        if mode_of(at.ip) == CpuMode::Kernel {
            return CodeWidth::Bits64;
        }
        let place = self
            .thread
            .and_then(|thread| self.machine.locate(thread, CpuMode::User, at.ip));
        let file = place.and_then(|place| self.images.bytes(self.machine, place.dso));
        instruction::width_of_file(file.unwrap_or_default())
    }

    /// The object at an address, if none of its code can be had.
    pub(crate) fn object_without_code(self, at: CodeAddress) -> Option<DsoId> {
        let (machine, images) = (self.machine, self.images);
        match (at.guest, mode_of(at.ip)) {
            (false, CpuMode::Kernel) => {
                let map = machine.map(machine.kernel_map(at.ip)?);
                let kernel = images.kernel(machine);
                let is_known = match machine.dso(map.dso).kind {
                    DsoKind::Module => images.module(machine, map, kernel).is_some(),
                    _ => kernel.is_known(),
                };
                (!is_known).then_some(map.dso)
            }
            (true, CpuMode::Kernel) => None,
            _ => {
                let place = machine.locate(self.thread?, CpuMode::User, at.ip)?;
                images
                    .bytes(machine, place.dso)
                    .is_none()
                    .then_some(place.dso)
            }
        }
    }

    /// The code around an address of the kernel or of one of its modules.
    fn kernel_code(self, ip: u64) -> Option<Code<'m>> {
        let kernel = self.images.kernel(self.machine);
        kernel.at(ip).or_else(|| {
            let map = self.machine.map(self.machine.kernel_map(ip)?);
            let module = self.images.module(self.machine, map, kernel)?;
            kernel.in_module(ip, map.dso, module)
        })
    }

    /// The code around an address.
    fn code_of(self, at: CodeAddress) -> Option<Code<'m>> {
        let of_kernel = mode_of(at.ip) == CpuMode::Kernel;
        match (at.guest, of_kernel) {
            (false, true) => return self.kernel_code(at.ip),
            (true, true) => {
                let process = self
                    .thread
                    .and_then(|thread| self.machine.thread_info(thread).pid);
                return self.images.guest_kernel(self.machine, process)?.at(at.ip);
            }
            (true, false) if !self.images.places.guest_code => return None,
            (_, false) => {}
        }
        let (stretch, map) = self.machine.stretch(self.thread?, CpuMode::User, at.ip)?;
        let map = self.machine.map(map);
        let file = self.images.bytes(self.machine, map.dso)?;
        let offset = map.dso_address(stretch.start);
        let length = usize::try_from(stretch.end - stretch.start).unwrap_or(usize::MAX);
        let bytes = file.get(usize::try_from(offset).ok()?..)?;
        let bytes = &bytes[..length.min(bytes.len())];
        Some(Code {
            image: ImageId(u64::from(map.dso.0)),
            offset,
            start: stretch.start,
            bytes,
        })
    }
}

impl CodeSource for ThreadCode<'_> {
    fn generation(&self) -> u64 {
        let of_space = self
            .thread
            .map_or(u64::MAX, |thread| self.machine.generation(thread));
        let version = self.images.kernel.get().map_or(0, KernelCode::version);
        of_space ^ u64::from(version).rotate_right(16)
    }

    fn code(&self, at: CodeAddress) -> Option<Code<'_>> {
        self.code_of(at)
    }
}
