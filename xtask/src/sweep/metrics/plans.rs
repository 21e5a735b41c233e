//! The events that perf7 parses for metrics, beside those of our plan.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use oxperf_metric::{MetricPlan, PlanOptions};

use super::Part;
use super::machine::Machine;
use super::reference::{Reference, Said};
use crate::parallel::parallel;

/// A metric that was planned and computed alone.
pub(super) struct Single {
    pub(super) name: String,
    pub(super) said: Said,
}

/// What perf7 says of each metric alone.
pub(super) fn alone(
    reference: &Reference,
    machine: &Machine,
    jobs: usize,
    options: &[&str],
    counts: Option<&Path>,
) -> Result<Vec<Single>> {
    let metrics = machine.metrics.iter();
    let names: BTreeSet<String> = metrics.map(|metric| metric.name.to_string()).collect();
    let names: Vec<String> = names.into_iter().collect();
    let said = parallel(jobs, &names, |_, name| {
        let mut arguments = options.to_vec();
        arguments.extend(["-M", name.as_str()]);
        reference.stat(&arguments, counts)
    });
    let singles = names.into_iter().zip(said);
    singles
        .map(|(name, said)| said.map(|said| Single { name, said }))
        .collect()
}

/// Each metric alone. Whether perf7 groups its events is taken from perf7, for it is not listed; everything else is compared.
pub(super) fn single(
    reference: &Reference,
    machine: &mut Machine,
    jobs: usize,
    part: &mut Part,
) -> Result<Vec<Single>> {
    let singles = alone(reference, machine, jobs, &[], None)?;
    for single in &singles {
        let first = single.said.events.first();
        if first.is_some_and(|text| is_ungrouped(text)) {
            machine.set_ungrouped(&single.name);
        }
    }
    for single in &singles {
        compare(&single.name, &[], &single.said, machine, part);
    }
    Ok(singles)
}

/// Returns whether events stand outside of a group; those of the PMU `tool`, which have no `metric-id`, always do.
fn is_ungrouped(text: &str) -> bool {
    !text.starts_with('{') && text.contains("metric-id=")
}

/// Each group, and lists of metrics with each option.
pub(super) fn groups(
    reference: &Reference,
    machine: &Machine,
    jobs: usize,
    part: &mut Part,
) -> Result<()> {
    let groups = machine
        .metrics
        .iter()
        .flat_map(|metric| metric.groups.iter());
    let groups: BTreeSet<String> = groups.map(|group| group.to_string()).collect();
    let mut lists: Vec<(String, &[&str])> = groups
        .into_iter()
        .filter(|group| !group.is_empty())
        .map(|group| (group, &[] as &[&str]))
        .collect();
    let names: Vec<_> = machine
        .metrics
        .iter()
        .map(|metric| metric.name.as_ref())
        .collect();
    for (place, three) in names.chunks(3).enumerate() {
        let options: &[&str] = [
            &[] as &[&str],
            &["--metric-no-group"],
            &["--metric-no-merge"],
            &["--metric-no-threshold"],
        ][place % 4];
        lists.push((three.join(","), options));
    }
    let said = parallel(jobs, &lists, |_, (list, options)| {
        let mut arguments = options.to_vec();
        arguments.extend(["-M", list.as_str()]);
        reference.stat(&arguments, None)
    });
    for ((list, options), said) in lists.iter().zip(said) {
        compare(list, options, &said?, machine, part);
    }
    Ok(())
}

fn compare(list: &str, options: &[&str], said: &Said, machine: &Machine, part: &mut Part) {
    let options = PlanOptions {
        no_group: options.contains(&"--metric-no-group"),
        no_merge: options.contains(&"--metric-no-merge"),
        no_threshold: options.contains(&"--metric-no-threshold"),
        ..PlanOptions::default()
    };
    let planned = MetricPlan::new(list, &machine.catalogue(), machine, &options);
    let ours: Vec<String> = match &planned {
        Ok(plan) => plan.event_texts().collect(),
        Err(error) => vec![error.to_string()],
    };
    match &said.refused {
        Some(_) if planned.is_err() => part.same += 1,
        Some(_) if ours.starts_with(&said.events) => {
            part.explain("perf7 refuses an event of the metric on this machine");
        }
        _ => part.compare(ours == said.events, || {
            format!(
                "{list} {options:?}\n      perf7 {:?} {:?}\n      ours  {ours:?}",
                said.events, said.refused
            )
        }),
    }
}
