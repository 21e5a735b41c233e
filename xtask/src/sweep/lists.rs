//! `list` beside perf7 on described machines: text and JSON, line by line, and exit codes.
//!
//! Both run on each machine of `../shared/tools/fakemachine`. Descriptions are left out on both sides, because those of
//! perf's tables are not ours to show; so are metrics but for those of generic events, which both build in.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::accepted::{self, Accepted};
use super::table::{Outcome, Row, Table};
use super::{LIMITS, Options, compare};
use crate::parallel::parallel;
use crate::process::{Job, in_path};

/// The machines.
const MACHINES: [&str; 7] = [
    "intel-skylake",
    "intel-icelake",
    "intel-alderlake",
    "intel-sapphirerapids",
    "amd-zen4",
    "arm-neoverse-n1",
    "power8",
];

/// The command lines behind `list`.
const LINES: [&str; 26] = [
    "",
    "-j",
    "hw",
    "sw",
    "cache",
    "tracepoint",
    "pmu",
    "sdt",
    "metric",
    "metricgroup",
    "-j metric",
    "tool",
    "hwmon",
    "--no-desc",
    "-v",
    "--details",
    "--deprecated",
    "--unit cpu",
    "--unit uncore*",
    "--raw-dump",
    "--raw-dump sw",
    "--cputype core",
    "sched:*",
    "cache l1*",
    "-j hw sw",
    "-v --details uncore",
];

/// A line on a machine.
struct Case {
    machine: &'static str,
    line: &'static str,
}

/// What all cases have in common.
struct Bench {
    /// The program that runs others on a machine.
    runner: PathBuf,
    /// perf7 and ours.
    programs: [PathBuf; 2],
    /// The home of all runs, where the runner keeps what it builds.
    home: PathBuf,
    accepted: Vec<Accepted>,
}

/// Compares every line on every machine and prints the table; `false` when something differs.
pub(super) fn sweep(options: &Options) -> Result<bool> {
    let runner = options.shared.join("tools/fakemachine/run");
    let Some(perf) = in_path("perf7").filter(|_| runner.is_file()) else {
        let runner = runner.display();
        println!("SKIPPED: lists, for want of perf7 or of {runner}");
        return Ok(true);
    };
    let bench = Bench {
        runner,
        programs: [perf, options.binary.canonicalize()?],
        home: options.scratch.join("list-home"),
        accepted: accepted::read()?,
    };
    std::fs::create_dir_all(&bench.home)?;
    let of_machine = |machine| LINES.iter().map(move |line| Case { machine, line });
    let cases: Vec<Case> = MACHINES.into_iter().flat_map(of_machine).collect();
    let is_wanted = |case: &&Case| case.machine.contains(&options.filter);
    let cases: Vec<&Case> = cases.iter().filter(is_wanted).collect();
    let rows = parallel(options.jobs, &cases, |index, case| {
        bench.row(case, &options.scratch.join(format!("list-{index}")))
    });
    Ok(Table::new("list beside perf7", rows).print())
}

impl Bench {
    fn row(&self, case: &Case, scratch: &Path) -> Row {
        let compared = self.compare(case, scratch);
        let compared = compared.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let (name, golden) = (
            format!("list/{}", case.machine),
            format!("list {}", case.line),
        );
        let golden = golden.trim_end().to_owned();
        let outcome = match accepted::find(&self.accepted, &name, &golden) {
            Some(entry) => entry.judge(compared),
            None => compared,
        };
        Row {
            case: name,
            golden,
            outcome,
        }
    }

    fn compare(&self, case: &Case, scratch: &Path) -> Result<Outcome> {
        std::fs::create_dir_all(scratch)?;
        let [theirs, ours] = &self.programs;
        let theirs = self.run(theirs, case, scratch)?;
        let ours = self.run(ours, case, scratch)?;
        std::fs::remove_dir_all(scratch)?;
        let (theirs, ours) = (theirs.as_bytes(), ours.as_bytes());
        let Some(mut difference) = compare::difference(theirs, ours) else {
            return Ok(Outcome::Identical);
        };
        // One event more moves all lines behind it: what counts is what stands in one list alone.
        let (missing, more) = compare::balance(theirs, ours);
        difference.lines = (missing + more).max(1);
        Ok(Outcome::Differs(difference))
    }

    /// The list of a program, without what is not compared, and its exit code.
    fn run(&self, program: &Path, case: &Case, scratch: &Path) -> Result<String> {
        let mut args = vec![case.machine.to_owned(), "--".to_owned()];
        args.extend([program.display().to_string(), "list".to_owned()]);
        args.extend(case.line.split_whitespace().map(str::to_owned));
        let stdout = scratch.join("stdout");
        let job = Job {
            program: &self.runner,
            args: &args,
            folder: scratch,
            home: &self.home,
            stdout: stdout.clone(),
            stderr: scratch.join("stderr"),
        };
        let ended = job.run(LIMITS)?;
        if let Some(crash) = ended.crash() {
            bail!("{}: {crash}", program.display());
        }
        let text = std::fs::read(&stdout)?;
        let text = String::from_utf8_lossy(&text);
        let masked = if case.line.starts_with("-j") {
            masked_json(&text).context(program.display().to_string())?
        } else if case.line.starts_with("--raw-dump") {
            masked_names(&text)
        } else {
            masked_text(&text)
        };
        let code = ended.status.code().unwrap_or(-1);
        Ok(format!("{masked}exit {code}\n"))
    }
}

/// A list as text without descriptions, and of metrics the groups of generic events alone.
fn masked_text(text: &str) -> String {
    let (mut masked, mut in_description, mut in_metrics, mut is_generic) =
        (String::new(), false, false, false);
    for line in text.lines() {
        if matches!(line, "Metric Groups:" | "Metrics:") {
            in_metrics = true;
            // The empty line before the heading goes with it.
            masked.truncate(masked.trim_end_matches('\n').len());
            masked.push('\n');
        }
        if in_metrics && !line.starts_with(' ') {
            is_generic = line.starts_with("Default");
        }
        // Metrics of tables can be in the groups of generic ones.
        let is_of_table = in_metrics && line.starts_with("  tma_");
        let begins = line.starts_with("       [") && !line.starts_with("       [name: ");
        // Below a metric stands nothing but texts, and one of them can hold a line that ends as a text does.
        let is_text_of_metric = in_metrics && line.starts_with("       ");
        let is_description = in_description || begins || is_text_of_metric;
        in_description = is_description && !line.ends_with(']');
        if !is_description && !is_of_table && (!in_metrics || is_generic) {
            masked.push_str(line);
            masked.push('\n');
        }
    }
    masked
}

/// Names on one line, a line each, up to the metrics.
fn masked_names(text: &str) -> String {
    let names = text
        .split_whitespace()
        .filter(|name| !name.starts_with("mem:<"));
    let metrics = text.split_once("mem:<");
    let count = metrics.map_or(usize::MAX, |(events, _)| events.split_whitespace().count());
    names.take(count).map(|name| format!("{name}\n")).collect()
}

/// A list as JSON, an object a line, without descriptions but those of tracepoints; metrics as in text.
fn masked_json(text: &str) -> Result<String> {
    let list: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_str(text)?;
    let mut masked = String::new();
    for mut object in list {
        object.remove("BriefDescription");
        if object.get("Unit").is_none_or(|unit| unit != "tracepoint") {
            object.remove("PublicDescription");
        }
        let group = object.get("MetricGroup").and_then(|group| group.as_str());
        let name = object.get("MetricName").and_then(|name| name.as_str());
        let is_of_table = name.is_some_and(|name| name.starts_with("tma_"));
        if !is_of_table && group.is_none_or(|group| group.starts_with("Default")) {
            masked.push_str(&serde_json::to_string(&object)?);
            masked.push('\n');
        }
    }
    Ok(masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_and_metrics_of_tables_are_not_compared() {
        let text = "\ncache:\n  a.b\n       [Much\n        more. Unit: cpu]\n        cpu/event=1/\n\n\
            Metric Groups:\n\nBad: [x]\n  m\n\nDefault:\n  n\n       [y]\n";
        let masked = "\ncache:\n  a.b\n        cpu/event=1/\nDefault:\n  n\n";
        assert_eq!(masked_text(text), masked);
        assert_eq!(masked_names("a b mem:<addr>[/len] metric "), "a\nb\n");
        let json = "[{\"Unit\": \"cpu\", \"EventName\": \"a\", \"BriefDescription\": \"b\"}, {\"MetricGroup\": \"Bad\"}]";
        assert_eq!(
            masked_json(json).unwrap(),
            "{\"EventName\":\"a\",\"Unit\":\"cpu\"}\n"
        );
        assert!(masked_json("[{}").is_err());
    }
}
