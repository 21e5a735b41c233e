//! What is known of a recording's objects at a moment, to be asked while the machine goes on.

use std::ops::Range;
use std::sync::Arc;

use crate::dso::SharedDsos;
use crate::guests::References;
use crate::map::MapTable;
use crate::{Dso, DsoId, DsoKind, GuestId, KernelReference};

/// All dsos, with what it takes to find their symbols: where the kernel and its modules are. A copy costs next to nothing
/// and stays as it is.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    pub(crate) dsos: SharedDsos,
    pub(crate) kernel: MapTable,
    pub(crate) kernel_reference: Option<Arc<KernelReference>>,
    pub(crate) guests: Arc<References>,
}

impl Objects {
    /// A dso.
    #[inline]
    pub fn dso(&self, id: DsoId) -> &Dso {
        self.dsos.get(id)
    }

    /// All dsos, by number.
    pub fn dsos(&self) -> impl ExactSizeIterator<Item = &Dso> + '_ {
        self.dsos.iter()
    }

    /// The number of the kernel's image.
    pub fn kernel(&self) -> Option<DsoId> {
        let number = self.dsos().position(|dso| dso.kind == DsoKind::Kernel)?;
        Some(DsoId(number as u32))
    }

    /// What the kernel's address space shows, by address.
    pub fn kernel_stretches(&self) -> impl Iterator<Item = (Range<u64>, &Dso)> + '_ {
        self.kernel.stretches().map(|(range, shown)| (range, self.dso(shown.dso)))
    }

    /// Where the recording says a kernel symbol was.
    pub fn kernel_reference(&self) -> Option<&KernelReference> {
        self.kernel_reference.as_deref()
    }

    /// Where the recording says that a symbol of a guest's kernel was.
    pub fn guest_reference(&self, guest: GuestId) -> Option<&KernelReference> {
        self.guests.get(&guest)
    }
}
