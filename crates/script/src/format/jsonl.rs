//! `--format jsonl`: every event as an object on a line of its own.

use std::io;
use std::path::Path;
use std::sync::Arc;

use oxperf_abi::PerfTime;
use oxperf_data::Reader;
use oxperf_data::features::{Arch, CmdLine, Hostname, OsRelease};
use oxperf_present::dump::Architecture;
use oxperf_present::jsonl::{EventLine, FORMAT, mode_name};
use oxperf_present::script::traced::write_flags;
use oxperf_resolve::Names;
use oxperf_session::{Diagnostics, EventTable, SampleEvent};
use oxperf_tracepoint::{Formatter, Formatters, Value};
use oxperf_wire::{Registers, Sample, SampleWeight};

use crate::address_json::AddressJson;
pub use crate::address_json::JsonlForm;
use crate::chain_use::ChainUse;
use crate::deferred_symbols::DeferredForm;
use crate::error::ScriptError;
use crate::event_style::EventStyle;
use crate::format::{NoFormat, RecordingInfo, RunTotals, SampleFormat};
use crate::name_lookup::NameLookup;
use crate::output::ScriptOutput;
use crate::view::{RecordView, SampleView};

/// Writes events as objects.
pub struct JsonlFormat<'s> {
    names: Arc<Names<'static>>,
    formatters: &'s Formatters,
    architecture: Architecture,
    address_names: AddressJson,
}

impl<'s> JsonlFormat<'s> {
    /// Objects with these names.
    pub fn new(
        form: JsonlForm,
        names: Arc<Names<'static>>,
        formatters: &'s Formatters,
        architecture: Architecture,
    ) -> JsonlFormat<'s> {
        JsonlFormat {
            names,
            formatters,
            architecture,
            address_names: AddressJson::new(form),
        }
    }

    /// The name of an end of a branch, as keys.
    fn branch_name(&mut self, view: &SampleView<'_>, address: u64) -> Vec<u8> {
        let context = view.context();
        let located = context.locate(context.guess_mode(address), address);
        let lookup = NameLookup {
            names: &self.names,
            objects: view.machine.objects(),
        };
        self.address_names.alone(located, lookup).to_vec()
    }

    fn write_branches(&mut self, view: &SampleView<'_>, line: &mut EventLine<'_>) {
        let Some(stack) = view.sample().branch_stack else {
            return;
        };
        line.array("branches", |items| {
            for entry in stack.entries() {
                let from = self.branch_name(view, entry.from);
                let to = self.branch_name(view, entry.to);
                items.branch(&entry, &from, &to);
            }
        });
    }

    fn write_tracepoint(&self, view: &SampleView<'_>, line: &mut EventLine<'_>) {
        let Some(raw) = view.trace() else { return };
        let id = self.formatters.event_of(raw);
        if let Some(formatter) = id.and_then(|id| self.formatters.get(id)) {
            line.object("trace", |fields| write_trace(fields, formatter, raw));
        }
    }
}

impl SampleFormat for JsonlFormat<'_> {
    type Inner = NoFormat;

    fn inner(&mut self) -> Option<&mut NoFormat> {
        None
    }

    fn chain_use(&mut self, style: &EventStyle) -> ChainUse {
        if style.chained {
            ChainUse::Always
        } else {
            ChainUse::Never
        }
    }

    fn takes_new_events(&mut self) -> bool {
        true
    }

    fn begin(
        &mut self,
        recording: &RecordingInfo<'_>,
        out: &mut ScriptOutput,
    ) -> Result<(), ScriptError> {
        let RecordingInfo {
            path,
            reader,
            events,
            ..
        } = recording;
        write_header(out.buffer(), path, reader, events);
        Ok(())
    }

    fn sample(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        let form = DeferredForm::Object(self.address_names.form());
        let (text, symbols) = out.parts();
        let mut line = EventLine::begin("sample", text);
        write_head(view, &mut line);
        if let Some(ip) = view.sample().ip {
            line.address("ip", ip);
            let at = line.written().len();
            symbols.defer_address(at, form, view.context(), (view.mode(), ip));
        }
        write_access(&mut line, view.sample(), self.architecture);
        write_traced(&mut line, view.event);
        if let Some(chain) = &view.chain {
            line.array("callchain", |items| {
                let at = items.written().len();
                symbols.defer_chain(at, form, view.context(), chain.addresses);
            });
        }
        self.write_branches(view, &mut line);
        self.write_tracepoint(view, &mut line);
        line.end();
        Ok(())
    }

    fn record(&mut self, view: &mut RecordView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        let moment = view.moment();
        let thread = view.machine.thread(moment.pid, moment.tid);
        let mut line = EventLine::begin("record", out.buffer());
        let kind = view.event.record.header.kind;
        line.text("kind", kind.name().unwrap_or("?"));
        line.number("time", moment.time);
        line.text("comm", view.machine.comm_of(thread));
        line.signed("pid", moment.pid.0.into());
        line.signed("tid", moment.tid.0.into());
        if let Some(cpu) = view.event.id.cpu {
            line.number("cpu", cpu.0.into());
        }
        line.text("text", String::from_utf8_lossy(view.text).trim_end());
        line.end();
        Ok(())
    }

    fn end(&mut self, totals: &RunTotals<'_>, out: &mut ScriptOutput) {
        write_end(out.buffer(), totals.samples, totals.diagnostics);
    }
}

/// Writes the first line: the format, the recording and its events.
fn write_header(out: &mut Vec<u8>, path: &Path, reader: &Reader<'_>, events: &EventTable) {
    let features = reader.features();
    let mut line = EventLine::begin("header", out);
    line.text("format", FORMAT.0);
    line.number("version", FORMAT.1.into());
    line.text("file", &path.display().to_string());
    if let Some(Hostname(host)) = features.get().ok().flatten() {
        line.text("host", &host);
    }
    if let Some(Arch(machine)) = features.get().ok().flatten() {
        line.text("machine", &machine);
    }
    if let Some(OsRelease(release)) = features.get().ok().flatten() {
        line.text("release", &release);
    }
    if let Some(CmdLine(words)) = features.get().ok().flatten() {
        line.array("command", |items| {
            words.iter().for_each(|word| items.text(word))
        });
    }
    line.array("events", |items| {
        for event in events.events() {
            items.object(|object| {
                object.text("name", &event.name);
                object.number("kind", event.attr.kind.0.into());
                object.address("config", event.attr.config);
            });
        }
    });
    line.end();
}

/// Writes the last line: the number of samples and the losses.
fn write_end(out: &mut Vec<u8>, samples: u64, found: &Diagnostics) {
    let mut line = EventLine::begin("end", out);
    line.number("samples", samples);
    line.number("lost_records", found.lost_records);
    line.number("lost_samples", found.lost_samples);
    line.number("lost_aux", found.aux.total());
    line.number("undecodable", found.undecodable);
    line.number("unknown_ids", found.unknown_ids);
    line.number("unknown_records", found.unknown_records);
    line.number("out_of_order", found.out_of_order);
    line.number("damaged", found.damage.count());
    line.end();
}

/// Adds the keys before the address of a sample.
fn write_head(view: &SampleView<'_>, line: &mut EventLine<'_>) {
    let sample = view.sample();
    line.text("event", &view.style.name);
    if let Some(PerfTime(time)) = sample.time {
        line.number("time", time);
    }
    line.text("comm", view.comm());
    line.signed("pid", view.pid().into());
    line.signed("tid", view.tid().into());
    if let Some(cpu) = sample.cpu {
        line.number("cpu", cpu.0.into());
    }
    line.text("mode", mode_name(view.mode()));
    line.number("period", view.event.period);
}

/// Adds an access to memory, and registers.
fn write_access(line: &mut EventLine<'_>, sample: &Sample<'_>, architecture: Architecture) {
    let addresses = [
        ("addr", sample.addr),
        ("phys_addr", sample.phys_addr),
        ("data_src", sample.data_src),
        ("transaction", sample.transaction),
    ];
    for (name, address) in addresses {
        if let Some(address) = address {
            line.address(name, address);
        }
    }
    match sample.weight {
        Some(SampleWeight::Whole(weight)) => line.number("weight", weight),
        Some(SampleWeight::Parts { var1, var2, var3 }) => {
            line.number("weight", var1.into());
            line.number("ins_lat", var2.into());
            line.number("retire_lat", var3.into());
        }
        None => {}
    }
    let numbers = [
        ("cgroup", sample.cgroup),
        ("data_page_size", sample.data_page_size),
        ("code_page_size", sample.code_page_size),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            line.number(name, number);
        }
    }
    for (name, registers) in [
        ("user_regs", sample.regs_user),
        ("intr_regs", sample.regs_intr),
    ] {
        if let Some(registers) = registers.filter(|registers| registers.abi != 0) {
            write_registers(line, name, &registers, architecture);
        }
    }
}

fn write_registers(
    line: &mut EventLine<'_>,
    name: &str,
    registers: &Registers<'_>,
    machine: Architecture,
) {
    let bits = (0..64).filter(|bit| registers.mask >> bit & 1 != 0);
    line.object(name, |object| {
        for (bit, value) in bits.zip(registers.values.iter()) {
            object.address(machine.register(bit), value);
        }
    });
}

/// Adds what hardware trace says.
fn write_traced(line: &mut EventLine<'_>, event: &SampleEvent<'_>) {
    let Some(traced) = event.traced else { return };
    let mut flags = Vec::new();
    write_flags(traced.flags, &mut flags);
    let flags = String::from_utf8_lossy(&flags);
    if !flags.trim().is_empty() {
        line.text("flags", flags.trim());
    }
    if traced.instructions > 0 {
        line.number("instructions", traced.instructions);
    }
    if traced.cycles > 0 {
        line.number("cycles", traced.cycles);
    }
}

/// The fields of a tracepoint's record.
fn write_trace(fields: &mut EventLine<'_>, formatter: &Formatter, raw: &[u8]) {
    for (field, value) in formatter.fields(raw) {
        match value {
            Some(Value::Unsigned(number)) => fields.number(&field.name, number),
            Some(Value::Signed(number)) => fields.signed(&field.name, number),
            Some(Value::Pointer(address)) => fields.address(&field.name, address),
            Some(Value::Text(text)) => fields.text(&field.name, &String::from_utf8_lossy(text)),
            Some(Value::Array { bytes, .. }) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                fields.text(&field.name, &digits);
            }
            None => {}
        }
    }
}
