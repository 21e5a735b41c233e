//! The state that the fields of a line are written with: names, code and texts that were met before.

use std::sync::Arc;

use oxperf_abi::CpuMode;
use oxperf_machine::Machine;
use oxperf_present::dump::Architecture;
use oxperf_present::script::AccessColumns;
use oxperf_present::text::number::push_hex;
use oxperf_resolve::{DsoAddressTable, Names};
use oxperf_tracepoint::Formatters;
use oxperf_wire::Endian;

use crate::cgroup_paths::CgroupPaths;
use crate::clock::ShownTime;
use crate::code_reader::CodeReader;
use crate::event_style::EventStyle;
use crate::location_text::{LocationForm, LocationText};
use crate::name_lookup::NameLookup;
use crate::source_texts::SourceTexts;
use crate::time_of_day::TimeOfDay;
use crate::view::SampleView;

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

/// The state of a format of lines.
pub(crate) struct TextContext<'s> {
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
}

/// The indexes of an event's location texts.
#[derive(Clone, Copy, Debug)]
struct EventLocations {
    code: usize,
    data: Option<usize>,
}

impl<'s> TextContext<'s> {
    /// No event and no name yet.
    pub(crate) fn new(
        options: TextOptions,
        names: Arc<Names<'static>>,
        formatters: &'s Formatters,
        code: CodeReader,
    ) -> TextContext<'s> {
        TextContext {
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
        }
    }

    /// The state of another format of the same lines, with times as recorded.
    pub(crate) fn another(&self, styles: &[EventStyle]) -> TextContext<'s> {
        let options = TextOptions {
            clock: ShownTime::default(),
            time_of_day: None,
            ..self.options
        };
        let names = Arc::clone(&self.names);
        let mut another = TextContext::new(options, names, self.formatters, CodeReader::default());
        styles.iter().for_each(|style| another.add_style(style));
        another
    }

    /// Adds an event, whose index is the number of those before it.
    pub(crate) fn add_style(&mut self, style: &EventStyle) {
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
            return push_hex(out, address, 16);
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

    /// Returns true if times are counted from one sample to another, or shown as those of the day.
    pub(crate) fn counts_time(&self) -> bool {
        self.options.clock != ShownTime::Recorded || self.options.time_of_day.is_some()
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
