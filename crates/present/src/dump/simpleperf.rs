//! The records that simpleperf writes.

use crate::text::number::push_prefixed;
use crate::text::{push_name, put};
use oxperf_abi::RecordType;
use oxperf_wire::simpleperf::{
    Callchain, Debug, EventIds, SimpleperfDso, SimpleperfKernelSymbols, SimpleperfSymbol,
    SimpleperfTracingData, UnwindingResult,
};
use oxperf_wire::{Cursor, WireError};

/// Appends what a record says, behind its name.
pub(super) fn write(
    kind: RecordType,
    cursor: &mut Cursor<'_>,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    match kind {
        RecordType::SIMPLEPERF_KERNEL_SYMBOL => {
            put!(
                out,
                ": {} bytes\n",
                SimpleperfKernelSymbols::decode(cursor)?.kallsyms.len()
            );
        }
        RecordType::SIMPLEPERF_TRACING_DATA => {
            put!(
                out,
                ": {} bytes\n",
                SimpleperfTracingData::decode(cursor)?.data.len()
            )
        }
        RecordType::SIMPLEPERF_DSO => {
            let record = SimpleperfDso::decode(cursor)?;
            put!(
                out,
                ": id: {} type: {} min_vaddr: {:#x} ",
                record.id,
                record.kind,
                record.min_vaddr
            );
            push_name(out, record.name);
            out.push(b'\n');
        }
        RecordType::SIMPLEPERF_SYMBOL => {
            let record = SimpleperfSymbol::decode(cursor)?;
            put!(
                out,
                ": dso: {} [{:#x}({:#x})] ",
                record.dso,
                record.start,
                record.size
            );
            push_name(out, record.name);
            out.push(b'\n');
        }
        RecordType::SIMPLEPERF_EVENT_ID => {
            let record = EventIds::decode(cursor)?;
            put!(out, " nr: {}\n", record.pairs().count());
            record
                .pairs()
                .for_each(|(event, id)| put!(out, " ... event: {event}  id: {id}\n"));
        }
        RecordType::SIMPLEPERF_CALLCHAIN => callchain(&Callchain::decode(cursor)?, out),
        RecordType::SIMPLEPERF_UNWINDING_RESULT => {
            unwinding_result(&UnwindingResult::decode(cursor)?, out)
        }
        RecordType::SIMPLEPERF_DEBUG => {
            let record = Debug::decode(cursor)?;
            put!(out, ": time: {} ", record.time.0);
            push_name(out, record.text);
            out.push(b'\n');
        }
        _ => out.push(b'\n'),
    }
    Ok(())
}

fn callchain(record: &Callchain<'_>, out: &mut Vec<u8>) {
    let (pid, tid, time, kind) = (record.pid, record.tid, record.time.0, record.kind);
    put!(
        out,
        ": {pid}/{tid} time: {time} type: {kind} nr: {}\n",
        record.addresses.len()
    );
    for (address, stack_pointer) in record.addresses.iter().zip(record.stack_pointers.iter()) {
        put!(out, "..... ip {address:016x} sp {stack_pointer:016x}\n");
    }
}

fn unwinding_result(record: &UnwindingResult<'_>, out: &mut Vec<u8>) {
    put!(
        out,
        ": time: {} used: {} ns error: {} at ",
        record.time.0,
        record.used_time,
        record.error_code
    );
    push_prefixed(out, record.error_address);
    put!(
        out,
        " stack: [{:#x}-{:#x})\n",
        record.stack_start,
        record.stack_end
    );
}
