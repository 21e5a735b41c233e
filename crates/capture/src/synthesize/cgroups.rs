//! CGROUP of each control group: the id that samples carry, and its path.

use std::os::unix::fs::MetadataExt;

use oxperf_abi::{Misc, RecordType};
use oxperf_wire::kernel::Cgroup;

use super::{ProcDir, RecordSink};
use crate::cgroup::CgroupTree;

/// Appends a record for each control group, the root first. Groups that go while they are read are left out.
pub(super) fn write(proc: &ProcDir, sink: &mut RecordSink) {
    let mounts = std::fs::read_to_string(proc.file("mounts")).unwrap_or_default();
    let Some(tree) = CgroupTree::of_mounts(&mounts) else {
        return;
    };
    for name in tree.names() {
        let Ok(folder) = std::fs::metadata(tree.path(&name)) else {
            continue;
        };
        let path = format!("/{name}");
        let cgroup = Cgroup {
            id: folder.ino(),
            path: path.as_bytes(),
        };
        sink.kernel_record(RecordType::CGROUP, Misc(0), |body| cgroup.encode(body));
    }
}
