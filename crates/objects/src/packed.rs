//! Whole files that are compressed: kernel modules, and the symbols that a program carries along (mini debug info).

use std::io::Read;

use flate2::bufread::GzDecoder;

/// Limit of growth: a file that claims more is damaged, and would only fill the memory.
const RATIO_LIMIT: usize = 1100;
/// The size that a tiny file may grow to whatever the ratio.
const SMALL: usize = 1 << 16;

/// KiB that unpacking may take beside what it gives: the largest dictionary that xz's own levels use, and some.
const XZ_MEMORY: u32 = 80 << 10;

/// The bytes of a file that gzip, xz or zstd has compressed; `None` where it is no such file, or a damaged one.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    match bytes {
        [0x1f, 0x8b, ..] => bounded(GzDecoder::new(bytes), bytes),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => bounded(
            lzma_rust2::XzReader::new_mem_limit(bytes, true, XZ_MEMORY),
            bytes,
        ),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => bounded(zstd::Decoder::with_buffer(bytes).ok()?, bytes),
        _ => None,
    }
}

fn limit(packed: &[u8]) -> usize {
    packed.len().saturating_mul(RATIO_LIMIT).max(SMALL)
}

fn bounded(reader: impl Read, packed: &[u8]) -> Option<Vec<u8>> {
    let (limit, mut out) = (limit(packed), Vec::new());
    reader.take(limit as u64 + 1).read_to_end(&mut out).ok()?;
    (out.len() <= limit).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_files_with_a_name_are_unpacked() {
        let level = flate2::Compression::default();
        let mut packer = flate2::GzBuilder::new()
            .filename("name")
            .read(&[5; 500][..], level);
        let mut file = Vec::new();
        packer.read_to_end(&mut file).unwrap();
        assert_eq!(unpack(&file), Some(vec![5; 500]));
        for end in 0..file.len() {
            assert_eq!(unpack(&file[..end]), None, "cut at {end}");
        }
    }

    #[test]
    fn zstd_files_are_unpacked() {
        let file = zstd::bulk::compress(&[5; 500], 3).unwrap();
        assert_eq!(unpack(&file), Some(vec![5; 500]));
        assert_eq!(unpack(&file[..file.len() - 3]), None);
    }

    #[test]
    fn xz_files_are_unpacked() {
        // `printf 'aaaaaaaaaaaaaaaaaaaa' | xz --check=crc32`
        let file = include_bytes!("packed/twenty.xz");
        assert_eq!(unpack(file).as_deref(), Some(&[b'a'; 20][..]));
        assert_eq!(unpack(&file[..file.len() / 2]), None);
        assert_eq!(unpack(b"\x7fELF"), None);
    }
}
