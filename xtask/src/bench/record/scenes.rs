//! What is recorded: each scene is hard on the recorder in its own way.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::bench::{Options, workload};

const SOURCE: &str = include_str!("loads.c");
/// Threads of the process that has many.
const THREADS: &str = "2000";
/// Mappings of the process that has many.
const MAPS: &str = "100000";

/// The measures that can be asked for apart from the build.
pub(in crate::bench) const SCENES: [&str; 6] = [
    "record-chains",
    "record-dwarf",
    "record-processes",
    "record-threads",
    "record-maps",
    "record-start",
];

/// A recording to make.
pub(super) struct Scene {
    /// The name of the measure.
    pub(super) measure: &'static str,
    /// Options of the recorder.
    pub(super) options: Vec<&'static str>,
    /// The program that is started by the recorder.
    pub(super) program: Vec<String>,
    /// The program that runs already and is recorded by its number.
    pub(super) running: Option<Vec<String>>,
}

/// All scenes; those of programs in C where there is a compiler.
pub(super) fn all(options: &Options) -> Result<Vec<Scene>> {
    let script = workload::prepare(&options.folder)?.display().to_string();
    let build = vec!["/bin/sh".to_owned(), script];
    let mut scenes = vec![Scene {
        measure: "record",
        options: vec!["-F", "20000", "-g", "-e", "cpu-clock"],
        program: build,
        running: None,
    }];
    match compiled(&options.folder) {
        Ok(loads) => scenes.extend(of_loads(&loads, options)),
        Err(error) => println!("SKIPPED: the scenes of record beside the build: {error:#}"),
    }
    Ok(scenes)
}

fn of_loads(loads: &Path, options: &Options) -> Vec<Scene> {
    let load = |words: &[&str]| -> Vec<String> {
        let program = loads.display().to_string();
        let words = words.iter().map(|word| (*word).to_owned());
        std::iter::once(program).chain(words).collect()
    };
    let sleep = |seconds: &str| vec!["/bin/sleep".to_owned(), seconds.to_owned()];
    let seconds = options.seconds.to_string();
    let processes = options.processes.to_string();
    let clock = ["-e", "cpu-clock"];
    let scene = |measure, words: &[&'static str], program| Scene {
        measure,
        options: [words, &clock].concat(),
        program,
        running: None,
    };
    let attached = |measure, words: &[&'static str], running| Scene {
        running: Some(running),
        ..scene(measure, words, sleep("1"))
    };
    vec![
        scene(
            "record-chains",
            &["-a", "-F", "20000", "-g"],
            load(&["spin", &seconds]),
        ),
        scene(
            "record-dwarf",
            &["-a", "-F", "2000", "--call-graph", "dwarf", "-z"],
            load(&["spin", &seconds]),
        ),
        scene(
            "record-processes",
            &["-a", "-F", "1000"],
            load(&["processes", &processes]),
        ),
        attached(
            "record-threads",
            &["-F", "1000", "-g"],
            load(&["threads", THREADS, "600"]),
        ),
        attached("record-maps", &["-F", "1000"], load(&["maps", MAPS])),
        scene("record-start", &[], vec!["/bin/true".to_owned()]),
    ]
}

fn compiled(folder: &Path) -> Result<PathBuf> {
    let (source, program) = (folder.join("loads.c"), folder.join("loads"));
    std::fs::write(&source, SOURCE)?;
    let status = Command::new("cc")
        .args(["-O1", "-fno-omit-frame-pointer", "-pthread", "-o"])
        .args([&program, &source])
        .status()
        .context("cc")?;
    if !status.success() {
        bail!("cc {} failed", source.display());
    }
    Ok(program)
}

/// A program that runs while it is recorded, and ends with this value.
pub(super) struct Running(Child);

impl Running {
    /// Starts it and waits until it is ready.
    pub(super) fn start(words: &[String]) -> Result<Running> {
        let (program, words) = words.split_first().context("no program")?;
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take();
        let running = Running(child);
        let mut line = String::new();
        BufReader::new(output.context("no output")?).read_line(&mut line)?;
        if !line.starts_with("ready") {
            bail!("{program} did not get ready");
        }
        Ok(running)
    }

    /// Its number.
    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_can_be_asked_for() {
        let options = Options {
            binary: PathBuf::new(),
            runs: 1,
            reference_runs: None,
            seconds: 1,
            processes: 1,
            folder: PathBuf::new(),
            table: false,
        };
        let scenes = of_loads(Path::new("loads"), &options);
        let measures: Vec<&str> = scenes.iter().map(|scene| scene.measure).collect();
        assert_eq!(measures, SCENES);
    }
}
