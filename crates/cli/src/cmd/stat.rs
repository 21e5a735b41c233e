//! `stat`: events of a program, of processes or of the whole machine are counted.

mod arguments;
mod cgroups;
mod control;
mod default_events;
mod destination;
mod diff;
mod events;
mod graph;
mod groups;
mod latencies;
mod measure;
mod metric_lines;
mod metrics;
mod offline;
mod options;
mod places;
mod presets;
mod problem;
mod reasons;
mod record;
mod recorded_grouping;
mod report;
mod root_ports;
mod runs;
mod show;
mod verbose;
mod wanted;

use std::cell::RefCell;

use oxperf_capture::{CaptureError, EventRequest, Target};
use oxperf_pmu::Catalogue;
use oxperf_sys::cpus;

use crate::cmd::Entry;
use crate::cmd::control::ControlSource;
use crate::cmd::record::events::EventSources;
use crate::failure::{Failure, code};
use crate::output::print_error;
use crate::{environment, event_tables};
use destination::Destination;
use measure::Measured;
use metrics::{MetricSources, MetricWishes};
use options::StatCommand;
use presets::{Frozen, Preset};
use problem::StatProblem;
use root_ports::{CountedPorts, PortChoice};
use show::Display;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "stat",
    command: arguments::command,
    run: arguments::run,
    shares_work: false,
};

/// perf's words when no event can be counted.
const NOTHING_COUNTED: &str = "Error:\nNo supported events found.\n";
/// What a shell adds to the number of the signal that ended a program.
const SIGNALLED: i32 = 128;

/// Counts as the options say; the exit code is the workload's.
fn perform(command: &StatCommand, program: &str) -> Result<i32, Failure> {
    let tables = event_tables::of_machine(&command.tables)?;
    let sources = EventSources::new(&command.events, &command.options.sysfs);
    let Some(catalogue) = filtered(sources.catalogue(&tables), &command.metrics) else {
        let kind = command.metrics.core_type.as_deref().unwrap_or_default();
        return Ok(arguments::report(&StatProblem::core_type(kind), program));
    };
    let model = environment::cpu_model().filter(|_| command.needs_metrics());
    let metrics = command
        .needs_metrics()
        .then(|| MetricSources::new(command, &catalogue, &tables, model.as_ref()));
    let is_of_management = command.metrics.preset == Some(Preset::SystemManagement);
    let frozen = is_of_management.then(|| Frozen::new(&command.options.sysfs));
    let frozen = frozen.transpose()?;
    let ports = match &command.root_ports {
        Some(choice) => match CountedPorts::find(choice, &command.options.sysfs) {
            Ok(ports) => Some(ports),
            Err(problem) => return Ok(arguments::report(&problem, program)),
        },
        None => None,
    };
    let wanted = match ports {
        Some(ports) => events::of_ports(command, &catalogue, ports),
        None => events::wanted(command, &catalogue, metrics.as_ref()),
    };
    event_tables::problems(&tables)
        .iter()
        .for_each(|problem| print_error(problem));
    let mut wanted = wanted?;
    if command.verbosity > 0 {
        print_lines(&verbose::found(command, &wanted.requests));
    }
    if let Some(ports) = &wanted.ports
        && tell_ports(command, ports)?
    {
        return Ok(code::SUCCESS);
    }
    let mut requests = match events::arranged(command, &catalogue, wanted.requests.clone()) {
        Ok(requests) => requests,
        Err(problem) => return Ok(arguments::report(&problem, program)),
    };
    wanted.repeat(requests.len());
    let has_latencies = requests.iter().any(|request| request.retire_latency);
    if let Some(model) = environment::cpu_model().filter(|_| has_latencies) {
        let choice = command.options.latencies.choice;
        latencies::publish(&mut requests, model.as_str(), choice);
    }
    let Some(command) = on_online_cpus(command, &requests) else {
        print_error(NOTHING_COUNTED);
        return Ok(code::USAGE_OF_PROGRAM);
    };
    let online = cpus::online_in(&command.options.sysfs).unwrap_or_default();
    print_lines(&groups::leave(&command, &online, &mut requests));
    let channel = match command
        .control
        .as_ref()
        .map(ControlSource::open)
        .transpose()
    {
        Ok(channel) => channel.map(RefCell::new),
        Err(unopened) => {
            let problem = StatProblem::no_control(&unopened);
            return Ok(arguments::report(&problem, program));
        }
    };
    if command.verbosity > 0 && channel.is_none() {
        print_error("Control descriptor is not initialized");
    }
    let mut display = Display::new(&command, wanted, metrics.as_ref())?;
    let measured = measure::measure(&command, requests, channel.as_ref(), &mut display);
    drop(frozen);
    match measured {
        Ok(measured) => {
            let grown = display.finish_runs()?;
            end_as(&measured, grown)
        }
        Err(Failed::Capture(error)) => Ok(tell(error, program)),
        Err(Failed::Other(failure)) => Err(failure),
    }
}

/// The events of the PMUs that the user wants; none where no core is of the kind.
fn filtered<'a>(catalogue: Catalogue<'a>, wishes: &MetricWishes) -> Option<Catalogue<'a>> {
    let catalogue = match &wishes.core_type {
        Some(kind) => catalogue.with_cpu_type(kind)?,
        None => catalogue,
    };
    Some(match &wishes.pmu {
        Some(pmu) => catalogue.with_pmu_filter(pmu),
        None => catalogue,
    })
}

fn print_lines(text: &str) {
    if !text.is_empty() {
        print_error(text.trim_end());
    }
}

/// Says which root ports are counted; returns whether that is all that is wanted.
fn tell_ports(command: &StatCommand, ports: &CountedPorts) -> Result<bool, Failure> {
    print_lines(&ports.warnings);
    let is_all = command.root_ports == Some(PortChoice::List);
    if is_all || command.verbosity > 0 {
        let mut destination = Destination::open(&command.output, &command.form)?;
        destination.write(ports.list().as_bytes())?;
    }
    Ok(is_all)
}

/// The options without the CPUs of `-C` that are offline, which is said; `None` when none is left.
fn on_online_cpus(command: &StatCommand, requests: &[EventRequest]) -> Option<StatCommand> {
    let mut command = command.clone();
    if let Some(online) = offline::without_offline(&command, requests) {
        online
            .warnings
            .iter()
            .for_each(|warning| print_error(warning));
        command.options.target.target = online.target;
    }
    if command.lists_all_threads {
        command.options.target.target = Target::Threads(offline::all_threads());
    }
    (command.options.target.target != Target::Cpus(Vec::new())).then_some(command)
}

/// The end of a measurement without its result.
#[derive(Debug)]
enum Failed {
    /// Nothing can be counted.
    Capture(CaptureError),
    /// The output cannot be written.
    Other(Failure),
}

impl From<CaptureError> for Failed {
    fn from(error: CaptureError) -> Failed {
        Failed::Capture(error)
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Failed {
        Failed::Other(error.into())
    }
}

/// Prints why nothing was counted, in perf's words where it has some; gives the exit code.
fn tell(error: CaptureError, program: &str) -> i32 {
    match error {
        CaptureError::NoSuchProcess => return arguments::report(&StatProblem::no_task(), program),
        CaptureError::Workload { source, .. } => print_error(&format!("Workload failed: {source}")),
        CaptureError::NoEvent(explanation) => {
            print_error(&format!("{NOTHING_COUNTED}{explanation}"));
        }
        other => print_error(&other.to_string()),
    }
    code::USAGE_OF_PROGRAM
}

/// Ends by the signal that ended this program, if any; else gives the workload's exit code, or that for counts that grew by
/// more than they may, which are named.
fn end_as(measured: &Measured, grown: Option<String>) -> Result<i32, Failure> {
    use std::os::unix::process::ExitStatusExt;
    if let Some(signal) = measured.ending.signal {
        oxperf_sys::kill_self(signal)
            .map_err(|error| Failure::new(format!("cannot end by signal {signal}: {error}")))?;
    }
    let of_workload = |status: std::process::ExitStatus| match status.signal() {
        Some(signal) => SIGNALLED + signal,
        None => status.code().unwrap_or(code::SUCCESS),
    };
    let own = measured.ending.workload.map_or(code::SUCCESS, of_workload);
    Ok(match grown {
        Some(sentence) => {
            print_error(&sentence);
            if own == code::SUCCESS {
                runs::GROWN
            } else {
                own
            }
        }
        None => own,
    })
}

#[cfg(test)]
mod tests;
