//! KSYMBOL: kernel symbols outside the kernel image.

use oxperf_wire::kernel::Ksymbol;

use crate::dso::DsoKey;
use crate::{DsoKind, Machine, Map};

const UNREGISTERED: u16 = 1;

impl Machine {
    /// Applies a KSYMBOL record: the symbol becomes a dso of its own in the kernel's space.
    pub fn apply_ksymbol(&mut self, ksymbol: &Ksymbol<'_>) {
        if ksymbol.flags & UNREGISTERED != 0 {
            return;
        }
        let name = String::from_utf8_lossy(ksymbol.name).into_owned();
        let dso = self.find_or_add_dso(DsoKey {
            name,
            kind: DsoKind::KernelSymbol,
            build_id: None,
            inode: None,
        });
        let (start, end) = (
            ksymbol.addr,
            ksymbol.addr.saturating_add(u64::from(ksymbol.len)),
        );
        let map = self.add_map(Map {
            start,
            end,
            dso,
            bias: start.wrapping_neg(),
            prot: None,
            flags: None,
            file_offset: 0,
            inode: None,
        });
        self.insert_kernel(start, end, map);
    }
}
