//! Kernel functions for tracepoints that print addresses.

use oxperf_machine::{DsoId, DsoKind, Machine};
use oxperf_tracepoint::{KernelSymbol, KernelSymbols};

use crate::{Names, Place};

/// Looks kernel addresses up among the names of a recording.
pub struct KernelNames<'a, 's> {
    names: &'a Names<'s>,
    machine: &'a Machine,
}

impl<'a, 's> KernelNames<'a, 's> {
    /// Asks `names` about the kernel of `machine`.
    pub fn new(names: &'a Names<'s>, machine: &'a Machine) -> KernelNames<'a, 's> {
        KernelNames { names, machine }
    }
}

impl KernelSymbols for KernelNames<'_, '_> {
    fn symbol(&self, address: u64) -> Option<KernelSymbol<'_>> {
        let dso = self.machine.dsos().iter().position(|dso| dso.kind == DsoKind::Kernel)?;
        let place = Place { dso: DsoId(dso as u32), address };
        let name = self.names.name(self.machine, &place)?;
        Some(KernelSymbol { name: name.text, module: None, offset: address.wrapping_sub(name.start) })
    }
}
