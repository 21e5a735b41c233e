//! `--csv`: every sample as a row of values with commas between.

use std::io::{self, Write};

use oxperf_machine::Machine;
use oxperf_present::event_lines::push_cell;
use oxperf_present::script::{push_hex, push_number};
use oxperf_resolve::KernelNames;
use oxperf_session::SampleEvent;

use super::printer::Printer;

/// The first row.
pub(super) const HEADING: &[u8] =
    b"event,time,comm,pid,tid,cpu,period,ip,symbol,offset,dso,addr,trace,callchain\n";

impl Printer<'_> {
    /// A sample as a row. A call chain is one value, innermost first, with `;` between.
    pub(super) fn print_row(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> io::Result<()> {
        let (sample, view) = (&event.sample, &self.views[event.event.0]);
        let thread = machine.thread_info(event.thread);
        let mode = event.misc.cpu_mode();
        let place = sample.ip.and_then(|ip| self.places.locate(machine, event.thread, mode, ip));
        let out = self.output.buffer();
        push_cell(out, &view.name);
        let number = |out: &mut Vec<u8>, number: Option<u64>| {
            out.push(b',');
            if let Some(number) = number {
                push_number(out, number, 1, b' ');
            }
        };
        let address = |out: &mut Vec<u8>, address: Option<u64>| {
            out.push(b',');
            if let Some(address) = address {
                out.extend_from_slice(b"0x");
                push_hex(out, address, 1);
            }
        };
        number(out, sample.time.map(|time| time.0));
        out.push(b',');
        push_cell(out, machine.comm_of(event.thread));
        // Writing to a vector cannot fail.
        let _ = write!(out, ",{},{}", thread.pid.map_or(-1, |pid| pid.0), thread.tid.0);
        number(out, sample.cpu.map(|cpu| cpu.0.into()));
        number(out, Some(event.period));
        address(out, sample.ip);
        out.push(b',');
        let name = place.and_then(|(_, place)| self.names.name(machine.objects(), &place));
        push_cell(out, name.map_or("", |name| name.text));
        number(out, name.and_then(|name| Some(place?.1.address.wrapping_sub(name.start))));
        out.push(b',');
        push_cell(out, place.map_or("", |(_, place)| &machine.dso(place.dso).shown));
        address(out, sample.addr);
        out.push(b',');
        if let Some(raw) = sample.raw.filter(|_| view.tracepoint) {
            let mut text = Vec::new();
            self.formatters.format(raw, &KernelNames::new(&self.names, machine.objects()), &mut text);
            push_cell(out, String::from_utf8_lossy(&text).trim());
        }
        out.push(b',');
        if view.chained {
            let mut chain = String::new();
            for &(mode, ip) in self.chains.of(machine, event).addresses {
                let place = self.places.locate(machine, event.thread, mode, ip);
                let name = place.and_then(|(_, place)| self.names.name(machine.objects(), &place));
                chain.push_str(if chain.is_empty() { "" } else { ";" });
                match name {
                    Some(name) => chain.push_str(name.text),
                    None => chain.push_str(&format!("{ip:#x}")),
                }
            }
            push_cell(self.output.buffer(), &chain);
        }
        self.output.buffer().push(b'\n');
        self.output.settle()
    }
}
