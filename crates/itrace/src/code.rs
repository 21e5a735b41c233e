//! The code that ran: what the machine has mapped at a moment, from the files that it maps.

use std::sync::OnceLock;

use intel_pt::{Code, CodeAddress, CodeSource, ImageId};
use oxperf_abi::CpuMode;
use oxperf_machine::{Dso, DsoId, DsoKind, Machine, ThreadId};
use oxperf_objects::{Contents, Locator, ObjectKind, Places, Wanted};

/// The files of a machine's objects, each looked for once.
#[derive(Debug, Default)]
pub struct Images {
    locator: Locator,
    files: Vec<OnceLock<Option<Contents>>>,
}

impl Images {
    /// Looks for files in these places.
    pub fn new(places: Places) -> Images {
        Images { locator: Locator::new(places), files: Vec::new() }
    }

    /// Makes room for the objects that the machine knows now.
    pub(crate) fn grow(&mut self, machine: &Machine) {
        self.files.resize_with(machine.dsos().len().max(self.files.len()), OnceLock::new);
    }

    /// The bytes of an object, where its file can be found.
    pub(crate) fn bytes(&self, machine: &Machine, id: DsoId) -> Option<&[u8]> {
        let file = self.files.get(id.0 as usize)?;
        file.get_or_init(|| self.open(machine.dso(id))).as_deref()
    }

    fn open(&self, dso: &Dso) -> Option<Contents> {
        let kind = match dso.kind {
            DsoKind::File => ObjectKind::User,
            DsoKind::Vdso => ObjectKind::Vdso,
            DsoKind::Kernel | DsoKind::Module | DsoKind::Anonymous | DsoKind::KernelSymbol => return None,
        };
        let wanted = Wanted { path: dso.name.as_bytes(), build_id: dso.build_id, kind };
        self.locator.image(&wanted).ok().map(|found| found.contents)
    }
}

/// Addresses from here on are the kernel's.
pub(crate) const KERNEL_START: u64 = 1 << 63;

/// Whose an address is.
#[inline]
pub(crate) fn mode_of(ip: u64) -> CpuMode {
    if ip >= KERNEL_START { CpuMode::Kernel } else { CpuMode::User }
}

/// What addresses mean while a thread runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadCode<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) images: &'m Images,
    /// `None` when nobody knows who runs: then there is no code of user space.
    pub(crate) thread: Option<ThreadId>,
}

impl CodeSource for ThreadCode<'_> {
    fn generation(&self) -> u64 {
        self.thread.map_or(u64::MAX, |thread| self.machine.generation(thread))
    }

    fn code(&self, at: CodeAddress) -> Option<Code<'_>> {
        let thread = self.thread.filter(|_| !at.guest)?;
        let stretch = self.machine.stretch(thread, mode_of(at.ip), at.ip)?;
        let map = self.machine.map(stretch.map);
        let file = self.images.bytes(self.machine, map.dso)?;
        let offset = map.dso_address(stretch.start);
        let length = usize::try_from(stretch.end - stretch.start).unwrap_or(usize::MAX);
        let bytes = file.get(usize::try_from(offset).ok()?..)?;
        let bytes = &bytes[..length.min(bytes.len())];
        Some(Code { image: ImageId(u64::from(map.dso.0)), offset, start: stretch.start, bytes })
    }
}
