//! KSYMBOL and BPF_EVENT: code that comes to the kernel and goes.

use oxperf_wire::kernel::{BpfEvent, Ksymbol};

use super::name;
use crate::text::put;

/// Appends the line of a KSYMBOL record.
pub(super) fn ksymbol(out: &mut Vec<u8>, record: &Ksymbol<'_>) {
    let (addr, len, kind, flags) = (record.addr, record.len, record.kind, record.flags);
    let name = name(record.name);
    put!(
        out,
        "PERF_RECORD_KSYMBOL addr {addr:x} len {len} type {kind} flags 0x{flags:x} name {name}\n"
    );
}

/// Appends the line of a BPF_EVENT record.
pub(super) fn bpf_event(out: &mut Vec<u8>, record: &BpfEvent) {
    let (kind, flags, id) = (record.kind, record.flags, record.id);
    put!(
        out,
        "PERF_RECORD_BPF_EVENT type {kind}, flags {flags}, id {id}\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::text;

    #[test]
    fn symbols_and_programs() {
        let symbol = Ksymbol {
            addr: 0xffff_ffff_c000_0000,
            len: 256,
            kind: 2,
            flags: 1,
            name: b"bpf_prog_1\x1b",
        };
        assert_eq!(
            text(|out| ksymbol(out, &symbol)),
            "PERF_RECORD_KSYMBOL addr ffffffffc0000000 len 256 type 2 flags 0x1 name bpf_prog_1\\x1b\n"
        );
        let program = BpfEvent {
            kind: 2,
            flags: 5,
            id: 42,
            tag: [0; 8],
        };
        assert_eq!(
            text(|out| bpf_event(out, &program)),
            "PERF_RECORD_BPF_EVENT type 2, flags 5, id 42\n"
        );
    }
}
