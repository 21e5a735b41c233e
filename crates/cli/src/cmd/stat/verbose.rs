//! What `stat -v` and `-vv` tell beside the table: where events were found, how they were opened, what each counter says.

use std::fmt::Write;

use oxperf_analysis::counts::{CountEvent, CountTotal};
use oxperf_capture::plan::PlannedEvent;
use oxperf_capture::{EventRequest, Notice, Observer, OpenCall, Plan};
use oxperf_pmu::{EventForm, parse};
use oxperf_present::text::sanitize;
use oxperf_sys::OpenError;

use super::measure::Readings;
use super::options::StatCommand;
use crate::cmd::record::opens;
use crate::environment;
use crate::output::print_error;

/// The PMU that each name was found on.
pub(super) fn found(command: &StatCommand, requests: &[EventRequest]) -> String {
    let mut text = String::new();
    // The number of a tracepoint does not depend on the CPU.
    let asks_tables = requests.iter().any(|request| request.tracepoint.is_none());
    let model = environment::cpu_model().filter(|_| asks_tables);
    if let Some(model) = model {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "Using CPUID {}", sanitize(model.as_str()));
    }
    for name in command.events.iter().flat_map(|text| names(text)) {
        for pmu in pmus(name, requests) {
            let _ = writeln!(text, "{0} -> {pmu}/{0}/", sanitize(name));
        }
    }
    text
}

/// The events that a text names without their PMU.
fn names(text: &str) -> Vec<&str> {
    let Ok(list) = parse(text) else {
        return Vec::new();
    };
    let specs = list.specs().map(|spec| spec.form);
    let names = specs.filter_map(|form| match form {
        EventForm::Name(name) => Some(name),
        _ => None,
    });
    names.collect()
}

/// The PMUs on which a name was found.
fn pmus<'a>(name: &str, requests: &'a [EventRequest]) -> Vec<&'a str> {
    let mut pmus: Vec<&str> = Vec::new();
    for request in requests {
        let pmu = &*request.pmu;
        let own = request.name.strip_prefix(&format!("{pmu}/"));
        let own = own.unwrap_or(&request.name);
        let own = own.split(['/', ':']).next().unwrap_or_default();
        if own.eq_ignore_ascii_case(name) && !pmus.contains(&pmu) {
            pmus.push(pmu);
        }
    }
    pmus
}

/// What each counter says, in the order of reading.
pub(super) fn counters(
    events: &[CountEvent],
    order: &[(usize, usize)],
    counted: &Readings,
) -> String {
    let mut text = String::new();
    for &(event, site) in order {
        let reading = counted.get(event).and_then(|sites| *sites.get(site)?);
        let (Some(event), Some(reading)) = (events.get(event), reading) else {
            continue;
        };
        let cpu = event.sites.get(site).and_then(|site| site.cpu);
        let cpu = cpu.map_or_else(|| "-1".to_owned(), |cpu| cpu.to_string());
        let (value, enabled, running) = (reading.value, reading.enabled, reading.running);
        let name = sanitize(&event.name);
        let _ = writeln!(text, "{name}: {cpu}: {value} {enabled} {running}");
    }
    text
}

/// The sum of an event's counters.
pub(super) fn sum(event: &CountEvent, total: &CountTotal) -> String {
    let (value, name) = (total.value, sanitize(&event.name));
    format!("{name}: {value:.0} {} {}\n", total.enabled, total.running)
}

/// Tells of the events that are opened. Those that changed are named so in the table, and what is missing stands below it.
pub(super) struct Told {
    verbosity: u8,
}

impl Told {
    pub(super) fn new(verbosity: u8) -> Told {
        Told { verbosity }
    }
}

impl Observer for Told {
    fn notice(&mut self, notice: Notice) {
        if let Notice::LatenciesNotSampled(_) = notice {
            print_error(&notice.to_string());
        }
    }

    fn tried(&mut self, call: &OpenCall<'_>) {
        if self.verbosity > 2 && call.is_first {
            print_error(&format!("Opening: {}", sanitize(&call.event.request.name)));
        }
        if self.verbosity > 1 {
            print_error(opens::text(call).trim_end());
        }
    }

    fn counted_here(&mut self, event: &PlannedEvent) {
        if self.verbosity > 1 {
            print_error(opens::own_text(event).trim_end());
        }
    }

    fn refused(&mut self, event: &PlannedEvent, error: OpenError) {
        if self.verbosity == 0 {
            return;
        }
        let name = sanitize(&event.request.name);
        let is_missing = matches!(
            error,
            OpenError::NoSuchEvent
                | OpenError::NoPmu
                | OpenError::Invalid
                | OpenError::NotImplemented
        );
        let text = if is_missing {
            format!(
                "{name} event is not supported by the kernel.\nThe {name} event is not supported."
            )
        } else {
            format!("skipping event {name} that kernel failed to open.")
        };
        print_error(&format!("Warning:\n{text}"));
    }

    fn opened(&mut self, _plan: &Plan) {}
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{CountReading, Cpu};
    use oxperf_analysis::counts::CountSite;

    use super::*;

    #[test]
    fn a_name_is_told_with_each_pmu_that_has_it() {
        let request = |pmu: &str, name: &str| EventRequest {
            pmu: pmu.into(),
            ..EventRequest::software(oxperf_abi::SoftwareId::CpuClock, name)
        };
        let requests = [
            request("cpu_atom", "cpu_atom/cycles/u"),
            request("cpu_core", "cpu_core/cycles/u"),
            request("software", "task-clock:u"),
        ];
        assert_eq!(
            names("cycles:u,{r1c0,task-clock},cpu/cycles/"),
            ["cycles", "task-clock"]
        );
        assert_eq!(pmus("cycles", &requests), ["cpu_atom", "cpu_core"]);
        assert_eq!(pmus("Task-Clock", &requests), ["software"]);
    }

    #[test]
    fn counters_that_could_not_be_read_say_nothing() {
        let site = |cpu| CountSite { cpu, thread: 0 };
        let event = CountEvent {
            name: "cycles".to_owned(),
            sites: vec![site(Some(Cpu(3))), site(None)],
            ..CountEvent::default()
        };
        let reading = CountReading {
            value: 1,
            enabled: 2,
            running: 3,
        };
        let text = counters(
            &[event],
            &[(0, 1), (0, 0)],
            &vec![vec![Some(reading), None]],
        );
        assert_eq!(text, "cycles: 3: 1 2 3\n");
    }
}
