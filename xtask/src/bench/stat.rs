//! What `stat` itself costs beside perf7: its own processor time, without the program's that it counts, and the time from
//! start to end.

use std::path::{Path, PathBuf};
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

/// Control groups of the measure of those, with four counters on each CPU.
const CGROUPS: usize = 250;
/// The places of the hierarchy of control groups of version 2.
const HIERARCHIES: [&str; 2] = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
/// The folder of the control groups in the hierarchy.
const CGROUP_FOLDER: &str = "oxperf-bench";

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
    let cgroups = Cgroups::make();
    if cgroups.is_none() {
        println!("SKIPPED: --for-each-cgroup (control groups of version 2 and root are needed)");
    }
    let of_cgroups = cgroups.as_ref().map(Cgroups::measure);
    let mut figures = Vec::new();
    for measure in measures(options.seconds).into_iter().chain(of_cgroups) {
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

/// Control groups that are there while they are counted.
struct Cgroups {
    folder: PathBuf,
}

impl Cgroups {
    /// Makes them; `None` where that is not possible.
    fn make() -> Option<Cgroups> {
        let is_hierarchy = |path: &&&str| Path::new(path).join("cgroup.controllers").is_file();
        let hierarchy = HIERARCHIES.iter().find(is_hierarchy)?;
        let cgroups = Cgroups {
            folder: Path::new(hierarchy).join(CGROUP_FOLDER),
        };
        std::fs::create_dir_all(&cgroups.folder).ok()?;
        let made = (0..CGROUPS)
            .try_for_each(|group| std::fs::create_dir_all(cgroups.folder.join(group.to_string())));
        made.ok().map(|()| cgroups)
    }

    fn measure(&self) -> Measure {
        let names = (0..CGROUPS).map(|group| format!("{CGROUP_FOLDER}/{group}"));
        let names: Vec<String> = names.collect();
        let (events, names) = (SOFTWARE.join(","), names.join(","));
        let words = format!("-a -e {events} --for-each-cgroup {names} sleep 0.1");
        Measure {
            cpu: "cgroups",
            wall: "cgroups, wall",
            words: words.split(' ').map(str::to_owned).collect(),
        }
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        for group in 0..CGROUPS {
            // What others have put in stays.
            let _ = std::fs::remove_dir(self.folder.join(group.to_string()));
        }
        let _ = std::fs::remove_dir(&self.folder);
    }
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
