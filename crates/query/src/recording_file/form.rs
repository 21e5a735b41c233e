//! The forms that a recording has on disk and on its way.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use oxperf_data::{DataError, FileHeader, Reader, directory};
use oxperf_sys::MappedFile;

/// A recording, open.
pub(super) enum Form {
    /// One file, or a saved stream.
    Image { file: File, map: MappedFile },
    /// The file with the header, and those with the records of each recording thread.
    Directory {
        data: MappedFile,
        parts: Vec<MappedFile>,
    },
    /// Something that is read once, from front to back, behind what was read of it already.
    Stream { begun: Vec<u8>, rest: File },
    /// A file that came through a pipe, or a stream with trace: the parts are not in the order in which they are needed.
    Buffered(Vec<u8>),
}

impl Form {
    /// Maps a file, which messages call `path`.
    pub(super) fn image(file: File, path: &Path) -> io::Result<Form> {
        Ok(Form::Image {
            map: map(&file, path)?,
            file,
        })
    }

    /// Takes a pipe: a stream is read when its records are, a file at once, and so is a stream with trace
    /// of instructions.
    pub(super) fn piped(mut pipe: File) -> io::Result<Form> {
        let mut begun = Vec::new();
        pipe.by_ref()
            .take(FileHeader::SIZE_OF_STREAM)
            .read_to_end(&mut begun)?;
        if FileHeader::decode(&begun).is_ok_and(|(_, header)| header.is_of_stream()) {
            return Form::stream(begun, pipe);
        }
        // Only what calls itself a recording is worth its memory.
        if FileHeader::is_magic(&begun) {
            pipe.read_to_end(&mut begun)?;
        }
        Ok(Form::Buffered(begun))
    }

    fn stream(begun: Vec<u8>, mut rest: File) -> io::Result<Form> {
        let kept = TeeBuffer::default();
        let begun = Cursor::new(begun).chain(rest.try_clone()?);
        // Faults are reported when it is read.
        let traced = Reader::stream_announces_trace(Box::new(kept.keeping(begun))).unwrap_or(false);
        let mut begun = kept.take();
        if traced {
            rest.read_to_end(&mut begun)?;
            return Ok(Form::Buffered(begun));
        }
        Ok(Form::Stream { begun, rest })
    }

    /// Maps `data` and the files `data.0`, `data.1` ... beside it in `directory`.
    pub(super) fn directory(data: &File, directory: &Path) -> io::Result<Form> {
        let paths = part_paths(directory)?;
        let parts = paths
            .iter()
            .map(|path| map(&File::open(path)?, path))
            .collect::<io::Result<_>>()?;
        Ok(Form::Directory {
            data: map(data, &directory.join(directory::DATA_NAME))?,
            parts,
        })
    }

    /// The size of each mapped file, the one with the header first; none of a stream.
    pub(super) fn sizes(&self) -> Vec<u64> {
        self.maps().map(|map| map.len() as u64).collect()
    }

    /// Gives back the memory of a stretch of the `part`-th mapped file.
    pub(super) fn release(&self, part: usize, bytes: Range<u64>) {
        let Some(map) = self.maps().nth(part) else {
            return;
        };
        if let (Ok(start), Ok(end)) = (usize::try_from(bytes.start), usize::try_from(bytes.end)) {
            map.release(start..end);
        }
    }

    fn maps(&self) -> impl Iterator<Item = &MappedFile> {
        let (first, others) = match self {
            Form::Image { map, .. } => (Some(map), &[][..]),
            Form::Directory { data, parts } => (Some(data), parts.as_slice()),
            Form::Stream { .. } | Form::Buffered(_) => (None, &[][..]),
        };
        first.into_iter().chain(others)
    }

    /// Opens the recording in it.
    pub(super) fn reader(&self) -> Result<Reader<'_>, DataError> {
        match self {
            Form::Image { file, map } => Ok(Reader::open(map)?.with_file(file)),
            Form::Directory { data, parts } => {
                Reader::open_directory(data, parts.iter().map(|part| &**part).collect())
            }
            Form::Stream { begun, rest } => {
                let failed = |error: io::Error| DataError::StreamBroken {
                    error: error.kind(),
                };
                let rest = rest.try_clone().map_err(failed)?;
                Reader::open_stream(Box::new(Cursor::new(begun.clone()).chain(rest)))
            }
            Form::Buffered(bytes) => Reader::open(bytes),
        }
    }
}

/// The bytes that were read of something, to be read again.
#[derive(Clone, Default)]
struct TeeBuffer(Arc<Mutex<Vec<u8>>>);

impl TeeBuffer {
    /// Keeps what is read of `input`.
    fn keeping<R: Read>(&self, input: R) -> Tee<R> {
        Tee {
            input,
            kept: self.clone(),
        }
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Tee<R> {
    input: R,
    kept: TeeBuffer,
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        let mut kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

fn map(file: &File, path: &Path) -> io::Result<MappedFile> {
    let map = MappedFile::from_file(file, path)?.essential();
    map.expect_sequential();
    Ok(map)
}

/// The files with records of single threads, by their numbers.
fn part_paths(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let name = entry?.file_name();
        if let Some(index) = name.to_str().and_then(directory::part_index) {
            parts.push((index, directory.join(&name)));
        }
    }
    parts.sort();
    Ok(parts.into_iter().map(|(_, path)| path).collect())
}
