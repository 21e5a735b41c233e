//! Where samples were: their address or call chain, and the data that they touched.

use std::io::Write;

use oxperf_abi::{CpuMode, Pid, Tid};
use oxperf_machine::Machine;
use oxperf_present::script::{FieldSet, Location};
use oxperf_present::text::number::push_hex;
use oxperf_resolve::DsoAddress;
use oxperf_session::{SampleEvent, SidebandEvent};
use oxperf_wire::kernel::CallchainDeferred;
use oxperf_wire::{Cursor, Sample, open_chain};

use super::gaps::GapForm;
use super::printer::Printer;

impl Printer<'_> {
    /// The address of a sample with its place, or its call chain: made later, for many samples at once.
    pub(super) fn print_places(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let view = &self.views[event.event.0];
        let at = (machine, event.thread);
        if view.shows_chain_of(&event.sample) {
            return self.print_chain(machine, event);
        }
        let address = (event.misc.cpu_mode(), event.sample.ip.unwrap_or(0));
        let form = GapForm::Line(self.lines[view.lines].form());
        self.gaps
            .leave_address((self.output.buffer(), form), at, address);
    }

    fn print_chain(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let view = &self.views[event.event.0];
        let (form, shows_end) = (
            self.lines[view.lines].form(),
            view.fields.contains(FieldSet::UNWIND),
        );
        let chain = self.chains.of(machine, event);
        let out = self.output.buffer();
        out.push(b'\n');
        self.gaps.leave_chain(
            (out, GapForm::Line(form)),
            (machine, event.thread),
            chain.addresses,
        );
        if let Some(end) = chain.end.filter(|_| shows_end) {
            let _ = writeln!(out, "\t[stack: {end}]");
        }
        if let Some(cookie) = event.sample.callchain.and_then(open_chain) {
            let fields = form.fields.without(FieldSet::SYMOFF);
            out.push(b'\t');
            if fields.contains(FieldSet::IP) {
                push_hex(out, cookie, 16);
            }
            Location {
                symbol: Some(("(cookie)", 0)),
                dso: None,
            }
            .write(fields, out);
            out.push(b'\n');
        }
    }

    /// The address of a branch with its place.
    pub(super) fn print_source_of_branch(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let view = &self.views[event.event.0];
        let (lines, ip) = (&mut self.lines[view.lines], event.sample.ip.unwrap_or(0));
        let out = self.output.buffer();
        out.push(b' ');
        if !lines.names_anything() {
            return push_hex(out, ip, 16);
        }
        let place = machine
            .locate(event.thread, event.misc.cpu_mode(), ip)
            .map(DsoAddress::from);
        lines.push(ip, place, (&self.names, machine.objects()), out);
    }

    /// Prints the user part of chains, which came in a record of its own.
    pub(super) fn print_user_part(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) {
        let view = &self.views[event.event.0];
        let (form, with_chain) = (self.lines[view.lines].form(), view.layout.with_chain);
        let record = CallchainDeferred::decode(&mut Cursor::new(event.record.body, self.endian));
        let Some(record) = record.ok().filter(|_| with_chain) else {
            return;
        };
        let thread = machine.thread(
            event.id.pid.unwrap_or(Pid(-1)),
            event.id.tid.unwrap_or(Tid(-1)),
        );
        let sample = Sample {
            callchain: Some(record.chain),
            ..Sample::default()
        };
        let chain = self.chains.recorded(CpuMode::User, &sample);
        let out = self.output.buffer();
        self.gaps
            .leave_chain((out, GapForm::Line(form)), (machine, thread), chain);
        out.push(b'\n');
    }

    /// The data address, with its symbol and object where the event's addresses lie in mapped memory.
    pub(super) fn print_data_address(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let address = event.sample.addr.unwrap_or(0);
        push_hex(self.output.buffer(), address, 16);
        let named = self.views[event.event.0]
            .data_lines
            .filter(|lines| self.lines[*lines].names_anything());
        if let Some(lines) = named {
            let recorded = event.misc.cpu_mode();
            let of_guest = matches!(recorded, CpuMode::GuestKernel | CpuMode::GuestUser);
            let placed = of_guest || machine.locate(event.thread, recorded, address).is_some();
            // The kernel touches user memory, too.
            let mode = if placed {
                recorded
            } else {
                machine.guess_mode(event.thread, address)
            };
            let place = machine
                .locate(event.thread, mode, address)
                .map(DsoAddress::from);
            self.lines[lines].push(
                address,
                place,
                (&self.names, machine.objects()),
                self.output.buffer(),
            );
        }
    }
}
