//! The code of kernel modules, from their files: where there is no copy of the kernel's memory.

use oxperf_machine::Dso;
use oxperf_objects::{Elf, Locator, ObjectKind, ObjectQuery, module_code};

/// A module as it lies in memory.
#[derive(Debug)]
pub(super) struct ModuleCode {
    pub(super) start: u64,
    pub(super) bytes: Vec<u8>,
}

impl ModuleCode {
    /// Finds the file of the module that lies from `start` on. `symbol` gives the addresses in the kernel that it calls.
    pub(super) fn find(
        dso: &Dso,
        start: u64,
        locator: &Locator,
        symbol: &dyn Fn(&[u8]) -> Option<u64>,
    ) -> Option<ModuleCode> {
        let (path, kind) = (dso.name.as_bytes(), ObjectKind::KernelModule);
        let wanted = ObjectQuery {
            path,
            build_id: dso.build_id,
            kind,
            process: None,
        };
        let file = locator.image(&wanted).ok()?;
        let bytes = module_code(&Elf::parse(&file.contents).ok()?, start, symbol)?;
        Some(ModuleCode { start, bytes })
    }
}
