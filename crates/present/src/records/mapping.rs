//! MMAP and MMAP2: address space gains a mapping.

use oxperf_abi::Misc;
use oxperf_wire::kernel::{FileIdentity, Mmap, Mmap2};

use super::name;
use crate::text::put;

const PROT_READ: u32 = 1;
const PROT_WRITE: u32 = 2;
const PROT_EXEC: u32 = 4;
const MAP_SHARED: u32 = 1;

/// Appends the line of an MMAP record; code or data is in its header.
pub(super) fn mmap(out: &mut Vec<u8>, misc: Misc, record: &Mmap<'_>) {
    let (pid, tid) = (record.pid.0, record.tid.0);
    let (start, len, offset) = (Hex(record.start), Hex(record.len), Hex(record.pgoff));
    let kind = if misc.has(Misc::MMAP_DATA) { 'r' } else { 'x' };
    let name = name(record.filename);
    put!(
        out,
        "PERF_RECORD_MMAP {pid}/{tid}: [{start}({len}) @ {offset}]: {kind} {name}\n"
    );
}

/// Appends the line of an MMAP2 record.
pub(super) fn mmap2(out: &mut Vec<u8>, record: &Mmap2<'_>) {
    let (pid, tid) = (record.pid.0, record.tid.0);
    let (start, len, offset) = (Hex(record.start), Hex(record.len), Hex(record.pgoff));
    put!(
        out,
        "PERF_RECORD_MMAP2 {pid}/{tid}: [{start}({len}) @ {offset} "
    );
    match &record.identity {
        FileIdentity::Inode {
            major,
            minor,
            inode,
            generation,
        } => {
            put!(out, "{major:02x}:{minor:02x} {inode} {generation}");
        }
        FileIdentity::BuildId(Some(id)) => put!(out, "<{id}>"),
        FileIdentity::BuildId(None) => out.extend_from_slice(b"<>"),
    }
    let protection = protection(record.prot, record.flags);
    put!(out, "]: {protection} {}\n", name(record.filename),);
}

/// The protection of a mapping, as in `/proc/PID/maps`.
fn protection(prot: u32, flags: u32) -> String {
    let letter = |bit, letter| if prot & bit != 0 { letter } else { '-' };
    let sharing = if flags & MAP_SHARED != 0 { 's' } else { 'p' };
    [
        letter(PROT_READ, 'r'),
        letter(PROT_WRITE, 'w'),
        letter(PROT_EXEC, 'x'),
        sharing,
    ]
    .into_iter()
    .collect()
}

/// A hexadecimal number; nothing says that 0 is one.
struct Hex(u64);

impl std::fmt::Display for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 {
            f.write_str("0")
        } else {
            write!(f, "0x{:x}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{BuildId, Pid, Tid};

    use super::*;
    use crate::records::text;

    #[test]
    fn code_and_data() {
        let record = Mmap {
            pid: Pid(-1),
            tid: Tid(0),
            start: 0x1000,
            len: 0x20,
            pgoff: 0,
            filename: b"[k]",
        };
        let line = |misc| text(|out| mmap(out, Misc(misc), &record));
        assert_eq!(
            line(1),
            "PERF_RECORD_MMAP -1/0: [0x1000(0x20) @ 0]: x [k]\n"
        );
        assert_eq!(
            line(Misc::MMAP_DATA),
            "PERF_RECORD_MMAP -1/0: [0x1000(0x20) @ 0]: r [k]\n"
        );
    }

    #[test]
    fn both_identities() {
        let identity = FileIdentity::Inode {
            major: 8,
            minor: 1,
            inode: 77,
            generation: 3,
        };
        let (pid, tid, filename) = (Pid(1), Tid(2), &b"/shm"[..]);
        let record = Mmap2 {
            pid,
            tid,
            start: 0x60,
            len: 0x10,
            pgoff: 0x1000,
            identity,
            prot: 3,
            flags: 1,
            filename,
        };
        assert_eq!(
            text(|out| mmap2(out, &record)),
            "PERF_RECORD_MMAP2 1/2: [0x60(0x10) @ 0x1000 08:01 77 3]: rw-s /shm\n"
        );
        let identity = FileIdentity::BuildId(BuildId::new(&[10, 11]));
        let record = Mmap2 {
            identity,
            prot: 5,
            flags: 2,
            pgoff: 0,
            ..record
        };
        assert_eq!(
            text(|out| mmap2(out, &record)),
            "PERF_RECORD_MMAP2 1/2: [0x60(0x10) @ 0 <0a0b>]: r-xp /shm\n"
        );
    }
}
