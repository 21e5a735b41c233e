//! Recording with both tools what is hard to record: what is lost, and what the recorder itself costs.

mod scenes;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::results::{Figure, keep};
use super::{Options, median, reference};
pub(super) use scenes::SCENES;
use scenes::{Running, Scene};

/// Ticks of `/proc/PID/stat` in a second: Linux shows 100 to user space everywhere.
const TICKS: f64 = 100.0;

/// What one recording cost and kept.
struct Recording {
    wall: f64,
    /// User and system time of the recorder without the workload, seconds.
    own: f64,
    samples: f64,
    lost: f64,
    megabytes: f64,
}

/// Measures each scene that is wanted, or all as `record`, with both tools alternately.
pub(super) fn run(options: &Options, wanted: &dyn Fn(&str) -> bool) -> Result<()> {
    let is_wanted = |measure: &str| wanted("record") || wanted(measure);
    if !SCENES.into_iter().any(is_wanted) {
        return Ok(());
    }
    let scenes = scenes::all(options)?.into_iter();
    scenes
        .filter(|scene| is_wanted(scene.measure))
        .try_for_each(|scene| measure(&scene, options))
}

fn measure(scene: &Scene, options: &Options) -> Result<()> {
    let reference = reference();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let running = scene.running.as_deref().map(Running::start).transpose()?;
    let pid = running.as_ref().map(Running::pid);
    for _ in 0..options.runs {
        ours.push(record(&options.binary, scene, pid, options)?);
        if let Some(program) = reference {
            theirs.push(record(program, scene, pid, options)?);
        }
    }
    let figures = figures(&ours, &theirs)?;
    keep(&options.folder, scene.measure, "perf7", &figures)
}

fn record(program: &Path, scene: &Scene, pid: Option<u32>, options: &Options) -> Result<Recording> {
    let output = options.folder.join("record.data");
    let mut command = Command::new(program);
    command
        .arg("record")
        .args(&scene.options)
        .arg("-o")
        .arg(&output);
    if let Some(pid) = pid {
        command.args(["-p", &pid.to_string()]);
    }
    command.arg("--").args(&scene.program);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(options.folder.join("record.stderr"))?);
    let start = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("{} did not start", program.display()))?;
    let own = own_time(&child)?;
    let wall = start.elapsed().as_secs_f64();
    if !child.wait()?.success() {
        let message = std::fs::read_to_string(options.folder.join("record.stderr"))?;
        bail!("{} record failed: {}", program.display(), message.trim());
    }
    let (samples, lost) = counts(&output, options)?;
    let megabytes = std::fs::metadata(&output)?.len() as f64 / 1e6;
    Ok(Recording {
        wall,
        own,
        samples,
        lost,
        megabytes,
    })
}

/// Waits until the process has ended but not been collected: its times are then final and its children's not in them.
fn own_time(child: &Child) -> Result<f64> {
    let path = PathBuf::from(format!("/proc/{}/stat", child.id()));
    loop {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let (state, ticks) = state_and_ticks(&text).context("an unknown form of /proc/PID/stat")?;
        if state == "Z" {
            return Ok(ticks / TICKS);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The fields behind the name in parentheses: state first, user and system ticks at 11 and 12.
fn state_and_ticks(stat: &str) -> Option<(&str, f64)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((fields.first()?, ticks(11)? + ticks(12)?))
}

/// Samples kept and lost, counted by one judge for both: perf7, or our own report without it.
fn counts(recording: &Path, options: &Options) -> Result<(f64, f64)> {
    let judge = reference().unwrap_or(&options.binary);
    let stats = judged(judge, &["--stats"], recording)?;
    let rows = judged(
        judge,
        &["-g", "none", "--no-children", "-s", "comm"],
        recording,
    )?;
    Ok((
        count(&stats, "SAMPLE events:"),
        count(&rows, "# Total Lost Samples:"),
    ))
}

fn judged(judge: &Path, words: &[&str], recording: &Path) -> Result<String> {
    let output = Command::new(judge)
        .args(["report", "--stdio"])
        .args(words)
        .arg("-i")
        .arg(recording)
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The number behind `label` where it begins a line's words.
fn count(text: &str, label: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(label));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0.0)
}

fn figures(ours: &[Recording], theirs: &[Recording]) -> Result<Vec<Figure>> {
    Ok(vec![
        figure("recorder's cpu", "s", ours, theirs, |run| run.own)?,
        figure("wall time", "s", ours, theirs, |run| run.wall)?,
        figure("samples", "", ours, theirs, |run| run.samples)?,
        figure("lost samples", "", ours, theirs, |run| run.lost)?,
        figure("file", "MB", ours, theirs, |run| run.megabytes)?,
    ])
}

fn figure(
    what: &'static str,
    unit: &'static str,
    ours: &[Recording],
    theirs: &[Recording],
    value: fn(&Recording) -> f64,
) -> Result<Figure> {
    let of = |runs: &[Recording]| median(runs.iter().map(value).collect());
    Ok(Figure {
        what,
        unit,
        ours: of(ours)?,
        reference: of(theirs).ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_process_with_an_odd_name() {
        let stat = "7 (a) b) Z 1 2 3 4 5 6 7 8 9 10 30 12 99 99";
        assert_eq!(state_and_ticks(stat), Some(("Z", 42.0)));
    }

    #[test]
    fn counts_are_found_by_their_whole_label() {
        let text = "  LOST_SAMPLES events:  3\n     SAMPLE events:       82  (40.6%)\n";
        assert_eq!(
            (
                count(text, "SAMPLE events:"),
                count(text, "# Total Lost Samples:")
            ),
            (82.0, 0.0)
        );
    }
}
