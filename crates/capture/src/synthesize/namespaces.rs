//! NAMESPACES of a thread, from the links of `/proc/PID/ns`.

use std::os::unix::fs::MetadataExt;

use oxperf_abi::{Misc, Pid, RecordType, Tid};
use oxperf_wire::kernel::{Namespace, Namespaces};

use super::{ProcDir, RecordSink};

/// The namespaces in the kernel's order.
const NAMES: [&str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];

/// Appends the record of a thread; one of a kind that this kernel lacks, or that may not be seen, is zero.
pub(super) fn write(proc: &ProcDir, pid: Pid, tid: Tid, sink: &mut RecordSink) {
    let links = NAMES.map(|name| {
        let file = std::fs::metadata(proc.file(&format!("{tid}/ns/{name}")));
        file.map_or(
            Namespace {
                device: 0,
                inode: 0,
            },
            |file| Namespace {
                device: file.dev(),
                inode: file.ino(),
            },
        )
    });
    sink.kernel_record(RecordType::NAMESPACES, Misc(0), |body| {
        Namespaces::encode_links(pid, tid, &links, body);
    });
}
