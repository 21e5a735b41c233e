//! The sink that prints samples.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use oxperf_abi::{CpuMode, DataSource, EventType, Misc, Pid, RecordType, SampleType, SoftwareId, Tid};
use oxperf_data::{Damage, RawRecord};
use oxperf_machine::{Machine, ThreadId};
use oxperf_present::records;
use oxperf_present::script::{
    Access, AccessColumns, EventClass, FieldSet, FieldSpec, Head, HeadLayout, Location, push_hex, push_number,
};
use oxperf_present::visible::visible;
use oxperf_resolve::{ChainLosses, Chains, KernelNames, Names, Place, PlaceId, PlaceTable, SymbolSource};
use oxperf_session::{EventIndex, EventTable, PlaceWriter, SampleEvent, SessionEvent, SidebandEvent, Sink};
use oxperf_tracepoint::Formatters;
use oxperf_wire::kernel::CallchainDeferred;
use oxperf_wire::user::AuxtraceError;
use oxperf_wire::{Cursor, Endian, Sample, Weight, open_chain};

use super::clock::Clock;
use super::disassembly::Assembly;
use super::lines::Lines;
use super::place_text::PlaceText;
use super::preview::Preview;
use super::sideband::Shown;
use super::sourced::Sourcing;
use super::symbols::{Entered, Symbols};
use super::traced::{Indent, is_branch_event};
use crate::cmd::dump::Dumper;
use crate::filter::Filter;
use crate::output::Output;
use crate::source_text::SourceTexts;

/// What to print.
pub(super) struct PrinterOptions {
    pub(super) spec: FieldSpec,
    pub(super) with_chains: bool,
    /// Samples that were recorded without one get one, too.
    pub(super) adds_chains: bool,
    pub(super) chains: Chains,
    pub(super) nanoseconds: bool,
    pub(super) sourcing: Sourcing,
    pub(super) filter: Filter,
    pub(super) symbols: Symbols,
    pub(super) shown: Shown,
    /// Characters for the names of objects before indented functions.
    pub(super) object_width: usize,
    pub(super) clock: Clock,
    pub(super) dumper: Option<Dumper>,
    /// Whether the recording may still be made: what is known is written at the end of each round.
    pub(super) live: bool,
}

/// How samples of one event look.
#[derive(Debug)]
pub(super) struct EventView {
    name: String,
    pub(super) fields: FieldSet,
    pub(super) layout: HeadLayout,
    /// Which of the printer's rendered locations it uses.
    pub(super) lines: usize,
    /// The same for the places of data addresses, where these lie in mapped memory.
    data_lines: Option<usize>,
    tracepoint: bool,
    /// Whether samples are branches.
    pub(super) is_branch: bool,
    /// Whether branches are shown with their target.
    pub(super) shows_target: bool,
}

/// Prints each sample as it comes.
pub(super) struct Printer<'s> {
    pub(super) output: Output,
    failed: Option<io::Error>,
    pub(super) views: Vec<EventView>,
    pub(super) lines: Vec<Lines>,
    pub(super) preview: Preview,
    pub(super) places: PlaceTable,
    pub(super) names: Names<'s>,
    pub(super) filter: Filter,
    pub(super) symbols: Symbols,
    pub(super) entered: Entered,
    pub(super) shown: Shown,
    pub(super) clock: Clock,
    pub(super) endian: Endian,
    pub(super) live: bool,
    /// Whether any event shows flags.
    pub(super) with_flags: bool,
    pub(super) indent: Indent,
    pub(super) object_width: usize,
    formatters: &'s Formatters,
    pub(super) chains: Chains,
    access_columns: AccessColumns,
    dumper: Option<Dumper>,
    pub(super) assembly: Assembly,
    look: Look,
    source_texts: SourceTexts,
}

/// What decides how samples look, whatever their event.
struct Look {
    spec: FieldSpec,
    with_chains: bool,
    adds_chains: bool,
    nanoseconds: bool,
    sourcing: Sourcing,
    /// Columns of the longest name of an event.
    event_width: usize,
}

impl EventView {
    /// Whether a sample shows its callers and not its own address alone.
    pub(super) fn shows_chain_of(&self, sample: &Sample<'_>) -> bool {
        self.layout.with_chain && sample.callchain.is_some()
    }
}

const PLACE: FieldSet = FieldSet::IP;

impl<'s> Printer<'s> {
    pub(super) fn new(
        output: Output,
        options: PrinterOptions,
        (events, endian): (&EventTable, Endian),
        formatters: &'s Formatters,
        source: &'s dyn SymbolSource,
    ) -> Printer<'s> {
        let mut printer = Printer::without_views(output, options, endian, formatters, source);
        let width = |event| event_name(event, formatters).chars().count();
        printer.look.event_width = events.events().iter().map(width).max().unwrap_or(0);
        events.events().iter().for_each(|event| printer.add_view(event));
        printer
    }

    /// How samples of one more event look.
    fn add_view(&mut self, event: &SessionEvent) {
        let Look { spec, with_chains, adds_chains, nanoseconds, event_width, .. } = &self.look;
        let class = EventClass::of(event.attr.kind);
        let fields = spec.fields(class);
        let is_branch = is_branch_event(&event.attr);
        let recorded_target = event.attr.sample_type.contains(SampleType::ADDR);
        let shows_target = fields.contains(FieldSet::ADDR) || recorded_target && !spec.is_changed(class);
        let has_chains = *adds_chains || event.attr.sample_type.contains(SampleType::CALLCHAIN);
        let chained = *with_chains && has_chains;
        let with_chain = chained && fields.contains(PLACE);
        let layout = HeadLayout { with_chain, event_width: *event_width, nanoseconds: *nanoseconds };
        let sourcing = Sourcing { inlines: self.look.sourcing.inlines && with_chain, ..self.look.sourcing };
        let lines = &mut self.lines;
        let data_lines = (is_branch || names_data(event))
            .then(|| lines_for(fields.without(FieldSet::IP | FieldSet::SRCLINE), Sourcing::default(), lines));
        self.views.push(EventView {
            name: event_name(event, self.formatters),
            fields,
            layout,
            lines: lines_for(fields, sourcing, lines),
            data_lines,
            tracepoint: event.attr.kind == EventType::TRACEPOINT,
            is_branch,
            shows_target,
        });
    }

    fn without_views(
        output: Output,
        options: PrinterOptions,
        endian: Endian,
        formatters: &'s Formatters,
        source: &'s dyn SymbolSource,
    ) -> Printer<'s> {
        let PrinterOptions { spec, with_chains, adds_chains, nanoseconds, sourcing, .. } = options;
        Printer {
            output,
            failed: None,
            views: Vec::new(),
            lines: Vec::new(),
            preview: Preview::default(),
            places: PlaceTable::default(),
            names: Names::new(source),
            formatters,
            chains: options.chains,
            access_columns: AccessColumns::default(),
            with_flags: spec.any_has(FieldSet::FLAGS),
            look: Look { spec, with_chains, adds_chains, nanoseconds, sourcing, event_width: 0 },
            source_texts: SourceTexts::default(),
            indent: Indent::default(),
            object_width: options.object_width,
            filter: options.filter,
            symbols: options.symbols,
            entered: Entered::default(),
            shown: options.shown,
            clock: options.clock,
            endian,
            dumper: options.dumper,
            assembly: Assembly::default(),
            live: options.live,
        }
    }

    /// Writes out what is left; gives what of the call chains could not be had.
    pub(super) fn finish(self) -> io::Result<ChainLosses> {
        match self.failed {
            Some(error) => Err(error),
            None => self.output.finish().map(|_| self.chains.losses()),
        }
    }

    /// Ends the session when nothing can be written any more.
    fn go_on(&mut self, printed: io::Result<()>) -> ControlFlow<()> {
        match printed {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

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
        };
        match known {
            Some(places) => writer.write_placed(machine, chain.addresses, places),
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

    fn print(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> io::Result<()> {
        if let Some(dumper) = &self.dumper {
            dumper.place(machine, event, self.output.buffer());
        }
        let view = &self.views[event.event.0];
        let named = view.fields.contains(FieldSet::COMM);
        let comm = if named { visible(machine.comm_of(event.thread)) } else { "".into() };
        let out = self.output.buffer();
        let mut head = head(view, &comm, machine, event);
        head.time = head.time.map(|time| self.clock.shown(time));
        view.layout.write(&head, out);
        let is_branch = view.is_branch;
        self.print_flags(event);
        if is_branch {
            self.print_branch(machine, event);
            self.output.buffer().push(b'\n');
            return self.output.settle();
        }
        self.print_rest(machine, event);
        self.output.buffer().push(b'\n');
        self.print_source_text(machine, event);
        self.output.settle()
    }

    /// The text of the source line of the sample's own address, unless its thread showed it last.
    fn print_source_text(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        if !self.views[event.event.0].fields.contains(FieldSet::SRCCODE) {
            return;
        }
        let place = machine.locate(event.thread, event.misc.cpu_mode(), event.sample.ip.unwrap_or(0));
        let Some(place) = place.map(Place::from) else { return };
        self.names.grow(machine);
        let source = self.names.source(machine, place.dso);
        let Some(line) = source.and_then(|source| source.line(place.address)) else { return };
        if let Some(text) = self.source_texts.next(event.thread, &line) {
            let out = self.output.buffer();
            out.push(b'|');
            let start = out.len();
            push_number(out, u64::from(line.line), 1, b' ');
            out.resize(out.len().max(start + 8), b' ');
            out.push(b' ');
            out.extend_from_slice(visible(&String::from_utf8_lossy(text)).as_bytes());
            out.push(b'\n');
        }
    }

    /// What stands behind the head of a sample that is no branch.
    fn print_rest(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let view = &self.views[event.event.0];
        let fields = view.fields;
        let out = self.output.buffer();
        if fields.contains(FieldSet::TRACE)
            && let Some(raw) = event.sample.raw.filter(|_| view.tracepoint)
        {
            self.names.grow(machine);
            let symbols = KernelNames::new(&self.names, machine);
            self.formatters.format(raw, &symbols, out);
        }
        self.print_payload(fields, event.traced.as_ref());
        if fields.contains(FieldSet::ADDR) {
            self.print_data_address(machine, event);
        }
        let access = access(&event.sample);
        self.access_columns.write_source(&access, fields, self.output.buffer());
        if fields.contains(PLACE) {
            self.print_places(machine, event);
        }
        self.print_branch_stack(machine, event);
        self.print_code(machine, event);
        let out = self.output.buffer();
        access.write_pages(fields, out);
        self.print_ipc(fields, event.traced.as_ref());
    }
}

/// What writes the addresses of a chain, each in a line.
struct ChainWriter<'w, 's> {
    lines: &'w mut Lines,
    places: &'w mut PlaceTable,
    names: &'w mut Names<'s>,
    out: &'w mut Vec<u8>,
}

impl ChainWriter<'_, '_> {
    fn write(&mut self, machine: &Machine, thread: ThreadId, chain: &[(CpuMode, u64)]) {
        for (mode, ip) in chain {
            let place = self.places.locate(machine, thread, *mode, *ip);
            self.lines.push_entry(*ip, place, (self.names, machine), self.out);
        }
    }

    /// The same where it is known already where each address lies.
    fn write_placed(
        &mut self,
        machine: &Machine,
        chain: &[(CpuMode, u64)],
        places: &[Option<(PlaceId, Place)>],
    ) {
        for ((_, ip), place) in chain.iter().zip(places) {
            self.lines.push_entry(*ip, *place, (self.names, machine), self.out);
        }
    }
}

fn lines_for(fields: FieldSet, sourcing: Sourcing, lines: &mut Vec<Lines>) -> usize {
    let parts = [FieldSet::IP, FieldSet::SYM, FieldSet::SYMOFF, FieldSet::DSO, FieldSet::SRCLINE];
    let parts =
        parts.into_iter().filter(|part| fields.contains(*part)).fold(FieldSet::EMPTY, |all, part| all | part);
    let known = lines.iter().position(|lines| lines.fields() == parts && lines.sourcing() == sourcing);
    known.unwrap_or_else(|| {
        lines.push(Lines::new(parts, sourcing));
        lines.len() - 1
    })
}

fn event_name(event: &SessionEvent, formatters: &Formatters) -> String {
    let traced =
        (event.attr.kind == EventType::TRACEPOINT).then(|| formatters.name(event.attr.config)).flatten();
    let unnamed = event.name.starts_with("unknown tracepoint");
    visible(traced.filter(|_| unnamed).as_ref().unwrap_or(&event.name)).into_owned()
}

fn head<'a>(view: &'a EventView, comm: &'a str, machine: &Machine, event: &SampleEvent<'_>) -> Head<'a> {
    let shows = |field| view.fields.contains(field);
    let (pid, tid) = ids(machine, event.thread);
    Head {
        comm: shows(FieldSet::COMM).then_some(comm),
        pid: pid.filter(|_| shows(FieldSet::PID)),
        tid: tid.filter(|_| shows(FieldSet::TID)),
        cpu: event.sample.cpu.map(|cpu| cpu.0).filter(|_| shows(FieldSet::CPU)),
        // What was made of hardware trace was never a record.
        misc: shows(FieldSet::MISC).then_some(match event.traced {
            Some(_) => (RecordType::SAMPLE, Misc(0)),
            None => (RecordType::SAMPLE, event.misc),
        }),
        time: event.sample.time.map(|time| time.0).filter(|_| shows(FieldSet::TIME)),
        period: shows(FieldSet::PERIOD).then_some(event.period),
        event: shows(FieldSet::EVENT).then_some(view.name.as_str()),
    }
}

fn ids(machine: &Machine, thread: ThreadId) -> (Option<i32>, Option<i32>) {
    let thread = machine.thread_info(thread);
    (Some(thread.pid.map_or(-1, |pid| pid.0)), Some(thread.tid.0))
}

/// Whether an event's data address is one that code touched: the address of a page fault.
fn names_data(event: &SessionEvent) -> bool {
    const FAULTS: [SoftwareId; 3] =
        [SoftwareId::PageFaults, SoftwareId::PageFaultsMin, SoftwareId::PageFaultsMaj];
    let id = SoftwareId::from_config(event.attr.config).filter(|_| event.attr.kind == EventType::SOFTWARE);
    id.is_some_and(|id| FAULTS.contains(&id))
}

/// What a sample says of the access to memory that it stands for.
fn access(sample: &Sample<'_>) -> Access {
    let (weight, ins_lat, retire_lat) = match sample.weight {
        Some(Weight::Whole(weight)) => (weight, 0, 0),
        Some(Weight::Parts { var1, var2, var3 }) => (u64::from(var1), var2, var3),
        None => (0, 0, 0),
    };
    Access {
        source: DataSource(sample.data_src.unwrap_or(0)),
        weight,
        ins_lat,
        retire_lat,
        phys_addr: sample.phys_addr.unwrap_or(0),
        data_page_size: sample.data_page_size.unwrap_or(0),
        code_page_size: sample.code_page_size.unwrap_or(0),
    }
}

impl Sink for Printer<'_> {
    fn event(&mut self, events: &EventTable, told: EventIndex) -> bool {
        let Some(event) = events.events().get(told.0) else { return false };
        if let Some(dumper) = &mut self.dumper {
            dumper.set_events(events);
        }
        match self.views.get_mut(told.0) {
            Some(view) => view.name = event_name(event, self.formatters),
            None => self.add_view(event),
        }
        true
    }

    fn record(
        &mut self,
        _: &mut Machine,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
    ) -> ControlFlow<()> {
        let Some(dumper) = &mut self.dumper else { return ControlFlow::Continue(()) };
        let written = dumper.record(record, event, &mut self.output);
        self.go_on(written)
    }

    fn damage(&mut self, damage: &Damage) -> ControlFlow<()> {
        let Some(dumper) = &self.dumper else { return ControlFlow::Continue(()) };
        let written = dumper.damage(damage, &mut self.output);
        self.go_on(written)
    }

    fn looks_ahead(&self) -> bool {
        self.chains.looks_ahead() || self.asks_sources()
    }

    fn ahead(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        self.chains.ahead(machine, samples);
        if self.asks_sources() {
            self.preview(machine, samples);
        }
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let taken = self.filter.takes(machine, event) && self.takes_function(machine, event);
        let printed = if taken { self.print(machine, event) } else { Ok(()) };
        let printed = printed.and_then(|()| match &self.dumper {
            Some(dumper) => dumper.sampled_packets(&event.sample, &mut self.output),
            None => Ok(()),
        });
        self.go_on(printed)
    }

    fn place_writer(&self, event: EventIndex) -> Option<Arc<dyn PlaceWriter>> {
        let untimed = self.filter.times_pass() && self.dumper.is_none() && !self.symbols.ask_anything();
        let text = PlaceText::of(&self.views[event.0], self.with_flags).filter(|_| untimed)?;
        Some(Arc::new(text))
    }

    fn written(&mut self, machine: &mut Machine, common: &SampleEvent<'_>, text: &[u8]) -> ControlFlow<()> {
        if !self.filter.takes(machine, common) {
            return ControlFlow::Continue(());
        }
        let passed = self.output.pass(text);
        self.go_on(passed)
    }

    fn sideband(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        let printed = self.print_sideband(machine, event);
        self.go_on(printed)
    }

    fn trace_error(&mut self, _: &mut Machine, error: &AuxtraceError<'_>) -> ControlFlow<()> {
        records::trace_error(self.output.buffer(), error);
        let settled = self.output.settle();
        self.go_on(settled)
    }

    fn round(&mut self) -> ControlFlow<()> {
        let printed = self.print_round();
        self.go_on(printed)
    }
}
