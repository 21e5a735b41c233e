//! Mappings at the moments of samples whose addresses are located later.

use oxperf_abi::CpuMode;
use oxperf_machine::{Machine, Mappings, ThreadId};
use rustc_hash::FxHashMap;

/// The number of what was mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MappingsId(u32);

/// Mappings of threads at several moments, each state of an address space once.
#[derive(Debug, Default)]
pub struct MappingsTable {
    list: Vec<Mappings>,
    /// By the versions of the kernel's, the user's and a guest's part.
    ids: FxHashMap<[u32; 3], MappingsId>,
    /// The last one: samples of a thread follow one another.
    last: Option<([u32; 3], MappingsId)>,
}

impl MappingsTable {
    /// Each state keeps the parts of its tables that differ from others, a kilobyte or so.
    const MOST: usize = 1 << 11;

    /// Keeps what is mapped for a thread now.
    #[inline]
    pub fn keep(&mut self, machine: &Machine, thread: ThreadId) -> MappingsId {
        let versions = [CpuMode::Kernel, CpuMode::User, CpuMode::GuestKernel]
            .map(|mode| machine.version(thread, mode));
        if let Some((of, last)) = self.last
            && of == versions
        {
            return last;
        }
        let id = *self.ids.entry(versions).or_insert_with(|| {
            self.list.push(machine.mappings(thread));
            MappingsId(self.list.len() as u32 - 1)
        });
        self.last = Some((versions, id));
        id
    }

    /// The mappings of that number.
    #[inline]
    pub fn get(&self, id: MappingsId) -> &Mappings {
        &self.list[id.0 as usize]
    }

    /// Returns whether it keeps so much that its addresses are to be located now.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.list.len() >= MappingsTable::MOST
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.list.clear();
        self.ids.clear();
        self.last = None;
    }
}
