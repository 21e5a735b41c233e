//! `--csv`: every sample as a row of values with commas between.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use oxperf_machine::{Machine, Objects};
use oxperf_present::event_lines::push_cell;
use oxperf_present::text::number::{push_hex, push_number};
use oxperf_resolve::{DsoAddress, KernelNames, Names};
use oxperf_session::SampleEvent;

use super::gaps::GapForm;
use super::printer::Printer;

/// The first row.
pub(super) const HEADING: &[u8] =
    b"event,time,comm,pid,tid,cpu,period,ip,symbol,offset,dso,addr,trace,callchain\n";

impl Printer<'_> {
    /// A sample as a row. A call chain is one value, innermost first, with `;` between.
    pub(super) fn print_row(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> io::Result<()> {
        let (sample, view) = (&event.sample, &self.views[event.event.0]);
        let thread = machine.thread_info(event.thread);
        let mode = event.misc.cpu_mode();
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
        let _ = write!(
            out,
            ",{},{}",
            thread.pid.map_or(-1, |pid| pid.0),
            thread.tid.0
        );
        number(out, sample.cpu.map(|cpu| cpu.0.into()));
        number(out, Some(event.period));
        address(out, sample.ip);
        out.push(b',');
        if let Some(ip) = sample.ip {
            self.gaps
                .leave_address((out, GapForm::Row), (machine, event.thread), (mode, ip));
        } else {
            out.extend_from_slice(b",,");
        }
        address(out, sample.addr);
        out.push(b',');
        if let Some(raw) = sample.raw.filter(|_| view.tracepoint) {
            let mut text = Vec::new();
            self.formatters.format(
                raw,
                &KernelNames::new(&self.names, machine.objects()),
                &mut text,
            );
            push_cell(out, String::from_utf8_lossy(&text).trim());
        }
        out.push(b',');
        if view.chained {
            let chain = self.chains.of(machine, event).addresses;
            self.gaps
                .leave_chain((out, GapForm::Row), (machine, event.thread), chain);
        }
        out.push(b'\n');
        self.settle(machine)
    }
}

/// Appends the values of a place: its symbol, the distance from there, and its object.
pub(super) fn push_place(
    place: Option<DsoAddress>,
    (names, objects): (&Names<'_>, &Objects),
    out: &mut Vec<u8>,
) {
    let name = place.and_then(|place| names.name(objects, &place));
    push_cell(out, name.map_or("", |name| name.text));
    out.push(b',');
    if let Some((name, place)) = name.zip(place) {
        push_number(out, place.address.wrapping_sub(name.start), 1, b' ');
    }
    out.push(b',');
    push_cell(out, place.map_or("", |place| &objects.dso(place.dso).shown));
}

/// Appends the value of a call chain.
pub(super) fn push_chain(
    chain: &mut dyn Iterator<Item = (u64, Option<DsoAddress>)>,
    (names, objects): (&Names<'_>, &Objects),
    out: &mut Vec<u8>,
) {
    let mut text = String::new();
    for (ip, place) in chain {
        text.push_str(if text.is_empty() { "" } else { ";" });
        match place.and_then(|place| names.name(objects, &place)) {
            Some(name) => text.push_str(name.text),
            // Writing to a string cannot fail.
            None => drop(write!(text, "{ip:#x}")),
        }
    }
    push_cell(out, &text);
}
