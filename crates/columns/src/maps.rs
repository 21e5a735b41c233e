//! The mappings of processes, as rows: with them, addresses can be named elsewhere.

use oxperf_abi::RecordType;
use oxperf_session::SidebandEvent;
use oxperf_wire::kernel::{FileIdentity, Mmap, Mmap2};
use oxperf_wire::{Cursor, Endian};

use crate::clock::WallClock;
use crate::rows::{TableCell, TableRows};
use crate::schema::MAPS;

/// The rows of mappings that were met.
#[derive(Debug)]
pub(crate) struct Maps {
    rows: TableRows,
    recording_id: i64,
    clock: WallClock,
    endian: Endian,
}

/// A mapping, as either kind of record has it.
struct Mapping<'a> {
    pid: i32,
    start: u64,
    len: u64,
    pgoff: u64,
    build_id: Option<String>,
    path: &'a [u8],
}

fn build_id_of(mmap: &Mmap2<'_>) -> Option<String> {
    match mmap.identity {
        FileIdentity::BuildId(id) => id.map(|id| id.to_string()),
        _ => None,
    }
}

impl Maps {
    pub(crate) fn new(recording_id: i64, clock: WallClock, endian: Endian) -> Maps {
        Maps {
            rows: TableRows::new(&MAPS, |_| true),
            recording_id,
            clock,
            endian,
        }
    }

    /// The rows since they were cleared.
    pub(crate) fn rows(&mut self) -> &mut TableRows {
        &mut self.rows
    }

    /// Takes a record, if it is of a mapping.
    pub(crate) fn follow(&mut self, event: &SidebandEvent<'_>) {
        let mut cursor = Cursor::new(event.record.body, self.endian);
        let mapping = match event.record.header.kind {
            RecordType::MMAP => Mmap::decode(&mut cursor).ok().map(|mmap| Mapping {
                pid: mmap.pid.0,
                start: mmap.start,
                len: mmap.len,
                pgoff: mmap.pgoff,
                build_id: None,
                path: mmap.filename,
            }),
            RecordType::MMAP2 => {
                let mmap = Mmap2::decode(event.record.header.misc, &mut cursor).ok();
                mmap.map(|mmap| Mapping {
                    pid: mmap.pid.0,
                    start: mmap.start,
                    len: mmap.len,
                    pgoff: mmap.pgoff,
                    build_id: build_id_of(&mmap),
                    path: mmap.filename,
                })
            }
            _ => None,
        };
        if let Some(mapping) = mapping {
            self.push(event, &mapping);
        }
    }

    fn push(&mut self, event: &SidebandEvent<'_>, mapping: &Mapping<'_>) {
        // What was there before the recording is told at time 0.
        let time = event.id.time.filter(|time| time.0 != 0);
        let moment = time.and_then(|time| self.clock.microseconds(time));
        let end = mapping.start.wrapping_add(mapping.len);
        self.rows.push(&[
            TableCell::Int(self.recording_id),
            TableCell::Int(mapping.pid.into()),
            moment.into(),
            TableCell::Int(mapping.start.cast_signed()),
            TableCell::Int(end.cast_signed()),
            TableCell::Int(mapping.pgoff.cast_signed()),
            mapping.build_id.as_deref().into(),
            TableCell::Text(&String::from_utf8_lossy(mapping.path)),
        ]);
    }
}
