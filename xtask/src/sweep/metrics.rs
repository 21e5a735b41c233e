//! `sweep --metrics`: metrics beside perf7 on the made-up machines of `../shared/tools/fakemachine`. Every expression that
//! perf7 or the published tables have is read; the events that perf7 plans for each metric and each group are those of our
//! plan, in the same order and groups; and the values that perf7 prints are ours over the same counts.

mod builtin;
mod machine;
mod opens;
mod plans;
mod published;
mod reference;
mod values;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use oxperf_metric::MetricDefinition;

use crate::args::Args;
use crate::process::in_path;
use crate::workspace;

/// The machines, with the names of `../shared/tools/fakemachine`.
const MACHINES: [&str; 6] = [
    "intel-skylake",
    "intel-icelake",
    "intel-alderlake",
    "intel-sapphirerapids",
    "amd-zen4",
    "arm-neoverse-n1",
];

/// How many differences of a part are printed.
const SHOWN: usize = 12;

/// What was compared, by part.
#[derive(Default)]
struct Tally {
    parts: BTreeMap<String, Part>,
}

#[derive(Default)]
struct Part {
    same: usize,
    /// Equal only but for something that is explained.
    explained: BTreeMap<&'static str, usize>,
    different: Vec<String>,
}

impl Tally {
    fn part(&mut self, name: &str) -> &mut Part {
        self.parts.entry(name.to_owned()).or_default()
    }

    fn print(&self) -> bool {
        for (name, part) in self.parts.iter().filter(|(_, part)| !part.is_empty()) {
            println!(
                "{name}: {} same, {} different",
                part.same,
                part.different.len()
            );
            for (reason, count) in &part.explained {
                println!("    {count} not compared: {reason}");
            }
            for difference in part.different.iter().take(SHOWN) {
                println!("    {difference}");
            }
        }
        self.parts.values().all(|part| part.different.is_empty())
    }
}

impl Part {
    fn is_empty(&self) -> bool {
        self.same + self.explained.len() + self.different.len() == 0
    }

    fn compare(&mut self, same: bool, difference: impl FnOnce() -> String) {
        if same {
            self.same += 1;
        } else {
            self.different.push(difference());
        }
    }

    fn explain(&mut self, reason: &'static str) {
        *self.explained.entry(reason).or_default() += 1;
    }
}

/// Runs the comparison; fails when anything differs.
pub(super) fn run(mut args: Args) -> Result<ExitCode> {
    let filter = args.value("--filter")?.unwrap_or_default();
    let jobs = args.number("--jobs")?.unwrap_or(2).max(1);
    args.finish()?;
    let Some(shared) = workspace::shared() else {
        println!(
            "SKIPPED: there is no ../shared (OXPERF_SHARED names another place); nothing was compared"
        );
        return Ok(ExitCode::SUCCESS);
    };
    let mut tally = Tally::default();
    published::sweep(
        &shared.join("pmu-events/json"),
        tally.part("published expressions"),
    )?;
    let run = shared.join("tools/fakemachine/run");
    if in_path("perf7").is_some() && run.is_file() {
        for machine in MACHINES.iter().filter(|name| name.contains(&filter)) {
            sweep_machine(&shared, machine, jobs, &mut tally)?;
        }
    } else {
        println!("SKIPPED: no perf7 or no fakemachine; only published expressions were read");
    }
    Ok(if tally.print() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The metrics that perf7 has for a machine, with their rules of grouping.
pub(super) fn of_machine(shared: &Path, name: &str, jobs: usize) -> Result<Vec<MetricDefinition>> {
    let (reference, mut machine) = read(shared, name)?;
    plans::single(&reference, &mut machine, jobs, &mut Part::default())?;
    Ok(machine.metrics)
}

fn read(shared: &Path, name: &str) -> Result<(reference::Reference, machine::Machine)> {
    let reference = reference::Reference::new(&shared.join("tools/fakemachine/run"), name);
    let published = shared.join("pmu-events/json/perf-format/alderlake/adl-metrics.json");
    let published = (name == "intel-alderlake").then_some(published.as_path());
    let machine = machine::Machine::read(&reference, published)?;
    Ok((reference, machine))
}

fn sweep_machine(shared: &Path, name: &str, jobs: usize, tally: &mut Tally) -> Result<()> {
    let (reference, mut machine) = read(shared, name)?;
    machine.parse_all(tally.part(&format!("{name}: expressions")));
    let single = plans::single(
        &reference,
        &mut machine,
        jobs,
        tally.part(&format!("{name}: plans of metrics")),
    )?;
    let part = tally.part(&format!("{name}: values"));
    values::sweep(&machine, &single, part)?;
    let part = tally.part(&format!(
        "{name}: values over zeros and counters that did not run"
    ));
    let scratch = workspace::scratch("sweep")?;
    values::hostile(&reference, &machine, jobs, &scratch, part)?;
    let part = tally.part(&format!("{name}: attributes"));
    opens::sweep(&reference, &machine, &single, jobs, &scratch, part)?;
    builtin::sweep(
        &reference,
        &machine,
        tally.part(&format!("{name}: built-in metrics")),
    )?;
    plans::groups(
        &reference,
        &machine,
        jobs,
        tally.part(&format!("{name}: plans of groups")),
    )
}
