//! `archive --unpack`: an archive of ours or perf's into the cache here.
//!
//! Only what has a place in a cache is taken, and that goes where the cache has it: no link of the archive is made.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use oxperf_objects::{BuildIdCache, CacheFile, parse_id};
use oxperf_tar::{ArchiveEntry, ArchiveReader, EntryKind, TarError};

use super::{RECORDING, unusable};
use crate::failure::Failure;
use crate::output::print_error;
use crate::unpacking::Limits;

/// The name that perf gives to the archive of binaries in the one that holds the recording, too.
const BINARIES: &str = "perf.symbols.tar.bz2";

/// What became of the files of an archive.
#[derive(Default)]
struct Counts {
    taken: u64,
    passed_over: u64,
}

/// Unpacks an archive; without a name the only one in this folder.
pub(super) fn run(cache: &BuildIdCache, archive: Option<&Path>) -> Result<(), Failure> {
    let found = archive.map_or_else(only_archive, |path| Ok(path.to_owned()))?;
    let failed = |error: TarError| unusable(&found, &error);
    let mut counts = Counts::default();
    let limits = Limits::default();
    let file = File::open(&found).map_err(|error| failed(error.into()))?;
    take(
        cache,
        Box::new(limits.packed(file)),
        (&limits, &mut counts),
        true,
    )
    .map_err(failed)?;
    print_error(&format!(
        "{} files unpacked into {}",
        counts.taken,
        cache.root().display()
    ));
    if counts.passed_over > 0 {
        let Counts { passed_over, .. } = counts;
        print_error(&format!(
            "{passed_over} files are none of a build-id cache and were left out"
        ));
    }
    Ok(())
}

/// The archive of this folder whose name begins as a recording's does.
fn only_archive() -> Result<PathBuf, Failure> {
    let names = std::fs::read_dir(".")?.filter_map(|entry| Some(entry.ok()?.file_name()));
    let is_archive = |name: &str| {
        name.starts_with("perf")
            && [".tar.zst", ".tar.bz2"]
                .iter()
                .any(|end| name.ends_with(end))
    };
    let mut found: Vec<PathBuf> = names
        .filter(|name| name.to_str().is_some_and(is_archive))
        .map(PathBuf::from)
        .collect();
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(Failure::new(
            "there is no archive (perf*.tar.zst, perf*.tar.bz2) here: name one",
        )),
        (Some(_), more) => Err(Failure::new(format!(
            "there are {} archives here: name one",
            more + 1
        ))),
    }
}

/// Takes the files of an archive; `outermost` of one that may hold another.
fn take(
    cache: &BuildIdCache,
    packed: Box<dyn Read + '_>,
    (limits, counts): (&Limits, &mut Counts),
    outermost: bool,
) -> Result<(), TarError> {
    let mut reader = ArchiveReader::new(limits.unpacked(unpacked(packed)?));
    while let Some(entry) = reader.next_entry()? {
        limits.entry()?;
        if outermost && entry.path == Path::new(BINARIES) {
            take(cache, Box::new(reader.contents()), (limits, counts), false)?;
            continue;
        }
        match take_entry(cache, &entry, &mut reader)? {
            Some(true) => counts.taken += 1,
            Some(false) => counts.passed_over += 1,
            None => {}
        }
    }
    Ok(())
}

/// The bytes of an archive, however it is compressed.
fn unpacked<'r>(mut packed: Box<dyn Read + 'r>) -> io::Result<Box<dyn Read + 'r>> {
    const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let mut start = Vec::new();
    packed.by_ref().take(4).read_to_end(&mut start)?;
    let is_zstd = start == ZSTD;
    let is_bzip2 = start.starts_with(b"BZh");
    let whole = Cursor::new(start).chain(packed);
    Ok(match (is_zstd, is_bzip2) {
        (true, _) => Box::new(zstd::Decoder::new(whole)?),
        (_, true) => Box::new(bzip2_rs::DecoderReader::new(whole)),
        _ => Box::new(whole),
    })
}

/// Whether the entry was taken; `None` if it holds nothing.
fn take_entry<R: Read>(
    cache: &BuildIdCache,
    entry: &ArchiveEntry,
    reader: &mut ArchiveReader<R>,
) -> io::Result<Option<bool>> {
    let EntryKind::File { .. } = entry.kind else {
        return Ok(None);
    };
    if entry.path == Path::new(RECORDING) {
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(RECORDING)?;
        io::copy(&mut reader.contents(), &mut file)?;
        return Ok(Some(true));
    }
    let parts = entry
        .path
        .parent()
        .and_then(|folder| Some((folder.parent()?, folder.file_name()?.to_str()?)));
    let kind = entry
        .path
        .file_name()
        .and_then(|name| CacheFile::ALL.into_iter().find(|kind| kind.name() == name));
    let found = parts
        .and_then(|(name, id)| Some((name.as_os_str().as_encoded_bytes(), parse_id(id)?, kind?)));
    let Some((name, id, kind)) = found.filter(|(name, ..)| !name.is_empty()) else {
        let is_probes = entry.path.file_name().is_some_and(|name| name == "probes");
        return Ok(if is_probes { None } else { Some(false) });
    };
    cache.add_from(name, id, kind, &mut reader.contents())?;
    Ok(Some(true))
}
