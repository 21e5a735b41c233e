//! The attributes that perf7 asks the kernel for when it counts a metric, beside those that our plan resolves to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use oxperf_metric::{MetricCatalogue, MetricPlan, PlanOptions};
use oxperf_pmu::{Catalogue, MemoryTracepoints, SystemPmus, parse, resolve};
use oxperf_pmu_events::EventTables;

use super::Part;
use super::machine::Machine;
use super::plans::Single;
use super::reference::Reference;
use crate::parallel::parallel;

/// Type and configuration words of an event.
type Opened = (u64, u64, u64, u64);

/// Every metric that perf7 could count, alone.
pub(super) fn sweep(
    reference: &Reference,
    machine: &Machine,
    singles: &[Single],
    jobs: usize,
    scratch: &Path,
    part: &mut Part,
) -> Result<()> {
    let tree = tree(reference.machine())?;
    let Some(tables) = cpu_id(&tree).and_then(|id| EventTables::builtin(&id)) else {
        part.explain("there are no tables for this machine");
        return Ok(());
    };
    let pmus = SystemPmus::below(&tree.join("sys"));
    let tracepoints = MemoryTracepoints::default();
    let catalogue = Catalogue::new(&pmus, &tracepoints).with_tables(&tables);
    let metrics = machine.catalogue();
    let counted: Vec<&Single> = singles
        .iter()
        .filter(|single| single.said.refused.is_none())
        .collect();
    let opened = parallel(jobs, &counted, |number, single| {
        let log = scratch.join(format!("opens-{number}"));
        reference.opened(&single.name, &log)
    });
    for (single, opened) in counted.iter().zip(opened) {
        let opened = opened?;
        let refused = opened.iter().any(|line| line.ends_with("ENOENT"));
        let theirs: BTreeSet<Opened> = opened.iter().filter_map(|line| of_line(line)).collect();
        let ours = ours(&single.name, &metrics, machine, &catalogue);
        if ours
            .as_ref()
            .is_ok_and(|ours| theirs.is_subset(ours) && theirs != *ours)
            && refused
        {
            part.explain("perf7 opens no members behind a leader that the kernel refuses");
            continue;
        }
        part.compare(ours.as_ref() == Ok(&theirs), || {
            format!("{}: perf7 {theirs:x?}, ours {ours:x?}", single.name)
        });
    }
    Ok(())
}

fn ours(
    name: &str,
    metrics: &MetricCatalogue,
    machine: &Machine,
    catalogue: &Catalogue<'_>,
) -> Result<BTreeSet<Opened>, String> {
    let plan = MetricPlan::new(name, metrics, machine, &PlanOptions::default());
    let plan = plan.map_err(|error| error.to_string())?;
    let mut opened = BTreeSet::new();
    for text in plan.event_texts() {
        let events = parse(&text).and_then(|list| resolve(&list, catalogue));
        let events = events.map_err(|error| error.to_string())?;
        let events = events.iter().filter(|event| &*event.pmu != "tool");
        opened.extend(events.map(|event| {
            let attr = &event.attr;
            (
                u64::from(attr.kind.0),
                attr.config,
                attr.config1,
                attr.config2,
            )
        }));
    }
    Ok(opened)
}

/// The tree that `fakemachine/run` has made for a machine.
fn tree(machine: &str) -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
        .context("there is no HOME")?
        .join("oxperf-fakemachine");
    for entry in std::fs::read_dir(&cache)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(&format!("{machine}-")) && path.join("sys").is_dir() {
            return Ok(path);
        }
    }
    anyhow::bail!("{} has no tree of {machine}", cache.display())
}

fn cpu_id(tree: &Path) -> Option<String> {
    let model = oxperf_pmu::CpuModel::of_machine(&tree.join("proc"), &tree.join("sys"))?;
    Some(model.as_str().to_owned())
}

/// `open #5 cpu type=4 config=0xc5 config1=0x1 ...`.
fn of_line(line: &str) -> Option<Opened> {
    let field = |name: &str| {
        let word = line
            .split_whitespace()
            .find_map(|word| word.strip_prefix(name))?;
        match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        }
    };
    // perf7 asks with an attribute of no size what the kernel knows.
    let is_event = line.starts_with("open ") && !line.contains(" size=0 ");
    is_event.then_some(())?;
    Some((
        field("type=")?,
        field("config=")?,
        field("config1=").unwrap_or(0),
        field("config2=").unwrap_or(0),
    ))
}
