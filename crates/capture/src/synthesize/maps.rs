//! A line of `/proc/PID/maps` and the mapping it stands for.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use oxperf_abi::{BuildId, Misc, Pid, RecordType, Tid};
use oxperf_wire::kernel::{FileIdentity, Mmap2};

use super::RecordSink;

const PROT_READ: u32 = 1;
const PROT_WRITE: u32 = 2;
const PROT_EXEC: u32 = 4;
const MAP_SHARED: u32 = 1;
const MAP_PRIVATE: u32 = 2;
const MAP_HUGETLB: u32 = 0x40000;
/// The kernel's name of a mapping of huge pages without a file.
const HUGE_PAGES: &[u8] = b"/anon_hugepage";
/// The file name of memory that shows no file.
const ANONYMOUS: &[u8] = b"//anon";

/// One mapping of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MapLine<'a> {
    start: u64,
    end: u64,
    prot: u32,
    flags: u32,
    offset: u64,
    /// Device, as major and minor number.
    pub(super) device: (u32, u32),
    /// Inode; 0 without a file.
    pub(super) inode: u64,
    name: &'a [u8],
}

impl<'a> MapLine<'a> {
    /// Reads a line; `None` for one that is no mapping.
    pub(super) fn parse(line: &'a [u8]) -> Option<MapLine<'a>> {
        let mut fields = Fields(line);
        let (start, end) = split_hex(fields.next()?, b'-')?;
        let modes = fields.next()?;
        let offset = hex(fields.next()?)?;
        let (major, minor) = split_hex(fields.next()?, b':')?;
        let inode = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let (name, huge) = file_name(fields.rest());
        Some(MapLine {
            start,
            end,
            prot: protection(modes),
            flags: sharing(modes) | huge,
            offset,
            device: (u32::try_from(major).ok()?, u32::try_from(minor).ok()?),
            inode,
            name,
        })
    }

    /// Returns whether code can run in it.
    pub(super) fn is_executable(&self) -> bool {
        self.prot & PROT_EXEC != 0
    }

    /// Returns whether it holds data that can be read, and no code.
    pub(super) fn is_data(&self) -> bool {
        !self.is_executable() && self.prot & PROT_READ != 0
    }

    /// The addresses.
    pub(super) fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    /// The mapped file's path, when a file is mapped.
    pub(super) fn file(&self) -> Option<&'a Path> {
        let file = self.inode != 0 && self.name.starts_with(b"/") && self.name != ANONYMOUS;
        file.then(|| Path::new(OsStr::from_bytes(self.name)))
    }

    /// Appends the mapping's record.
    pub(super) fn write(&self, process: Pid, build_id: Option<BuildId>, sink: &mut RecordSink) {
        let identity = match build_id {
            Some(id) => FileIdentity::BuildId(Some(id)),
            None => FileIdentity::Inode {
                major: self.device.0,
                minor: self.device.1,
                inode: self.inode,
                generation: 0,
            },
        };
        let mmap = Mmap2 {
            pid: process,
            tid: Tid(process.0),
            start: self.start,
            len: self.end.saturating_sub(self.start),
            pgoff: self.offset,
            identity,
            prot: self.prot,
            flags: self.flags,
            filename: self.name,
        };
        let kind = if self.is_executable() {
            0
        } else {
            Misc::MMAP_DATA
        };
        let misc = Misc(USER_MODE | kind | identity.misc().0);
        sink.kernel_record(RecordType::MMAP2, misc, |body| mmap.encode(body));
    }
}

/// The CPU mode of a user's mapping, in a record's `misc`.
const USER_MODE: u16 = 2;

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.0.trim_ascii_start();
        let end = line
            .iter()
            .position(|byte| *byte == b' ')
            .unwrap_or(line.len());
        let (field, rest) = line.split_at(end);
        self.0 = rest;
        (!field.is_empty()).then_some(field)
    }

    fn rest(self) -> &'a [u8] {
        self.0.trim_ascii_start()
    }
}

fn hex(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

fn split_hex(text: &[u8], separator: u8) -> Option<(u64, u64)> {
    let at = text.iter().position(|byte| *byte == separator)?;
    Some((hex(&text[..at])?, hex(&text[at + 1..])?))
}

fn protection(modes: &[u8]) -> u32 {
    [(b'r', PROT_READ), (b'w', PROT_WRITE), (b'x', PROT_EXEC)]
        .iter()
        .filter(|(letter, _)| modes.contains(letter))
        .fold(0, |bits, (_, bit)| bits | bit)
}

fn sharing(modes: &[u8]) -> u32 {
    if modes.contains(&b's') {
        MAP_SHARED
    } else {
        MAP_PRIVATE
    }
}

/// The name that goes into the record, and the flag that huge pages add.
fn file_name(name: &[u8]) -> (&[u8], u32) {
    if name.is_empty() {
        (ANONYMOUS, 0)
    } else if name.starts_with(HUGE_PAGES) {
        (ANONYMOUS, MAP_HUGETLB)
    } else {
        (name, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_spaces() {
        let line = b"7f00-8f00 r-xp 00002000 fe:0a 77                     /tmp/a b (deleted)";
        let map = MapLine::parse(line).unwrap();
        assert_eq!((map.start, map.end, map.offset), (0x7f00, 0x8f00, 0x2000));
        assert_eq!(
            (map.prot, map.flags, map.device, map.inode),
            (5, 2, (0xfe, 10), 77)
        );
        assert_eq!(map.file(), Some(Path::new("/tmp/a b (deleted)")));
    }

    #[test]
    fn memory_without_a_file() {
        let anonymous = MapLine::parse(b"10-20 --xs 00000000 00:00 0 ").unwrap();
        assert_eq!(
            (anonymous.name, anonymous.flags, anonymous.file()),
            (ANONYMOUS, MAP_SHARED, None)
        );
        let huge = MapLine::parse(b"10-20 rwxp 00000000 00:0f 9 /anon_hugepage (deleted)").unwrap();
        assert_eq!(
            (huge.name, huge.flags),
            (ANONYMOUS, MAP_PRIVATE | MAP_HUGETLB)
        );
        assert_eq!(
            MapLine::parse(b"10-20 r-xp 0 00:00 0 [vdso]")
                .unwrap()
                .file(),
            None
        );
    }

    #[test]
    fn what_is_no_mapping() {
        for line in [
            &b""[..],
            b"10-20",
            b"10 r-xp 0 0:0 0",
            b"zz-20 r-xp 0 0:0 0",
            b"10-20 r-xp 0 0:0 -1",
        ] {
            assert_eq!(
                MapLine::parse(line),
                None,
                "{}",
                String::from_utf8_lossy(line)
            );
        }
    }
}
