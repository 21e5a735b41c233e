//! Code that a program made at run time, as the program logged it itself: jitdump files.
//!
//! A compiler appends a record for each function that it makes, moves or describes, with the time of the monotonic
//! clock (or of the CPU's counter). The file ends wherever the program did; what stands before damage counts.

use std::collections::HashMap;
use std::sync::Arc;

/// The time that a file's records tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JitClock {
    /// Nanoseconds of the monotonic clock.
    Monotonic,
    /// The CPU's own counter.
    Cpu,
}

/// All code that a file tells of, in its order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JitDump {
    /// What the times are.
    pub clock: JitClock,
    /// Every function at every place that it had.
    pub code: Vec<JitCode>,
    /// Where the file cannot be read on, if it cannot be read to its end.
    pub damaged_at: Option<usize>,
}

/// A function at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JitCode {
    /// Since when it is there.
    pub time: u64,
    /// Its first address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// The number that its compiler gave it; the same wherever it is moved.
    pub index: u64,
    /// Its name; untrusted, it may hold any character.
    pub name: Arc<str>,
}

/// Why a file is no log of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JitDumpError {
    /// It does not begin as one.
    #[error("not a jitdump file: it does not begin with JiTD")]
    Magic,
    /// It ends inside its header.
    #[error("the jitdump file ends inside its header, after {0} bytes")]
    HeaderCut(usize),
    /// A version that is not known.
    #[error("version {0} of jitdump files is not known, only version 1")]
    Version(u32),
}

const MAGIC: u32 = 0x4a69_5444;
const HEADER: usize = 40;
const RECORD_HEADER: usize = 16;
const CPU_TIMES: u64 = 1;
const LOAD: u32 = 0;
const MOVE: u32 = 1;
const CLOSE: u32 = 3;

impl JitDump {
    /// Reads a whole file, of either byte order.
    ///
    /// # Errors
    /// When it is no such file at all; damage further on is [`JitDump::damaged_at`].
    pub fn parse(bytes: &[u8]) -> Result<JitDump, JitDumpError> {
        let little_endian = match bytes.first_chunk().map(|word| u32::from_le_bytes(*word)) {
            Some(MAGIC) => true,
            Some(word) if word.swap_bytes() == MAGIC => false,
            _ => return Err(JitDumpError::Magic),
        };
        let header = Fields { bytes, little_endian };
        let cut = JitDumpError::HeaderCut(bytes.len());
        let (version, size) = header.u32(4).zip(header.u32(8)).ok_or(cut)?;
        if version != 1 {
            return Err(JitDumpError::Version(version));
        }
        let flags = header.u64(32).ok_or(cut)?;
        let clock = if flags & CPU_TIMES == 0 { JitClock::Monotonic } else { JitClock::Cpu };
        let mut dump = JitDump { clock, code: Vec::new(), damaged_at: None };
        dump.read_records(bytes, (size as usize).max(HEADER), little_endian);
        Ok(dump)
    }

    fn read_records(&mut self, bytes: &[u8], mut at: usize, little_endian: bool) {
        let mut names = HashMap::new();
        while at < bytes.len() {
            let Some(record) = record_at(bytes, at, little_endian) else {
                self.damaged_at = Some(at);
                return;
            };
            if record.u32(0) == Some(CLOSE) {
                return;
            }
            self.code.extend(code(&record, &mut names));
            at += record.bytes.len();
        }
    }
}

/// The bytes of the record at an offset.
fn record_at(bytes: &[u8], at: usize, little_endian: bool) -> Option<Fields<'_>> {
    let rest = Fields { bytes: bytes.get(at..)?, little_endian };
    let size = usize::try_from(rest.u32(4)?).ok().filter(|size| *size >= RECORD_HEADER)?;
    Some(Fields { bytes: rest.bytes.get(..size)?, little_endian })
}

/// The code that a record tells of; `None` for other records, and for those that are too short for what they are.
fn code(record: &Fields<'_>, names: &mut HashMap<u64, Arc<str>>) -> Option<JitCode> {
    let time = record.u64(8)?;
    match record.u32(0)? {
        LOAD => {
            let (address, size, index) = (record.u64(32)?, record.u64(40)?, record.u64(48)?);
            let name = record.bytes.get(56..)?.split(|byte| *byte == 0).next()?;
            let name: Arc<str> = String::from_utf8_lossy(name).into();
            names.insert(index, Arc::clone(&name));
            Some(JitCode { time, address, size, index, name })
        }
        MOVE => {
            let (address, size, index) = (record.u64(40)?, record.u64(48)?, record.u64(56)?);
            Some(JitCode { time, address, size, index, name: Arc::clone(names.get(&index)?) })
        }
        _ => None,
    }
}

/// Numbers at offsets.
struct Fields<'a> {
    bytes: &'a [u8],
    little_endian: bool,
}

impl Fields<'_> {
    fn u32(&self, at: usize) -> Option<u32> {
        let word = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.little_endian { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) })
    }

    fn u64(&self, at: usize) -> Option<u64> {
        let word = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.little_endian { u64::from_le_bytes(word) } else { u64::from_be_bytes(word) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these records, each `(kind, time, words behind the ids, text)`.
    fn file(little_endian: bool, records: &[(u32, u64, &[u64], &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        let put32 = |out: &mut Vec<u8>, word: u32| {
            out.extend(if little_endian { word.to_le_bytes() } else { word.to_be_bytes() });
        };
        let put64 = |out: &mut Vec<u8>, word: u64| {
            out.extend(if little_endian { word.to_le_bytes() } else { word.to_be_bytes() });
        };
        [MAGIC, 1, 40, 62, 0, 7].into_iter().for_each(|word| put32(&mut out, word));
        [1000, 0].into_iter().for_each(|word| put64(&mut out, word));
        for (kind, time, words, text) in records {
            let size = 16 + 8 + 8 * words.len() + text.len();
            [*kind, size as u32].into_iter().for_each(|word| put32(&mut out, word));
            put64(&mut out, *time);
            [7, 7].into_iter().for_each(|word| put32(&mut out, word));
            words.iter().for_each(|word| put64(&mut out, *word));
            out.extend(text.bytes());
        }
        out
    }

    const RECORDS: [(u32, u64, &[u64], &str); 5] = [
        (LOAD, 10, &[0x1000, 0x1000, 0x20, 1], "one\0code"),
        (4, 11, &[1, 2, 3], "unwinding"),
        (MOVE, 12, &[0x2000, 0x1000, 0x2000, 0x20, 1], ""),
        (MOVE, 13, &[0x2000, 0x1000, 0x2000, 0x20, 9], ""),
        (LOAD, 14, &[0x1000, 0x1000, 0x10, 2], "two\0"),
    ];

    fn told(dump: &JitDump) -> Vec<(u64, u64, u64, u64, &str)> {
        dump.code.iter().map(|code| (code.time, code.address, code.size, code.index, &*code.name)).collect()
    }

    #[test]
    fn code_is_loaded_and_moved_in_both_byte_orders() {
        for little_endian in [true, false] {
            let dump = JitDump::parse(&file(little_endian, &RECORDS)).unwrap();
            let expected =
                [(10, 0x1000, 0x20, 1, "one"), (12, 0x2000, 0x20, 1, "one"), (14, 0x1000, 0x10, 2, "two")];
            assert_eq!(
                (told(&dump), dump.clock, dump.damaged_at),
                (expected.to_vec(), JitClock::Monotonic, None)
            );
        }
    }

    #[test]
    fn what_stands_before_damage_counts() {
        let whole = file(true, &RECORDS);
        for length in 0..whole.len() {
            match JitDump::parse(&whole[..length]) {
                Ok(dump) => assert!(dump.code.len() < 3 && length >= HEADER),
                Err(error) => assert!(length < HEADER, "{error}"),
            }
        }
        let mut zero = whole.clone();
        zero[HEADER + 4..HEADER + 8].fill(0);
        assert_eq!(JitDump::parse(&zero).unwrap().damaged_at, Some(HEADER));
        assert_eq!(JitDump::parse(b"no log"), Err(JitDumpError::Magic));
    }

    #[test]
    fn nothing_follows_the_end() {
        let records = [(CLOSE, 9, &[][..], ""), RECORDS[0]];
        assert_eq!(JitDump::parse(&file(true, &records)).unwrap().code, []);
    }
}
