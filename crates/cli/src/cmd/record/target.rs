//! The target, from `-p`, `-t`, `-a`, `-C` and the program, with perf's precedence: tasks go before CPUs.

use std::str::FromStr;

use oxperf_abi::{Cpu, Pid, Tid};
use oxperf_capture::Target;
use oxperf_sys::cpus;

use super::{ArgumentProblem, users};

/// The options that name a target, as the user wrote them.
#[derive(Clone, Copy, Default)]
pub(in crate::cmd) struct TargetTexts<'a> {
    pub(in crate::cmd) pids: Option<&'a str>,
    pub(in crate::cmd) tids: Option<&'a str>,
    /// A user, by name or number.
    pub(in crate::cmd) user: Option<&'a str>,
    pub(in crate::cmd) cpus: Option<&'a str>,
    pub(in crate::cmd) all_cpus: bool,
    pub(in crate::cmd) per_thread: bool,
    pub(in crate::cmd) has_workload: bool,
}

/// Returns the target, and warnings of options that do not count.
pub(in crate::cmd) fn target(
    texts: TargetTexts<'_>,
) -> Result<(Target, Vec<String>), ArgumentProblem> {
    let mut warnings = Vec::new();
    let mut warn = |is_overridden: bool, text: &str| {
        if is_overridden {
            warnings.push(text.to_owned());
        }
    };
    let names_tasks = texts.pids.is_some() || texts.tids.is_some();
    let user = texts.user.filter(|_| !names_tasks);
    warn(
        names_tasks && texts.user.is_some(),
        "PID/TID switch overriding UID",
    );
    warn(
        user.is_some() && texts.cpus.is_some(),
        "UID switch overriding CPU",
    );
    warn(
        user.is_some() && texts.all_cpus,
        "UID switch overriding SYSTEM",
    );
    warn(
        names_tasks && texts.cpus.is_some(),
        "PID/TID switch overriding CPU",
    );
    warn(
        names_tasks && texts.all_cpus,
        "PID/TID switch overriding SYSTEM",
    );
    let target = match (texts.pids, texts.tids, texts.cpus) {
        (None, None, _) if user.is_some() => {
            Target::Processes(users::processes(user.unwrap_or_default())?)
        }
        (Some(list), _, _) => Target::Processes(numbers(list)?.into_iter().map(Pid).collect()),
        (None, Some(list), _) => Target::Threads(numbers(list)?.into_iter().map(Tid).collect()),
        (None, None, Some(list)) => Target::Cpus(cpu_list(list)?),
        (None, None, None) if texts.all_cpus || !texts.has_workload => Target::AllCpus,
        (None, None, None) => Target::Workload,
    };
    warn(
        target.is_cpu_wide() && texts.per_thread,
        "SYSTEM/CPU switch overriding PER-THREAD",
    );
    Ok((target, warnings))
}

fn numbers<T: FromStr + Ord>(list: &str) -> Result<Vec<T>, ArgumentProblem> {
    let parsed = list.split(',').map(|item| item.trim().parse::<T>());
    let invalid = |_| {
        ArgumentProblem::NoTask(format!(
            "Couldn't create thread/CPU maps: No such process ('{list}' is no list of numbers)"
        ))
    };
    let mut numbers = parsed.collect::<Result<Vec<T>, _>>().map_err(invalid)?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

fn cpu_list(list: &str) -> Result<Vec<Cpu>, ArgumentProblem> {
    match cpus::parse_list(list) {
        Ok(cpus) if !cpus.is_empty() => Ok(cpus),
        Ok(_) => Err(ArgumentProblem::Value(
            "-C takes a list of CPUs, such as 0,2-3".to_owned(),
        )),
        Err(error) => Err(ArgumentProblem::Value(format!(
            "-C takes a list of CPUs, such as 0,2-3: {error}"
        ))),
    }
}
