//! The files of a zip archive: those that its directory lists, stored or deflated.

use super::{ImportedFile, is_of_tables};
use crate::error::TablesError;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file of more bytes than this is refused.
const MAX_FILE: u32 = 64 << 20;

const END: u32 = 0x0605_4b50;
const ENTRY: u32 = 0x0201_4b50;
const LOCAL: u32 = 0x0403_4b50;
/// The sizes of these headers without names and comments.
const END_SIZE: usize = 22;
const ENTRY_SIZE: usize = 46;
const LOCAL_SIZE: usize = 30;
/// A comment at the end of an archive is not longer.
const MAX_COMMENT: usize = 0xffff;

/// The files of an archive that belong to tables; `source` is its name for messages. Archives of more than 4 GB, and
/// encrypted ones, are refused.
pub fn files_of_zip(
    source: &Path,
    archive: &[u8],
) -> impl Iterator<Item = Result<ImportedFile, TablesError>> {
    let (entries, fault) = match directory(archive) {
        Some(entries) => (entries, None),
        None => (Vec::new(), Some("its directory cannot be read")),
    };
    let wanted = entries
        .into_iter()
        .filter(|entry| is_of_tables(&entry.path));
    let files = wanted.map(|entry| {
        let path = entry.path.clone();
        let contents =
            contents(archive, &entry).map_err(|why| format!("{}: {why}", path.display()));
        contents.map(|contents| ImportedFile { path, contents })
    });
    let fault = fault.into_iter().map(|why| Err(why.to_owned()));
    fault.chain(files).map(|file| {
        file.map_err(|why| TablesError::Archive {
            path: source.to_owned(),
            why,
        })
    })
}

/// A file as the directory describes it.
struct ZipEntry {
    path: PathBuf,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u32,
    unpacked: u32,
    offset: u32,
}

fn directory(archive: &[u8]) -> Option<Vec<ZipEntry>> {
    let end = end_of(archive)?;
    let count = u16_at(end, 10)?;
    let start = usize::try_from(u32_at(end, 16)?).ok()?;
    let mut rest = archive.get(start..)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let (entry, size) = entry(rest)?;
        entries.push(entry);
        rest = rest.get(size..)?;
    }
    Some(entries)
}

/// The record at the end, behind which a comment may stand.
fn end_of(archive: &[u8]) -> Option<&[u8]> {
    let last = archive.len().checked_sub(END_SIZE)?;
    let first = last.saturating_sub(MAX_COMMENT);
    let mut places = (first..=last).rev();
    let at = places.find(|at| u32_at(archive, *at) == Some(END))?;
    archive.get(at..)
}

/// An entry of the directory, and its size.
fn entry(bytes: &[u8]) -> Option<(ZipEntry, usize)> {
    if u32_at(bytes, 0)? != ENTRY {
        return None;
    }
    let length = |at| u16_at(bytes, at).map(usize::from);
    let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
    let path = bytes.get(ENTRY_SIZE..ENTRY_SIZE + name)?;
    let entry = ZipEntry {
        path: PathBuf::from(String::from_utf8_lossy(path).into_owned()),
        flags: u16_at(bytes, 8)?,
        method: u16_at(bytes, 10)?,
        crc: u32_at(bytes, 16)?,
        packed: u32_at(bytes, 20)?,
        unpacked: u32_at(bytes, 24)?,
        offset: u32_at(bytes, 42)?,
    };
    Some((entry, ENTRY_SIZE + name + extra + comment))
}

fn contents(archive: &[u8], entry: &ZipEntry) -> Result<Vec<u8>, &'static str> {
    const ENCRYPTED: u16 = 1;
    if entry.flags & ENCRYPTED != 0 {
        return Err("it is encrypted");
    }
    if entry.unpacked > MAX_FILE {
        return Err("it is too large");
    }
    let packed = packed(archive, entry).ok_or("the archive ends before it")?;
    let contents = match entry.method {
        0 => packed.to_vec(),
        8 => inflated(packed, entry.unpacked)?,
        _ => return Err("its compression is not known"),
    };
    let mut crc = Crc::new();
    crc.update(&contents);
    if crc.sum() != entry.crc {
        return Err("its checksum is wrong");
    }
    Ok(contents)
}

/// The bytes of a file behind its header.
fn packed<'a>(archive: &'a [u8], entry: &ZipEntry) -> Option<&'a [u8]> {
    let header = archive.get(usize::try_from(entry.offset).ok()?..)?;
    if u32_at(header, 0)? != LOCAL {
        return None;
    }
    let (name, extra) = (u16_at(header, 26)?, u16_at(header, 28)?);
    let start = LOCAL_SIZE + usize::from(name) + usize::from(extra);
    let size = usize::try_from(entry.packed).ok()?;
    header.get(start..)?.get(..size)
}

fn inflated(packed: &[u8], size: u32) -> Result<Vec<u8>, &'static str> {
    let mut contents = Vec::new();
    // One byte more than said shows that more is there.
    let mut limited = DeflateDecoder::new(packed).take(u64::from(size) + 1);
    let read = limited.read_to_end(&mut contents);
    read.map_err(|_| "it cannot be uncompressed")?;
    Ok(contents)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}
