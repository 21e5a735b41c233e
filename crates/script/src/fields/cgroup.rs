//! `cgroup`: the path of a sample's cgroup, as records name it.

use oxperf_abi::RecordType;
use oxperf_present::script::FieldSet;
use oxperf_present::text::sanitize;
use oxperf_session::SidebandEvent;
use oxperf_wire::kernel::Cgroup;
use oxperf_wire::{Cursor, Endian};
use rustc_hash::FxHashMap;

use super::TextField;
use crate::format::text::TextFormat;
use crate::output::ScriptOutput;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[FieldSet::CGROUP],
    write,
};

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
}

fn write(text: &mut TextFormat<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    let Some(id) = view.sample().cgroup else {
        return;
    };
    let path = text.cgroups.0.get(&id).map_or("unknown", String::as_str);
    out.buffer().push(b' ');
    out.buffer().extend_from_slice(path.as_bytes());
}
