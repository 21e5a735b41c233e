//! Records read back from where they were written, piece by piece: a mapping of a file that somebody cuts short would end
//! the recorder.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use oxperf_wire::{Cursor, Endian, RecordHeader};

/// Bytes that are read at once; a record has less.
const PIECE: usize = 1 << 20;

/// Calls `take` with the header and body of each record that is whole; how many bytes they have.
pub(super) fn whole_records(bytes: &[u8], mut take: impl FnMut(RecordHeader, &[u8])) -> usize {
    let mut records = bytes;
    while let Ok(header) = RecordHeader::decode(&mut Cursor::new(records, Endian::NATIVE)) {
        let Some((record, rest)) = records.split_at_checked(header.size as usize) else {
            break;
        };
        take(header, record.get(RecordHeader::SIZE..).unwrap_or_default());
        records = rest;
    }
    bytes.len() - records.len()
}

/// Records of this machine, back to back.
pub(crate) trait RecordBytes {
    /// Calls `take` for each, unless `hurry` wants an end; whether it was all.
    ///
    /// # Errors
    /// They cannot be read to their end.
    fn for_each(
        &self,
        hurry: &dyn Fn() -> bool,
        take: impl FnMut(RecordHeader, &[u8]),
    ) -> io::Result<bool>;
}

/// The bytes of a file where its records stand.
pub(crate) struct FileRecords<'f> {
    pub(crate) file: &'f File,
    pub(crate) range: Range<u64>,
}

impl RecordBytes for FileRecords<'_> {
    fn for_each(
        &self,
        hurry: &dyn Fn() -> bool,
        mut take: impl FnMut(RecordHeader, &[u8]),
    ) -> io::Result<bool> {
        let mut piece = vec![0; PIECE];
        let (mut at, mut held) = (self.range.start, 0);
        loop {
            let left = usize::try_from(self.range.end.saturating_sub(at)).unwrap_or(usize::MAX);
            let wanted = left.min(PIECE - held);
            if wanted == 0 || hurry() {
                return Ok(wanted == 0);
            }
            let read = match self.file.read_at(&mut piece[held..held + wanted], at) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            (at, held) = (at + read as u64, held + read);
            let taken = whole_records(&piece[..held], &mut take);
            piece.copy_within(taken..held, 0);
            held -= taken;
        }
    }
}

impl<R: RecordBytes> RecordBytes for [R] {
    fn for_each(
        &self,
        hurry: &dyn Fn() -> bool,
        mut take: impl FnMut(RecordHeader, &[u8]),
    ) -> io::Result<bool> {
        for records in self {
            if !records.for_each(hurry, &mut take)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{Misc, RecordType};
    use oxperf_wire::Encoder;
    use std::fs;

    /// Records that are there already.
    impl RecordBytes for &[u8] {
        fn for_each(
            &self,
            _: &dyn Fn() -> bool,
            take: impl FnMut(RecordHeader, &[u8]),
        ) -> io::Result<bool> {
            whole_records(self, take);
            Ok(true)
        }
    }

    #[test]
    fn records_across_pieces_are_whole() {
        let mut encoder = Encoder::new(Endian::NATIVE);
        for number in 0..200u64 {
            encoder.record(RecordType::SAMPLE, Misc(0), |body| {
                body.u64(number);
                body.bytes(&[0; 16 << 10]);
            });
        }
        let path = std::env::temp_dir().join(format!("oxperf-read-{}", std::process::id()));
        fs::write(&path, [&b"12345678"[..], encoder.as_bytes()].concat()).unwrap();
        let file = File::open(&path).unwrap();
        let end = 8 + encoder.as_bytes().len() as u64;
        let numbers = |range: Range<u64>, hurry: &dyn Fn() -> bool| {
            let mut numbers = Vec::new();
            let all = FileRecords { file: &file, range }.for_each(hurry, |_, body| {
                numbers.push(u64::from_ne_bytes(*body.first_chunk().unwrap()));
            });
            all.map(|all| (all, numbers))
        };
        let (all, read) = numbers(8..end, &|| false).unwrap();
        assert!(all && read.into_iter().eq(0..200));
        let (all, read) = numbers(8..end, &|| true).unwrap();
        assert!(!all && read.is_empty());
        // Somebody cut the file.
        assert_eq!(
            numbers(8..end + 8, &|| false).unwrap_err().kind(),
            ErrorKind::UnexpectedEof
        );
        fs::remove_file(path).unwrap();
    }
}
