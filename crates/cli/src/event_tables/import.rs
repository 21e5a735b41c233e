//! Tables of a folder or an archive taken into the user's data folder.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use oxperf_pmu_events::TablesError;
use oxperf_pmu_events::import::{self, ImportSummary, ImportedFile, files_of_folder, files_of_zip};
use oxperf_tar::{ArchiveReader, EntryKind, TarError};

use crate::environment;
use crate::failure::Failure;
use crate::unpacking::Limits;

const ZIP: &[u8] = b"PK";
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Imports the tables of a folder, or of an archive: zip, tar, or tar compressed by gzip or zstd.
///
/// # Errors
/// The source cannot be read, holds no tables, or there is no folder for them.
pub(crate) fn import(source: &Path) -> Result<ImportSummary, Failure> {
    let destination = environment::imported_tables();
    let destination = destination.ok_or_else(|| {
        Failure::invalid(
            "no folder for tables: neither XDG_DATA_HOME nor HOME is a path from the root",
        )
    })?;
    let files = files_of(source);
    let files =
        files.map_err(|error| Failure::invalid(format!("{}: {error}", source.display())))?;
    import::import(source, files, &destination).map_err(|error| Failure::invalid(error.to_string()))
}

type Files = Vec<Result<ImportedFile, TablesError>>;

fn files_of(source: &Path) -> Result<Files, TarError> {
    if source.is_dir() {
        return Ok(files_of_folder(source).collect());
    }
    let mut start = Vec::new();
    File::open(source)?.take(4).read_to_end(&mut start)?;
    if start.starts_with(ZIP) {
        return Ok(files_of_zip(source, &fs::read(source)?).collect());
    }
    let limits = Limits::default();
    let packed = limits.packed(File::open(source)?);
    if start.starts_with(GZIP) {
        files_of_tar(&limits, MultiGzDecoder::new(packed))
    } else if start.starts_with(ZSTD) {
        files_of_tar(&limits, zstd::Decoder::new(packed)?)
    } else {
        files_of_tar(&limits, packed)
    }
}

fn files_of_tar(limits: &Limits, archive: impl Read) -> Result<Files, TarError> {
    let mut reader = ArchiveReader::new(limits.unpacked(archive));
    let mut files = Vec::new();
    while let Some(entry) = reader.next_entry()? {
        limits.entry()?;
        if !matches!(entry.kind, EntryKind::File { .. }) || !import::is_of_tables(&entry.path) {
            continue;
        }
        let mut contents = Vec::new();
        reader.contents().read_to_end(&mut contents)?;
        files.push(Ok(ImportedFile {
            path: entry.path,
            contents,
        }));
    }
    Ok(files)
}
