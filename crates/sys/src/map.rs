//! A file's bytes without copying them.

mod guard;

use memmap2::{Advice, Mmap, MmapOptions, UncheckedAdvice};
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;

use guard::Registered;
pub use guard::{TruncatedFile, truncated_files};

/// A regular file mapped for reading; an empty file is an empty slice.
///
/// The mapping is private and read-only, and as long as the file was when it was opened. When somebody cuts the file
/// short while it is mapped, its pages beyond the new end read as zeros from then on, and [`truncated_files`] names it;
/// a system call that is given such bytes fails with `EFAULT`. Programs that replace a file by renaming (perf, linkers,
/// package managers) change nothing here.
#[derive(Debug)]
pub struct MappedFile(Option<Guarded>);

/// A mapping, registered as long as it is one: fields are dropped in their order.
#[derive(Debug)]
struct Guarded {
    registered: Registered,
    map: Mmap,
}

impl MappedFile {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// As [`MappedFile::from_file`], and whatever opening says.
    pub fn open(path: impl AsRef<Path>) -> io::Result<MappedFile> {
        let path = path.as_ref();
        MappedFile::from_file(&File::open(path)?, path)
    }

    /// Maps an open file from its start to its present end. The file may be closed afterwards; `path` is what
    /// [`truncated_files`] calls it.
    ///
    /// # Errors
    /// `InvalidInput` for anything but a regular file (pipes and directories have no length to map); the
    /// kernel's answer otherwise.
    pub fn from_file(file: &File, path: &Path) -> io::Result<MappedFile> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        if metadata.len() == 0 {
            return Ok(MappedFile(None));
        }
        // SAFETY: the mapping is private and read-only, and its bytes are only ever read as plain bytes, for which
        // every value is valid. After a truncation the lost pages are replaced by zero pages of the same protection.
        let map = unsafe { MmapOptions::new().map_copy_read_only(file) }?;
        let registered = Registered::new(map.as_ptr(), map.len(), path)?;
        Ok(MappedFile(Some(Guarded { registered, map })))
    }

    /// Marks the file as one without which a result is wrong; see [`TruncatedFile::essential`].
    #[must_use]
    pub fn essential(self) -> MappedFile {
        self.0
            .iter()
            .for_each(|guarded| guarded.registered.call_essential());
        self
    }

    /// Returns whether the file was cut short while it was mapped, and somebody read what it lost.
    pub fn is_truncated(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|guarded| guarded.registered.is_truncated())
    }

    /// Advises the kernel that the bytes will be read from front to back. A hint: failing to take it changes nothing.
    pub fn expect_sequential(&self) {
        if let Some(Guarded { map, .. }) = &self.0 {
            let _ = map.advise(Advice::Sequential);
        }
    }

    /// Gives back the memory of bytes that will hardly be read again; reading them brings them back from the file. A
    /// hint, as [`MappedFile::expect_sequential`].
    pub fn release(&self, bytes: Range<usize>) {
        let inside = bytes.start < bytes.end && bytes.end <= self.len();
        if let Some(Guarded { map, .. }) = self.0.as_ref().filter(|_| inside) {
            // SAFETY: the range lies in the mapping, which is private and read-only: no page of it was ever changed,
            // so that what comes back for a dropped page are the same bytes of the file, or zeros where it lost them.
            let _ = unsafe {
                map.unchecked_advise_range(
                    UncheckedAdvice::DontNeed,
                    bytes.start,
                    bytes.end - bytes.start,
                )
            };
        }
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0
            .as_ref()
            .map(|guarded| &*guarded.map)
            .unwrap_or_default()
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn maps_bytes_and_emptiness() {
        let directory = std::env::temp_dir().join(format!("oxperf-map-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (full, empty) = (directory.join("full"), directory.join("empty"));
        fs::write(&full, "bytes").unwrap();
        fs::write(&empty, "").unwrap();
        let mapped = MappedFile::open(&full).unwrap();
        mapped.expect_sequential();
        assert_eq!(&*mapped, b"bytes");
        mapped.release(1..4);
        mapped.release(3..9);
        assert_eq!(&*mapped, b"bytes");
        assert_eq!(MappedFile::open(&empty).unwrap().len(), 0);
        assert_eq!(
            MappedFile::open(&directory).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(
            MappedFile::open(&full).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    /// A file of this many pages of ones in the temporary folder.
    fn pages(name: &str, count: usize) -> (std::path::PathBuf, File) {
        let path = std::env::temp_dir().join(format!("oxperf-map-{}-{name}", std::process::id()));
        fs::write(&path, vec![1; count * PAGE]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        (path, file)
    }

    /// As large as pages are anywhere.
    const PAGE: usize = 64 << 10;

    fn ones(bytes: &[u8]) -> usize {
        bytes.iter().map(|byte| usize::from(*byte)).sum()
    }

    #[test]
    fn what_a_file_loses_reads_as_zeros() {
        let (path, file) = pages("lost", 5);
        let (neighbour_path, neighbour) = pages("kept", 5);
        let mapped = MappedFile::from_file(&file, &path).unwrap().essential();
        let kept = MappedFile::from_file(&neighbour, &neighbour_path).unwrap();
        file.set_len(2 * PAGE as u64 + 10).unwrap();
        assert!(!mapped.is_truncated());
        assert_eq!(mapped[4 * PAGE], 0);
        assert!(mapped.is_truncated());
        assert_eq!((ones(&mapped), ones(&kept)), (2 * PAGE + 10, 5 * PAGE));
        let named = |path: &Path| truncated_files().into_iter().find(|file| file.path == path);
        let expected = TruncatedFile {
            path: path.clone(),
            essential: true,
        };
        assert_eq!(
            (named(&path).as_ref(), named(&neighbour_path)),
            (Some(&expected), None)
        );
        drop(mapped);
        assert_eq!(named(&path), Some(expected));
    }

    #[test]
    fn many_threads_read_what_many_files_lose() {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    // More than one block of slots.
                    let files: Vec<_> = (0..40)
                        .map(|nth| pages(&format!("many-{thread}-{nth}"), 3))
                        .collect();
                    let maps = files
                        .iter()
                        .map(|(path, file)| MappedFile::from_file(file, path).unwrap());
                    let maps: Vec<MappedFile> = maps.collect();
                    files
                        .iter()
                        .for_each(|(_, file)| file.set_len(PAGE as u64).unwrap());
                    assert!(
                        maps.iter()
                            .all(|map| ones(map) == PAGE && map.is_truncated())
                    );
                    let (path, file) = pages(&format!("again-{thread}"), 2);
                    drop(maps);
                    let again = MappedFile::from_file(&file, &path).unwrap();
                    assert!(ones(&again) == 2 * PAGE && !again.is_truncated());
                });
            }
        });
    }

    /// The signal that ends a copy of this process in which `act` runs; `act` takes no lock and asks for no memory.
    fn signal_of(act: impl Fn()) -> Option<i32> {
        // SAFETY: the child has one thread and calls nothing that another one could have left locked.
        let child = unsafe { libc::fork() };
        if child == 0 {
            act();
            crate::process::exit_at_once(0);
        }
        let mut status = 0;
        // SAFETY: the number is live, and the child is this test's own.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status))
    }

    #[test]
    fn other_bus_errors_kill_as_before() {
        let (path, file) = pages("own", 2);
        let mapped = MappedFile::from_file(&file, &path).unwrap();
        // SAFETY: the file is this test's own.
        let unregistered = unsafe { Mmap::map(&file) }.unwrap();
        file.set_len(0).unwrap();
        let read = |bytes: &[u8]| assert!(std::hint::black_box(bytes[PAGE]) < 2);
        assert_eq!(signal_of(|| read(&mapped)), None);
        assert_eq!(signal_of(|| read(&unregistered)), Some(libc::SIGBUS));
        // SAFETY: raising takes a number only.
        let raise = || unsafe { assert_eq!(libc::raise(libc::SIGBUS), 0) };
        assert_eq!(signal_of(raise), Some(libc::SIGBUS));
    }
}
