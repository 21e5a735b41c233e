//! The style of an event's samples: the fields that they show, and how these are laid out.

use oxperf_abi::{BranchSampleType, EventAttr, EventType, SampleType, SoftwareId};
use oxperf_present::script::{EventClass, FieldSet, FieldSpec, HeadLayout};
use oxperf_present::text::sanitize;
use oxperf_session::{EventTable, SessionEvent};
use oxperf_tracepoint::Formatters;

use crate::chain_use::ChainUse;
use crate::location_text::LocationForm;
use crate::srcline_text::SourceOptions;

/// The style of one event's samples.
#[derive(Clone, Debug)]
pub struct EventStyle {
    /// The event's name, sanitized.
    pub name: String,
    /// The fields that are shown.
    pub fields: FieldSet,
    /// The layout of the head of a line.
    pub layout: HeadLayout,
    /// The form of addresses of code.
    pub(crate) location: LocationForm,
    /// The form of data addresses, where these lie in mapped memory.
    pub(crate) data_location: Option<LocationForm>,
    /// `true` for a tracepoint.
    pub tracepoint: bool,
    /// `true` where a BPF program wrote into samples, and that is shown.
    pub bpf_output: bool,
    /// `true` where samples have call chains that are shown.
    pub chained: bool,
    /// The samples whose chains the format shows.
    pub chain_use: ChainUse,
    /// The branches that samples keep.
    pub branches: BranchSampleType,
    /// `true` where samples are branches.
    pub is_branch: bool,
    /// `true` where branches are shown with their target.
    pub shows_target: bool,
}

/// The options that all styles are made by.
#[derive(Clone, Copy, Debug, Default)]
pub struct StyleOptions {
    /// The fields of each class of events.
    pub spec: FieldSpec,
    /// Call chains are shown.
    pub with_chains: bool,
    /// Samples that were recorded without a chain get one, too.
    pub adds_chains: bool,
    /// Times have nine decimals.
    pub nanoseconds: bool,
    /// Names of threads take no more than a narrow column (`-L`).
    pub narrow: bool,
    /// Source lines and inlined functions.
    pub sources: SourceOptions,
}

/// The styles of all events, by index.
#[derive(Debug)]
pub struct EventStyles {
    options: StyleOptions,
    /// Columns of the longest name of an event.
    event_width: usize,
    list: Vec<EventStyle>,
}

impl EventStyles {
    /// Styles without an event; columns are wide enough for the names of `events`.
    pub fn new(options: StyleOptions, events: &EventTable, formatters: &Formatters) -> EventStyles {
        let width = |event| event_name(event, formatters).chars().count();
        EventStyles {
            options,
            event_width: events.events().iter().map(width).max().unwrap_or(0),
            list: Vec::new(),
        }
    }

    /// All, by event.
    #[inline]
    pub fn list(&self) -> &[EventStyle] {
        &self.list
    }

    /// The style of an event, if it has been added.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut EventStyle> {
        self.list.get_mut(index)
    }

    /// Adds an event, whose index is the number of those before it.
    pub fn add(&mut self, style: EventStyle) {
        self.list.push(style);
    }

    /// The style of an event.
    pub fn style_of(&self, event: &SessionEvent, formatters: &Formatters) -> EventStyle {
        let StyleOptions { spec, .. } = &self.options;
        let class = EventClass::of(event.attr.kind);
        let fields = spec.fields(class);
        let is_branch = is_branch_event(&event.attr);
        let recorded_target = event.attr.sample_type.contains(SampleType::ADDR);
        let shows_target =
            fields.contains(FieldSet::ADDR) || recorded_target && !spec.is_changed(class);
        let has_chains =
            self.options.adds_chains || event.attr.sample_type.contains(SampleType::CALLCHAIN);
        let chained = self.options.with_chains && has_chains;
        let with_chain = chained && fields.contains(FieldSet::IP);
        let sources = SourceOptions {
            inlines: self.options.sources.inlines && with_chain,
            ..self.options.sources
        };
        let data_fields = fields.without(FieldSet::IP | FieldSet::SRCLINE);
        let data_location = (is_branch || names_data(event))
            .then(|| location_form(data_fields, SourceOptions::default()));
        EventStyle {
            name: event_name(event, formatters),
            fields,
            layout: HeadLayout {
                with_chain,
                event_width: self.event_width,
                nanoseconds: self.options.nanoseconds,
                narrow: self.options.narrow,
            },
            location: location_form(fields, sources),
            data_location,
            bpf_output: fields.contains(FieldSet::BPF_OUTPUT) && is_bpf_output(event),
            tracepoint: event.attr.kind == EventType::TRACEPOINT,
            chained,
            chain_use: ChainUse::Never,
            branches: event.attr.branch_sample_type,
            is_branch,
            shows_target,
        }
    }
}

/// The form of locations with the parts that `fields` has.
fn location_form(fields: FieldSet, sources: SourceOptions) -> LocationForm {
    let parts = [
        FieldSet::IP,
        FieldSet::SYM,
        FieldSet::SYMOFF,
        FieldSet::DSO,
        FieldSet::DSOFF,
        FieldSet::SRCLINE,
    ];
    let parts = parts
        .into_iter()
        .filter(|part| fields.contains(*part))
        .fold(FieldSet::EMPTY, |all, part| all | part);
    LocationForm {
        fields: parts,
        sources,
    }
}

/// `true` for events whose samples are branches: printed with their target.
fn is_branch_event(attr: &EventAttr) -> bool {
    const BRANCHES: u64 = 4;
    attr.kind == EventType::HARDWARE && attr.config & BRANCHES != 0 && attr.sample_period == 1
}

/// The name of an event as it is shown, sanitized.
pub fn event_name(event: &SessionEvent, formatters: &Formatters) -> String {
    let traced = (event.attr.kind == EventType::TRACEPOINT)
        .then(|| formatters.name(event.attr.config))
        .flatten();
    let unnamed = event.name.starts_with("unknown tracepoint");
    sanitize(traced.filter(|_| unnamed).as_ref().unwrap_or(&event.name)).into_owned()
}

fn is_bpf_output(event: &SessionEvent) -> bool {
    event.attr.kind == EventType::SOFTWARE
        && SoftwareId::from_config(event.attr.config) == Some(SoftwareId::BpfOutput)
}

/// `true` for events whose data address is one that code touched: the address of a page fault.
fn names_data(event: &SessionEvent) -> bool {
    const FAULTS: [SoftwareId; 3] = [
        SoftwareId::PageFaults,
        SoftwareId::PageFaultsMin,
        SoftwareId::PageFaultsMaj,
    ];
    let id = SoftwareId::from_config(event.attr.config)
        .filter(|_| event.attr.kind == EventType::SOFTWARE);
    id.is_some_and(|id| FAULTS.contains(&id))
}
