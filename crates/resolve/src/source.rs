//! Which of a store's tables answers for a dso.

use std::path::Path;
use std::sync::Arc;

use oxperf_machine::{Dso, DsoKind, GuestId, JitSymbol, KernelReference, Machine};
use oxperf_objects::{Elf, ObjectKind, Wanted};
use oxperf_symbols::{DebugInfo, ModulePlace, Reference, SourceLine, SymbolStore, SymbolTable, module_base};

use crate::SymbolSource;

/// A source that several recordings share.
impl<S: SymbolSource> SymbolSource for &S {
    fn table(&self, dso: &Dso, machine: &Machine) -> Option<Arc<SymbolTable>> {
        S::table(self, dso, machine)
    }

    fn source(&self, dso: &Dso, machine: &Machine) -> Option<Arc<DebugInfo>> {
        S::source(self, dso, machine)
    }
}

impl SymbolSource for SymbolStore {
    fn table(&self, dso: &Dso, machine: &Machine) -> Option<Arc<SymbolTable>> {
        match dso.kind {
            DsoKind::File => self.object(&wanted(dso, ObjectKind::User)).ok(),
            DsoKind::Vdso => self.object(&wanted(dso, ObjectKind::Vdso)).ok(),
            DsoKind::Kernel => kernel_table(self, machine),
            DsoKind::Module => module_table(self, dso, machine),
            DsoKind::GuestKernel(guest) | DsoKind::GuestModule(guest) => guest_table(self, machine, guest),
            DsoKind::Anonymous => self.perf_map(Path::new(&dso.name)).ok(),
            DsoKind::KernelSymbol | DsoKind::Jit => None,
        }
    }

    fn source(&self, dso: &Dso, machine: &Machine) -> Option<Arc<DebugInfo>> {
        match dso.kind {
            DsoKind::File => SymbolStore::source(self, &wanted(dso, ObjectKind::User)).ok(),
            DsoKind::Vdso => SymbolStore::source(self, &wanted(dso, ObjectKind::Vdso)).ok(),
            DsoKind::Jit => dso.jit.as_ref().and_then(jit_lines).map(Arc::new),
            DsoKind::Kernel => self.kernel_source(reference(machine).as_ref()).ok(),
            DsoKind::Module => {
                let kernel = kernel_table(self, machine);
                let place = module_place(dso, machine, kernel.as_deref())?;
                self.module_source(&wanted(dso, ObjectKind::KernelModule), place).ok()
            }
            DsoKind::GuestKernel(_)
            | DsoKind::GuestModule(_)
            | DsoKind::Anonymous
            | DsoKind::KernelSymbol => None,
        }
    }
}

/// Where a kernel module was mapped; `kernel` is the kernel's list.
fn module_place<'k>(
    dso: &Dso,
    machine: &Machine,
    kernel: Option<&'k SymbolTable>,
) -> Option<ModulePlace<'k>> {
    let mut mapped = machine.kernel_mappings();
    let (start, end, _) = mapped.find(|(_, _, map)| std::ptr::eq(machine.dso(map.dso), dso))?;
    Some(ModulePlace { start, end, kernel })
}

/// Where the first code of a kernel module's linked file was.
pub fn base_of_module(store: &SymbolStore, dso: &Dso, machine: &Machine, image: &Elf<'_>) -> Option<u64> {
    let kernel = kernel_table(store, machine);
    Some(module_base(image, module_place(dso, machine, kernel.as_deref())?))
}

/// The kernel's list names what its modules hold, where it is the list of that time.
fn module_table(store: &SymbolStore, dso: &Dso, machine: &Machine) -> Option<Arc<SymbolTable>> {
    let kernel = kernel_table(store, machine);
    let place = module_place(dso, machine, kernel.as_deref())?;
    match &kernel {
        Some(list) if list.names_any(place.start..place.end) => kernel,
        _ => store.module(&wanted(dso, ObjectKind::KernelModule), place).ok().or_else(|| kernel.clone()),
    }
}

/// Where one symbol of the kernel was when it was recorded.
fn reference(machine: &Machine) -> Option<Reference<'_>> {
    machine.kernel_reference().map(as_symbols_know_it)
}

fn as_symbols_know_it(found: &KernelReference) -> Reference<'_> {
    Reference { symbol: found.symbol.as_bytes(), address: found.address }
}

/// The lines of a function made at run time, where its maker told any.
fn jit_lines(function: &JitSymbol) -> Option<DebugInfo> {
    let lines = function.lines.iter().map(|line| {
        let text = SourceLine { file: Arc::clone(&line.file), line: line.line, column: 0 };
        (function.start.wrapping_add(line.offset), text)
    });
    (!function.lines.is_empty()).then(|| DebugInfo::of_lines(lines))
}

fn wanted(dso: &Dso, kind: ObjectKind) -> Wanted<'_> {
    Wanted { path: dso.name.as_bytes(), build_id: dso.build_id, kind, process: dso.process }
}

fn kernel_table(store: &SymbolStore, machine: &Machine) -> Option<Arc<SymbolTable>> {
    let build_id = machine.dsos().iter().find(|dso| dso.kind == DsoKind::Kernel).and_then(|dso| dso.build_id);
    store.kernel(build_id, reference(machine).as_ref()).ok()
}

/// The same of a guest's kernel.
fn guest_table(
    store: &SymbolStore,
    machine: &Machine,
    GuestId(process): GuestId,
) -> Option<Arc<SymbolTable>> {
    let reference = machine.guest_reference(GuestId(process)).map(as_symbols_know_it);
    store.guest_kernel(process, reference.as_ref()).ok()
}
