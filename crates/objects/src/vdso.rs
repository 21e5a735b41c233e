//! The code page that the kernel maps into every process, read from this process' own memory.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};

use crate::contents::Contents;
use crate::error::Rejection;

/// Real ones take one to four pages.
const SIZE_LIMIT: u64 = 1 << 20;

/// The image of this process' `[vdso]`.
///
/// # Errors
/// [`Rejection::Unreadable`] where there is none, or where the system does not let us read our own memory.
pub(crate) fn own_image() -> Result<Contents, Rejection> {
    let maps = fs::read_to_string("/proc/self/maps").map_err(unreadable)?;
    let (start, size) = maps
        .lines()
        .find_map(vdso_range)
        .ok_or(Rejection::NotAFile)?;
    let mut memory = File::open("/proc/self/mem").map_err(unreadable)?;
    memory.seek(SeekFrom::Start(start)).map_err(unreadable)?;
    let mut bytes = Vec::new();
    memory
        .take(size)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(Contents::from_memory(bytes))
}

/// Start and size in a line like `7ffd8a5f2000-7ffd8a5f4000 r-xp 00000000 00:00 0   [vdso]`.
fn vdso_range(line: &str) -> Option<(u64, u64)> {
    let (start, end) = line
        .strip_suffix("[vdso]")?
        .split_once(' ')?
        .0
        .split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let size = u64::from_str_radix(end, 16).ok()?.checked_sub(start)?;
    (size <= SIZE_LIMIT).then_some((start, size))
}

fn unreadable(error: std::io::Error) -> Rejection {
    Rejection::Unreadable(error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_the_page_is_read_from_its_line() {
        let line =
            "7ffd8a5f2000-7ffd8a5f4000 r-xp 00000000 00:00 0                          [vdso]";
        assert_eq!(vdso_range(line), Some((0x7ffd_8a5f_2000, 0x2000)));
        assert_eq!(
            vdso_range("7ffd8a5f2000-7ffd8a5f4000 r--p 00000000 00:00 0 [vvar]"),
            None
        );
        assert_eq!(vdso_range("2000-1000 r-xp 00000000 00:00 0 [vdso]"), None);
    }
}
