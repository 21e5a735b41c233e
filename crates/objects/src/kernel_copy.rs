//! Copies of a running kernel's memory: its code and that of its modules, out of `/proc/kcore`, which stands for all memory
//! of the machine.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

use object::elf;

use crate::elf::{Elf, ElfSegment};

const PAGE: u64 = 4096;
/// Bytes of headers that are read; kernels have some dozen segments.
const HEADERS: usize = 1 << 16;
/// The names of the files of a copy.
pub const KERNEL_COPY_FILES: [&str; 3] = [KCORE, KALLSYMS, MODULES];
const KCORE: &str = "kcore";
const KALLSYMS: &str = "kallsyms";
const MODULES: &str = "modules";
/// Bytes of code that are copied at most.
const LIMIT: u64 = 1 << 30;
/// Sizes of the headers of an ELF file of 64 bits.
const FILE_HEADER: u64 = 64;
const SEGMENT_HEADER: u64 = 56;

/// Copies the kernel's code out of the `kcore` in `source`, with the lists beside it (`kallsyms`, `modules`), into a new
/// folder. Nobody else may read the copies.
///
/// # Errors
/// The files cannot be read or written, or the list of symbols shows no addresses.
pub fn copy_kernel(source: &Path, folder: &Path) -> io::Result<()> {
    let kcore = File::open(source.join(KCORE))?;
    let (symbols, modules) = (fs::read(source.join(KALLSYMS))?, modules_of(source)?);
    let code = code(&symbols, &modules).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the list of symbols shows no addresses of code",
        )
    })?;
    fs::create_dir_all(folder.parent().unwrap_or(folder))?;
    fs::DirBuilder::new().mode(0o700).create(folder)?;
    let create = |name: &str| {
        File::options()
            .write(true)
            .create_new(true)
            .mode(0o400)
            .open(folder.join(name))
    };
    let copied = create(KALLSYMS)
        .and_then(|mut file| file.write_all(&symbols))
        .and_then(|()| create(MODULES)?.write_all(&modules))
        .and_then(|()| copy_memory(&kcore, &code, create(KCORE)?));
    copied.inspect_err(|_| {
        // Half a copy is none.
        let _ = fs::remove_dir_all(folder);
    })
}

/// Returns whether a folder holds a copy of a kernel in the state in which the one of `source` is.
pub fn is_copy_of(folder: &Path, source: &Path) -> bool {
    let same = |copy: io::Result<Vec<u8>>, here: io::Result<Vec<u8>>| match (copy, here) {
        (Ok(copy), Ok(here)) => copy == here,
        _ => false,
    };
    let symbols = |of: &Path| fs::read(of.join(KALLSYMS));
    folder.join(KCORE).is_file()
        && same(modules_of(folder), modules_of(source))
        && same(symbols(folder), symbols(source))
}

/// The list of modules; a kernel that is built without them has none.
fn modules_of(folder: &Path) -> io::Result<Vec<u8>> {
    match fs::read(folder.join(MODULES)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// The code of the kernel and of its modules: whole pages, in order.
fn code(symbols: &[u8], modules: &[u8]) -> Option<Vec<Range<u64>>> {
    let (mut start, mut end) = (None, None);
    for line in symbols.split(|byte| *byte == b'\n') {
        match symbol(line) {
            Some((address, b"_stext")) => start = Some(address),
            Some((address, b"_etext")) => end = Some(address),
            _ => continue,
        }
        if start.is_some() && end.is_some() {
            break;
        }
    }
    let kernel = start.filter(|start| *start != 0)?..end?;
    let modules = modules.split(|byte| *byte == b'\n').filter_map(module);
    let mut ranges: Vec<Range<u64>> = std::iter::once(kernel)
        .chain(modules)
        .filter_map(pages)
        .collect();
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let joined = next.start <= range.end;
        if joined {
            range.end = range.end.max(next.end);
        }
        joined
    });
    Some(ranges)
}

/// Address and name in a line of a list of symbols.
fn symbol(line: &[u8]) -> Option<(u64, &[u8])> {
    let mut words = line.split(u8::is_ascii_whitespace);
    let address = number(words.next()?, 16)?;
    Some((address, words.nth(1)?))
}

/// The range of a module by its line in a list of modules.
fn module(line: &[u8]) -> Option<Range<u64>> {
    let mut words = line.split(|byte| *byte == b' ');
    let size = number(words.nth(1)?, 10)?;
    let start = number(words.nth(3)?.strip_prefix(b"0x")?, 16)?;
    (start != 0).then_some(start..start.checked_add(size)?)
}

fn number(digits: &[u8], base: u32) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, base).ok()
}

fn pages(range: Range<u64>) -> Option<Range<u64>> {
    let end = range.end.checked_next_multiple_of(PAGE)?;
    let start = range.start / PAGE * PAGE;
    (start < end).then_some(start..end)
}

/// Writes a core file with these stretches of memory, as far as the source has them.
fn copy_memory(kcore: &File, code: &[Range<u64>], mut copy: File) -> io::Result<()> {
    let mut headers = vec![0; HEADERS];
    let read = kcore.read_at(&mut headers, 0)?;
    headers.truncate(read);
    let source =
        Elf::parse(&headers).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))?;
    let parts: Vec<Part> = source
        .segments()
        .iter()
        .flat_map(|segment| code.iter().filter_map(|range| Part::of(segment, range)))
        .collect();
    let size: u64 = parts
        .iter()
        .map(|part| part.memory.end - part.memory.start)
        .sum();
    let count = u16::try_from(parts.len())
        .ok()
        .filter(|count| *count > 0 && size <= LIMIT);
    let count = count.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "it does not hold the kernel's code, or too much of it",
        )
    })?;
    let begin = (FILE_HEADER + SEGMENT_HEADER * u64::from(count)).next_multiple_of(PAGE);
    copy.write_all(&file_header(source.machine(), count))?;
    let mut place = begin;
    for part in &parts {
        copy.write_all(&part.header(place))?;
        place += part.memory.end - part.memory.start;
    }
    copy.seek(SeekFrom::Start(begin))?;
    parts
        .iter()
        .try_for_each(|part| part.copy(kcore, &mut copy))?;
    copy.set_len(place)
}

/// A stretch of memory that the source has, and where.
struct Part {
    memory: Range<u64>,
    offset: u64,
}

impl Part {
    fn of(segment: &ElfSegment, range: &Range<u64>) -> Option<Part> {
        let start = range.start.max(segment.address);
        let end = range
            .end
            .min(segment.address.saturating_add(segment.memory_size));
        let offset = segment
            .offset
            .checked_add(start.checked_sub(segment.address)?)?;
        (start < end).then_some(Part {
            memory: start..end,
            offset,
        })
    }

    fn header(&self, place: u64) -> Vec<u8> {
        let size = self.memory.end - self.memory.start;
        let mut header = elf::PT_LOAD.to_le_bytes().to_vec();
        header.extend((elf::PF_R | elf::PF_W | elf::PF_X).to_le_bytes());
        for field in [place, self.memory.start, 0, size, size, PAGE] {
            header.extend(field.to_le_bytes());
        }
        header
    }

    /// Pages of zeros stay holes.
    fn copy(&self, source: &File, copy: &mut File) -> io::Result<()> {
        let mut page = [0; PAGE as usize];
        for start in (0..self.memory.end - self.memory.start).step_by(PAGE as usize) {
            let left = self.memory.end - self.memory.start - start;
            let page = &mut page[..left.min(PAGE) as usize];
            source.read_exact_at(page, self.offset.saturating_add(start))?;
            match page.iter().all(|byte| *byte == 0) {
                true => drop(copy.seek(SeekFrom::Current(page.len() as i64))?),
                false => copy.write_all(page)?,
            }
        }
        Ok(())
    }
}

fn file_header(machine: u16, segments: u16) -> Vec<u8> {
    let mut header = b"\x7fELF".to_vec();
    header.extend([elf::ELFCLASS64, elf::ELFDATA2LSB, elf::EV_CURRENT]);
    header.resize(16, 0);
    header.extend(elf::ET_CORE.to_le_bytes());
    header.extend(machine.to_le_bytes());
    header.extend(u32::from(elf::EV_CURRENT).to_le_bytes());
    // No entry point; the segments' headers come next; no sections, no flags.
    for word in [0, FILE_HEADER, 0] {
        header.extend(word.to_le_bytes());
    }
    header.extend(0u32.to_le_bytes());
    for half in [FILE_HEADER as u16, SEGMENT_HEADER as u16, segments, 0, 0, 0] {
        header.extend(half.to_le_bytes());
    }
    header
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::{KernelMemory, KernelPiece};

    const KERNEL: u64 = 0xffff_ffff_8100_0000;
    const MODULES: u64 = 0xffff_ffff_c020_0000;

    /// A machine's files: two pages of code and one behind, a module between two other pages, and all other memory.
    fn machine(test: &str, symbols: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("oxperf-kcore-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("kallsyms"), symbols).unwrap();
        fs::write(
            folder.join("modules"),
            format!("tiny 4096 0 - Live {:#x}\n", MODULES + PAGE),
        )
        .unwrap();
        let memory = [
            (KERNEL, 3, 0x90),
            (MODULES, 3, 0xcc),
            (0xffff_8880_0000_0000, 1, 0x11),
        ];
        let mut file = file_header(elf::EM_X86_64, memory.len() as u16);
        let mut place = PAGE;
        for (start, pages, _) in memory {
            file.extend(
                Part {
                    memory: start..start + pages * PAGE,
                    offset: 0,
                }
                .header(place),
            );
            place += pages * PAGE;
        }
        file.resize(PAGE as usize, 0);
        for (_, pages, byte) in memory {
            file.extend(vec![byte; (pages * PAGE) as usize]);
        }
        fs::write(folder.join("kcore"), file).unwrap();
        folder
    }

    fn symbols() -> String {
        format!(
            "{KERNEL:x} T _stext\n{:x} T _etext\n{:x} D data\n",
            KERNEL + 0x1234,
            KERNEL + 0x2000
        )
    }

    #[test]
    fn code_is_copied_and_nothing_else() {
        let here = machine("copy", &symbols());
        let copy = here.join("cache/2026");
        copy_kernel(&here, &copy).unwrap();
        let memory = KernelMemory::copied(&copy.join("kcore")).unwrap();
        let expected = |number, start, byte, pages: u64| {
            let bytes = vec![byte; (pages * PAGE) as usize];
            memory.at(start)
                == Some(KernelPiece {
                    number,
                    start,
                    bytes: &bytes,
                })
        };
        assert!(expected(0, KERNEL, 0x90, 2), "{:?}", memory.at(KERNEL));
        assert!(expected(1, MODULES + PAGE, 0xcc, 1));
        let elsewhere = [
            KERNEL + 2 * PAGE,
            MODULES,
            MODULES + 2 * PAGE,
            0xffff_8880_0000_0000,
        ];
        assert_eq!(elsewhere.map(|address| memory.at(address)), [None; 4]);
        assert!(is_copy_of(&copy, &here));
        fs::write(here.join("modules"), "").unwrap();
        assert!(!is_copy_of(&copy, &here));
        assert!(copy_kernel(&here, &copy).is_err(), "a copy stays as it is");
        fs::remove_dir_all(here).unwrap();
    }

    #[test]
    fn hidden_addresses_and_damaged_memory_give_no_copy() {
        for list in [
            "",
            "0000000000000000 T _stext\n0000000000000000 T _etext\n",
            "ff T _stext\n",
        ] {
            let here = machine("hidden", list);
            assert!(copy_kernel(&here, &here.join("copy")).is_err(), "{list:?}");
            fs::remove_dir_all(here).unwrap();
        }
        let here = machine("cut", &symbols());
        let whole = fs::read(here.join("kcore")).unwrap();
        for end in [0, 10, 63, 64, 200, PAGE as usize, PAGE as usize + 10] {
            fs::write(here.join("kcore"), &whole[..end]).unwrap();
            let copy = here.join(end.to_string());
            assert!(
                copy_kernel(&here, &copy).is_err() && !copy.exists(),
                "cut at {end}"
            );
        }
        fs::remove_dir_all(here).unwrap();
    }
}
