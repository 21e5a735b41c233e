//! perf7 on a made-up machine: what it lists, and what it says with `-vv` of the metrics that it plans and computes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result};
use serde_json::Value;

/// The exit code for words that are not understood.
const USAGE: i32 = 129;

/// perf7 on one machine.
pub(super) struct Reference {
    run: PathBuf,
    machine: String,
}

/// What perf7 said of a list of metrics.
pub(super) struct Said {
    /// The texts of the events, in the order in which they were parsed.
    pub(super) events: Vec<String>,
    /// The counts that expressions looked up, by name.
    pub(super) counts: BTreeMap<String, f64>,
    /// The value, unit and threshold that were printed for a metric, by name.
    pub(super) printed: BTreeMap<String, Printed>,
    /// The error, where the list was refused.
    pub(super) refused: Option<String>,
}

/// A value as it was printed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Printed {
    pub(super) value: String,
    /// Unit and name.
    pub(super) unit: String,
    pub(super) threshold: Option<String>,
}

impl Reference {
    pub(super) fn new(run: &Path, machine: &str) -> Reference {
        Reference {
            run: run.to_owned(),
            machine: machine.to_owned(),
        }
    }

    pub(super) fn machine(&self) -> &str {
        &self.machine
    }

    fn perf7(&self, arguments: &[&str], switch: Option<(&str, &Path)>) -> Result<Output> {
        let mut command = Command::new(&self.run);
        command
            .args([self.machine.as_str(), "--", "perf7"])
            .args(arguments);
        command.env("LC_ALL", "C").env_remove("PERF_CONFIG");
        if let Some((name, path)) = switch {
            command.env(name, path);
        }
        command
            .output()
            .with_context(|| self.run.display().to_string())
    }

    /// What `list -j metric` prints.
    pub(super) fn metrics(&self) -> Result<Vec<Value>> {
        let output = self.perf7(&["list", "-j", "metric"], None)?;
        let start = output
            .stdout
            .iter()
            .position(|byte| *byte == b'[')
            .unwrap_or(0);
        Ok(serde_json::from_slice(&output.stdout[start..])?)
    }

    /// Returns whether an event exists, whether or not it can be counted.
    pub(super) fn has_event(&self, event: &str) -> Result<bool> {
        let status = self
            .perf7(&["stat", "-e", event, "/bin/true"], None)?
            .status;
        Ok(status.code() != Some(USAGE))
    }

    /// What perf7 asks the kernel for to count a metric, a line each; kept in `log` on the way.
    pub(super) fn opened(&self, metric: &str, log: &Path) -> Result<Vec<String>> {
        std::fs::write(log, "")?;
        self.perf7(
            &["stat", "-M", metric, "/bin/true"],
            Some(("FAKE_LOG", log)),
        )?;
        let text = std::fs::read_to_string(log)?;
        std::fs::remove_file(log)?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Plans and computes a list of metrics.
    pub(super) fn stat(&self, options: &[&str], counts: Option<&Path>) -> Result<Said> {
        let mut arguments = vec!["stat", "-vv", "-j"];
        arguments.extend(options);
        arguments.push("/bin/true");
        let switch = counts.map(|path| ("FAKE_COUNTS", path));
        let output = self.perf7(&arguments, switch)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        Ok(said(&text, output.status.success()))
    }
}

fn said(text: &str, success: bool) -> Said {
    let between = |start: &str, end: &str, line: &str| {
        let rest = line.strip_prefix(start)?;
        Some(rest.strip_suffix(end)?.to_owned())
    };
    let mut said = Said {
        events: Vec::new(),
        counts: BTreeMap::new(),
        printed: BTreeMap::new(),
        refused: None,
    };
    for line in text.lines() {
        if let Some(events) = between("Parsing metric events '", "'", line) {
            said.events.push(events);
        } else if let Some((id, value)) = looked_up(line) {
            said.counts.insert(id, value);
        } else if let Some((name, printed)) = printed(line) {
            said.printed.insert(name, printed);
        } else if line.starts_with("Cannot ") || line.starts_with("event syntax error") {
            said.refused.get_or_insert_with(|| line.to_owned());
        }
    }
    if success {
        said.refused = None;
    } else {
        said.refused.get_or_insert_with(|| "exit code".to_owned());
    }
    said
}

/// `lookup(ID): val VALUE`.
fn looked_up(line: &str) -> Option<(String, f64)> {
    let (id, value) = line.strip_prefix("lookup(")?.split_once("): val ")?;
    Some((id.to_owned(), value.trim().parse().ok()?))
}

/// `"metric-value" : "V", "metric-unit" : "UNIT  NAME"[, "metric-threshold" : "T"]}` at the end of a line.
fn printed(line: &str) -> Option<(String, Printed)> {
    let start = line.find("\"metric-value\"")?;
    let fields: Value = serde_json::from_str(&format!("{{{}", &line[start..])).ok()?;
    let text = |key: &str| fields[key].as_str().map(str::to_owned);
    let unit = text("metric-unit")?;
    let name = unit.rsplit(' ').next()?.to_owned();
    Some((
        name,
        Printed {
            value: text("metric-value")?,
            unit,
            threshold: text("metric-threshold"),
        },
    ))
}
