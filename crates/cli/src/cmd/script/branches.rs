//! The last branches of a sample, printed by address or by name.

use oxperf_abi::{BranchEntry, CpuMode};
use oxperf_machine::Machine;
use oxperf_present::script::FieldSet;
use oxperf_present::text::branch_text::{kind_name, prediction, speculation_name};
use oxperf_present::text::number::{push_hex, push_number};
use oxperf_present::text::sanitize;
use oxperf_session::SampleEvent;

use super::lines::push_dso_offset;
use super::printer::Printer;

impl Printer<'_> {
    /// The last branches, newest first; by their addresses if these are asked for, too.
    pub(super) fn print_branch_stack(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let (fields, Some(stack)) = (self.views[event.event.0].fields, event.sample.branch_stack)
        else {
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
                        let shown = if by_address {
                            address
                        } else {
                            self.offset_of(machine, event, address)
                        };
                        self.output.buffer().extend_from_slice(b"0x");
                        push_hex(self.output.buffer(), shown, 1);
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
        let named = place.and_then(|(_, place)| {
            Some((self.names.name(machine.objects(), &place)?, place.address))
        });
        let out = self.output.buffer();
        match named {
            Some((name, at)) => {
                out.extend_from_slice(sanitize(name.text).as_bytes());
                out.extend_from_slice(b"+0x");
                push_hex(out, at.wrapping_sub(name.start), 1);
            }
            None => out.extend_from_slice(b"[unknown]"),
        }
    }

    /// The offset in the file that is mapped there, and of the kernel in its mapping. As perf does it, an address stays
    /// as it is where hardware trace led there, and in a program that cannot be moved where its symbols are known.
    fn offset_of(&mut self, machine: &Machine, event: &SampleEvent<'_>, address: u64) -> u64 {
        if event.traced.is_some() {
            return address;
        }
        let mode = machine.guess_mode(event.thread, address);
        let Some(located) = machine.locate(event.thread, mode, address) else {
            return address;
        };
        let map = machine.maps().get(located.map.0 as usize);
        if mode == CpuMode::Kernel {
            // Old recorders had the kernel begin at 0.
            let recorded = map.map(|map| map.start).filter(|start| *start > 0);
            let begins = recorded.or_else(|| {
                machine
                    .objects()
                    .kernel_reference()
                    .map(|found| found.address)
            });
            return address.wrapping_sub(begins.unwrap_or(0));
        }
        let shows_names = self.views[event.event.0].fields.contains(FieldSet::SYM);
        let fixed = shows_names
            && self
                .names
                .object_address(machine.objects(), &located.into())
                == address;
        if fixed { address } else { located.address }
    }

    fn print_branch_object(&mut self, machine: &Machine, event: &SampleEvent<'_>, address: u64) {
        let mode = machine.guess_mode(event.thread, address);
        let place = machine.locate(event.thread, mode, address);
        let name = place.map(|place| sanitize(&machine.dso(place.dso).shown));
        let out = self.output.buffer();
        out.extend_from_slice(b" (");
        out.extend_from_slice(name.as_deref().unwrap_or("[unknown]").as_bytes());
        out.push(b')');
        if let Some(place) = place {
            let fields = self.views[event.event.0].fields;
            push_dso_offset(fields, place.into(), machine.objects(), out);
        }
    }
}

/// How it was predicted, whether in a transaction or its abort, the cycles since the one before, its kind.
fn write_flags(entry: &BranchEntry, out: &mut Vec<u8>) {
    let letter = |bit, set| if entry.is(bit) { set } else { b'-' };
    out.push(b'/');
    out.extend_from_slice(prediction(entry).as_bytes());
    let (transaction, abort) = (
        letter(BranchEntry::IN_TRANSACTION, b'X'),
        letter(BranchEntry::ABORT, b'A'),
    );
    out.extend_from_slice(&[b'/', transaction, b'/', abort, b'/']);
    push_number(out, entry.cycles().into(), 1, b' ');
    for word in [kind_name(entry), speculation_name(entry).unwrap_or("-")] {
        out.push(b'/');
        out.extend_from_slice(word.as_bytes());
    }
    out.push(b' ');
}
