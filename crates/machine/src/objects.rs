//! The facts about a recording's objects at a moment, to be asked while the machine goes on.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use crate::dso::SharedDsos;
use crate::guests::References;
use crate::map::MapTable;
use crate::{Dso, DsoId, GuestId, KernelReference};

/// All dsos, with what it takes to find their symbols: where the kernel and its modules are. A copy costs next to nothing
/// and stays as it is.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    pub(crate) dsos: SharedDsos,
    kernel: MapTable,
    /// The range of each dso in the kernel's address space, from the first question on.
    kernel_places: Arc<OnceLock<FxHashMap<DsoId, Range<u64>>>>,
    /// The kernel's image.
    pub(crate) kernel_dso: Option<DsoId>,
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
        self.kernel_dso
    }

    /// The ranges of the kernel's address space with their dsos, by address.
    pub fn kernel_stretches(&self) -> impl Iterator<Item = (Range<u64>, &Dso)> + '_ {
        self.kernel
            .stretches()
            .map(|(range, shown)| (range, self.dso(shown.dso)))
    }

    /// The first stretch of the kernel's address space that shows a dso.
    pub fn kernel_place(&self, dso: &Dso) -> Option<Range<u64>> {
        let places = self.kernel_places.get_or_init(|| {
            let mut places = FxHashMap::default();
            self.kernel.stretches().for_each(|(range, shown)| {
                places.entry(shown.dso).or_insert(range);
            });
            places
        });
        places.get(&dso.id).cloned()
    }

    /// The kernel's address space.
    #[inline]
    pub(crate) fn kernel_table(&self) -> &MapTable {
        &self.kernel
    }

    /// The kernel's address space, to be changed.
    pub(crate) fn kernel_table_mut(&mut self) -> &mut MapTable {
        // Copies go on with what they know of theirs.
        match Arc::get_mut(&mut self.kernel_places) {
            Some(places) => drop(places.take()),
            None => self.kernel_places = Arc::default(),
        }
        &mut self.kernel
    }

    /// The reference symbol of the recorded kernel.
    pub fn kernel_reference(&self) -> Option<&KernelReference> {
        self.kernel_reference.as_deref()
    }

    /// The reference symbol of a guest's kernel.
    pub fn guest_reference(&self, guest: GuestId) -> Option<&KernelReference> {
        self.guests.get(&guest)
    }
}
