//! What samples made of hardware trace say, printed.

use oxperf_abi::{EventAttr, EventType};
use oxperf_machine::Machine;
use oxperf_present::script::FieldSet;
use oxperf_present::script::traced::{
    write_code, write_flags, write_ipc, write_length, write_payload,
};
use oxperf_present::text::number::push_hex;
use oxperf_present::text::sanitize;
use oxperf_session::{SampleEvent, SampleFlags, Traced};

use super::printer::Printer;

/// Whether the samples of an event are branches: printed with their target.
pub(super) fn is_branch_event(attr: &EventAttr) -> bool {
    const BRANCHES: u64 = 4;
    attr.kind == EventType::HARDWARE && attr.config & BRANCHES != 0 && attr.sample_period == 1
}

/// Where the text behind indented functions begins: it moves seldom, so that lines stay below each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Indent {
    /// Characters that every line has at least.
    column: usize,
}

impl Indent {
    const STEP: usize = 32;

    /// The characters to fill a text of this length up to.
    fn fill(&mut self, length: usize) -> usize {
        if length > self.column || length != 0 && length + 52 < self.column {
            self.column = (length + 4).next_multiple_of(Indent::STEP);
        }
        self.column
    }
}

impl Printer<'_> {
    /// The flags, which have a column of their own when any event shows them.
    pub(super) fn print_flags(&mut self, event: &SampleEvent<'_>) {
        if self.with_flags {
            let flags = event
                .traced
                .map_or(SampleFlags::default(), |traced| traced.flags);
            write_flags(flags, self.output.buffer());
        }
    }

    /// What an event says beside places.
    pub(super) fn print_payload(&mut self, fields: FieldSet, traced: Option<&Traced>) {
        if let Some(payload) = traced.and_then(|traced| traced.payload.as_ref())
            && fields.contains(FieldSet::SYNTH)
        {
            write_payload(payload, self.output.buffer());
        }
    }

    /// The rest of the line of a branch.
    pub(super) fn print_branch(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let view = &self.views[event.event.0];
        let (fields, shows_target) = (view.fields, view.shows_target);
        let with_chain = view.shows_chain_of(&event.sample);
        if fields.contains(FieldSet::CALLINDENT) {
            self.print_indented(machine, event);
        }
        match fields.contains(FieldSet::IP) {
            true if with_chain => self.print_places(machine, event),
            true => self.print_source_of_branch(machine, event),
            false => {}
        }
        if shows_target {
            self.output.buffer().extend_from_slice(b" => ");
            self.print_data_address(machine, event);
        }
        self.print_ipc(fields, event.traced.as_ref());
        self.print_code(machine, event);
    }

    pub(super) fn print_ipc(&mut self, fields: FieldSet, traced: Option<&Traced>) {
        if let Some(traced) = traced.filter(|_| fields.contains(FieldSet::IPC)) {
            write_ipc(traced, self.output.buffer());
        }
    }

    /// The instruction: how long it is, its bytes, its text.
    pub(super) fn print_code(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let fields = self.views[event.event.0].fields;
        let told = event
            .traced
            .map(|traced| traced.code)
            .filter(|code| code.length > 0);
        let code = told.unwrap_or_else(|| self.code_at(machine, event));
        let out = self.output.buffer();
        if fields.contains(FieldSet::INSNLEN) {
            write_length(&code, out);
        }
        if fields.contains(FieldSet::INSN) {
            write_code(&code, out);
        }
        if fields.contains(FieldSet::DISASM) {
            self.print_disassembly(machine, event, &code);
        }
        self.print_blocks(machine, event);
    }

    /// The function that is called or returned from, indented by how deep in calls the thread is.
    fn print_indented(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let Some(traced) = event.traced else { return };
        let fields = self.views[event.event.0].fields;
        let from_object = fields.contains(FieldSet::DSO)
            && !fields.contains(FieldSet::IP)
            && !fields.contains(FieldSet::ADDR);
        if from_object {
            self.print_object(machine, event);
        }
        // A return has already left its function.
        let left = u32::from(traced.flags.contains(SampleFlags::RETURN));
        let indent = 4 * traced.depth.saturating_add(left) as usize;
        let start = self.output.buffer().len();
        if let Some(address) = entered_or_left(event, traced.flags) {
            self.print_function(machine, event, address, indent);
        }
        let length = self.output.buffer().len() - start;
        let width = self.indent.fill(length);
        let out = self.output.buffer();
        out.resize(out.len().max(start + width), b' ');
    }

    /// The object of the branching instruction.
    fn print_object(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let (mode, ip) = (event.misc.cpu_mode(), event.sample.ip.unwrap_or(0));
        let place = machine.locate(event.thread, mode, ip);
        let name = place.map(|place| sanitize(&machine.dso(place.dso).shown));
        let name = name.as_deref().unwrap_or("[unknown]");
        let width = self.object_width;
        let out = self.output.buffer();
        out.push(b'(');
        out.extend_from_slice(name.as_bytes());
        out.resize(out.len() + width.saturating_sub(name.chars().count()), b' ');
        out.extend_from_slice(b")\t");
    }

    fn print_function(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
        address: u64,
        indent: usize,
    ) {
        let mode = match machine.locate(event.thread, event.misc.cpu_mode(), address) {
            Some(_) => event.misc.cpu_mode(),
            None => machine.guess_mode(event.thread, address),
        };
        let place = self.places.locate(machine, event.thread, mode, address);
        let name = place.and_then(|(_, place)| self.names.name(machine.objects(), &place));
        let out = self.output.buffer();
        match name {
            Some(name) => {
                out.resize(out.len() + indent, b' ');
                out.extend_from_slice(sanitize(name.text).as_bytes());
            }
            None if address != 0 => {
                out.resize(out.len() + indent, b' ');
                push_hex(out, address, 16);
            }
            None => {}
        }
    }
}

/// The address whose function a branch enters, or leaves.
pub(super) fn entered_or_left(event: &SampleEvent<'_>, flags: SampleFlags) -> Option<u64> {
    if flags.meets(SampleFlags::CALL | SampleFlags::TRACE_BEGIN) {
        return event.sample.addr;
    }
    event
        .sample
        .ip
        .filter(|_| flags.meets(SampleFlags::RETURN | SampleFlags::TRACE_END))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_moves_seldom() {
        let mut indent = Indent::default();
        assert_eq!(
            [0, 10, 20, 33, 10, 0].map(|length| indent.fill(length)),
            [0, 32, 32, 64, 32, 32]
        );
        assert_eq!(
            [100, 60, 50].map(|length| indent.fill(length)),
            [128, 64, 64]
        );
    }
}
