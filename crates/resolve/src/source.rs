//! The choice of a store's table for a dso.

use std::path::Path;
use std::sync::Arc;

use oxperf_machine::{Dso, DsoKind, GuestId, JitSymbol, KernelReference, Objects};
use oxperf_objects::{Elf, ObjectKind, ObjectQuery};
use oxperf_symbols::{
    DebugInfo, ModuleMapping, ReferenceSymbol, SourceLine, SymbolStore, SymbolTable, module_base,
};

use crate::SymbolSource;

/// A source that several recordings share.
impl<S: SymbolSource + ?Sized> SymbolSource for &S {
    fn table(&self, dso: &Dso, objects: &Objects) -> Option<Arc<SymbolTable>> {
        S::table(self, dso, objects)
    }

    fn source(&self, dso: &Dso, objects: &Objects) -> Option<Arc<DebugInfo>> {
        S::source(self, dso, objects)
    }
}

/// A source that threads share.
impl<S: SymbolSource + ?Sized> SymbolSource for Arc<S> {
    fn table(&self, dso: &Dso, objects: &Objects) -> Option<Arc<SymbolTable>> {
        S::table(self, dso, objects)
    }

    fn source(&self, dso: &Dso, objects: &Objects) -> Option<Arc<DebugInfo>> {
        S::source(self, dso, objects)
    }
}

impl SymbolSource for SymbolStore {
    fn table(&self, dso: &Dso, objects: &Objects) -> Option<Arc<SymbolTable>> {
        match dso.kind {
            DsoKind::File => self.object(&wanted(dso, ObjectKind::User)).ok(),
            DsoKind::Vdso => self.object(&wanted(dso, ObjectKind::Vdso)).ok(),
            DsoKind::Kernel => kernel_table(self, objects),
            DsoKind::Module => module_table(self, dso, objects),
            DsoKind::GuestKernel(guest) | DsoKind::GuestModule(guest) => {
                guest_table(self, objects, guest)
            }
            DsoKind::Anonymous => self.perf_map(Path::new(&dso.name)).ok(),
            DsoKind::KernelSymbol | DsoKind::Jit => None,
        }
    }

    fn source(&self, dso: &Dso, objects: &Objects) -> Option<Arc<DebugInfo>> {
        match dso.kind {
            DsoKind::File => SymbolStore::source(self, &wanted(dso, ObjectKind::User)).ok(),
            DsoKind::Vdso => SymbolStore::source(self, &wanted(dso, ObjectKind::Vdso)).ok(),
            DsoKind::Jit => dso.jit.as_ref().and_then(jit_lines).map(Arc::new),
            DsoKind::Kernel => self.kernel_source(reference(objects).as_ref()).ok(),
            DsoKind::Module => {
                let kernel = kernel_table(self, objects);
                let place = module_place(dso, objects, kernel.as_deref())?;
                self.module_source(&wanted(dso, ObjectKind::KernelModule), place)
                    .ok()
            }
            DsoKind::GuestKernel(_)
            | DsoKind::GuestModule(_)
            | DsoKind::Anonymous
            | DsoKind::KernelSymbol => None,
        }
    }
}

/// The mapping of a kernel module; `kernel` is the kernel's list.
fn module_place<'k>(
    dso: &Dso,
    objects: &Objects,
    kernel: Option<&'k SymbolTable>,
) -> Option<ModuleMapping<'k>> {
    let place = objects.kernel_place(dso)?;
    Some(ModuleMapping {
        start: place.start,
        end: place.end,
        kernel,
    })
}

/// The address of the first code of a kernel module's linked file.
pub fn base_of_module(
    store: &SymbolStore,
    dso: &Dso,
    objects: &Objects,
    image: &Elf<'_>,
) -> Option<u64> {
    let kernel = kernel_table(store, objects);
    Some(module_base(
        image,
        module_place(dso, objects, kernel.as_deref())?,
    ))
}

/// The kernel's list names what its modules hold, where it is the list of that time.
fn module_table(store: &SymbolStore, dso: &Dso, objects: &Objects) -> Option<Arc<SymbolTable>> {
    let kernel = kernel_table(store, objects);
    let place = module_place(dso, objects, kernel.as_deref())?;
    match &kernel {
        Some(list) if list.names_any(place.start..place.end) => kernel,
        _ => store
            .module(&wanted(dso, ObjectKind::KernelModule), place)
            .ok()
            .or_else(|| kernel.clone()),
    }
}

/// The reference symbol of the recorded kernel.
fn reference(objects: &Objects) -> Option<ReferenceSymbol<'_>> {
    objects.kernel_reference().map(as_symbols_know_it)
}

fn as_symbols_know_it(found: &KernelReference) -> ReferenceSymbol<'_> {
    ReferenceSymbol {
        symbol: found.symbol.as_bytes(),
        address: found.address,
    }
}

/// The lines of a function made at run time, where its maker told any.
fn jit_lines(function: &JitSymbol) -> Option<DebugInfo> {
    let lines = function.lines.iter().map(|line| {
        let text = SourceLine {
            file: Arc::clone(&line.file),
            line: line.line,
            column: 0,
        };
        (function.start.wrapping_add(line.offset), text)
    });
    (!function.lines.is_empty()).then(|| DebugInfo::of_lines(lines))
}

fn wanted(dso: &Dso, kind: ObjectKind) -> ObjectQuery<'_> {
    ObjectQuery {
        path: dso.name.as_bytes(),
        build_id: dso.build_id,
        kind,
        process: dso.process,
    }
}

fn kernel_table(store: &SymbolStore, objects: &Objects) -> Option<Arc<SymbolTable>> {
    let build_id = objects
        .kernel()
        .and_then(|kernel| objects.dso(kernel).build_id);
    store.kernel(build_id, reference(objects).as_ref()).ok()
}

/// The table of a guest's kernel.
fn guest_table(
    store: &SymbolStore,
    objects: &Objects,
    GuestId(process): GuestId,
) -> Option<Arc<SymbolTable>> {
    let reference = objects
        .guest_reference(GuestId(process))
        .map(as_symbols_know_it);
    store.guest_kernel(process, reference.as_ref()).ok()
}
