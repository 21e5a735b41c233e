//! The kernel's own mapping, from `/proc/kallsyms`.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use oxperf_abi::{BuildId, Misc, Pid, RecordType, Tid};
use oxperf_wire::kernel::{FileIdentity, Mmap, Mmap2};

use super::{ProcDir, RecordSink};

/// A kernel as records tell it from others.
#[derive(Clone, Copy)]
pub(super) struct KernelSpace {
    /// The CPU mode, in a record's `misc`.
    mode: u16,
    pid: Pid,
    /// Records can hold build ids.
    pub(super) with_build_ids: bool,
}

impl KernelSpace {
    /// The running kernel.
    pub(super) fn of_host(with_build_ids: bool) -> KernelSpace {
        KernelSpace {
            mode: 1,
            pid: Pid(-1),
            with_build_ids,
        }
    }

    /// The kernel of the guest that a process runs.
    pub(super) fn of_guest(pid: Pid, with_build_ids: bool) -> KernelSpace {
        KernelSpace {
            mode: 4,
            pid,
            with_build_ids,
        }
    }
}

/// The addresses of the kernel's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelMap {
    /// The symbol that shows by how much the kernel was moved.
    reference: &'static str,
    start: u64,
    end: u64,
}

/// The reason why the kernel's mapping is not known.
#[derive(Debug, thiserror::Error)]
pub enum KernelMapError {
    /// The symbol table cannot be read.
    #[error("cannot read the kernel's symbols: {0}")]
    Unreadable(#[from] io::Error),
    /// All addresses are zero: `kptr_restrict` hides them from this user.
    #[error("the kernel's addresses are hidden (kernel.kptr_restrict)")]
    Hidden,
    /// Neither `_text` nor `_stext` is there.
    #[error("the kernel's symbols do not say where its text begins")]
    NoReference,
}

/// The symbols that are looked for: two that may begin the text, two that may end the mapping.
const SYMBOLS: [&str; 4] = ["_text", "_stext", "_edata", "_etext"];

impl KernelMap {
    /// Reads the symbols of the running kernel.
    ///
    /// # Errors
    /// See [`KernelMapError`].
    pub fn read(proc: &ProcDir) -> Result<KernelMap, KernelMapError> {
        KernelMap::parse(&mut BufReader::with_capacity(
            1 << 16,
            File::open(proc.file("kallsyms"))?,
        ))
    }

    pub(super) fn parse(text: &mut impl BufRead) -> Result<KernelMap, KernelMapError> {
        let [text_start, stext, edata, etext] = find_symbols(text)?;
        let named = [("_text", text_start), ("_stext", stext)];
        let (reference, start) = named
            .into_iter()
            .find_map(|(name, address)| Some((name, address?)))
            .ok_or(KernelMapError::NoReference)?;
        if start == 0 {
            return Err(KernelMapError::Hidden);
        }
        let end = edata
            .or(etext)
            .filter(|end| *end > start)
            .unwrap_or(u64::MAX);
        Ok(KernelMap {
            reference,
            start,
            end,
        })
    }

    /// The first address and the one behind the last.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.start..self.end
    }

    /// Appends the mapping's record, with the name of the kernel.
    pub(super) fn write(
        &self,
        kernel: &str,
        build_id: Option<BuildId>,
        space: KernelSpace,
        sink: &mut RecordSink,
    ) {
        let name = format!("{kernel}{}", self.reference);
        let map = KernelSpaceMap {
            name: name.as_bytes(),
            start: self.start,
            len: self.end - self.start,
            pgoff: self.start,
            build_id,
        };
        map.write(space, sink);
    }
}

/// The build id of the running kernel.
pub(crate) fn running_build_id(root: &Path) -> Option<BuildId> {
    crate::build_id::in_notes(&fs::read(root.join("sys/kernel/notes")).ok()?)
}

/// A mapping in the kernel's space.
pub(super) struct KernelSpaceMap<'a> {
    pub(super) name: &'a [u8],
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) pgoff: u64,
    pub(super) build_id: Option<BuildId>,
}

impl KernelSpaceMap<'_> {
    /// Appends the mapping's record: one that can hold a build id where build ids are wanted.
    pub(super) fn write(&self, space: KernelSpace, sink: &mut RecordSink) {
        if space.with_build_ids {
            self.write_identified(space, sink);
        } else {
            self.write_plain(space, sink);
        }
    }

    fn write_plain(&self, space: KernelSpace, sink: &mut RecordSink) {
        let mmap = Mmap {
            pid: space.pid,
            tid: Tid(0),
            start: self.start,
            len: self.len,
            pgoff: self.pgoff,
            filename: self.name,
        };
        sink.kernel_record(RecordType::MMAP, Misc(space.mode), |body| mmap.encode(body));
    }

    fn write_identified(&self, space: KernelSpace, sink: &mut RecordSink) {
        let no_file = FileIdentity::Inode {
            major: 0,
            minor: 0,
            inode: 0,
            generation: 0,
        };
        let identity = self
            .build_id
            .map_or(no_file, |id| FileIdentity::BuildId(Some(id)));
        let mmap = Mmap2 {
            pid: space.pid,
            tid: Tid(0),
            start: self.start,
            len: self.len,
            pgoff: self.pgoff,
            identity,
            prot: 0,
            flags: 0,
            filename: self.name,
        };
        let misc = Misc(space.mode | identity.misc().0);
        sink.kernel_record(RecordType::MMAP2, misc, |body| mmap.encode(body));
    }
}

/// The addresses of [`SYMBOLS`]. The table is long: reading stops as soon as nothing more can be learnt.
fn find_symbols(text: &mut impl BufRead) -> io::Result<[Option<u64>; 4]> {
    let mut found = [None; 4];
    let mut line = Vec::with_capacity(128);
    while found.iter().any(Option::is_none) {
        line.clear();
        if text.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if let Some((slot, address)) = wanted_symbol(&line) {
            found[slot].get_or_insert(address);
        }
    }
    Ok(found)
}

fn wanted_symbol(line: &[u8]) -> Option<(usize, u64)> {
    let line = line.trim_ascii_end();
    let slot = SYMBOLS
        .iter()
        .position(|name| line.ends_with(name.as_bytes()))?;
    let mut fields = line.split(|byte| *byte == b' ');
    let address = u64::from_str_radix(std::str::from_utf8(fields.next()?).ok()?, 16).ok()?;
    let slot = (fields.nth(1)? == SYMBOLS[slot].as_bytes()).then_some(slot)?;
    Some((slot, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<KernelMap, KernelMapError> {
        KernelMap::parse(&mut text.as_bytes())
    }

    #[test]
    fn text_begins_at_its_symbol_and_ends_with_the_data() {
        let text = "1000 T startup\n2000 T _stext\n2000 T _text\n8000 T _etext\n9000 t my_edata\n9800 D _edata\n";
        assert_eq!(
            parse(text).unwrap(),
            KernelMap {
                reference: "_text",
                start: 0x2000,
                end: 0x9800
            }
        );
        assert_eq!(
            parse("2000 T _stext\n8000 T _etext\n").unwrap(),
            KernelMap {
                reference: "_stext",
                start: 0x2000,
                end: 0x8000
            }
        );
    }

    #[test]
    fn hidden_addresses_and_missing_symbols_are_told() {
        assert!(matches!(
            parse("0000 T _text\n0000 T _etext\n"),
            Err(KernelMapError::Hidden)
        ));
        assert!(matches!(
            parse("1000 T other\nnonsense\n\n"),
            Err(KernelMapError::NoReference)
        ));
    }
}
