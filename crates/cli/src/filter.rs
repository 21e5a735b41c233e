//! Which samples count: by time, CPU, thread and name. `script` shows no others; `report` takes no others by time and
//! CPU, and shows no others by thread and name.

use clap::{Arg, ArgMatches};
use oxperf_abi::{Cpu, PerfTime, SampleType};
use oxperf_data::{EventEntry, Reader};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::SampleEvent;

use crate::failure::Failure;
use crate::time_windows::TimeWindows;

/// The options.
pub(crate) fn arguments() -> [Arg; 5] {
    let list =
        |name: &'static str, value, help| Arg::new(name).long(name).value_name(value).help(help);
    [
        list(
            "time",
            "START,STOP",
            "Show samples of these seconds only; also 10%/2, 0%-10%, several",
        ),
        list("cpu", "LIST", "Show these CPUs only, such as 0,2-4").short('C'),
        list(
            "comms",
            "NAMES",
            "Show threads of these names only, comma separated or file://FILE",
        )
        .short('c'),
        list("pid", "LIST", "Show samples of these processes only"),
        list("tid", "LIST", "Show samples of these threads only"),
    ]
}

/// What a sample must be to be shown; `None` asks nothing.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    times: Option<TimeWindows>,
    cpus: Option<Vec<(u32, u32)>>,
    comms: Option<Vec<String>>,
    pids: Option<Vec<i32>>,
    tids: Option<Vec<i32>>,
}

/// What the thread of a sample must be; `None` asks nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    pub(crate) comms: Option<Vec<String>>,
    pub(crate) pids: Option<Vec<i32>>,
    pub(crate) tids: Option<Vec<i32>>,
}

impl Filter {
    /// Takes the options for a recording.
    pub(crate) fn from_matches(
        matches: &ArgMatches,
        reader: &Reader<'_>,
    ) -> Result<Filter, Failure> {
        let times = matches.get_one::<String>("time").map(String::as_str);
        Filter::of_times(matches, times, reader)
    }

    /// The same with these windows of time instead of those that the options tell.
    pub(crate) fn of_times(
        matches: &ArgMatches,
        times: Option<&str>,
        reader: &Reader<'_>,
    ) -> Result<Filter, Failure> {
        let text = |name| matches.get_one::<String>(name).map(String::as_str);
        Ok(Filter {
            times: times
                .map(|text| TimeWindows::parse(text, reader))
                .transpose()?,
            cpus: text("cpu").map(cpus).transpose()?,
            comms: text("comms").map(names).transpose()?,
            pids: text("pid").map(|text| ids(text, "pid")).transpose()?,
            tids: text("tid").map(|text| ids(text, "tid")).transpose()?,
        })
    }

    /// What is asked of CPUs alone, for commands with no other choice.
    pub(crate) fn of_cpus(matches: &ArgMatches) -> Result<Filter, Failure> {
        let list = matches.get_one::<String>("cpu");
        Ok(Filter {
            cpus: list.map(|list| cpus(list)).transpose()?,
            ..Filter::default()
        })
    }

    /// The same without what it asks of threads, and that.
    pub(crate) fn split_threads(self) -> (Filter, Threads) {
        let Filter {
            times,
            cpus,
            comms,
            pids,
            tids,
        } = self;
        (
            Filter {
                times,
                cpus,
                ..Filter::default()
            },
            Threads { comms, pids, tids },
        )
    }

    /// Whether a sample is shown.
    #[inline]
    pub(crate) fn takes(&self, machine: &Machine, event: &SampleEvent<'_>) -> bool {
        self.takes_when(event) && self.takes_thread(machine, event.thread)
    }

    /// Whether a sample is shown as far as its time and CPU go.
    #[inline]
    pub(crate) fn takes_when(&self, event: &SampleEvent<'_>) -> bool {
        self.takes_time(event) && self.takes_cpu(event.sample.cpu)
    }

    /// Whether a sample is shown as far as its time goes.
    #[inline]
    pub(crate) fn takes_time(&self, event: &SampleEvent<'_>) -> bool {
        self.takes_time_of(event.sample.time)
    }

    /// Whether what a thread did at a moment is shown, on whatever CPU.
    pub(super) fn takes_moment(
        &self,
        machine: &Machine,
        thread: ThreadId,
        time: Option<PerfTime>,
    ) -> bool {
        self.takes_time_of(time) && self.takes_thread(machine, thread)
    }

    /// Whether every time passes.
    pub(crate) fn times_pass(&self) -> bool {
        self.times.is_none()
    }

    /// The first and the last moment that passes, if not all do.
    pub(crate) fn first_and_last(&self) -> Option<(PerfTime, PerfTime)> {
        self.times.as_ref().map(TimeWindows::first_and_last)
    }

    /// Whether a moment passes.
    pub(crate) fn takes_time_of(&self, time: Option<PerfTime>) -> bool {
        self.times.as_ref().is_none_or(|times| times.take(time))
    }

    /// Whether records of a CPU are shown: those of no CPU always.
    #[inline]
    pub(crate) fn takes_cpu(&self, cpu: Option<Cpu>) -> bool {
        let (Some(ranges), Some(cpu)) = (&self.cpus, cpu) else {
            return true;
        };
        ranges
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&cpu.0))
    }

    /// Whether a thread is shown.
    #[inline]
    pub(crate) fn takes_thread(&self, machine: &Machine, id: ThreadId) -> bool {
        let asks = self.pids.is_some() || self.tids.is_some() || self.comms.is_some();
        !asks || self.takes_asked(machine, id)
    }

    fn takes_asked(&self, machine: &Machine, id: ThreadId) -> bool {
        let thread = machine.thread_info(id);
        let among =
            |list: &Option<Vec<i32>>, id| list.as_ref().is_none_or(|list| list.contains(&id));
        let named = |names: &Vec<String>| names.iter().any(|name| name == machine.comm_of(id));
        among(&self.pids, thread.pid.map_or(-1, |pid| pid.0))
            && among(&self.tids, thread.tid.0)
            && self.comms.as_ref().is_none_or(named)
    }
}

/// That samples tell their CPUs, where some are asked for.
pub(crate) fn require_cpus(matches: &ArgMatches, events: &[EventEntry]) -> Result<(), Failure> {
    let told = |event: &EventEntry| event.stored.attr.sample_type.contains(SampleType::CPU);
    match matches.contains_id("cpu") && !events.is_empty() && !events.iter().any(told) {
        true => Err(Failure::new(
            "File does not contain CPU events. Remove -C option to proceed.",
        )),
        false => Ok(()),
    }
}

/// `0,2-4`
pub(crate) fn cpus(text: &str) -> Result<Vec<(u32, u32)>, Failure> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some((first, last))
    };
    let ranges: Option<Vec<(u32, u32)>> = text.split(',').map(range).collect();
    ranges.ok_or_else(|| {
        Failure::new(format!(
            "Invalid cpu_list: '{text}' is no list such as 0,2-4"
        ))
    })
}

fn ids(text: &str, what: &str) -> Result<Vec<i32>, Failure> {
    let ids: Result<Vec<i32>, _> = text.split(',').map(str::parse).collect();
    ids.map_err(|_| Failure::new(format!("problems parsing {what} list: '{text}'")))
}

/// Names, comma separated, or those that stand in a file, one a line.
pub(crate) fn names(text: &str) -> Result<Vec<String>, Failure> {
    let Some(path) = text.strip_prefix("file://") else {
        return Ok(text.split(',').map(str::to_owned).collect());
    };
    let listed =
        std::fs::read_to_string(path).map_err(|error| Failure::new(format!("{path}: {error}")))?;
    Ok(listed
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpus("0,2-4").ok(), Some(vec![(0, 0), (2, 4)]));
        assert!(
            ["", "x", "1-", "4-2", "0,,1"]
                .into_iter()
                .all(|text| cpus(text).is_err())
        );
    }

    #[test]
    fn records_of_no_cpu_pass() {
        let filter = Filter {
            cpus: Some(vec![(1, 2)]),
            ..Filter::default()
        };
        let passes = [None, Some(0), Some(2)].map(|cpu| filter.takes_cpu(cpu.map(Cpu)));
        assert_eq!(passes, [true, false, true]);
    }
}
