//! Lines of text, as `perf script` prints them.

mod branch_line;

use std::io;
use std::sync::Arc;

use oxperf_machine::Machine;
use oxperf_present::dump::Architecture;
use oxperf_present::script::{AccessColumns, FieldSet, Head};
use oxperf_present::text::sanitize;
use oxperf_resolve::{DsoAddressTable, Names};
use oxperf_session::{EventIndex, SampleTextWriter, SessionEvent, SidebandEvent};
use oxperf_tracepoint::Formatters;
use oxperf_wire::Endian;

use crate::clock::ShownTime;
use crate::code_reader::CodeReader;
use crate::event_style::EventStyle;
use crate::fields::FIELDS;
use crate::fields::cgroup::CgroupPaths;
use crate::fields::location::write_user_callers;
use crate::fields::source_text::write_source_text;
use crate::format::{ChainUse, NoFormat, SampleFormat};
use crate::location_text::{LocationForm, LocationText};
use crate::name_lookup::NameLookup;
use crate::output::ScriptOutput;
use crate::sample_head::sample_head;
use crate::source_texts::SourceTexts;
use crate::text_writer::TextWriter;
use crate::time_of_day::TimeOfDay;
use crate::view::{RecordView, SampleView};
use branch_line::IndentColumn;

/// Options of text.
pub struct TextOptions {
    /// The origin of times.
    pub clock: ShownTime,
    /// The way from the recording's clock to the time of day, where it is known.
    pub time_of_day: Option<TimeOfDay>,
    /// `true` where any event shows flags.
    pub with_flags: bool,
    /// Characters for the names of objects before indented functions.
    pub object_width: usize,
    /// The names of registers.
    pub architecture: Architecture,
    /// The byte order of records.
    pub endian: Endian,
}

/// Prints samples as lines.
pub struct TextFormat<'s> {
    pub(crate) options: TextOptions,
    pub(crate) names: Arc<Names<'static>>,
    pub(crate) formatters: &'s Formatters,
    /// The text of locations, one for each form.
    locations: Vec<LocationText>,
    /// The forms of each event.
    of_events: Vec<EventLocations>,
    pub(crate) addresses: DsoAddressTable,
    pub(crate) access_columns: AccessColumns,
    pub(crate) code: CodeReader,
    pub(crate) source_texts: SourceTexts,
    pub(crate) cgroups: CgroupPaths,
    indent: IndentColumn,
}

/// The indexes of an event's location texts.
#[derive(Clone, Copy, Debug)]
struct EventLocations {
    code: usize,
    data: Option<usize>,
}

impl<'s> TextFormat<'s> {
    /// Lines with these options and names.
    pub fn new(
        options: TextOptions,
        names: Arc<Names<'static>>,
        formatters: &'s Formatters,
        code: CodeReader,
    ) -> TextFormat<'s> {
        TextFormat {
            options,
            names,
            formatters,
            locations: Vec::new(),
            of_events: Vec::new(),
            addresses: DsoAddressTable::default(),
            access_columns: AccessColumns::default(),
            code,
            source_texts: SourceTexts::default(),
            cgroups: CgroupPaths::default(),
            indent: IndentColumn::default(),
        }
    }

    /// Another format of the same lines, with times as recorded.
    pub(crate) fn another(&self, styles: &[EventStyle]) -> TextFormat<'s> {
        let options = TextOptions {
            clock: ShownTime::default(),
            time_of_day: None,
            ..self.options
        };
        let names = Arc::clone(&self.names);
        let mut another = TextFormat::new(options, names, self.formatters, CodeReader::default());
        styles.iter().for_each(|style| another.add_style(style));
        another
    }

    fn add_style(&mut self, style: &EventStyle) {
        let locations = EventLocations {
            data: style
                .data_location
                .map(|form| location_of(&mut self.locations, form)),
            code: location_of(&mut self.locations, style.location),
        };
        self.of_events.push(locations);
    }

    /// The names by the objects of a moment.
    pub(crate) fn lookup<'n>(&'n self, machine: &'n Machine) -> NameLookup<'n, 'static> {
        NameLookup {
            names: &self.names,
            objects: machine.objects(),
        }
    }

    /// Appends an address of code with its names.
    pub(crate) fn push_code_location(
        &mut self,
        view: &SampleView<'_>,
        address: u64,
        out: &mut Vec<u8>,
    ) {
        let locations = &mut self.locations[self.of_events[view.event.event.0].code];
        if !locations.names_anything() {
            return oxperf_present::text::number::push_hex(out, address, 16);
        }
        let located = view.context().locate(view.mode(), address);
        let lookup = NameLookup {
            names: &self.names,
            objects: view.machine.objects(),
        };
        locations.push(address, located, lookup, out);
    }

    /// Appends the names of a data address, where the event's addresses lie in mapped memory.
    pub(crate) fn push_data_location(
        &mut self,
        view: &SampleView<'_>,
        address: u64,
        out: &mut Vec<u8>,
    ) {
        use oxperf_abi::CpuMode;
        let Some(data) = self.of_events[view.event.event.0].data else {
            return;
        };
        let locations = &mut self.locations[data];
        if !locations.names_anything() {
            return;
        }
        let of_guest = matches!(view.mode(), CpuMode::GuestKernel | CpuMode::GuestUser);
        // The kernel touches user memory, too.
        let mode = if of_guest {
            view.mode()
        } else {
            view.mode_at(address)
        };
        let located = view.context().locate(mode, address);
        let lookup = NameLookup {
            names: &self.names,
            objects: view.machine.objects(),
        };
        locations.push(address, located, lookup, out);
    }

    /// Whether times are counted from one sample to another, or shown as those of the day.
    pub(crate) fn counts_time(&self) -> bool {
        self.options.clock != ShownTime::Recorded || self.options.time_of_day.is_some()
    }

    /// Appends the head of a sample's line.
    pub(crate) fn write_head(&mut self, view: &SampleView<'_>, out: &mut Vec<u8>) {
        let style = view.style;
        let comm = if style.fields.contains(FieldSet::COMM) {
            sanitize(view.comm())
        } else {
            "".into()
        };
        let mut head = sample_head(view, &comm);
        let clock = self.options.time_of_day;
        let shown = clock.filter(|_| style.fields.contains(FieldSet::TOD));
        let time_of_day = shown.and_then(|clock| Some(clock.text(view.sample().time?.0)));
        head.time_of_day = time_of_day.as_deref();
        head.time = head.time.map(|time| self.options.clock.shown(time));
        style.layout.write(&head, out);
    }

    /// Appends everything behind the head of a sample's line, with the end of the line.
    pub(crate) fn write_rest(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) {
        self.write_flags(view, out.buffer());
        if view.style.is_branch {
            self.write_branch(view, out);
        } else {
            for field in FIELDS.iter().filter(|field| field.is_shown(view.fields())) {
                (field.write)(self, view, out);
            }
        }
        out.buffer().push(b'\n');
    }

    /// Appends the head of a record's line.
    fn write_record_head(&mut self, view: &mut RecordView<'_>, out: &mut Vec<u8>) {
        let moment = view.moment();
        let thread = match &view.subject {
            Some(subject) => view.machine.thread(subject.pid, subject.tid),
            None => view.machine.thread(moment.pid, moment.tid),
        };
        let comm = sanitize(view.machine.comm_of(thread));
        let shows = |field| view.style.fields.contains(field);
        let (header, id) = (view.event.record.header, &view.event.id);
        let head = Head {
            comm: shows(FieldSet::COMM).then_some(comm.as_ref()),
            pid: shows(FieldSet::PID).then_some(moment.pid.0),
            tid: shows(FieldSet::TID).then_some(moment.tid.0),
            cpu: shows(FieldSet::CPU).then(|| id.cpu.map_or(0, |cpu| cpu.0)),
            misc: shows(FieldSet::MISC).then_some((header.kind, header.misc)),
            time: shows(FieldSet::TIME).then(|| self.options.clock.shown(moment.time)),
            ..Head::default()
        };
        view.style.layout.write(&head, out);
    }
}

/// The index of the text of a form, made at its first use.
fn location_of(locations: &mut Vec<LocationText>, form: LocationForm) -> usize {
    let known = locations.iter().position(|known| known.form() == form);
    known.unwrap_or_else(|| {
        locations.push(LocationText::new(form));
        locations.len() - 1
    })
}

impl SampleFormat for TextFormat<'_> {
    type Inner = NoFormat;

    fn inner(&mut self) -> Option<&mut NoFormat> {
        None
    }

    fn chain_use(&mut self, style: &EventStyle) -> ChainUse {
        if style.layout.with_chain {
            ChainUse::WhereRecorded
        } else {
            ChainUse::Never
        }
    }

    fn add_event(&mut self, _: &SessionEvent, style: &EventStyle) {
        self.add_style(style);
    }

    fn takes_new_events(&mut self) -> bool {
        true
    }

    fn sample(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        if view.fields() == FieldSet::EMPTY {
            return Ok(());
        }
        self.write_head(view, out.buffer());
        self.write_rest(view, out);
        if !view.style.is_branch && view.fields().contains(FieldSet::SRCCODE) {
            let address = (view.mode(), view.ip_or_zero());
            write_source_text(self, view.context(), address, out.buffer());
        }
        Ok(())
    }

    fn text_writer<'w>(
        &mut self,
        event: EventIndex,
        styles: &[EventStyle],
    ) -> Option<Arc<dyn SampleTextWriter + 'w>>
    where
        Self: 'w,
    {
        if self.counts_time() {
            return None;
        }
        Some(Arc::new(TextWriter::new(self, event, styles)?))
    }

    fn sideband(
        &mut self,
        _: &Machine,
        event: &SidebandEvent<'_>,
        _: &mut ScriptOutput,
    ) -> io::Result<()> {
        self.cgroups.learn(event, self.options.endian);
        Ok(())
    }

    fn record(&mut self, view: &mut RecordView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        self.write_record_head(view, out.buffer());
        out.buffer().extend_from_slice(view.text);
        write_user_callers(view, out);
        Ok(())
    }
}
