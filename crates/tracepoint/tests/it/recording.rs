//! Just enough of `perf.data` to find the tracepoints' samples in a recording. Test code only: the real reader is the data crate's, and
//! this one trusts its input.

use std::collections::HashMap;

use oxperf_tracepoint::TracingData;

const TRACEPOINT: u32 = 2;
const SAMPLE: u32 = 9;
const HEADER_ATTR: u32 = 64;
const HEADER_TRACING_DATA: u32 = 66;

/// A recording's tracing data and its tracepoints' samples in time order.
pub(crate) struct Recording {
    pub tracing: TracingData,
    /// The bytes that the tracing data was read from, with padding.
    pub section: Vec<u8>,
    pub samples: Vec<Sample>,
}

/// One tracepoint's sample.
pub(crate) struct Sample {
    pub time: u64,
    pub config: u64,
    pub raw: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Attr {
    kind: u32,
    config: u64,
    sample_type: u64,
    read_format: u64,
}

#[derive(Default)]
struct Builder {
    attrs: Vec<Attr>,
    by_id: HashMap<u64, Attr>,
    section: Vec<u8>,
    samples: Vec<Sample>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Reads a little-endian recording made as a file or as a pipe.
pub(crate) fn read(bytes: &[u8]) -> Recording {
    let mut builder = Builder::default();
    match u64_at(bytes, 8) {
        16 => builder.records(&bytes[16..]),
        _ => builder.file(bytes),
    }
    builder.samples.sort_by_key(|sample| sample.time);
    let tracing = TracingData::decode(&builder.section).expect("a recording of tracepoints");
    Recording {
        tracing,
        section: builder.section,
        samples: builder.samples,
    }
}

impl Builder {
    fn file(&mut self, bytes: &[u8]) {
        let (attr_size, attrs, attrs_size) =
            (u64_at(bytes, 16), u64_at(bytes, 24), u64_at(bytes, 32));
        let (data, data_size) = (u64_at(bytes, 40) as usize, u64_at(bytes, 48) as usize);
        for at in (attrs..attrs + attrs_size).step_by(attr_size as usize) {
            let (at, end) = (at as usize, (at + attr_size) as usize);
            let (ids, ids_size) = (
                u64_at(bytes, end - 16) as usize,
                u64_at(bytes, end - 8) as usize,
            );
            self.attr(&bytes[at..], bytes[ids..ids + ids_size].chunks(8));
        }
        let features = u64_at(bytes, 72);
        let section = data + data_size + 16 * (features & 1) as usize;
        assert!(features & 2 != 0, "the recording has no tracing data");
        let (at, size) = (
            u64_at(bytes, section) as usize,
            u64_at(bytes, section + 8) as usize,
        );
        self.section = bytes[at..at + size].to_vec();
        self.records(&bytes[data..data + data_size]);
    }

    fn attr<'a>(&mut self, bytes: &[u8], ids: impl Iterator<Item = &'a [u8]>) {
        let attr = Attr {
            kind: u32_at(bytes, 0),
            config: u64_at(bytes, 8),
            sample_type: u64_at(bytes, 24),
            read_format: u64_at(bytes, 32),
        };
        self.attrs.push(attr);
        self.by_id.extend(ids.map(|id| (u64_at(id, 0), attr)));
    }

    fn records(&mut self, mut bytes: &[u8]) {
        while bytes.len() >= 8 {
            let (kind, size) = (
                u32_at(bytes, 0),
                usize::from(u16::from_le_bytes([bytes[6], bytes[7]])),
            );
            let (record, rest) = bytes.split_at(size);
            bytes = rest;
            match kind {
                SAMPLE => self.sample(&record[8..]),
                HEADER_ATTR => {
                    let attr_size = u32_at(record, 12) as usize;
                    self.attr(&record[8..], record[8 + attr_size..].chunks(8));
                }
                HEADER_TRACING_DATA => {
                    let size = u32_at(record, 8) as usize;
                    self.section = bytes[..size].to_vec();
                    bytes = &bytes[size..];
                }
                _ => {}
            }
        }
    }

    fn attr_of(&self, body: &[u8]) -> Attr {
        let first = self.attrs[0];
        if self.attrs.len() == 1 {
            return first;
        }
        let before_id = [1, 2, 4, 8]
            .iter()
            .filter(|bit| first.sample_type & **bit != 0)
            .count()
            * 8;
        let at = if first.sample_type & 1 << 16 != 0 {
            0
        } else {
            before_id
        };
        self.by_id[&u64_at(body, at)]
    }

    fn sample(&mut self, body: &[u8]) {
        let attr = self.attr_of(body);
        let (mut at, mut time) = (0, 0);
        // identifier, ip, tid, time, addr, id, stream_id, cpu, period
        for bit in [16, 0, 1, 2, 3, 6, 9, 7, 8] {
            if attr.sample_type & 1 << bit != 0 {
                time = if bit == 2 { u64_at(body, at) } else { time };
                at += 8;
            }
        }
        if attr.sample_type & 1 << 4 != 0 {
            at += read_size(&body[at..], attr.read_format);
        }
        if attr.sample_type & 1 << 5 != 0 {
            at += 8 + 8 * u64_at(body, at) as usize;
        }
        if attr.kind == TRACEPOINT && attr.sample_type & 1 << 10 != 0 {
            let size = u32_at(body, at) as usize;
            let raw = body[at + 4..at + 4 + size].to_vec();
            self.samples.push(Sample {
                time,
                config: attr.config,
                raw,
            });
        }
    }
}

fn read_size(body: &[u8], format: u64) -> usize {
    let times = 8 * ((format & 1) + (format >> 1 & 1)) as usize;
    let each = 8 + 8 * ((format >> 2 & 1) + (format >> 4 & 1)) as usize;
    match format & 8 {
        0 => times + each,
        _ => 8 + times + each * u64_at(body, 0) as usize,
    }
}
