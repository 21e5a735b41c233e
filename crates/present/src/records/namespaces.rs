//! NAMESPACES: where a thread lives.

use oxperf_wire::kernel::Namespaces;

use crate::text::put;

/// The kinds in the kernel's order.
const KINDS: [&str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];

/// Appends the lines of a NAMESPACES record: four namespaces a line.
pub(super) fn namespaces(out: &mut Vec<u8>, record: &Namespaces<'_>) {
    let count = record.links().count();
    put!(
        out,
        "PERF_RECORD_NAMESPACES {}/{} - nr_namespaces: {count}\n\t\t[",
        record.pid.0,
        record.tid.0
    );
    for (index, link) in record.links().enumerate() {
        if index > 0 && index % 4 == 0 {
            out.extend_from_slice(b"\n\t\t ");
        }
        let kind = KINDS.get(index).unwrap_or(&"unknown");
        let end = if index + 1 == count { "]\n" } else { ", " };
        // As C does it, zero goes without 0x.
        let prefix = if link.inode == 0 { "" } else { "0x" };
        put!(
            out,
            "{index}/{kind}: {}/{prefix}{:x}{end}",
            link.device,
            link.inode
        );
    }
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{Pid, Tid};
    use oxperf_wire::kernel::Namespace;
    use oxperf_wire::{Cursor, Encoder, Endian};

    use super::*;
    use crate::records::text;

    #[test]
    fn four_a_line() {
        let links: Vec<Namespace> = [0xf0, 0xf1, 0, 0xf3, 0xf4]
            .map(|inode| Namespace { device: 3, inode })
            .to_vec();
        let mut body = Encoder::new(Endian::Little);
        Namespaces::encode_links(Pid(2), Tid(3), &links, &mut body);
        let record = Namespaces::decode(&mut Cursor::new(body.as_bytes(), Endian::Little)).unwrap();
        assert_eq!(
            text(|out| namespaces(out, &record)),
            "PERF_RECORD_NAMESPACES 2/3 - nr_namespaces: 5\n\
             \t\t[0/net: 3/0xf0, 1/uts: 3/0xf1, 2/ipc: 3/0, 3/pid: 3/0xf3, \n\
             \t\t 4/user: 3/0xf4]\n"
        );
    }
}
