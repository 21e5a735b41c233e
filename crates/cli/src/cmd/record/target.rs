//! Whom to record, from `-p`, `-t`, `-a`, `-C` and the program, with perf's precedence: tasks go before CPUs.

use std::str::FromStr;

use clap::ArgMatches;
use oxperf_abi::{Pid, Tid};
use oxperf_capture::Target;
use oxperf_sys::cpus;

use super::Problem;
use super::arguments::text;

/// The target, and what the user should know about options that do not count.
pub(super) fn target(
    matches: &ArgMatches,
    has_workload: bool,
) -> Result<(Target, Vec<String>), Problem> {
    let (pids, tids) = (text(matches, "pid"), text(matches, "tid"));
    let cpus = text(matches, "cpu");
    let all = matches.get_flag("all-cpus");
    let mut warnings = Vec::new();
    if pids.is_some() || tids.is_some() {
        warnings.extend(cpus.map(|_| "PID/TID switch overriding CPU".to_owned()));
        warnings.extend(all.then(|| "PID/TID switch overriding SYSTEM".to_owned()));
    }
    let target = match (pids, tids, cpus) {
        (Some(list), _, _) => Target::Processes(numbers(list)?.into_iter().map(Pid).collect()),
        (None, Some(list), _) => Target::Threads(numbers(list)?.into_iter().map(Tid).collect()),
        (None, None, Some(list)) => Target::Cpus(cpu_list(list)?),
        (None, None, None) if all || !has_workload => Target::AllCpus,
        (None, None, None) => Target::Workload,
    };
    if target.is_cpu_wide() && matches.get_flag("per-thread") {
        warnings.push("SYSTEM/CPU switch overriding PER-THREAD".to_owned());
    }
    Ok((target, warnings))
}

fn numbers<T: FromStr + Ord>(list: &str) -> Result<Vec<T>, Problem> {
    let parsed = list.split(',').map(|item| item.trim().parse::<T>());
    let invalid = |_| {
        Problem::NoTask(format!(
            "Couldn't create thread/CPU maps: No such process ('{list}' is no list of numbers)"
        ))
    };
    let mut numbers = parsed.collect::<Result<Vec<T>, _>>().map_err(invalid)?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

fn cpu_list(list: &str) -> Result<Vec<oxperf_abi::Cpu>, Problem> {
    match cpus::parse_list(list) {
        Ok(cpus) if !cpus.is_empty() => Ok(cpus),
        Ok(_) => Err(Problem::Value(
            "-C takes a list of CPUs, such as 0,2-3".to_owned(),
        )),
        Err(error) => Err(Problem::Value(format!(
            "-C takes a list of CPUs, such as 0,2-3: {error}"
        ))),
    }
}
