//! What `stat` itself costs beside perf7: its own processor time, without the program's that it counts, and the time from
//! start to end.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::results::{Figure, keep};
use super::{Options, median, reference};

/// Counters of the measures with many of them, on each CPU.
const EVENTS: usize = 200;
/// Events that every machine counts.
const SOFTWARE: [&str; 4] = [
    "context-switches",
    "page-faults",
    "cpu-migrations",
    "task-clock",
];
/// Time between two looks at a process.
const LOOK: Duration = Duration::from_micros(200);
/// Intervals of 10 ms in a second.
const INTERVALS: usize = 100;

/// A command line of `stat`, and the names of its figures.
struct Measure {
    cpu: &'static str,
    wall: &'static str,
    words: Vec<String>,
}

/// What one run cost, in milliseconds.
struct Cost {
    cpu: f64,
    wall: f64,
}

/// Measures both tools alternately.
pub(super) fn run(options: &Options) -> Result<()> {
    let mut figures = Vec::new();
    for measure in measures(options.seconds) {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..options.runs {
            ours.push(cost(&options.binary, &measure.words)?);
            if let Some(program) = reference() {
                theirs.push(cost(program, &measure.words)?);
            }
        }
        figures.push(figure(measure.cpu, &ours, &theirs, |cost| cost.cpu)?);
        figures.push(figure(measure.wall, &ours, &theirs, |cost| cost.wall)?);
    }
    keep(&options.folder, "stat", "perf7", &figures)
}

fn measures(seconds: usize) -> Vec<Measure> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let count = (seconds * INTERVALS).max(1);
    let many = events();
    vec![
        Measure {
            cpu: "true",
            wall: "true, wall",
            words: words("true"),
        },
        Measure {
            cpu: "-I 10",
            wall: "-I 10, wall",
            words: words(&format!(
                "-a -I 10 --interval-count {count} -e task-clock,context-switches,page-faults"
            )),
        },
        Measure {
            cpu: "200 events",
            wall: "200, wall",
            words: words(&format!("-a -e {many} sleep 0.1")),
        },
        Measure {
            cpu: "200, -I 10",
            wall: "200 -I, wall",
            words: words(&format!("-a -I 10 --interval-count {count} -e {many}")),
        },
    ]
}

/// Software events over and over: every machine counts them. Tracepoints would measure how the kernel arms them.
fn events() -> String {
    let events: Vec<&str> = SOFTWARE.into_iter().cycle().take(EVENTS).collect();
    events.join(",")
}

fn cost(program: &Path, words: &[String]) -> Result<Cost> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .arg("stat")
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| program.display().to_string())?;
    let cpu = own_time(&child)?;
    let wall = start.elapsed().as_secs_f64() * 1e3;
    let status = child.wait()?;
    ensure!(
        status.success(),
        "{} stat {}: {status}",
        program.display(),
        words.join(" ")
    );
    Ok(Cost { cpu, wall })
}

/// Waits until the process has ended but not been collected; gives the milliseconds that it ran for, as the scheduler has
/// them: the kernel's ticks are as long as a whole run of `stat true`.
fn own_time(child: &Child) -> Result<f64> {
    let folder = Path::new("/proc").join(child.id().to_string());
    loop {
        let state = std::fs::read_to_string(folder.join("stat"))?;
        let (_, state) = state.rsplit_once(')').context("a form of /proc/PID/stat")?;
        if state.trim_start().starts_with('Z') {
            let times = std::fs::read_to_string(folder.join("schedstat"))?;
            let nanoseconds = times.split_whitespace().next();
            let nanoseconds: f64 = nanoseconds.context("a form of schedstat")?.parse()?;
            return Ok(nanoseconds / 1e6);
        }
        std::thread::sleep(LOOK);
    }
}

fn figure(
    what: &'static str,
    ours: &[Cost],
    theirs: &[Cost],
    value: fn(&Cost) -> f64,
) -> Result<Figure> {
    let of = |costs: &[Cost]| median(costs.iter().map(value).collect());
    Ok(Figure {
        what,
        unit: "ms",
        ours: of(ours)?,
        reference: of(theirs).ok(),
    })
}
