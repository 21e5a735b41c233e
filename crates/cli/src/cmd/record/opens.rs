//! What `-vv` shows of the events that are opened.

use oxperf_abi::EventType;
use oxperf_capture::plan::PlannedEvent;
use oxperf_capture::{EventRequest, OpenCall};
use oxperf_pmu::{EventForm, EventSpec, parse};
use oxperf_present::text::attr_text::{EventNames, attr_fields};
use oxperf_present::text::open_text::{OpenCallText, attr_block, open_line};
use oxperf_sys::{EventTask, OpenRequest};

/// A call as text: its attribute, if it is the event's first, and its answer.
pub(in crate::cmd) fn text(call: &OpenCall<'_>) -> String {
    let arguments = call.arguments;
    let line = open_line(&OpenCallText {
        pid: arguments.pid,
        cpu: arguments.cpu,
        group: arguments.group,
        flags: arguments.flags,
        answer: call.answer.map_err(|error| error.errno().0),
    });
    if !call.is_first {
        return line;
    }
    let names = RequestNames(&call.event.request);
    attr_block(&call.event.attr, arguments.attr_size, &names) + &line
}

/// The attribute of an event that no kernel counts.
pub(in crate::cmd) fn own_text(event: &PlannedEvent) -> String {
    attr_block(&event.attr, size(event), &RequestNames(&event.request))
}

/// The fields of an event's attribute in one line.
pub(in crate::cmd) fn fields_text(event: &PlannedEvent) -> String {
    let fields = attr_fields(&event.attr, size(event), &RequestNames(&event.request));
    let fields = fields
        .iter()
        .map(|field| format!("{}: {}", field.name, field.value));
    fields.collect::<Vec<_>>().join(", ")
}

/// The bytes of an event's attribute as the kernel gets it.
fn size(event: &PlannedEvent) -> u32 {
    let request = OpenRequest::new(&event.attr, EventTask::Any);
    request.arguments().attr_size
}

/// The names by which an event was asked for.
struct RequestNames<'a>(&'a EventRequest);

impl EventNames for RequestNames<'_> {
    fn pmu(&self, _: EventType) -> Option<String> {
        Some(self.0.pmu.to_string()).filter(|pmu| !pmu.is_empty())
    }

    fn event(&self, _: EventType, _: u64) -> Option<String> {
        match &self.0.tracepoint {
            Some((system, event)) => Some(format!("{system}:{event}")),
            None => parse(&self.0.name).ok()?.specs().next().and_then(named),
        }
    }
}

/// The event of a PMU that a text names: `inst_retired.any`, `cpu/inst_retired.any/`.
fn named(spec: &EventSpec<'_>) -> Option<String> {
    match (spec.form, &*spec.terms) {
        (EventForm::Name(name), []) => Some(name.to_owned()),
        (EventForm::WithTerms(_), [term]) if term.value.is_none() => Some(term.name.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::SoftwareId;

    #[test]
    fn an_event_has_the_name_by_which_it_was_asked_for() {
        let mut request = EventRequest::software(SoftwareId::CpuClock, "");
        let mut name = |text: &str| {
            request.name = text.to_owned();
            RequestNames(&request).event(EventType::RAW, 0)
        };
        for text in [
            "inst_retired.any",
            "inst_retired.any:u",
            "cpu/inst_retired.any/",
        ] {
            assert_eq!(name(text).as_deref(), Some("inst_retired.any"), "{text}");
        }
        for text in ["cpu/event=0xc0/", "r1c0", "{{"] {
            assert_eq!(name(text), None, "{text}");
        }
        request.tracepoint = Some(("sched".to_owned(), "sched_switch".to_owned()));
        let name = RequestNames(&request).event(EventType::TRACEPOINT, 1);
        assert_eq!(name.as_deref(), Some("sched:sched_switch"));
    }
}
