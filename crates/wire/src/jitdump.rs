//! Code that a program made at run time, as the program logged it itself: jitdump files.
//!
//! A compiler appends a record for each function that it makes, moves or describes, with the time of the monotonic
//! clock (or of the CPU's counter). The file ends wherever the program did; what stands before damage counts.

use std::collections::HashMap;
use std::sync::Arc;

/// The clock of a file's times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JitClock {
    /// Nanoseconds of the monotonic clock.
    Monotonic,
    /// The CPU's own counter.
    Cpu,
}

/// All code of a file, in its order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JitDump {
    /// The clock of the times.
    pub clock: JitClock,
    /// Every function at every place that it had.
    pub code: Vec<JitCode>,
    /// The offset from which the file cannot be read, if it cannot be read to its end.
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
    /// Its source lines, in the order of the file; they hold wherever it is moved.
    pub lines: Arc<[JitLine]>,
    /// Its unwinding tables, where its compiler gives them; they hold wherever it is moved.
    pub unwinding: Option<Arc<JitUnwinding>>,
}

/// The unwind table of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JitUnwinding {
    /// The processor, as ELF files number it.
    pub machine: u32,
    /// True if the lowest byte of a number comes first.
    pub little_endian: bool,
    /// Entries as in `.eh_frame`, as they would stand behind the function's code, at a multiple of eight bytes from its
    /// beginning.
    pub entries: Box<[u8]>,
}

/// Start of a source line of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JitLine {
    /// Bytes from the function's first address.
    pub offset: u64,
    /// The source file; untrusted.
    pub file: Arc<str>,
    /// The line.
    pub line: u32,
}

/// The reason why a file is no log of code.
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
const DEBUG_INFO: u32 = 2;
const CLOSE: u32 = 3;
const UNWINDING: u32 = 4;

impl JitDump {
    /// Reads a whole file, of either byte order.
    ///
    /// # Errors
    /// It is no such file at all; damage further on is [`JitDump::damaged_at`].
    pub fn parse(bytes: &[u8]) -> Result<JitDump, JitDumpError> {
        let little_endian = match bytes.first_chunk().map(|word| u32::from_le_bytes(*word)) {
            Some(MAGIC) => true,
            Some(word) if word.swap_bytes() == MAGIC => false,
            _ => return Err(JitDumpError::Magic),
        };
        let header = Fields {
            bytes,
            little_endian,
        };
        let cut = JitDumpError::HeaderCut(bytes.len());
        let (version, size) = header.u32(4).zip(header.u32(8)).ok_or(cut)?;
        if version != 1 {
            return Err(JitDumpError::Version(version));
        }
        let (machine, flags) = header.u32(12).zip(header.u64(32)).ok_or(cut)?;
        let clock = if flags & CPU_TIMES == 0 {
            JitClock::Monotonic
        } else {
            JitClock::Cpu
        };
        let mut dump = JitDump {
            clock,
            code: Vec::new(),
            damaged_at: None,
        };
        let known = Known {
            machine,
            ..Known::default()
        };
        dump.read_records(bytes, (size as usize).max(HEADER), known, little_endian);
        Ok(dump)
    }

    fn read_records(&mut self, bytes: &[u8], mut at: usize, mut known: Known, little_endian: bool) {
        while at < bytes.len() {
            let Some(record) = record_at(bytes, at, little_endian) else {
                self.damaged_at = Some(at);
                return;
            };
            if record.u32(0) == Some(CLOSE) {
                return;
            }
            self.code.extend(known.code(&record));
            at += record.bytes.len();
        }
    }
}

/// The bytes of the record at an offset.
fn record_at(bytes: &[u8], at: usize, little_endian: bool) -> Option<Fields<'_>> {
    let rest = Fields {
        bytes: bytes.get(at..)?,
        little_endian,
    };
    let size = usize::try_from(rest.u32(4)?)
        .ok()
        .filter(|size| *size >= RECORD_HEADER)?;
    Some(Fields {
        bytes: rest.bytes.get(..size)?,
        little_endian,
    })
}

/// Facts of records that later ones refer to.
#[derive(Default)]
struct Known {
    /// The processor.
    machine: u32,
    /// Functions by number, in the order of their records.
    functions: HashMap<u64, JitCode>,
    /// Lines of the function that comes next, with its address.
    lines: Option<(u64, Arc<[JitLine]>)>,
    /// The unwind table of the function that comes next.
    unwinding: Option<Arc<JitUnwinding>>,
}

impl Known {
    /// The code of a record; `None` for other records, and for those that are too short for what they are.
    fn code(&mut self, record: &Fields<'_>) -> Option<JitCode> {
        let time = record.u64(8)?;
        match record.u32(0)? {
            LOAD => {
                let (address, size, index) = (record.u64(32)?, record.u64(40)?, record.u64(48)?);
                let name = record.text(56)?.0;
                let lines = self
                    .lines
                    .take()
                    .filter(|(of, _)| *of == address)
                    .map(|(_, lines)| lines);
                let (lines, unwinding) = (lines.unwrap_or_default(), self.unwinding.take());
                let code = JitCode {
                    time,
                    address,
                    size,
                    index,
                    name,
                    lines,
                    unwinding,
                };
                self.functions.insert(index, code.clone());
                Some(code)
            }
            MOVE => {
                let (address, size, index) = (record.u64(40)?, record.u64(48)?, record.u64(56)?);
                Some(JitCode {
                    time,
                    address,
                    size,
                    ..self.functions.get(&index)?.clone()
                })
            }
            DEBUG_INFO => {
                self.lines = record
                    .u64(16)
                    .map(|address| (address, lines(record, address)));
                None
            }
            UNWINDING => {
                self.unwinding = unwinding(record, self.machine).map(Arc::new);
                None
            }
            _ => None,
        }
    }
}

/// The unwind table in a record: its entries; the search table behind them is not needed.
fn unwinding(record: &Fields<'_>, machine: u32) -> Option<JitUnwinding> {
    let (size, search) = (record.u64(16)?, record.u64(24)?);
    let size = usize::try_from(size.checked_sub(search)?)
        .ok()
        .filter(|size| *size > 0)?;
    let entries = record.bytes.get(40..)?.get(..size)?.into();
    Some(JitUnwinding {
        machine,
        little_endian: record.little_endian,
        entries,
    })
}

/// The lines that a record gives of the function at an address, as far as the record goes.
fn lines(record: &Fields<'_>, function: u64) -> Arc<[JitLine]> {
    let mut lines: Vec<JitLine> = Vec::new();
    let mut at = 32;
    for _ in 0..record.u64(24).unwrap_or(0) {
        let Some(((address, line), (mut file, next))) = record
            .u64(at)
            .zip(record.u32(at + 8))
            .zip(record.text(at + 16))
        else {
            break;
        };
        if record.bytes.get(at + 16..next) == Some(&SAME_FILE)
            && let Some(last) = lines.last()
        {
            file = Arc::clone(&last.file);
        }
        lines.push(JitLine {
            offset: address.wrapping_sub(function),
            file,
            line,
        });
        at = next;
    }
    lines.into()
}

/// In the place of a file's name: the same as before.
const SAME_FILE: [u8; 2] = [0xff, 0];

/// Numbers at offsets.
struct Fields<'a> {
    bytes: &'a [u8],
    little_endian: bool,
}

impl Fields<'_> {
    /// A text that a zero ends, and where it goes on behind that.
    fn text(&self, at: usize) -> Option<(Arc<str>, usize)> {
        let text = self.bytes.get(at..)?.split(|byte| *byte == 0).next()?;
        Some((String::from_utf8_lossy(text).into(), at + text.len() + 1))
    }

    fn u32(&self, at: usize) -> Option<u32> {
        let word = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.little_endian {
            u32::from_le_bytes(word)
        } else {
            u32::from_be_bytes(word)
        })
    }

    fn u64(&self, at: usize) -> Option<u64> {
        let word = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.little_endian {
            u64::from_le_bytes(word)
        } else {
            u64::from_be_bytes(word)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these records, each `(kind, time, words behind the ids, text)`.
    fn file(little_endian: bool, records: &[(u32, u64, &[u64], &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        let put32 = |out: &mut Vec<u8>, word: u32| {
            out.extend(if little_endian {
                word.to_le_bytes()
            } else {
                word.to_be_bytes()
            });
        };
        let put64 = |out: &mut Vec<u8>, word: u64| {
            out.extend(if little_endian {
                word.to_le_bytes()
            } else {
                word.to_be_bytes()
            });
        };
        [MAGIC, 1, 40, 62, 0, 7]
            .into_iter()
            .for_each(|word| put32(&mut out, word));
        [1000, 0].into_iter().for_each(|word| put64(&mut out, word));
        for (kind, time, words, text) in records {
            let size = 16 + 8 + 8 * words.len() + text.len();
            [*kind, size as u32]
                .into_iter()
                .for_each(|word| put32(&mut out, word));
            put64(&mut out, *time);
            [7, 7].into_iter().for_each(|word| put32(&mut out, word));
            words.iter().for_each(|word| put64(&mut out, *word));
            out.extend(text.bytes());
        }
        out
    }

    const RECORDS: [(u32, u64, &[u64], &str); 5] = [
        (LOAD, 10, &[0x1000, 0x1000, 0x20, 1], "one\0code"),
        (99, 11, &[1, 2, 3], "unknown"),
        (MOVE, 12, &[0x2000, 0x1000, 0x2000, 0x20, 1], ""),
        (MOVE, 13, &[0x2000, 0x1000, 0x2000, 0x20, 9], ""),
        (LOAD, 14, &[0x1000, 0x1000, 0x10, 2], "two\0"),
    ];

    fn told(dump: &JitDump) -> Vec<(u64, u64, u64, u64, &str)> {
        dump.code
            .iter()
            .map(|code| (code.time, code.address, code.size, code.index, &*code.name))
            .collect()
    }

    #[test]
    fn code_is_loaded_and_moved_in_both_byte_orders() {
        for little_endian in [true, false] {
            let dump = JitDump::parse(&file(little_endian, &RECORDS)).unwrap();
            let expected = [
                (10, 0x1000, 0x20, 1, "one"),
                (12, 0x2000, 0x20, 1, "one"),
                (14, 0x1000, 0x10, 2, "two"),
            ];
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

    /// The body of a record of lines: each the address, the line and the file.
    fn line_record(function: u64, lines: &[(u64, u32, &[u8])]) -> Vec<u8> {
        let mut body: Vec<u8> = [function, lines.len() as u64]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        for (address, line, file) in lines {
            body.extend(address.to_le_bytes());
            body.extend([line.to_le_bytes(), [0; 4]].concat());
            body.extend(*file);
        }
        let header = [DEBUG_INFO, 16 + body.len() as u32, 9, 0];
        header
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .chain(body)
            .collect()
    }

    #[test]
    fn lines_belong_to_the_function_that_follows_and_move_with_it() {
        let lines: [(u64, u32, &[u8]); 2] = [(0x1000, 10, b"hot.js\0"), (0x1008, 12, &SAME_FILE)];
        let mut bytes = file(true, &[]);
        bytes.extend(line_record(0x1000, &lines));
        let behind = bytes.len();
        bytes.extend(&file(true, &RECORDS)[HEADER..]);
        let told = |dump: JitDump| -> Vec<Vec<(u64, String, u32)>> {
            let lines = |code: &JitCode| {
                code.lines
                    .iter()
                    .map(|line| (line.offset, line.file.to_string(), line.line))
                    .collect()
            };
            dump.code.iter().map(lines).collect()
        };
        let expected = vec![(0, "hot.js".to_owned(), 10), (8, "hot.js".to_owned(), 12)];
        assert_eq!(
            told(JitDump::parse(&bytes).unwrap()),
            [expected.clone(), expected, vec![]]
        );
        // Of another function, and more of them than the record holds.
        let mut other = bytes.clone();
        other[HEADER + 16] = 1;
        assert_eq!(told(JitDump::parse(&other).unwrap())[0], vec![]);
        bytes[HEADER + 24..HEADER + 32].fill(0xff);
        assert_eq!(told(JitDump::parse(&bytes).unwrap())[0].len(), 2);
        for length in HEADER..behind {
            assert_eq!(JitDump::parse(&bytes[..length]).unwrap().code, []);
        }
    }

    #[test]
    fn unwind_tables_belong_to_the_function_that_follows_and_move_with_it() {
        let mut bytes = file(true, &[]);
        let body = [[6u64, 2, 6].map(u64::to_le_bytes).as_flattened(), b"tab+se"].concat();
        bytes.extend(
            [UNWINDING, 16 + body.len() as u32, 9, 0]
                .map(u32::to_le_bytes)
                .as_flattened(),
        );
        bytes.extend(&body);
        let behind = bytes.len();
        bytes.extend(&file(true, &RECORDS)[HEADER..]);
        let told = |dump: JitDump| -> Vec<Option<Vec<u8>>> {
            let entries = |code: &JitCode| Some(code.unwinding.as_ref()?.entries.to_vec());
            dump.code.iter().map(entries).collect()
        };
        let dump = JitDump::parse(&bytes).unwrap();
        assert_eq!(
            dump.code[0].unwinding.as_ref().map(|table| table.machine),
            Some(62)
        );
        assert_eq!(
            told(dump),
            [Some(b"tab+".to_vec()), Some(b"tab+".to_vec()), None]
        );
        // Sizes that the record does not hold.
        for (at, byte) in [(HEADER + 16, 0xff), (HEADER + 24, 7), (HEADER + 24, 6)] {
            let mut other = bytes.clone();
            other[at] = byte;
            assert_eq!(
                told(JitDump::parse(&other).unwrap())[0],
                None,
                "{at} {byte}"
            );
        }
        for length in HEADER..behind {
            assert_eq!(JitDump::parse(&bytes[..length]).unwrap().code, []);
        }
    }

    #[test]
    fn nothing_follows_the_end() {
        let records = [(CLOSE, 9, &[][..], ""), RECORDS[0]];
        assert_eq!(JitDump::parse(&file(true, &records)).unwrap().code, []);
    }
}
