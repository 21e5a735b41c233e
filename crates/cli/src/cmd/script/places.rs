//! Where samples were: their address or call chain, and the data that they touched.

use std::io::Write;
use std::ops::ControlFlow;

use oxperf_abi::{CpuMode, Pid, Tid};
use oxperf_machine::{Machine, ThreadId};
use oxperf_present::script::{FieldSet, Location, push_hex};
use oxperf_resolve::{Names, Place, PlaceId, PlaceTable};
use oxperf_session::{SampleEvent, SidebandEvent};
use oxperf_wire::kernel::CallchainDeferred;
use oxperf_wire::{Cursor, Sample, open_chain};

use super::lines::Lines;
use super::printer::Printer;

impl Printer<'_> {
    /// The address of a sample with its place, or its call chain.
    pub(super) fn print_places(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let view = &self.views[event.event.0];
        let lines = view.lines;
        let known = self.preview.of(event);
        if !view.shows_chain_of(&event.sample) {
            let ip = event.sample.ip.unwrap_or(0);
            let out = self.output.buffer();
            out.push(b' ');
            if !self.lines[lines].names_anything() {
                return push_hex(out, ip, 16);
            }
            let places = &mut self.places;
            let place = match known {
                Some(places) => places.first().copied().flatten(),
                None => places.locate(machine, event.thread, event.misc.cpu_mode(), ip),
            };
            return self.lines[lines].push(ip, place, (&mut self.names, machine), out);
        }
        self.output.buffer().push(b'\n');
        let shows_end = view.fields.contains(FieldSet::UNWIND);
        let chain = self.chains.of(machine, event);
        let mut writer = ChainWriter {
            lines: &mut self.lines[lines],
            places: &mut self.places,
            names: &mut self.names,
            out: self.output.buffer(),
            last: self.symbols.last_of_chains(),
        };
        match known {
            Some(places) => writer.write_placed((machine, event.thread), chain.addresses, places),
            None => writer.write(machine, event.thread, chain.addresses),
        }
        if let Some(end) = chain.end.filter(|_| shows_end) {
            let _ = writeln!(self.output.buffer(), "\t[stack: {end}]");
        }
        if let Some(cookie) = event.sample.callchain.and_then(open_chain) {
            let fields = self.lines[lines].fields().without(FieldSet::SYMOFF);
            let out = self.output.buffer();
            out.push(b'\t');
            if fields.contains(FieldSet::IP) {
                push_hex(out, cookie, 16);
            }
            Location { symbol: Some(("(cookie)", 0)), dso: None }.write(fields, out);
            out.push(b'\n');
        }
    }

    /// Prints the user part of chains, which came in a record of its own.
    pub(super) fn print_user_part(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) {
        let view = &self.views[event.event.0];
        let (lines, with_chain) = (view.lines, view.layout.with_chain);
        let record = CallchainDeferred::decode(&mut Cursor::new(event.record.body, self.endian));
        let Some(record) = record.ok().filter(|_| with_chain) else { return };
        let thread = machine.thread(event.id.pid.unwrap_or(Pid(-1)), event.id.tid.unwrap_or(Tid(-1)));
        let sample = Sample { callchain: Some(record.chain), ..Sample::default() };
        let mut writer = ChainWriter {
            lines: &mut self.lines[lines],
            places: &mut self.places,
            names: &mut self.names,
            out: self.output.buffer(),
            last: self.symbols.last_of_chains(),
        };
        writer.write(machine, thread, self.chains.recorded(CpuMode::User, &sample));
        self.output.buffer().push(b'\n');
    }

    /// The data address, with its symbol and object where the event's addresses lie in mapped memory.
    pub(super) fn print_data_address(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let address = event.sample.addr.unwrap_or(0);
        push_hex(self.output.buffer(), address, 16);
        let named = self.views[event.event.0].data_lines.filter(|lines| self.lines[*lines].names_anything());
        if let Some(lines) = named {
            let recorded = event.misc.cpu_mode();
            let of_guest = matches!(recorded, CpuMode::GuestKernel | CpuMode::GuestUser);
            let placed = of_guest || machine.locate(event.thread, recorded, address).is_some();
            // The kernel touches user memory, too.
            let mode = if placed { recorded } else { machine.guess_mode(event.thread, address) };
            let place = self.places.locate(machine, event.thread, mode, address);
            self.lines[lines].push(address, place, (&mut self.names, machine), self.output.buffer());
        }
    }
}

/// What writes the addresses of a chain, each in a line.
struct ChainWriter<'w, 's> {
    lines: &'w mut Lines,
    places: &'w mut PlaceTable,
    names: &'w mut Names<'s>,
    out: &'w mut Vec<u8>,
    /// Chains end with these functions.
    last: &'w [String],
}

impl ChainWriter<'_, '_> {
    fn write(&mut self, machine: &Machine, thread: ThreadId, chain: &[(CpuMode, u64)]) {
        for (mode, ip) in chain {
            let place = self.places.locate(machine, thread, *mode, *ip);
            if self.write_entry(machine, *ip, place).is_break() {
                break;
            }
        }
    }

    /// The same where it is known already where the addresses lie, but for callers that samples before this one gave.
    fn write_placed(
        &mut self,
        (machine, thread): (&Machine, ThreadId),
        chain: &[(CpuMode, u64)],
        places: &[Option<(PlaceId, Place)>],
    ) {
        for ((_, ip), place) in chain.iter().zip(places) {
            if self.write_entry(machine, *ip, *place).is_break() {
                return;
            }
        }
        self.write(machine, thread, chain.get(places.len()..).unwrap_or_default());
    }

    /// Writes an entry; breaks where the chain ends by the user's wish.
    #[inline]
    fn write_entry(
        &mut self,
        machine: &Machine,
        ip: u64,
        place: Option<(PlaceId, Place)>,
    ) -> ControlFlow<()> {
        self.lines.push_entry(ip, place, (self.names, machine), self.out);
        if self.last.is_empty() {
            return ControlFlow::Continue(());
        }
        let name = place.and_then(|(_, place)| self.names.name(machine, &place));
        match name.is_some_and(|name| self.last.iter().any(|last| last == name.text)) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
