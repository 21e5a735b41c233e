//! The paths of cgroups, as records tell them.

use oxperf_abi::RecordType;
use oxperf_present::text::sanitize;
use oxperf_session::SidebandEvent;
use oxperf_wire::kernel::Cgroup;
use oxperf_wire::{Cursor, Endian, Sample};
use rustc_hash::FxHashMap;

/// Paths by number.
#[derive(Debug, Default)]
pub(super) struct Cgroups(FxHashMap<u64, String>);

impl Cgroups {
    /// Remembers what a record says.
    pub(super) fn learn(&mut self, event: &SidebandEvent<'_>, endian: Endian) {
        if event.record.header.kind != RecordType::CGROUP {
            return;
        }
        if let Ok(record) = Cgroup::decode(&mut Cursor::new(event.record.body, endian)) {
            let path = sanitize(&String::from_utf8_lossy(record.path)).into_owned();
            self.0.insert(record.id, path);
        }
    }

    /// Appends the path of a sample's cgroup.
    pub(super) fn write(&self, sample: &Sample<'_>, out: &mut Vec<u8>) {
        let Some(id) = sample.cgroup else { return };
        out.push(b' ');
        out.extend_from_slice(self.0.get(&id).map_or("unknown", String::as_str).as_bytes());
    }
}
