//! The text of source lines between samples.

use oxperf_abi::CpuMode;
use oxperf_machine::{Machine, ThreadId};
use oxperf_present::script::FieldSet;
use oxperf_present::text::number::push_number;
use oxperf_present::text::sanitize;
use oxperf_resolve::DsoAddress;
use oxperf_session::SampleEvent;

use super::printer::Printer;

impl Printer<'_> {
    /// The text of the source line of the sample's own address, unless its thread showed it last.
    pub(super) fn print_source_text(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        if self.views[event.event.0].fields.contains(FieldSet::SRCCODE) {
            self.print_source_text_at(
                machine,
                event.thread,
                (event.misc.cpu_mode(), event.sample.ip.unwrap_or(0)),
            );
        }
    }

    /// The same of any address.
    pub(super) fn print_source_text_at(
        &mut self,
        machine: &Machine,
        thread: ThreadId,
        (mode, ip): (CpuMode, u64),
    ) {
        let place = machine.locate(thread, mode, ip);
        let Some(place) = place.map(DsoAddress::from) else {
            return;
        };
        let source = self.names.source(machine.objects(), place.dso);
        let Some(line) = source.and_then(|source| source.line(place.address)) else {
            return;
        };
        if let Some(text) = self.source_texts.next(thread, &line) {
            let out = self.output.buffer();
            out.push(b'|');
            let start = out.len();
            push_number(out, u64::from(line.line), 1, b' ');
            out.resize(out.len().max(start + 8), b' ');
            out.push(b' ');
            out.extend_from_slice(sanitize(&String::from_utf8_lossy(text)).as_bytes());
            out.push(b'\n');
        }
    }
}
