//! TEXT_POKE: kernel code changes while it runs.

use oxperf_wire::kernel::TextPoke;

use crate::text::put;
use crate::text::sanitize;

/// The symbol that is changed, and how far behind its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PokedSymbol<'a> {
    /// The symbol.
    pub name: &'a str,
    /// Bytes between its start and the change.
    pub offset: u64,
}

/// Appends the lines of a TEXT_POKE record: where, then the bytes before and after, sixteen a line.
pub(super) fn text_poke(out: &mut Vec<u8>, record: &TextPoke<'_>, symbol: Option<PokedSymbol<'_>>) {
    put!(out, "PERF_RECORD_TEXT_POKE {:x} ", record.addr);
    if let Some(symbol) = symbol {
        put!(out, "{}+0x{:x}", sanitize(symbol.name), symbol.offset);
    }
    put!(
        out,
        " old len {} new len {}\n",
        record.old.len(),
        record.new.len(),
    );
    bytes(out, "Old", record.old);
    bytes(out, "New", record.new);
}

fn bytes(out: &mut Vec<u8>, which: &str, bytes: &[u8]) {
    for line in bytes.chunks(16) {
        put!(out, "            {which} bytes:");
        line.iter().for_each(|byte| put!(out, " {byte:02x}"));
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::text;

    #[test]
    fn before_and_after() {
        let record = TextPoke {
            addr: 0xffff_ffff_8100_0010,
            old: &[],
            new: &[0x90; 17],
        };
        let symbol = Some(PokedSymbol {
            name: "f",
            offset: 16,
        });
        let nops = " 90".repeat(16);
        assert_eq!(
            text(|out| text_poke(out, &record, symbol)),
            format!(
                "PERF_RECORD_TEXT_POKE ffffffff81000010 f+0x10 old len 0 new len 17\n            New bytes:{nops}\n            New bytes: 90\n"
            )
        );
    }
}
