//! The names of addresses by the objects of a moment.

use oxperf_machine::Objects;
use oxperf_resolve::{DsoAddress, Name, Names};

/// Names, and the objects as they are known at a moment.
#[derive(Clone, Copy)]
pub(crate) struct NameLookup<'n, 's> {
    /// The names.
    pub(crate) names: &'n Names<'s>,
    /// The objects.
    pub(crate) objects: &'n Objects,
}

impl<'n> NameLookup<'n, '_> {
    /// The symbol around an address.
    pub(crate) fn name(&self, address: &DsoAddress) -> Option<Name<'n>> {
        self.names.name(self.objects, address)
    }

    /// The object of an address, as it is shown; not yet sanitized.
    pub(crate) fn object(&self, address: &DsoAddress) -> &'n str {
        &self.objects.dso(address.dso).shown
    }
}
