//! Kernel functions for tracepoints that print addresses.

use oxperf_machine::Objects;
use oxperf_tracepoint::{KernelFunction, KernelSymbols};

use crate::{DsoAddress, Names};

/// Looks kernel addresses up among the names of a recording.
pub struct KernelNames<'a, 's> {
    names: &'a Names<'s>,
    objects: &'a Objects,
}

impl<'a, 's> KernelNames<'a, 's> {
    /// Asks `names` about the kernel among `objects`.
    pub fn new(names: &'a Names<'s>, objects: &'a Objects) -> KernelNames<'a, 's> {
        KernelNames { names, objects }
    }
}

impl KernelSymbols for KernelNames<'_, '_> {
    fn symbol(&self, address: u64) -> Option<KernelFunction<'_>> {
        let place = DsoAddress {
            dso: self.objects.kernel()?,
            address,
        };
        let name = self.names.name(self.objects, &place)?;
        Some(KernelFunction {
            name: name.text,
            module: None,
            offset: address.wrapping_sub(name.start),
        })
    }
}
