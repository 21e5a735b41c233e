//! The fields that a recording can show: those that were not recorded are left out, or refused where they were asked for.

use oxperf_abi::{BranchSampleType, EventType, SampleType, SoftwareId};
use oxperf_data::{Container, FeatureId, Reader};
use oxperf_present::script::{EventClass, FieldSet, FieldSpec};
use oxperf_session::{EventTable, SessionEvent};

use crate::code_reader::shows_branch_code;

/// The fields that need a part of the sample, and what that part is called, in the order in which perf misses them.
const NEEDED: [(FieldSet, SampleType, &str, &str); 16] = [
    (FieldSet::IP, SampleType::IP, "IP", "ip"),
    (FieldSet::ADDR, SampleType::ADDR, "ADDR", "addr"),
    (
        FieldSet::DATA_SRC,
        SampleType::DATA_SRC,
        "DATA_SRC",
        "data_src",
    ),
    (FieldSet::WEIGHT, SampleType::WEIGHT, "WEIGHT", "weight"),
    (FieldSet::TID, SampleType::TID, "TID", "tid"),
    (FieldSet::PID, SampleType::TID, "TID", "pid"),
    (FieldSet::TIME, SampleType::TIME, "TIME", "time"),
    (FieldSet::CPU, SampleType::CPU, "CPU", "cpu"),
    (FieldSet::IREGS, SampleType::REGS_INTR, "IREGS", "iregs"),
    (FieldSet::UREGS, SampleType::REGS_USER, "UREGS", "uregs"),
    (
        FieldSet::PHYS_ADDR,
        SampleType::PHYS_ADDR,
        "PHYS_ADDR",
        "phys_addr",
    ),
    (
        FieldSet::DATA_PAGE_SIZE,
        SampleType::DATA_PAGE_SIZE,
        "DATA_PAGE_SIZE",
        "data_page_size",
    ),
    (
        FieldSet::CODE_PAGE_SIZE,
        SampleType::CODE_PAGE_SIZE,
        "CODE_PAGE_SIZE",
        "code_page_size",
    ),
    (
        FieldSet::INS_LAT,
        SampleType::WEIGHT_STRUCT,
        "WEIGHT_STRUCT",
        "ins_lat",
    ),
    (FieldSet::CGROUP, SampleType::CGROUP, "CGROUP", "cgroup"),
    (
        FieldSet::RETIRE_LAT,
        SampleType::WEIGHT_STRUCT,
        "WEIGHT_STRUCT",
        "retire_lat",
    ),
];

/// The fields that trace may add to samples whose events were not recorded with them.
const TRACED: [FieldSet; 6] = [
    FieldSet::ADDR,
    FieldSet::CPU,
    FieldSet::DATA_SRC,
    FieldSet::WEIGHT,
    FieldSet::PHYS_ADDR,
    FieldSet::IREGS,
];

/// Leaves out fields that were not recorded. As in perf, the first event of each type stands for all, and with hardware
/// trace some fields may be asked for everywhere.
///
/// # Errors
/// One was asked for by name.
pub fn recorded_fields(
    mut spec: FieldSpec,
    events: &EventTable,
    traced: bool,
) -> Result<FieldSpec, String> {
    let mut seen = Vec::new();
    for event in events.events().iter().filter(|event| !is_dummy(event)) {
        let own =
            event.attr.kind <= EventType::BREAKPOINT || event.attr.kind == EventType::SYNTHETIC;
        let kind = own.then_some(event.attr.kind);
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let class = EventClass::of(event.attr.kind);
        for (field, part, part_name, field_name) in NEEDED {
            if !spec.fields(class).contains(field) || has_part(event, part) {
                continue;
            }
            if traced && TRACED.contains(&field) && spec.demanded(class).contains(field) {
                continue;
            }
            if spec.demanded(class).contains(field) {
                return Err(format!(
                    "Samples for '{}' event do not have {part_name} attribute set. Cannot print '{field_name}' field.",
                    event.name
                ));
            }
            spec.drop_field(class, field);
        }
        complete(&mut spec, class)?;
        if !traced && spec.fields(class) == FieldSet::FLAGS {
            spec.drop_field(class, FieldSet::FLAGS);
        }
    }
    Ok(spec)
}

/// Refuses to show nothing of events that are not there.
///
/// # Errors
/// There are none of such a class.
pub fn require_silenced(spec: &FieldSpec, events: &EventTable) -> Result<(), String> {
    let shown = || events.events().iter().filter(|event| !is_dummy(event));
    let is_there = |class| shown().any(|event| EventClass::of(event.attr.kind) == class);
    let missing = [
        EventClass::Hardware,
        EventClass::Software,
        EventClass::Tracepoint,
        EventClass::Raw,
        EventClass::Breakpoint,
    ]
    .into_iter()
    .find(|&class| spec.is_silenced(class) && !is_there(class));
    match missing {
        Some(class) => Err(format!(
            "{} events do not exist. Remove corresponding -F option to proceed.",
            class.name()
        )),
        None => Ok(()),
    }
}

/// Lines of source code need an address of code, and distances from an object's start stand behind its name.
fn complete(spec: &mut FieldSpec, class: EventClass) -> Result<(), String> {
    let fields = spec.fields(class);
    let lines = [FieldSet::SRCLINE, FieldSet::SRCCODE]
        .into_iter()
        .any(|field| fields.contains(field));
    if lines && !fields.contains(FieldSet::IP) {
        return Err(
            "Display of source line number requested but sample IP is not\n\
                    selected. Hence, no address to lookup the source line number."
                .to_owned(),
        );
    }
    if fields.contains(FieldSet::DSOFF) {
        spec.add_fields(class, FieldSet::DSO);
    }
    Ok(())
}

/// Shows the addresses of samples with call chains. When the events come as a stream, or are made of hardware trace, perf
/// shows address and symbol of each, whatever fields were asked for.
pub fn show_chains(
    spec: &mut FieldSpec,
    events: &EventTable,
    recorded: usize,
    container: Container,
) {
    let chained = events
        .events()
        .iter()
        .enumerate()
        .filter(|(_, event)| has_part(event, SampleType::CALLCHAIN));
    for (index, event) in chained {
        let streamed = container == Container::Stream || index >= recorded;
        match (EventClass::of(event.attr.kind), streamed) {
            (class, true) => spec.add_fields(class, FieldSet::IP | FieldSet::SYM),
            (EventClass::Tracepoint, _) => spec.show_places_of_tracepoints(),
            _ => {}
        }
    }
}

fn is_dummy(event: &SessionEvent) -> bool {
    let id = SoftwareId::from_config(event.attr.config)
        .filter(|_| event.attr.kind == EventType::SOFTWARE);
    id == Some(SoftwareId::Dummy)
}

fn has_part(event: &SessionEvent, part: SampleType) -> bool {
    let recorded = event.attr.sample_type;
    recorded.contains(part)
        || part == SampleType::WEIGHT && recorded.contains(SampleType::WEIGHT_STRUCT)
}

/// Refuses to show the code between branches where not all branches were recorded; hardware trace has them all.
///
/// # Errors
/// It is asked for and cannot be shown.
pub fn require_branches(
    spec: &FieldSpec,
    reader: &Reader<'_>,
    events: &EventTable,
) -> Result<(), String> {
    if spec.any_has(FieldSet::BRCNTR) {
        return Err(refusal_of_counters(events).to_owned());
    }
    let all = |event: &SessionEvent| {
        event
            .attr
            .branch_sample_type
            .contains(BranchSampleType::ANY)
    };
    let traced = reader.features().bits().contains(FeatureId::AUXTRACE);
    if !shows_branch_code(spec) || traced || events.events().iter().any(all) {
        return Ok(());
    }
    Err(
        "Display of branch stack assembler requested, but non all-branch filter set\n\
         Hint: run 'perf record -b ...'"
            .to_owned(),
    )
}

/// The refusal of counts at branches.
fn refusal_of_counters(events: &EventTable) -> &'static str {
    let counted = |event: &SessionEvent| {
        event
            .attr
            .branch_sample_type
            .contains(BranchSampleType::COUNTERS)
    };
    match events.events().iter().any(counted) {
        true => {
            "What was counted at branches cannot be shown, only whole branch stacks: -F brstack"
        }
        false => {
            "Display of branch counter requested but it's not enabled\n\
             Hint: run 'perf record -j any,counter ...'"
        }
    }
}
