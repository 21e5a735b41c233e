//! Records that are looked at once and not kept: read in pieces, several stretches of the file at once.
//!
//! Setting up the pages of a mapped file takes longer than looking at its record headers. So where the open file is at
//! hand, its bytes are read into a buffer that is small enough for the CPU's cache, and what a piece does not show
//! clearly (a record longer than the piece, damage, the end) is left to the image.
//!
//! ```text
//! |-- stretch 0 --|-- stretch 1 --|-- stretch 2 --|     begins are guessed: bytes that look like records
//!                 ^ the guess holds if stretch 0 ends here, else stretch 1 is walked again
//! ```

use std::fs::File;
use std::io;
use std::thread::{Builder, ScopedJoinHandle};

use oxperf_abi::FileOffset;

use super::framing::Framing;
use super::{RawRecord, Records};
use crate::Damage;

/// Bytes of a piece.
const PIECE: usize = 128 << 10;
/// A thread is not worth its start for less.
const SMALLEST_STRETCH: u64 = 4 << 20;
/// Memory is no faster with more.
const MOST_STRETCHES: usize = 8;

/// The outcome of one record, or of a stretch that holds none.
type Item<'r> = Result<RawRecord<'r>, Damage>;

impl Records<'_> {
    /// Shows every record to `visit`, with `threads` threads if so many help. Each stretch of the file has a value of its own,
    /// made by `fresh`; they come back in the order of the file.
    pub fn skim<T: Send>(
        &self,
        threads: usize,
        fresh: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, Item<'_>) + Sync,
    ) -> Vec<T> {
        let begins = self.begins(threads);
        let ends = begins.iter().skip(1).copied().chain([FileOffset(u64::MAX)]);
        let stretches: Vec<(FileOffset, FileOffset)> = begins.iter().copied().zip(ends).collect();
        let walk = |(from, until)| {
            let mut value = fresh();
            let end = Stretch {
                image: self.starting_at(from),
                until,
            }
            .walk(&mut |item| visit(&mut value, item));
            (value, end)
        };
        let walked = on_threads(&stretches, &walk);
        self.join(&stretches, walked, walk)
    }

    /// Keeps the stretches that begin where the one before ended; walks the others again.
    fn join<T>(
        &self,
        stretches: &[(FileOffset, FileOffset)],
        walked: Vec<(T, FileOffset)>,
        walk: impl Fn((FileOffset, FileOffset)) -> (T, FileOffset),
    ) -> Vec<T> {
        let mut at = self.offset();
        let mut values = Vec::with_capacity(walked.len());
        for ((from, until), found) in stretches.iter().zip(walked) {
            let (value, end) = if *from == at {
                found
            } else {
                walk((at, *until))
            };
            values.push(value);
            at = end;
        }
        values
    }

    /// The beginnings of stretches, the first one at the first record.
    fn begins(&self, threads: usize) -> Vec<FileOffset> {
        let (first, size) = (self.offset(), self.rest().len() as u64);
        let count = (size / SMALLEST_STRETCH)
            .min(threads.min(MOST_STRETCHES) as u64)
            .max(1);
        let guesses = (1..count).filter_map(|index| self.guess(first.0 + size / count * index));
        let mut begins: Vec<FileOffset> = std::iter::once(first).chain(guesses).collect();
        begins.dedup();
        begins
    }

    /// A place at or after `offset` where a record seems to begin. Records are a multiple of eight bytes long, nearly all.
    fn guess(&self, offset: u64) -> Option<FileOffset> {
        const FARTHEST: u64 = 1 << 20;
        let aligned = self.offset().0 + (offset - self.offset().0).next_multiple_of(8);
        let places = (aligned..aligned.saturating_add(FARTHEST)).step_by(8);
        places
            .map(FileOffset)
            .find(|place| self.starting_at(*place).begins_like_records())
    }

    /// Returns whether several records of known kinds follow one another from here. By chance that happens; who asks
    /// must not rely on it.
    fn begins_like_records(&self) -> bool {
        const SEVERAL: usize = 8;
        let mut rest = self.rest();
        for _ in 0..SEVERAL {
            let Some((header, length)) = self.clear(rest) else {
                return false;
            };
            if header.kind.name().is_none() || !length.is_multiple_of(8) {
                return false;
            }
            rest = &rest[length..];
        }
        true
    }
}

/// Runs `walk` for each stretch, the first one here and the others on threads of their own, as far as these can be had.
fn on_threads<S: Copy + Send + Sync, T: Send>(
    stretches: &[S],
    walk: &(impl Fn(S) -> T + Sync),
) -> Vec<T> {
    let Some((first, others)) = stretches.split_first() else {
        return Vec::new();
    };
    std::thread::scope(|scope| {
        let begin = |stretch: &S| {
            let stretch = *stretch;
            Builder::new()
                .spawn_scoped(scope, move || walk(stretch))
                .map_err(|_| stretch)
        };
        let others: Vec<_> = others.iter().map(begin).collect();
        let first = walk(*first);
        let others = others
            .into_iter()
            .map(|begun| match begun.map(ScopedJoinHandle::join) {
                Ok(Ok(value)) => value,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(stretch) => walk(stretch),
            });
        std::iter::once(first).chain(others).collect()
    })
}

/// A stretch of the file: the records that begin before `until`.
struct Stretch<'a> {
    image: Records<'a>,
    until: FileOffset,
}

impl Stretch<'_> {
    /// Shows its records; gives where the next one begins.
    fn walk(mut self, visit: &mut impl FnMut(Item<'_>)) -> FileOffset {
        if let Some(file) = self.image.file() {
            self.walk_pieces(file, visit);
        }
        while self.image.offset() < self.until {
            let Some(item) = self.image.next() else { break };
            visit(item);
        }
        self.image.offset()
    }

    /// Reads pieces until something is not clear: from there on the image tells.
    fn walk_pieces(&mut self, file: &File, visit: &mut impl FnMut(Item<'_>)) {
        let mut buffer = vec![0; PIECE.min(self.image.rest().len())];
        while self.image.offset() < self.until {
            let at = self.image.offset();
            let wanted = buffer.len().min(self.image.rest().len());
            let Ok(count) = read_at(file, &mut buffer[..wanted], at.0) else {
                return;
            };
            let passed = self.walk_piece(&buffer[..count], at, visit);
            self.image = self.image.starting_at(FileOffset(at.0 + passed as u64));
            if passed == 0 && !self.step_over(visit) {
                return;
            }
        }
    }

    /// Shows the whole records of a piece that begins at `at`; gives how many bytes they take.
    fn walk_piece(&self, piece: &[u8], at: FileOffset, visit: &mut impl FnMut(Item<'_>)) -> usize {
        let mut position = 0;
        while at.0 + (position as u64) < self.until.0 {
            let rest = &piece[position..];
            let Some((header, length)) = self.image.clear(rest) else {
                break;
            };
            let offset = FileOffset(at.0 + position as u64);
            let (body, payload) = rest[..length].split_at(header.size as usize);
            visit(Ok(RawRecord {
                offset,
                header,
                body: &body[Framing::HEADER..],
                payload,
            }));
            position += length;
        }
        position
    }

    /// Shows one record from the image: it may be longer than a piece. `false` when it is none.
    fn step_over(&mut self, visit: &mut impl FnMut(Item<'_>)) -> bool {
        let item = self.image.next();
        let goes_on = matches!(item, Some(Ok(_)));
        item.into_iter().for_each(visit);
        goes_on
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// Elsewhere a file's position would move under the other threads.
#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::super::sanity::SanityCheck;
    use super::*;
    use crate::Section;
    use oxperf_wire::Endian;

    /// Ten million bytes of records of several sizes, with words inside that look like records.
    fn recording() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut size = 16;
        while bytes.len() < 10_000_000 {
            bytes.extend(u64::to_le_bytes(9 | size << 48));
            let inner = if size % 3 == 0 { 9 | 16 << 48 } else { size };
            (1..size / 8).for_each(|_| bytes.extend(u64::to_le_bytes(inner)));
            size = 16 + size * 5 % 2000;
        }
        bytes
    }

    /// One step of a walk over the image, as tests compare it: places and bodies, or damage.
    fn told(item: Item<'_>) -> (u64, usize, bool) {
        item.map_or((0, 0, true), |raw| {
            (raw.offset.0, raw.body.len() + raw.payload.len(), false)
        })
    }

    fn check(bytes: &[u8], name: &str) {
        let path = std::env::temp_dir().join(format!("oxperf-skim-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let file = File::open(&path).unwrap();
        let section = Section {
            offset: 0,
            size: bytes.len() as u64,
        };
        let image = Records::new(
            bytes,
            section,
            SanityCheck::new(Framing {
                endian: Endian::Little,
            }),
        );
        let expected: Vec<_> = image.clone().map(told).collect();
        for records in [image.clone(), image.read_from(Some(&file))] {
            for threads in [1, 2, 7] {
                let found = records.skim(threads, Vec::new, |list: &mut Vec<_>, item| {
                    list.push(told(item))
                });
                assert_eq!(found.len(), threads.min(bytes.len() >> 22).max(1));
                assert!(found.concat() == expected, "{name}, {threads} threads");
            }
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn stretches_together_are_the_whole() {
        check(&recording(), "whole");
    }

    #[test]
    fn what_is_longer_than_a_piece_is_not_lost() {
        let mut bytes = recording();
        let trace = [71, 16 << 48, 5 << 20].map(u64::to_le_bytes).concat();
        bytes.splice(
            0..0,
            [
                &[71u8, 0, 0, 0, 0, 0, 16, 0][..],
                &trace[16..],
                &vec![9; 5 << 20],
            ]
            .concat(),
        );
        check(&bytes, "trace");
    }

    #[test]
    fn damage_is_found_as_by_a_plain_walk() {
        let mut bytes = recording();
        bytes.truncate(bytes.len() - 4);
        check(&bytes, "cut");
        for at in [16, 5_000_000, 7_000_004] {
            bytes[at..at + 24].fill(0xff);
            check(&bytes, "broken");
        }
    }
}
