//! Reading a large recording: `report`, `diff` and `script` on `../shared/bench/cargo-build.data.zst`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::results::{Figure, keep};
use super::{Options, median, reference};
use crate::process::{Usage, measure, read_maybe_zstd};
use crate::workspace;

/// What is read.
pub(super) struct Input {
    pub(super) recording: PathBuf,
    /// Folder of the objects that it names; the machine's own otherwise.
    pub(super) symfs: Option<PathBuf>,
    /// What both tools are told besides.
    pub(super) words: Vec<String>,
    /// True if what runs before have left in the home's cache is removed before each run.
    pub(super) cold: bool,
}

impl Input {
    /// A recording of this machine.
    pub(super) fn local(recording: PathBuf) -> Input {
        Input {
            recording,
            symfs: None,
            words: Vec::new(),
            cold: false,
        }
    }
}

/// One thing to measure.
pub(super) struct Measure {
    pub(super) name: &'static str,
    args: &'static [&'static str],
    /// True if the text goes to `/dev/null` and not to a file.
    discards: bool,
    /// What only ours is told.
    own_args: &'static [&'static str],
    /// Runs of perf7 unless the command line says otherwise: some of its runs take a minute and 11 GB.
    reference_runs: usize,
}

impl Measure {
    pub(super) const fn to_file(
        name: &'static str,
        args: &'static [&'static str],
        reference_runs: usize,
    ) -> Measure {
        Measure {
            name,
            args,
            discards: false,
            own_args: &[],
            reference_runs,
        }
    }

    pub(super) const fn to_nowhere(
        name: &'static str,
        args: &'static [&'static str],
        reference_runs: usize,
    ) -> Measure {
        Measure {
            name,
            args,
            discards: true,
            own_args: &[],
            reference_runs,
        }
    }

    /// The same by another name, with more arguments for ours.
    pub(super) const fn with_own(
        &self,
        name: &'static str,
        own_args: &'static [&'static str],
    ) -> Measure {
        let Measure {
            args,
            discards,
            reference_runs,
            ..
        } = *self;
        Measure {
            name,
            args,
            discards,
            own_args,
            reference_runs,
        }
    }
}

/// Every record as text: a part of [`decode`](super::decode).
pub(super) const DUMP: Measure = Measure::to_nowhere("dump", &["report", "-D"], 1);
/// Records counted: a part of [`decode`](super::decode).
pub(super) const STATS: Measure = Measure::to_nowhere("stats", &["report", "--stats"], 5);

/// Everything that `bench` can measure on the large recording.
pub(super) const MEASURES: &[Measure] = &[
    Measure::to_file("report", &["report", "--stdio", "--no-inline"], 1),
    Measure::to_file(
        "report-no-children",
        &["report", "--stdio", "--no-inline", "--no-children"],
        1,
    ),
    Measure::to_file(
        "report-callers",
        &[
            "report",
            "--stdio",
            "--no-inline",
            "--no-children",
            "-g",
            "caller",
        ],
        1,
    ),
    Measure::to_file(
        "report-flat",
        &["report", "--stdio", "--no-inline", "-g", "none"],
        3,
    ),
    Measure::to_file(
        "report-functions",
        &[
            "report",
            "--stdio",
            "--no-inline",
            "--no-children",
            "-g",
            "none",
        ],
        3,
    ),
    Measure::to_file("diff", &["diff"], 3),
    Measure::to_file("script", &["script", "--no-inline"], 3),
    Measure::to_file(
        "script-symbols",
        &["script", "--no-inline", "-F", "ip,sym"],
        3,
    ),
];

/// The names, for messages.
pub(super) fn names() -> String {
    MEASURES
        .iter()
        .map(|measure| measure.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Runs the wanted measures.
pub(super) fn run(options: &Options, wanted: &dyn Fn(&str) -> bool) -> Result<()> {
    let mut measures = MEASURES
        .iter()
        .filter(|measure| wanted(measure.name))
        .peekable();
    if measures.peek().is_none() {
        return Ok(());
    }
    let Some(input) = input(&options.folder)? else {
        println!("SKIPPED: there is no ../shared/bench/cargo-build.data.zst to read");
        return Ok(());
    };
    measures.try_for_each(|measure| run_one(measure, &input, options).map(drop))
}

/// The recording, unpacked once.
pub(super) fn input(folder: &Path) -> Result<Option<Input>> {
    let packed = workspace::shared().map(|shared| shared.join("bench/cargo-build.data.zst"));
    let Some(packed) = packed.filter(|path| path.is_file()) else {
        return Ok(None);
    };
    let unpacked = folder.join("cargo-build.data");
    if !unpacked.is_file() {
        std::fs::write(&unpacked, read_maybe_zstd(&packed)?)?;
    }
    Ok(Some(Input::local(unpacked)))
}

/// Alternates the tools, so that a change of the machine's mood meets both; gives our median wall time in seconds.
pub(super) fn run_one(measure: &Measure, input: &Input, options: &Options) -> Result<f64> {
    let reference = reference();
    let reference_runs = reference.map_or(0, |_| {
        options.reference_runs.unwrap_or(measure.reference_runs)
    });
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..options.runs.max(reference_runs) {
        if round < options.runs {
            ours.push(run_tool(
                &options.binary,
                measure,
                measure.own_args,
                input,
                &options.folder,
            )?);
        }
        if let Some(program) = reference.filter(|_| round < reference_runs) {
            theirs.push(run_tool(program, measure, &[], input, &options.folder)?);
        }
    }
    let figures = figures(&ours, &theirs)?;
    keep(&options.folder, measure.name, "perf7", &figures)?;
    Ok(figures[0].ours)
}

/// Runs of ours alone.
pub(super) fn run_ours(measure: &Measure, input: &Input, options: &Options) -> Result<Vec<Usage>> {
    (0..options.runs)
        .map(|_| {
            run_tool(
                &options.binary,
                measure,
                measure.own_args,
                input,
                &options.folder,
            )
        })
        .collect()
}

fn run_tool(
    program: &Path,
    wanted: &Measure,
    more: &[&str],
    input: &Input,
    folder: &Path,
) -> Result<Usage> {
    let home = folder.join("home");
    if input.cold && home.join(".cache").exists() {
        std::fs::remove_dir_all(home.join(".cache"))?;
    }
    std::fs::create_dir_all(&home)?;
    let output = match wanted.discards {
        true => Stdio::null(),
        false => File::create(folder.join("output"))
            .context("target/bench/output")?
            .into(),
    };
    let mut command = Command::new(program);
    command.args(wanted.args).args(more).args(&input.words);
    match wanted.args.first() {
        // With itself.
        Some(&"diff") => command.args([&input.recording; 2]),
        _ => command.arg("-i").arg(&input.recording),
    };
    input.symfs.iter().for_each(|folder| {
        command.arg("--symfs").arg(folder);
    });
    command
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .env("HOME", home)
        .env_remove("XDG_CACHE_HOME");
    command
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::null());
    let usage = measure(&mut command)?;
    ensure!(
        usage.success,
        "{} {} failed",
        program.display(),
        wanted.args.join(" ")
    );
    Ok(usage)
}

/// Times and memory of runs of ours and of another program.
pub(super) fn figures(ours: &[Usage], theirs: &[Usage]) -> Result<Vec<Figure>> {
    let seconds = |usage: &Usage| usage.wall.as_secs_f64();
    let megabytes = |usage: &Usage| usage.peak as f64 / 1e6;
    Ok(vec![
        figure("wall time", "s", ours, theirs, &seconds)?,
        figure("processor time", "s", ours, theirs, &|usage| {
            usage.cpu.as_secs_f64()
        })?,
        figure("peak memory", "MB", ours, theirs, &megabytes)?,
    ])
}

fn figure(
    what: &'static str,
    unit: &'static str,
    ours: &[Usage],
    theirs: &[Usage],
    value: &dyn Fn(&Usage) -> f64,
) -> Result<Figure> {
    let of = |usages: &[Usage]| median(usages.iter().map(value).collect());
    Ok(Figure {
        what,
        unit,
        ours: of(ours)?,
        reference: of(theirs).ok(),
    })
}
