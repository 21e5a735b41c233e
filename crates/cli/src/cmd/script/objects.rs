//! `--format jsonl`: every event as an object on a line of its own.

use std::io;

use oxperf_abi::{CpuMode, PerfTime};
use oxperf_data::Reader;
use oxperf_data::features::{Arch, CmdLine, Hostname, OsRelease};
use oxperf_machine::{Machine, Objects, ThreadId};
use oxperf_present::dump::Architecture;
use oxperf_present::event_lines::{EventLine, FORMAT, Items, PlaceName, mode_name, write_name};
use oxperf_present::script::traced::write_flags;
use oxperf_resolve::{DsoAddress, Name, Names};
use oxperf_session::{Diagnostics, EventTable, SampleEvent, SidebandEvent};
use oxperf_tracepoint::{Formatter, Value};
use oxperf_wire::{Registers, Sample, SampleWeight};

use super::by_place::ByPlace;
use super::gaps::GapForm;
use super::printer::{Form, Printer};
use super::sideband::Moment;
use crate::input::Input;

/// What objects tell of places.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ObjectForm {
    /// Functions that were inlined.
    pub(super) inlines: bool,
    /// Source lines.
    pub(super) lines: bool,
}

/// What places are called, rendered once each.
#[derive(Debug, Default)]
pub(super) struct PlaceNames {
    form: ObjectForm,
    texts: Vec<u8>,
    /// For each place its names, the innermost first.
    known: ByPlace<Known>,
    steps: Vec<(u32, u32)>,
}

/// Where the names of a place stand among the steps, and the name without inlined functions.
#[derive(Clone, Copy, Debug)]
struct Known {
    first: u32,
    count: u32,
    alone: (u32, u32),
}

impl PlaceNames {
    /// Nothing is rendered yet.
    pub(super) fn new(form: ObjectForm) -> PlaceNames {
        PlaceNames {
            form,
            ..PlaceNames::default()
        }
    }

    /// What they tell.
    pub(super) fn form(&self) -> ObjectForm {
        self.form
    }

    /// The name of a place itself.
    pub(super) fn alone(
        &mut self,
        place: Option<DsoAddress>,
        names: (&Names<'_>, &Objects),
    ) -> &[u8] {
        let Some(place) = place else { return &[] };
        let known = self.known(place, names);
        self.text(known.alone)
    }

    /// Adds a call chain's entry: one frame, or one for each function that was inlined there and for the one that has the
    /// code.
    pub(super) fn push_entry(
        &mut self,
        ip: u64,
        place: Option<DsoAddress>,
        names: (&Names<'_>, &Objects),
        items: &mut Items<'_>,
    ) {
        let Some(place) = place else {
            return items.frame(ip, &[]);
        };
        let known = self.known(place, names);
        for step in known.first..known.first + known.count {
            items.frame(ip, self.text(self.steps[step as usize]));
        }
    }

    fn text(&self, (start, end): (u32, u32)) -> &[u8] {
        self.texts
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    #[inline]
    fn known(&mut self, place: DsoAddress, (names, objects): (&Names<'_>, &Objects)) -> Known {
        if let Some(known) = self.known.get(place) {
            return known;
        }
        let known = self.render(place, names, objects);
        self.known.insert(place, known)
    }

    #[cold]
    fn render(&mut self, place: DsoAddress, names: &Names<'_>, objects: &Objects) -> Known {
        let name = names.name(objects, &place);
        let dso = Some(objects.dso(place.dso).shown.as_str());
        let source = if self.form.lines {
            names.source(objects, place.dso)
        } else {
            None
        };
        let line = source.and_then(|source| source.line(place.address));
        let own = PlaceName {
            symbol: name.map(|name| name.text),
            offset: name.map(|name| place.address.wrapping_sub(name.start)),
            dso,
            inlined: false,
            line: line.as_ref().map(|line| (line.file.as_ref(), line.line)),
        };
        let alone = self.add(&own);
        let first = self.steps.len() as u32;
        match name.filter(|_| self.form.inlines) {
            Some(name) => self.render_steps(&own, &name, &place, names, objects),
            None => self.steps.push(alone),
        }
        Known {
            first,
            count: self.steps.len() as u32 - first,
            alone,
        }
    }

    fn render_steps(
        &mut self,
        own: &PlaceName<'_>,
        name: &Name<'_>,
        place: &DsoAddress,
        names: &Names<'_>,
        objects: &Objects,
    ) {
        for step in names.steps(objects, place, name) {
            let line = step.line.as_ref().filter(|_| self.form.lines);
            let line = line.map(|line| (line.file.as_ref(), line.line));
            let shown = match &step.inlined {
                Some(text) => PlaceName {
                    symbol: Some(text),
                    inlined: true,
                    line,
                    ..PlaceName::default()
                },
                None => PlaceName { line, ..*own },
            };
            let text = self.add(&shown);
            self.steps.push(text);
        }
    }

    fn add(&mut self, name: &PlaceName<'_>) -> (u32, u32) {
        let start = self.texts.len() as u32;
        write_name(name, &mut self.texts);
        (start, self.texts.len() as u32)
    }
}

/// Writes the line that says what the others are.
pub(super) fn write_header(
    out: &mut Vec<u8>,
    input: &Input,
    reader: &Reader<'_>,
    events: &EventTable,
) {
    let features = reader.features();
    let mut line = EventLine::begin("header", out);
    line.text("format", FORMAT.0);
    line.number("version", FORMAT.1.into());
    line.text("file", &input.path().display().to_string());
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

/// Writes the line that says what was lost.
pub(super) fn write_end(out: &mut Vec<u8>, samples: u64, found: &Diagnostics) {
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

impl Printer<'_> {
    /// A sample as an object.
    pub(super) fn print_sample_line(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> io::Result<()> {
        let Form::Objects(place_names) = &mut self.form else {
            return Ok(());
        };
        let form = GapForm::Object(place_names.form());
        let sample = &event.sample;
        let view = &self.views[event.event.0];
        let mode = event.misc.cpu_mode();
        let thread = machine.thread_info(event.thread);
        let mut line = EventLine::begin("sample", self.output.buffer());
        line.text("event", &view.name);
        if let Some(PerfTime(time)) = sample.time {
            line.number("time", time);
        }
        line.text("comm", machine.comm_of(event.thread));
        line.signed("pid", thread.pid.map_or(-1, |pid| pid.0.into()));
        line.signed("tid", thread.tid.0.into());
        if let Some(cpu) = sample.cpu {
            line.number("cpu", cpu.0.into());
        }
        line.text("mode", mode_name(mode));
        line.number("period", event.period);
        if let Some(ip) = sample.ip {
            line.address("ip", ip);
            self.gaps
                .leave_address((line.written(), form), (machine, event.thread), (mode, ip));
        }
        write_access(&mut line, sample, self.architecture);
        write_traced(&mut line, event);
        if view.chained {
            let chain = self.chains.of(machine, event).addresses;
            line.array("callchain", |items| {
                self.gaps
                    .leave_chain((items.written(), form), (machine, event.thread), chain);
            });
        }
        if let Some(stack) = sample.branch_stack {
            line.array("branches", |items| {
                for entry in stack.entries() {
                    let mut name = |address| {
                        let place = branch_place(machine, event.thread, address);
                        place_names
                            .alone(place, (&self.names, machine.objects()))
                            .to_vec()
                    };
                    let (from, to) = (name(entry.from), name(entry.to));
                    items.branch(&entry, &from, &to);
                }
            });
        }
        let formatter = sample.raw.filter(|_| view.tracepoint).and_then(|raw| {
            let id = self.formatters.event_of(raw)?;
            Some((self.formatters.get(id)?, raw))
        });
        if let Some((formatter, raw)) = formatter {
            line.object("trace", |fields| write_trace(fields, formatter, raw));
        }
        line.end();
        self.settle(machine)
    }

    /// Another record as an object; `text` is what `script` shows of it.
    pub(super) fn print_record_line(
        &mut self,
        machine: &mut Machine,
        event: &SidebandEvent<'_>,
        moment: &Moment,
        text: &[u8],
    ) {
        let thread = machine.thread(moment.pid, moment.tid);
        let mut line = EventLine::begin("record", self.output.buffer());
        line.text("kind", event.record.header.kind.name().unwrap_or("?"));
        line.number("time", moment.time);
        line.text("comm", machine.comm_of(thread));
        line.signed("pid", moment.pid.0.into());
        line.signed("tid", moment.tid.0.into());
        if let Some(cpu) = event.id.cpu {
            line.number("cpu", cpu.0.into());
        }
        line.text("text", String::from_utf8_lossy(text).trim_end());
        line.end();
    }
}

fn branch_place(machine: &Machine, thread: ThreadId, address: u64) -> Option<DsoAddress> {
    let mode: CpuMode = machine.guess_mode(thread, address);
    machine.locate(thread, mode, address).map(DsoAddress::from)
}

/// What a sample says of an access to memory, and of registers.
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

/// What hardware trace says.
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
