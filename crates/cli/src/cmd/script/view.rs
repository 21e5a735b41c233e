//! How samples of one event look: which fields they show, and how these are laid out.

use oxperf_abi::{BranchSampleType, EventType, SampleType, SoftwareId};
use oxperf_present::script::{EventClass, FieldSet, FieldSpec, HeadLayout};
use oxperf_present::text::sanitize;
use oxperf_session::SessionEvent;
use oxperf_tracepoint::Formatters;
use oxperf_wire::Sample;

use super::lines::{LineForm, Lines};
use super::sourced::Sourcing;
use super::traced::is_branch_event;

/// How samples of one event look.
#[derive(Clone, Debug)]
pub(super) struct EventView {
    pub(super) name: String,
    pub(super) fields: FieldSet,
    pub(super) layout: HeadLayout,
    /// Which of the printer's rendered locations it uses.
    pub(super) lines: usize,
    /// The same for the places of data addresses, where these lie in mapped memory.
    pub(super) data_lines: Option<usize>,
    pub(super) tracepoint: bool,
    /// Whether a BPF program wrote into samples, and that is shown.
    pub(super) bpf_output: bool,
    /// Whether samples have call chains that are shown.
    pub(super) chained: bool,
    /// Which branches samples keep.
    pub(super) branches: BranchSampleType,
    /// Whether samples are branches.
    pub(super) is_branch: bool,
    /// Whether branches are shown with their target.
    pub(super) shows_target: bool,
}

/// What decides how samples look, whatever their event.
pub(super) struct Look {
    pub(super) spec: FieldSpec,
    pub(super) with_chains: bool,
    pub(super) adds_chains: bool,
    pub(super) nanoseconds: bool,
    /// Names of threads take no more than a narrow column (`-L`).
    pub(super) narrow: bool,
    pub(super) sourcing: Sourcing,
    /// Columns of the longest name of an event.
    pub(super) event_width: usize,
}

impl EventView {
    /// Whether a sample shows its callers and not its own address alone.
    pub(super) fn shows_chain_of(&self, sample: &Sample<'_>) -> bool {
        self.layout.with_chain && sample.callchain.is_some()
    }
}

impl Look {
    /// How samples of an event look; the locations that they need are added to `lines`.
    pub(super) fn view(
        &self,
        event: &SessionEvent,
        formatters: &Formatters,
        lines: &mut Vec<Lines>,
    ) -> EventView {
        let Look {
            spec, event_width, ..
        } = self;
        let class = EventClass::of(event.attr.kind);
        let fields = spec.fields(class);
        let is_branch = is_branch_event(&event.attr);
        let recorded_target = event.attr.sample_type.contains(SampleType::ADDR);
        let shows_target =
            fields.contains(FieldSet::ADDR) || recorded_target && !spec.is_changed(class);
        let has_chains = self.adds_chains || event.attr.sample_type.contains(SampleType::CALLCHAIN);
        let chained = self.with_chains && has_chains;
        let with_chain = chained && fields.contains(FieldSet::IP);
        let layout = HeadLayout {
            with_chain,
            event_width: *event_width,
            nanoseconds: self.nanoseconds,
            narrow: self.narrow,
        };
        let sourcing = Sourcing {
            inlines: self.sourcing.inlines && with_chain,
            ..self.sourcing
        };
        let data_lines = (is_branch || names_data(event)).then(|| {
            lines_for(
                fields.without(FieldSet::IP | FieldSet::SRCLINE),
                Sourcing::default(),
                lines,
            )
        });
        EventView {
            name: event_name(event, formatters),
            fields,
            layout,
            lines: lines_for(fields, sourcing, lines),
            data_lines,
            bpf_output: fields.contains(FieldSet::BPF_OUTPUT) && is_bpf_output(event),
            tracepoint: event.attr.kind == EventType::TRACEPOINT,
            chained,
            branches: event.attr.branch_sample_type,
            is_branch,
            shows_target,
        }
    }
}

fn lines_for(fields: FieldSet, sourcing: Sourcing, lines: &mut Vec<Lines>) -> usize {
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
    let form = LineForm {
        fields: parts,
        sourcing,
    };
    let known = lines.iter().position(|lines| lines.form() == form);
    known.unwrap_or_else(|| {
        lines.push(Lines::new(form));
        lines.len() - 1
    })
}

pub(super) fn event_name(event: &SessionEvent, formatters: &Formatters) -> String {
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

/// Whether an event's data address is one that code touched: the address of a page fault.
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
