//! Files put into a new `.tar.zst`: what `archive` and `bundle` write.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use oxperf_sys::files::{create_output, open_regular};
use oxperf_tar::{ArchiveWriter, TarError};

/// The level of zstd's compression.
const LEVEL: i32 = 3;

type Encoder = zstd::Encoder<'static, BufWriter<File>>;

/// An archive that is being written.
pub(crate) struct Packing(ArchiveWriter<Encoder>);

impl Packing {
    /// A new archive at `target`, for its owner alone.
    pub(crate) fn create(target: &Path) -> Result<Packing, TarError> {
        let encoder = zstd::Encoder::new(BufWriter::new(create_output(target)?), LEVEL)?;
        Ok(Packing(ArchiveWriter::new(encoder)))
    }

    /// Adds the file at `path` under a name.
    pub(crate) fn add(&mut self, name: &str, path: &Path) -> Result<(), TarError> {
        self.add_open(name, open_regular(path)?)
    }

    /// Adds an open file under a name.
    pub(crate) fn add_open(&mut self, name: &str, file: File) -> Result<(), TarError> {
        let metadata = file.metadata()?;
        let modified = u64::try_from(metadata.mtime()).unwrap_or(0);
        self.0
            .file(name, metadata.len(), modified, &mut BufReader::new(file))
    }

    /// Adds bytes under a name.
    pub(crate) fn add_bytes(&mut self, name: &str, mut bytes: &[u8]) -> Result<(), TarError> {
        self.0.file(name, bytes.len() as u64, 0, &mut bytes)
    }

    /// Adds a symbolic link.
    pub(crate) fn add_link(&mut self, name: &str, target: &str) -> Result<(), TarError> {
        self.0.link(name, target)
    }

    /// Writes everything out: a full disk shows here at the latest. Gives the size of the archive.
    pub(crate) fn finish(self) -> Result<u64, TarError> {
        let file = self
            .0
            .finish()?
            .finish()?
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        Ok(file.metadata()?.len())
    }
}
