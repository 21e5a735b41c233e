//! `--why EVENT`: what an event text is on this machine, and whether it can be counted here.

mod metric;

use oxperf_abi::{AttrFlags, Cpu, EventAttr};
use oxperf_capture::count::{PresentValue, present_value};
use oxperf_capture::explain::{AttemptTask, Explanation, OpenAttempt};
use oxperf_capture::plan::MachineInfo;
use oxperf_capture::system;
use oxperf_pmu::{Catalogue, DrmPmus, HwmonPmus, ResolvedEvent, SystemPmus, parse, resolve};
use oxperf_present::json::object;
use oxperf_present::text::sanitize;
use oxperf_sys::cpus::CpuRanges;
use oxperf_sys::{EventTask, Kernel as _, OpenRequest, RealKernel, cpus};

use super::{Form, ListCommand};
use crate::cmd::record::{Tracepoints, may_mean_graphics, traces};
use crate::environment;
use crate::event_tables;
use crate::failure::Failure;

/// The reason where nothing tells a value.
const UNKNOWN: &str = "nothing on this machine tells its value";

/// An event as it is opened here.
struct Answer {
    event: ResolvedEvent,
    /// The config words in terms of the PMU.
    terms: Vec<(String, u64)>,
    countable: Countable,
}

/// Whether an event can be counted here.
enum Countable {
    /// The kernel counts it.
    ByKernel,
    /// The kernel does not, for this reason.
    No(String),
    /// The program reads it itself.
    ByProgram(PresentValue),
}

/// Answers for each event that the text means, or for the metrics of that name, as text or as JSON.
pub(super) fn answer(text: &str, command: &ListCommand) -> Result<Vec<u8>, Failure> {
    let (pmus, tracepoints) = (
        SystemPmus::below(environment::sysfs().root()),
        Tracepoints::of_kernel(),
    );
    let tables = event_tables::of_machine(&command.tables)?;
    let sensors = HwmonPmus::below(environment::sysfs().root());
    let graphics = DrmPmus::of_machine();
    let mut catalogue = Catalogue::new(&pmus, &tracepoints)
        .with_tables(&tables)
        .with(&sensors);
    if may_mean_graphics(text) {
        catalogue = catalogue.with(&graphics);
    }
    let events = parse(text).and_then(|list| resolve(&list, &catalogue));
    let is_json = matches!(command.form, Form::Json);
    let events = match events {
        Ok(events) => events,
        Err(error) => {
            let metrics = metric::answers(text, &catalogue, &tables);
            if metrics.is_empty() {
                let advice = traces::missing(&error).map(|advice| format!("\n{advice}"));
                let message = format!("{error}{}", advice.unwrap_or_default());
                return Err(Failure::bad_option(message));
            }
            return Ok(written(
                &metrics,
                is_json,
                metric::write_json,
                metric::shown,
            ));
        }
    };
    let answers = events.into_iter().map(|event| Answer {
        terms: catalogue.config_terms(&event.attr),
        countable: countable(&event),
        event,
    });
    let answers: Vec<Answer> = answers.collect();
    Ok(written(&answers, is_json, write_json, shown))
}

/// Answers in a form.
fn written<T>(
    answers: &[T],
    is_json: bool,
    write_json: impl Fn(&mut Vec<u8>, &T),
    shown: impl Fn(&T) -> String,
) -> Vec<u8> {
    if !is_json {
        return answers.iter().map(shown).collect::<String>().into_bytes();
    }
    let mut out = Vec::new();
    object::array(&mut out, answers, write_json);
    out.push(b'\n');
    out
}

fn countable(event: &ResolvedEvent) -> Countable {
    if let Some(value) = present_value(&event.attr, &environment::sysfs()) {
        return Countable::ByProgram(value);
    }
    refusal(event).map_or(Countable::ByKernel, Countable::No)
}

/// A value in its unit.
fn scaled(value: i128, event: &ResolvedEvent) -> f64 {
    let (value, scale) = (value as f64, event.scale.unwrap_or(1.0));
    // A division keeps decimal fractions short: 0.3, not 0.30000000000000004.
    match scale.abs() < 1.0 {
        true => value / (1.0 / scale).round(),
        false => value * scale,
    }
}

/// Tries to open the event, for the calling thread or, where the PMU has CPUs of its own, on the first of them.
fn refusal(event: &ResolvedEvent) -> Option<String> {
    let attr = EventAttr {
        flags: event.attr.flags | AttrFlags::DISABLED,
        ..event.attr
    };
    let cpu = event.cpus.as_deref().and_then(first_cpu);
    let is_of_cores = attr.kind.0 <= 4 || cpu.is_none();
    let (task, attempt_task) = match is_of_cores {
        true => (EventTask::Caller, AttemptTask::Child),
        false => (EventTask::Any, AttemptTask::Everybody),
    };
    let cpu = cpu.filter(|_| !is_of_cores);
    let request = OpenRequest {
        cpu,
        ..OpenRequest::new(&attr, task)
    };
    let error = RealKernel.open(&request).err()?;
    let sysfs = environment::sysfs();
    let machine = MachineInfo {
        online: cpus::online_in(&sysfs).unwrap_or_default(),
        threads: Vec::new(),
        is_hybrid: false,
    };
    let facts = system::open_facts(system::permissions(), &machine, &sysfs, &event.pmu);
    let attempt = OpenAttempt {
        event: &event.name,
        pmu: &event.pmu,
        attr: &attr,
        task: attempt_task,
        cpu,
        group: None,
    };
    Some(Explanation::new(&attempt, error, &facts).to_string())
}

fn first_cpu(list: &str) -> Option<Cpu> {
    let cpus = CpuRanges::parse(list.trim()).ok()?.to_cpus();
    cpus.ok()?.first().copied()
}

/// The config words that are set, by perf's names.
fn words(attr: &EventAttr) -> Vec<(&'static str, u64)> {
    let others = [
        ("config1", attr.config1),
        ("config2", attr.config2),
        ("config3", attr.config3),
        ("config4", attr.config4),
    ];
    let others = others.into_iter().filter(|(_, word)| *word != 0);
    std::iter::once(("config", attr.config))
        .chain(others)
        .collect()
}

/// `cpu/event=0xc0,umask=0x1/`; nothing where the PMU has no terms for it.
fn encoding(answer: &Answer) -> Option<String> {
    if answer.terms.is_empty() {
        return None;
    }
    let terms = answer
        .terms
        .iter()
        .map(|(name, value)| format!("{name}={value:#x}"));
    let terms: Vec<String> = terms.collect();
    Some(format!("{}/{}/", answer.event.pmu, terms.join(",")))
}

fn shown(answer: &Answer) -> String {
    let event = &answer.event;
    let mut text = format!("{}\n", sanitize(&event.name));
    let kind = event.attr.kind;
    let kind = match kind.constant_name() {
        Some(name) => format!("{} ({name})", kind.0),
        None => kind.0.to_string(),
    };
    let words = words(&event.attr)
        .into_iter()
        .map(|(name, word)| format!("{name} {word:#x}"));
    let words: Vec<String> = words.collect();
    let mut line = |title: &str, value: &str| text.push_str(&format!("  {title:<10}{value}\n"));
    line("PMU", &sanitize(&event.pmu));
    line("type", &kind);
    line("words", &words.join(", "));
    if let Some(encoding) = encoding(answer) {
        line("encoding", &sanitize(&encoding));
    }
    match &answer.countable {
        Countable::ByKernel => line("here", "can be counted"),
        Countable::ByProgram(value) => line("here", &read_by_program(*value, event)),
        Countable::No(reason) => {
            line("here", "cannot be counted:");
            for reason in reason.lines() {
                text.push_str(&format!("            {}\n", sanitize(reason)));
            }
        }
    }
    text
}

fn read_by_program(value: PresentValue, event: &ResolvedEvent) -> String {
    let what = match value {
        PresentValue::Measured => "measured by stat itself, from beginning to end".to_owned(),
        PresentValue::Unknown => format!("read by stat itself, but {UNKNOWN}"),
        PresentValue::Value(value) => {
            let unit = event.unit.as_deref().unwrap_or_default();
            let value = scaled(value, event);
            format!("read by stat itself; now {value} {}", sanitize(unit))
        }
    };
    what.trim_end().to_owned()
}

fn write_json(out: &mut Vec<u8>, answer: &Answer) {
    let event = &answer.event;
    object::object(out, |keys| {
        keys.text("EventName", &event.name);
        keys.text("Unit", &event.pmu);
        keys.number("Type", event.attr.kind.0);
        for (name, word) in words(&event.attr) {
            keys.text(name, &format!("{word:#x}"));
        }
        keys.optional("Encoding", encoding(answer).as_deref());
        let (reason, value) = match &answer.countable {
            Countable::ByKernel | Countable::ByProgram(PresentValue::Measured) => (None, None),
            Countable::No(reason) => (Some(reason.as_str()), None),
            Countable::ByProgram(PresentValue::Unknown) => (Some(UNKNOWN), None),
            Countable::ByProgram(PresentValue::Value(value)) => (None, Some(scaled(*value, event))),
        };
        keys.key("Countable", |out| {
            out.extend_from_slice(reason.is_none().to_string().as_bytes());
        });
        keys.optional("Reason", reason);
        if let Some(value) = value {
            keys.key("Value", |out| {
                out.extend_from_slice(value.to_string().as_bytes())
            });
            keys.optional("ValueUnit", event.unit.as_deref());
        }
    });
}
