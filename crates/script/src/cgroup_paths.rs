//! Paths of cgroups, as records name them.

use oxperf_abi::RecordType;
use oxperf_present::text::sanitize;
use oxperf_session::SidebandEvent;
use oxperf_wire::kernel::Cgroup;
use oxperf_wire::{Cursor, Endian};
use rustc_hash::FxHashMap;

/// Paths by the number of their cgroup.
#[derive(Debug, Default)]
pub(crate) struct CgroupPaths(FxHashMap<u64, String>);

impl CgroupPaths {
    /// Takes the path that a record names, if it is of a cgroup.
    pub(crate) fn learn(&mut self, event: &SidebandEvent<'_>, endian: Endian) {
        if event.record.header.kind != RecordType::CGROUP {
            return;
        }
        if let Ok(record) = Cgroup::decode(&mut Cursor::new(event.record.body, endian)) {
            let path = sanitize(&String::from_utf8_lossy(record.path)).into_owned();
            self.0.insert(record.id, path);
        }
    }

    /// The path of a cgroup, if a record named it.
    pub(crate) fn path(&self, id: u64) -> Option<&str> {
        self.0.get(&id).map(String::as_str)
    }
}
