//! Reads what the fixtures hold: the trace inside a `perf.data` file, and the code that was mapped.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use intel_pt::{Code, CodeAddress, CodeSource, Config, ImageId, Ratio, TraceChunk, Tsc};

/// A recording: how it was made, and the trace of each processor or thread.
pub(crate) struct Recording {
    pub(crate) config: Config,
    pub(crate) queues: BTreeMap<u32, Vec<Buffer>>,
}

/// A part of a trace; it goes on where the one before ended.
pub(crate) struct Buffer {
    offset: u64,
    reference: u64,
    bytes: Vec<u8>,
}

impl Buffer {
    pub(crate) fn stretch(&self) -> TraceChunk<'_> {
        let reference = Some(Tsc(self.reference));
        TraceChunk {
            bytes: &self.bytes,
            offset: self.offset,
            consecutive: self.offset != 0,
            reference,
        }
    }
}

const AUXTRACE_INFO: u32 = 70;
const AUXTRACE: u32 = 71;

/// Reads the AUX records of a `perf.data` file.
pub(crate) fn read(path: &Path) -> Recording {
    let file = fs::read(path).expect("the recording can be read");
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let half = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let attributes = word(24) as usize;
    let attr_config = word(attributes + 8);
    let (mut at, end) = (word(40) as usize, (word(40) + word(48)) as usize);
    let mut recording = Recording {
        config: Config::default(),
        queues: BTreeMap::new(),
    };
    while at + 8 <= end {
        let size = usize::from(u16::from_le_bytes(file[at + 6..at + 8].try_into().unwrap()));
        match half(at) {
            AUXTRACE_INFO => {
                recording.config = config(attr_config, &|index| word(at + 16 + 8 * index))
            }
            AUXTRACE => {
                let length = word(at + 8) as usize;
                let bytes = file[at + size..at + size + length].to_vec();
                let buffer = Buffer {
                    offset: word(at + 16),
                    reference: word(at + 24),
                    bytes,
                };
                recording
                    .queues
                    .entry(half(at + 32))
                    .or_default()
                    .push(buffer);
                at += length;
            }
            _ => {}
        }
        at += size;
    }
    recording
}

fn config(attr: u64, private: &dyn Fn(usize) -> u64) -> Config {
    let frequency = private(11);
    Config {
        return_compression: attr & private(6) == 0,
        mtc_shift: if frequency == 0 {
            0
        } else {
            ((attr & frequency) >> frequency.trailing_zeros()) as u8
        },
        tsc_to_crystal: Some(Ratio {
            numerator: private(12) as u32,
            denominator: private(13) as u32,
        }),
        max_non_turbo_ratio: NonZeroU32::new(private(15) as u32),
        ..Config::default()
    }
}

/// The mappings of a program, as `maps.txt` lists them.
pub(crate) struct Maps {
    mappings: Vec<Mapping>,
}

struct Mapping {
    start: u64,
    offset: u64,
    bytes: Vec<u8>,
}

impl Maps {
    /// Reads `start end offset path` lines; the files lie below `root`.
    pub(crate) fn read(list: &Path, root: &Path) -> Maps {
        let list = fs::read_to_string(list).expect("maps.txt can be read");
        Maps {
            mappings: list.lines().map(|line| mapping(line, root)).collect(),
        }
    }
}

fn mapping(line: &str, root: &Path) -> Mapping {
    let mut words = line.splitn(4, ' ');
    let mut number = || u64::from_str_radix(words.next().unwrap(), 16).unwrap();
    let (start, end, offset) = (number(), number(), number());
    let file = follow(&root.join(words.next().unwrap().trim_start_matches('/')));
    let bytes = file
        .and_then(|file| fs::read(file).ok())
        .unwrap_or_default();
    let from = (offset as usize).min(bytes.len());
    let to = (offset + end - start).min(bytes.len() as u64) as usize;
    Mapping {
        start,
        offset,
        bytes: bytes[from..to].to_vec(),
    }
}

/// Follows links that were kept as small text files.
pub(crate) fn follow(path: &Path) -> Option<PathBuf> {
    let length = fs::metadata(path).ok()?.len();
    if length > 200 || length == 0 {
        return Some(path.to_path_buf());
    }
    let target = fs::read_to_string(path).ok()?;
    follow(&path.parent()?.join(target))
}

impl CodeSource for Maps {
    fn generation(&self) -> u64 {
        0
    }

    fn code(&self, at: CodeAddress) -> Option<Code<'_>> {
        let codes = self
            .mappings
            .iter()
            .enumerate()
            .map(|(index, mapping)| Code {
                image: ImageId(index as u64),
                offset: mapping.offset,
                start: mapping.start,
                bytes: &mapping.bytes,
            });
        codes.into_iter().find(|code| !code.from(at.ip).is_empty())
    }
}
