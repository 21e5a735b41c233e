//! The last branches of a sample, printed by address or by name.

use oxperf_abi::BranchEntry;
use oxperf_machine::Machine;
use oxperf_present::script::{FieldSet, push_hex, push_number};
use oxperf_present::visible::visible;
use oxperf_session::SampleEvent;

use super::printer::Printer;

impl Printer<'_> {
    /// The last branches, newest first; by their addresses if these are asked for, too.
    pub(super) fn print_branch_stack(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let (fields, Some(stack)) = (self.views[event.event.0].fields, event.sample.branch_stack) else {
            return;
        };
        let by_address = fields.contains(FieldSet::BRSTACK);
        let by_symbol = !by_address && fields.contains(FieldSet::BRSTACKSYM);
        if !by_address && !by_symbol && !fields.contains(FieldSet::BRSTACKOFF) {
            return;
        }
        for entry in stack.entries() {
            if !by_symbol {
                self.output.buffer().push(b' ');
            }
            for (end, address) in [entry.from, entry.to].into_iter().enumerate() {
                if end == 1 {
                    self.output.buffer().push(b'/');
                }
                match by_symbol {
                    true => self.print_branch_symbol(machine, event, address),
                    false => {
                        self.output.buffer().extend_from_slice(b"0x");
                        push_hex(self.output.buffer(), address, 1);
                    }
                }
                if fields.contains(FieldSet::DSO) {
                    self.print_branch_object(machine, event, address);
                }
            }
            write_flags(&entry, self.output.buffer());
        }
    }

    fn print_branch_symbol(&mut self, machine: &Machine, event: &SampleEvent<'_>, address: u64) {
        let mode = machine.guess_mode(event.thread, address);
        let place = self.places.locate(machine, event.thread, mode, address);
        self.names.grow(machine);
        let named = place.and_then(|(_, place)| Some((self.names.name(machine, &place)?, place.address)));
        let out = self.output.buffer();
        match named {
            Some((name, at)) => {
                out.extend_from_slice(visible(name.text).as_bytes());
                out.extend_from_slice(b"+0x");
                push_hex(out, at.wrapping_sub(name.start), 1);
            }
            None => out.extend_from_slice(b"[unknown]"),
        }
    }

    fn print_branch_object(&mut self, machine: &Machine, event: &SampleEvent<'_>, address: u64) {
        let mode = machine.guess_mode(event.thread, address);
        let place = machine.locate(event.thread, mode, address);
        let name = place.map(|place| visible(&machine.dso(place.dso).shown));
        let out = self.output.buffer();
        out.extend_from_slice(b" (");
        out.extend_from_slice(name.as_deref().unwrap_or("[unknown]").as_bytes());
        out.push(b')');
    }
}

/// Whether it was predicted, in a transaction, aborted, and the cycles since the one before.
fn write_flags(entry: &BranchEntry, out: &mut Vec<u8>) {
    let set = |bit: u32, letter| if entry.flags >> bit & 1 != 0 { letter } else { b'-' };
    let guessed = if set(0, b'M') == b'M' { b'M' } else { set(1, b'P') };
    out.extend_from_slice(&[b'/', guessed, b'/', set(2, b'X'), b'/', set(3, b'A'), b'/']);
    push_number(out, entry.flags >> 4 & 0xffff, 1, b' ');
    out.extend_from_slice(b"//- ");
}
