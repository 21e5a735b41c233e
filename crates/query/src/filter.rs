//! Filters of samples: by time, CPU, thread and name. `script` shows no others; `report` takes no others by time and CPU,
//! and shows no others by thread and name.

use oxperf_abi::{Cpu, PerfTime, SampleType};
use oxperf_data::{EventEntry, Reader};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::SampleEvent;
use oxperf_sys::cpus::CpuRanges;

use crate::{QueryError, RecordingPart, TimeWindows};

/// The lists that choose samples, as the user wrote them; `None` chooses all. [`Filter::new`] reads them for a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilterOptions {
    /// Stretches of time: see [`TimeWindows`].
    pub times: Option<String>,
    /// CPUs: `0,2-4`.
    pub cpus: Option<String>,
    /// Names of threads, comma separated, or `file://FILE`.
    pub comms: Option<String>,
    /// Process ids, comma separated.
    pub pids: Option<String>,
    /// Thread ids, comma separated.
    pub tids: Option<String>,
    /// A share of the recording.
    pub part: Option<RecordingPart>,
}

/// The conditions that a sample must meet to be shown; `None` is none.
#[derive(Debug, Default)]
pub struct Filter {
    times: Option<TimeWindows>,
    cpus: Option<CpuRanges>,
    threads: ThreadFilter,
}

/// The conditions that the thread of a sample must meet; `None` is none.
#[derive(Clone, Debug, Default)]
pub struct ThreadFilter {
    /// Its name is one of these.
    pub comms: Option<Vec<String>>,
    /// Its process is one of these.
    pub pids: Option<Vec<i32>>,
    /// It is one of these.
    pub tids: Option<Vec<i32>>,
}

impl Filter {
    /// Reads the options for a recording.
    ///
    /// # Errors
    /// A text is none of its kind, shares of a time are asked for that the recording does not hold, or its parts cannot be found.
    pub fn new(options: &FilterOptions, reader: &Reader<'_>) -> Result<Filter, QueryError> {
        let times = options.times.as_deref();
        let times = times.map(|text| TimeWindows::parse(text, reader));
        let mut times = times.transpose()?;
        if let Some(part) = options.part {
            let all = times.unwrap_or_else(TimeWindows::all);
            times = Some(all.within(part.stretch(reader)?));
        }
        let cpus = options.cpus.as_deref().map(parse_cpus).transpose()?;
        let comms = options.comms.as_deref().map(read_names).transpose()?;
        let pids = options.pids.as_deref().map(|text| parse_ids(text, "pid"));
        let pids = pids.transpose()?;
        let tids = options.tids.as_deref().map(|text| parse_ids(text, "tid"));
        let tids = tids.transpose()?;
        let threads = ThreadFilter { comms, pids, tids };
        Ok(Filter {
            times,
            cpus,
            threads,
        })
    }

    /// A filter of CPUs alone, such as `0,2-4`; `None` takes all.
    ///
    /// # Errors
    /// The text is no list of CPUs.
    pub fn of_cpus(cpus: Option<&str>) -> Result<Filter, QueryError> {
        Ok(Filter {
            cpus: cpus.map(parse_cpus).transpose()?,
            ..Filter::default()
        })
    }

    /// The filter without its conditions on threads, and these.
    pub fn split_threads(self) -> (Filter, ThreadFilter) {
        let rest = Filter {
            threads: ThreadFilter::default(),
            ..self
        };
        (rest, self.threads)
    }

    /// `true` if a sample passes.
    #[inline]
    pub fn takes(&self, machine: &Machine, event: &SampleEvent<'_>) -> bool {
        self.takes_when(event) && self.takes_thread(machine, event.thread)
    }

    /// `true` if a sample passes as far as its time and CPU go.
    #[inline]
    pub fn takes_when(&self, event: &SampleEvent<'_>) -> bool {
        self.takes_time(event) && self.takes_cpu(event.sample.cpu)
    }

    /// `true` if a sample passes as far as its time goes.
    #[inline]
    pub fn takes_time(&self, event: &SampleEvent<'_>) -> bool {
        self.takes_time_of(event.sample.time)
    }

    /// `true` if a moment of a thread passes, on whatever CPU.
    pub fn takes_moment(
        &self,
        machine: &Machine,
        thread: ThreadId,
        time: Option<PerfTime>,
    ) -> bool {
        self.takes_time_of(time) && self.takes_thread(machine, thread)
    }

    /// `true` if every sample passes.
    pub fn takes_all(&self) -> bool {
        self.times.is_none() && self.cpus.is_none() && self.threads.takes_all()
    }

    /// `true` if every time passes.
    pub fn times_pass(&self) -> bool {
        self.times.is_none()
    }

    /// The first and the last moment that passes, if not all do.
    pub fn first_and_last(&self) -> Option<(PerfTime, PerfTime)> {
        self.times.as_ref().map(TimeWindows::first_and_last)
    }

    /// The stretches of time that pass, each with its first and last moment; none if all times do.
    pub fn stretches(&self) -> Vec<(PerfTime, PerfTime)> {
        let stretches = self.times.as_ref().map(TimeWindows::stretches);
        stretches.unwrap_or_default()
    }

    /// `true` if a moment passes.
    pub fn takes_time_of(&self, time: Option<PerfTime>) -> bool {
        self.times.as_ref().is_none_or(|times| times.take(time))
    }

    /// `true` if records of a CPU pass: those of no CPU always do.
    #[inline]
    pub fn takes_cpu(&self, cpu: Option<Cpu>) -> bool {
        let (Some(cpus), Some(cpu)) = (&self.cpus, cpu) else {
            return true;
        };
        cpus.contains(cpu)
    }

    /// `true` if a thread passes.
    #[inline]
    pub fn takes_thread(&self, machine: &Machine, thread: ThreadId) -> bool {
        self.threads.takes_all() || self.threads.takes(machine, thread)
    }
}

impl ThreadFilter {
    #[inline]
    fn takes_all(&self) -> bool {
        self.pids.is_none() && self.tids.is_none() && self.comms.is_none()
    }

    fn takes(&self, machine: &Machine, id: ThreadId) -> bool {
        let thread = machine.thread_info(id);
        let among =
            |list: &Option<Vec<i32>>, id| list.as_ref().is_none_or(|list| list.contains(&id));
        let named = |names: &Vec<String>| names.iter().any(|name| name == machine.comm_of(id));
        among(&self.pids, thread.pid.map_or(-1, |pid| pid.0))
            && among(&self.tids, thread.tid.0)
            && self.comms.as_ref().is_none_or(named)
    }
}

/// Refuses to choose CPUs of a recording whose samples name none.
///
/// # Errors
/// CPUs are chosen, and no event was recorded with them.
pub fn require_cpus(options: &FilterOptions, events: &[EventEntry]) -> Result<(), QueryError> {
    let has_cpu = |event: &EventEntry| event.stored.attr.sample_type.contains(SampleType::CPU);
    if options.cpus.is_some() && !events.is_empty() && !events.iter().any(has_cpu) {
        return Err(QueryError::NoCpus);
    }
    Ok(())
}

/// Reads a list of CPUs: `0,2-4`, without blanks.
///
/// # Errors
/// The text is no such list, or empty.
pub fn parse_cpus(text: &str) -> Result<CpuRanges, QueryError> {
    let ranges = CpuRanges::parse(text).ok();
    ranges
        .filter(|ranges| !ranges.is_empty() && !text.contains(char::is_whitespace))
        .ok_or_else(|| QueryError::InvalidCpus(text.to_owned()))
}

fn parse_ids(text: &str, kind: &'static str) -> Result<Vec<i32>, QueryError> {
    let ids: Result<Vec<i32>, _> = text.split(',').map(str::parse).collect();
    ids.map_err(|_| QueryError::InvalidIds {
        kind,
        text: text.to_owned(),
    })
}

/// Names, comma separated, or the lines of `file://FILE`.
///
/// # Errors
/// The file cannot be read.
pub fn read_names(text: &str) -> Result<Vec<String>, QueryError> {
    let Some(path) = text.strip_prefix("file://") else {
        return Ok(text.split(',').map(str::to_owned).collect());
    };
    let listed = std::fs::read_to_string(path).map_err(|error| QueryError::UnreadableNames {
        path: path.to_owned(),
        error,
    })?;
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
        let known = parse_cpus("0,2-4").unwrap();
        let inside = [0, 1, 2, 4, 5].map(|cpu| known.contains(Cpu(cpu)));
        assert_eq!(inside, [true, false, true, true, false]);
        let wrong = ["", "x", "1-", "4-2", "0,,1", " 0", "0, 1"];
        assert!(wrong.into_iter().all(|text| parse_cpus(text).is_err()));
    }

    #[test]
    fn records_of_no_cpu_pass() {
        let filter = Filter::of_cpus(Some("1-2")).unwrap();
        let passes = [None, Some(0), Some(2)].map(|cpu| filter.takes_cpu(cpu.map(Cpu)));
        assert_eq!(passes, [true, false, true]);
    }
}
