//! `sweep --events`: the event texts of `xtask/event-strings.tsv` beside perf7 on the made-up machines of
//! `../shared/tools/fakemachine`: whether a text is taken, and which events are opened for it, with their attributes and
//! groups. perf7's answers are kept in `target/sweep/events`; `--fresh` asks again.

mod answers;
mod machine;
mod opens;
pub(crate) mod texts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::args::Args;
use crate::parallel::parallel;
use crate::process::in_path;
use crate::{binary, workspace};
use answers::{Answer, Answers};
use machine::Machine;
use texts::EventText;

/// How many differences of a machine are printed.
const SHOWN: usize = 20;

/// What a machine's comparison found.
struct Outcome {
    machine: String,
    equal: usize,
    accepted: BTreeMap<String, usize>,
    /// Texts that differ, with both answers.
    different: Vec<String>,
    seconds: f64,
}

/// Runs the comparison; fails when something differs that is not accepted.
pub(super) fn run(mut args: Args) -> Result<ExitCode> {
    let filter = args.value("--filter")?.unwrap_or_default();
    let jobs = args.number("--jobs")?.unwrap_or(2).max(1);
    let fresh = args.flag("--fresh");
    let oxperf = binary::find(&mut args)?;
    args.finish()?;
    let tools = workspace::shared().map(|shared| shared.join("tools/fakemachine"));
    let (Some(tools), Some(perf)) = (tools.filter(|tools| tools.is_dir()), in_path("perf7")) else {
        println!("SKIPPED: ../shared/tools/fakemachine or perf7 is missing; nothing was compared");
        return Ok(ExitCode::SUCCESS);
    };
    let scratch = workspace::scratch("sweep/events")?;
    if fresh {
        std::fs::remove_dir_all(&scratch)?;
        std::fs::create_dir_all(&scratch)?;
    }
    let texts = texts::read(&workspace::root().join("xtask/event-strings.tsv"))?;
    let comparison = Comparison {
        texts: &texts,
        tools: &tools,
        perf: &perf,
        oxperf: &oxperf,
        scratch: &scratch,
    };
    let start = Instant::now();
    let machines = machine_names(&tools, &filter)?;
    let outcomes = parallel(jobs, &machines, |_, name| comparison.on(name));
    let outcomes = outcomes.into_iter().collect::<Result<Vec<Outcome>>>()?;
    outcomes.iter().for_each(print);
    println!(
        "{} event texts on {} machines in {:.0} s",
        texts.len(),
        machines.len(),
        start.elapsed().as_secs_f64()
    );
    let good = outcomes.iter().all(|outcome| outcome.different.is_empty());
    Ok(super::exit_code(good))
}

fn machine_names(tools: &Path, filter: &str) -> Result<Vec<String>> {
    let folder = tools.join("machines");
    let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<Result<Vec<String>>>()?;
    names.retain(|name| name.contains(filter));
    names.sort();
    Ok(names)
}

/// The inputs of all machines.
struct Comparison<'a> {
    texts: &'a [EventText],
    tools: &'a Path,
    perf: &'a Path,
    oxperf: &'a Path,
    scratch: &'a Path,
}

impl Comparison<'_> {
    fn on(&self, name: &str) -> Result<Outcome> {
        let start = Instant::now();
        let folder = self.scratch.join(name);
        std::fs::create_dir_all(&folder)?;
        let machine = Machine {
            run: self.tools.join("run"),
            name: name.to_owned(),
            folder: folder.clone(),
        };
        let kept = folder.join("perf7.tsv");
        let mut theirs = Answers::read(&kept, &stamp(self.perf)?)?;
        theirs.ask(&machine, self.perf, self.texts)?;
        theirs.write(&kept)?;
        let mut ours = Answers::default();
        ours.ask(&machine, self.oxperf, self.texts)?;
        Ok(self.compare(name, &theirs, &ours, start))
    }

    fn compare(&self, name: &str, theirs: &Answers, ours: &Answers, start: Instant) -> Outcome {
        let mut outcome = Outcome {
            machine: name.to_owned(),
            equal: 0,
            accepted: BTreeMap::new(),
            different: Vec::new(),
            seconds: 0.0,
        };
        for text in self.texts {
            let (Some(their), Some(our)) = (theirs.of(&text.text), ours.of(&text.text)) else {
                outcome
                    .different
                    .push(format!("{:?}: no answer", text.text));
                continue;
            };
            if their == our {
                outcome.equal += 1;
            } else if let Some(id) = &text.difference {
                *outcome.accepted.entry(id.clone()).or_default() += 1;
            } else {
                outcome.different.push(difference(&text.text, their, our));
            }
        }
        outcome.seconds = start.elapsed().as_secs_f64();
        outcome
    }
}

/// What changes when the program does.
fn stamp(program: &Path) -> Result<String> {
    let metadata = std::fs::metadata(program)?;
    let modified = metadata.modified()?.duration_since(std::time::UNIX_EPOCH)?;
    Ok(format!("{} {}", metadata.len(), modified.as_secs()))
}

fn difference(text: &str, their: &Answer, our: &Answer) -> String {
    let mut lines = vec![format!("{text:?}: exit {} and {}", their.exit, our.exit)];
    let missing = their
        .opened
        .iter()
        .filter(|line| !our.opened.contains(line));
    lines.extend(missing.map(|line| format!("  - {line}")));
    let added = our
        .opened
        .iter()
        .filter(|line| !their.opened.contains(line));
    lines.extend(added.map(|line| format!("  + {line}")));
    lines.join("\n    ")
}

fn print(outcome: &Outcome) {
    let accepted: usize = outcome.accepted.values().sum();
    println!(
        "{}: {} equal, {accepted} accepted, {} different ({:.0} s)",
        outcome.machine,
        outcome.equal,
        outcome.different.len(),
        outcome.seconds
    );
    for (id, count) in &outcome.accepted {
        println!("    {count} accepted: {id}");
    }
    for difference in outcome.different.iter().take(SHOWN) {
        println!("    {difference}");
    }
}

/// The path of a file of a machine's folder.
fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}
