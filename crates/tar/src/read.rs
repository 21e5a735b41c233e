//! Archives entry by entry, each name checked.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use crate::header::{BLOCK, FILE, FOLDER, Header, LINK, LONG_NAME, LONG_TARGET};
use crate::{ArchiveEntry, EntryKind, TarError};

/// Longest name that is read.
const NAME_LIMIT: u64 = 1 << 16;

/// Reads an archive.
#[derive(Debug)]
pub struct ArchiveReader<R> {
    input: R,
    offset: u64,
    /// Bytes of the entry that were not read, and the padding behind them.
    rest: u64,
    padding: u64,
}

/// The bytes of an entry.
#[derive(Debug)]
pub struct EntryContents<'r, R>(&'r mut ArchiveReader<R>);

impl<R: Read> ArchiveReader<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> ArchiveReader<R> {
        ArchiveReader {
            input,
            offset: 0,
            rest: 0,
            padding: 0,
        }
    }

    /// The next file, folder or link; `None` at the end. Other kinds of entries are passed over.
    ///
    /// # Errors
    /// The archive is damaged, or a name leads out of it.
    pub fn next_entry(&mut self) -> Result<Option<ArchiveEntry>, TarError> {
        let (mut long_name, mut long_target) = (None, None);
        loop {
            self.skip_contents()?;
            let at = self.offset;
            let Some(block) = self.block()? else {
                return Ok(None);
            };
            if block.iter().all(|byte| *byte == 0) {
                return Ok(None);
            }
            let header =
                Header::decode(&block).map_err(|why| TarError::Header { offset: at, why })?;
            self.rest = header.size;
            self.padding = (BLOCK as u64 - header.size % BLOCK as u64) % BLOCK as u64;
            match header.kind {
                LONG_NAME => long_name = Some(self.text(at)?),
                LONG_TARGET => long_target = Some(self.text(at)?),
                FILE | FOLDER | LINK => {
                    return entry(header, long_name.take(), long_target.take()).map(Some);
                }
                _ => (long_name, long_target) = (None, None),
            }
        }
    }

    /// The bytes of the file that came last.
    pub fn contents(&mut self) -> EntryContents<'_, R> {
        EntryContents(self)
    }

    fn text(&mut self, at: u64) -> Result<Vec<u8>, TarError> {
        if self.rest > NAME_LIMIT {
            return Err(TarError::Header {
                offset: at,
                why: "the name is too long",
            });
        }
        let mut text = Vec::new();
        self.contents().read_to_end(&mut text)?;
        text.truncate(
            text.iter()
                .position(|byte| *byte == 0)
                .unwrap_or(text.len()),
        );
        Ok(text)
    }

    /// The next block; `None` at the end of the input.
    fn block(&mut self) -> Result<Option<[u8; BLOCK]>, TarError> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while filled < BLOCK {
            match self.input.read(&mut block[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => {
                    return Err(TarError::Header {
                        offset: self.offset,
                        why: "the archive is cut",
                    });
                }
                Ok(count) => filled += count,
            }
        }
        self.offset += BLOCK as u64;
        Ok(Some(block))
    }

    fn skip_contents(&mut self) -> Result<(), TarError> {
        let expected = self.rest + self.padding;
        let skipped = io::copy(&mut (&mut self.input).take(expected), &mut io::sink())?;
        self.offset += skipped;
        (self.rest, self.padding) = (0, 0);
        if skipped != expected {
            return Err(TarError::Header {
                offset: self.offset,
                why: "the archive is cut",
            });
        }
        Ok(())
    }
}

impl<R: Read> Read for EntryContents<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let reader = &mut *self.0;
        let room = usize::try_from(reader.rest)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        if room == 0 {
            return Ok(0);
        }
        let count = reader.input.read(&mut buffer[..room])?;
        if count == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the archive is cut",
            ));
        }
        reader.rest -= count as u64;
        reader.offset += count as u64;
        Ok(count)
    }
}

fn entry(
    header: Header,
    long_name: Option<Vec<u8>>,
    long_target: Option<Vec<u8>>,
) -> Result<ArchiveEntry, TarError> {
    let path = PathBuf::from(OsString::from_vec(long_name.unwrap_or(header.name)));
    let outside = |path: &Path| TarError::Outside {
        name: path.to_string_lossy().into_owned(),
    };
    let path = plain(&path).ok_or_else(|| outside(&path))?;
    let kind = match header.kind {
        FOLDER => EntryKind::Folder,
        LINK => {
            let target = PathBuf::from(OsString::from_vec(long_target.unwrap_or(header.target)));
            if !stays(&path, &target) {
                return Err(outside(&target));
            }
            EntryKind::Link { target }
        }
        _ => EntryKind::File { size: header.size },
    };
    Ok(ArchiveEntry {
        path,
        kind,
        modified: header.modified,
    })
}

/// The path without `.`; `None` if it is absolute or has `..`.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

/// Returns whether a link at `path` leads to a place below the folder that is unpacked in, whatever stands there.
fn stays(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    let mut descended = false;
    for component in target.components() {
        match component {
            Component::Normal(_) => (depth, descended) = (depth + 1, true),
            Component::CurDir => {}
            // Behind a name, `..` may lead elsewhere: the name may be a link itself.
            Component::ParentDir if !descended && depth > 0 => depth -= 1,
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ArchiveWriter;

    fn archive(name: &str, target: Option<&str>) -> Vec<u8> {
        let mut writer = ArchiveWriter::new(Vec::new());
        match target {
            Some(target) => writer.link(name, target).unwrap(),
            None => writer.file(name, 3, 0, &mut &b"abc"[..]).unwrap(),
        }
        writer.finish().unwrap()
    }

    #[test]
    fn names_stay_below_the_root() {
        for name in ["/etc/passwd", "../x", "a/../../x", "a/.."] {
            let bytes = archive(name, None);
            let refused = ArchiveReader::new(&bytes[..]).next_entry();
            assert!(matches!(refused, Err(TarError::Outside { .. })), "{name}");
        }
        let bytes = archive("./a//b", None);
        assert_eq!(
            ArchiveReader::new(&bytes[..])
                .next_entry()
                .unwrap()
                .unwrap()
                .path,
            Path::new("a/b")
        );
    }

    #[test]
    fn links_stay_below_the_root() {
        for (name, target, fine) in [
            (".build-id/ab/cd", "../../usr/x/abcd", true),
            ("x", "y", true),
            ("x", "../y", false),
            ("a/x", "/etc", false),
            ("a/x", "../../etc", false),
            ("a/x", "../b/../../etc", false),
        ] {
            let bytes = archive(name, Some(target));
            assert_eq!(
                ArchiveReader::new(&bytes[..]).next_entry().is_ok(),
                fine,
                "{name} -> {target}"
            );
        }
    }

    #[test]
    fn long_names_and_damage() {
        let name = format!("{}/x", "n".repeat(300));
        let bytes = archive(&name, None);
        assert_eq!(
            ArchiveReader::new(&bytes[..])
                .next_entry()
                .unwrap()
                .unwrap()
                .path,
            Path::new(&name)
        );
        // Miri, which is slow, looks at some places.
        let step = if cfg!(miri) { 127 } else { 1 };
        for size in (0..bytes.len()).step_by(step) {
            let mut reader = ArchiveReader::new(&bytes[..size]);
            while let Ok(Some(_)) = reader.next_entry() {}
        }
        for at in (0..bytes.len()).step_by(step) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let mut reader = ArchiveReader::new(&damaged[..]);
            while let Ok(Some(_)) = reader.next_entry() {}
        }
    }
}
