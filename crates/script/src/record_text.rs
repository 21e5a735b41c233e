//! The records that are no samples: the kinds that are shown, and their text.

use oxperf_abi::{CpuMode, Misc, Pid, ReadFormat, RecordType, Tid};
use oxperf_machine::Machine;
use oxperf_present::records::{KernelRecord, PokedSymbol, RecordSubject};
use oxperf_resolve::{DsoAddress, Names};
use oxperf_session::SidebandEvent;
use oxperf_wire::kernel::TextPoke;
use oxperf_wire::{Endian, WireError};

/// The kinds of records that are shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VisibleRecords(Vec<RecordType>);

impl VisibleRecords {
    /// These kinds.
    pub fn new(kinds: Vec<RecordType>) -> VisibleRecords {
        VisibleRecords(kinds)
    }

    /// Shows a kind, too.
    pub fn add(&mut self, kind: RecordType) {
        self.0.push(kind);
    }

    /// Whether a kind is shown.
    pub fn contains(&self, kind: RecordType) -> bool {
        self.0.contains(&kind)
    }
}

/// Appends the line of a record; gives back the thread that the record names itself, if it does.
///
/// # Errors
/// The record does not hold what its kind needs.
pub fn write_record_text(
    event: &SidebandEvent<'_>,
    endian: Endian,
    names: &Names<'_>,
    machine: &mut Machine,
    out: &mut Vec<u8>,
) -> Result<Option<RecordSubject>, WireError> {
    let misc = event.record.header.misc;
    let record = KernelRecord::decode(&event.record, ReadFormat::default(), endian)?;
    match &record {
        KernelRecord::TextPoke(poke) => write_poke(poke, misc, names, machine, out),
        _ => record.write_line(misc, None, out),
    }
    Ok(record.subject())
}

fn write_poke(
    poke: &TextPoke<'_>,
    misc: Misc,
    names: &Names<'_>,
    machine: &mut Machine,
    out: &mut Vec<u8>,
) {
    let idle = machine.thread(Pid(0), Tid(0));
    let located = machine.locate(idle, CpuMode::Kernel, poke.addr);
    let located = located.map(DsoAddress::from);
    let named = located.and_then(|located| {
        let name = names.name(machine.objects(), &located)?;
        Some((name, located.address))
    });
    let symbol = named.map(|(name, address)| PokedSymbol {
        name: name.text,
        offset: address.wrapping_sub(name.start),
    });
    KernelRecord::TextPoke(*poke).write_line(misc, symbol, out);
}
