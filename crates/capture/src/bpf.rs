//! The BPF programs of the kernel: records that name those which were loaded before the recording, and what the kernel tells of
//! all of them, for the features of the recording.

use std::collections::BTreeMap;

use oxperf_abi::{Misc, RecordType};
use oxperf_data::features::{BpfBtf, BpfObject, BpfProgInfo, BpfProgram};
use oxperf_data::{FeatureSet, WriteError};
use oxperf_sys::bpf;
use oxperf_wire::kernel::{BpfEvent, Ksymbol};
use oxperf_wire::{Cursor, Endian, RecordHeader};

use crate::output::RecordOutput;
use crate::synthesize::RecordSink;

/// A program was loaded, in a record of it.
const LOADED: u16 = 1;
/// The symbol is a function of a BPF program.
const OF_BPF: u16 = 1;
/// The place of the hash of a program's instructions in what the kernel tells.
const TAG: std::ops::Range<usize> = 8..16;
/// The place of the number of its types.
const TYPES: std::ops::Range<usize> = 128..132;

/// The programs that were seen.
#[derive(Debug, Default)]
pub(crate) struct BpfPrograms {
    programs: BTreeMap<u32, BpfProgram>,
    types: BTreeMap<u32, Vec<u8>>,
}

impl BpfPrograms {
    /// The programs that are loaded.
    pub(crate) fn loaded() -> BpfPrograms {
        let mut programs = BpfPrograms::default();
        programs.add_loaded();
        programs
    }

    /// Adds all programs that are loaded; none where this user may not see them.
    pub(crate) fn add_loaded(&mut self) {
        for id in bpf::program_ids().unwrap_or_default() {
            self.add(id);
        }
    }

    /// Adds a program, unless it is known or already gone.
    fn add(&mut self, id: u32) {
        if self.programs.contains_key(&id) {
            return;
        }
        let Ok(told) = bpf::program(id) else {
            return;
        };
        let types = told.info.get(TYPES).and_then(|bytes| bytes.first_chunk());
        let types = types.map_or(0, |bytes| u32::from_ne_bytes(*bytes));
        if types != 0
            && !self.types.contains_key(&types)
            && let Ok(bytes) = bpf::types(types)
        {
            self.types.insert(types, bytes);
        }
        let program = BpfProgram {
            arrays: told.arrays,
            info: told.info,
            data: told.data,
        };
        self.programs.insert(id, program);
    }

    /// Writes the records of the programs, as the kernel does when one is loaded.
    pub(crate) fn write(&self, sink: &mut RecordSink) {
        let types = self.types();
        for (id, program) in &self.programs {
            for function in program.functions(Endian::NATIVE, &types) {
                let symbol = Ksymbol {
                    addr: function.address,
                    len: function.size,
                    kind: OF_BPF,
                    flags: 0,
                    name: function.name.as_bytes(),
                };
                sink.kernel_record(RecordType::KSYMBOL, Misc(0), |body| symbol.encode(body));
            }
            let tag = program.info.get(TAG).and_then(|tag| tag.first_chunk());
            let event = BpfEvent {
                kind: LOADED,
                flags: 0,
                id: *id,
                tag: tag.copied().unwrap_or_default(),
            };
            sink.kernel_record(RecordType::BPF_EVENT, Misc(0), |body| event.encode(body));
        }
    }

    /// The features that tell of the programs, of none as well.
    pub(crate) fn add_features(&self, features: &mut FeatureSet) {
        features.insert(&BpfProgInfo(self.programs.values().cloned().collect()));
        features.insert(&self.types());
    }

    fn types(&self) -> BpfBtf {
        let objects = self.types.iter().map(|(id, data)| BpfObject {
            id: *id,
            data: data.clone(),
        });
        BpfBtf(objects.collect())
    }

    /// Looks for programs that records tell of.
    fn look_into(&mut self, mut records: &[u8]) {
        while let Ok(header) = RecordHeader::decode(&mut Cursor::new(records, Endian::NATIVE)) {
            let Some((record, rest)) = records.split_at_checked(header.size as usize) else {
                return;
            };
            if header.kind == RecordType::BPF_EVENT
                && let Some(body) = record.get(RecordHeader::SIZE..)
                && let Ok(event) = BpfEvent::decode(&mut Cursor::new(body, Endian::NATIVE))
                && event.kind == LOADED
            {
                self.add(event.id);
            }
            records = rest;
        }
    }
}

/// An output that sees what goes to another, and adds the programs that records tell of, where they are wanted.
pub(crate) struct Watched<'a, O> {
    pub(crate) bpf: Option<&'a mut BpfPrograms>,
    pub(crate) output: &'a mut O,
}

impl<O: RecordOutput> RecordOutput for Watched<'_, O> {
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
        if let Some(bpf) = &mut self.bpf {
            bpf.look_into(records);
        }
        self.output.kernel_records(records)
    }

    fn end_pass(&mut self, mark: Option<&[u8]>) -> Result<(), WriteError> {
        self.output.end_pass(mark)
    }
}

#[cfg(test)]
#[allow(clippy::print_stderr, reason = "a test that cannot run says so")]
mod tests {
    use super::*;
    use crate::synthesize::Trailer;
    use oxperf_data::features::{Feature, FeatureContext};

    /// The kinds of records, and the programs that they name.
    fn named(records: &[u8]) -> (usize, Vec<u32>) {
        let (mut symbols, mut ids, mut rest) = (0, Vec::new(), records);
        while let Ok(header) = RecordHeader::decode(&mut Cursor::new(rest, Endian::NATIVE)) {
            let (record, behind) = rest.split_at(header.size as usize);
            let body = &mut Cursor::new(&record[RecordHeader::SIZE..], Endian::NATIVE);
            match header.kind {
                RecordType::KSYMBOL => symbols += 1,
                _ => ids.push(BpfEvent::decode(body).unwrap().id),
            }
            rest = behind;
        }
        (symbols, ids)
    }

    #[test]
    fn programs_are_found_before_and_while_records_tell_of_them() {
        let Ok(first) = bpf::load_idle_program("first") else {
            return eprintln!("SKIPPED: no BPF program can be loaded");
        };
        let mut programs = BpfPrograms::loaded();
        let mut sink = RecordSink::new(Trailer::default());
        programs.write(&mut sink);
        let (symbols, before) = named(sink.as_bytes());
        assert_eq!(
            before,
            programs.programs.keys().copied().collect::<Vec<_>>()
        );
        assert!(symbols <= before.len() * 256);

        let second = bpf::load_idle_program("second").unwrap();
        let id = bpf::program_ids().unwrap().into_iter().max().unwrap();
        let mut record = oxperf_wire::Encoder::new(Endian::NATIVE);
        let event = BpfEvent {
            kind: LOADED,
            flags: 0,
            id,
            tag: [0; 8],
        };
        record.record(RecordType::BPF_EVENT, Misc(0), |body| event.encode(body));
        programs.look_into(record.as_bytes());
        assert!(programs.programs.contains_key(&id) && !before.contains(&id));
        drop((first, second));

        let mut features = FeatureSet::default();
        programs.add_features(&mut features);
        let kept = features.iter().find(|(id, _)| *id == BpfProgInfo::ID);
        let (_, bytes) = kept.unwrap();
        let cursor = &mut Cursor::new(bytes, Endian::NATIVE);
        let kept = BpfProgInfo::decode(cursor, &FeatureContext::default()).unwrap();
        assert_eq!(kept.0.len(), before.len() + 1);
    }
}
