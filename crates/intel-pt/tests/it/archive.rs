//! Archives among the fixtures.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

/// The files of an archive, by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Reads a compressed archive (`.tar.zst`); `None` where it is not there.
#[allow(dead_code, reason = "not every test has such an archive")]
pub(crate) fn zstd(archive: &Path) -> Option<Files> {
    let mut tar = Vec::new();
    zstd::stream::read::Decoder::new(fs::File::open(archive).ok()?)
        .ok()?
        .read_to_end(&mut tar)
        .ok()?;
    files(&tar)
}

/// Reads a compressed archive (`.tar.gz`); `None` where it is not there.
#[allow(dead_code, reason = "not every test has such an archive")]
pub(crate) fn gzip(archive: &Path) -> Option<Files> {
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(fs::File::open(archive).ok()?)
        .read_to_end(&mut tar)
        .ok()?;
    files(&tar)
}

fn files(tar: &[u8]) -> Option<Files> {
    let mut files = Files::new();
    let mut rest = tar;
    let text = |field: &[u8]| {
        String::from_utf8_lossy(field)
            .trim_matches(['\0', ' '])
            .to_owned()
    };
    let mut long_name = None;
    while rest.len() >= 512 && rest[0] != 0 {
        let (header, behind) = rest.split_at(512);
        let size = usize::from_str_radix(&text(&header[124..136]), 8).ok()?;
        let content = behind[..size].to_vec();
        rest = &behind[size.next_multiple_of(512).min(behind.len())..];
        if header[156] == b'L' {
            long_name = Some(text(&content));
            continue;
        }
        let name = long_name.take().unwrap_or_else(|| text(&header[..100]));
        files.insert(
            name.rsplit('/').next().unwrap_or_default().to_owned(),
            content,
        );
    }
    Some(files)
}
