//! Options of `report`, `script`, `annotate` and `diff` over the recorded fixtures, beside what perf7 prints for the same words, live.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::accepted::{self, Accepted};
use super::options::{ANNOTATE, ANNOTATIONS, REPORT, REPORTS, SCRIPT, SCRIPTS, Trial};
use super::table::{Outcome, Row, Table};
use super::{LIMITS, Options, compare, is_asked_for};
use crate::parallel::parallel;
use crate::process::{Job, in_path};

/// Pairs of recordings of one kind, `6.1.187` before `7.2.13`.
const PAIRS: [&str; 10] = [
    "default-cycles",
    "multi-events",
    "fp-forks",
    "group-S-g",
    "page-faults-g",
    "systemwide",
    "sched-g-wakeup",
    "jit-node-interp",
    "dwarf-threads",
    "zstd",
];

/// The options of `diff`; `OLD` and `NEW` stand for the recordings of a pair.
const DIFFS: [&str; 16] = [
    "OLD NEW",
    "NEW OLD -p -F",
    "-c delta OLD NEW",
    "-c ratio -p -F OLD NEW",
    "-c wdiff:3,2 -F OLD NEW",
    "-o 0 OLD NEW",
    "-b OLD NEW",
    "-q -c ratio OLD NEW",
    "-t , -p -F OLD NEW",
    "-s comm,dso,sym OLD NEW",
    "-s pid,dso OLD NEW",
    "-s sym OLD NEW",
    "-d [kernel.kallsyms] OLD NEW",
    "--percentage relative -d [kernel.kallsyms] OLD NEW",
    "--time 10%-60% -p OLD NEW",
    "-o 2 -c ratio OLD NEW OLD",
];

struct Live<'a> {
    options: &'a Options,
    perf: PathBuf,
    accepted: Vec<Accepted>,
    recorded: PathBuf,
    symfs: PathBuf,
    kallsyms: PathBuf,
    home: PathBuf,
}

/// Compares everything and prints the table; `false` when something differs. Stands on what `recorded` has laid out in
/// the scratch folder.
pub(super) fn sweep(options: &Options) -> Result<bool> {
    let Some(perf) = in_path("perf7") else {
        println!("SKIPPED: options of report, script, annotate and diff, for want of perf7");
        return Ok(true);
    };
    let scratch = |name: &str| options.scratch.join(name);
    let live = Live {
        options,
        perf,
        accepted: accepted::read()?,
        recorded: options.shared.join("fixtures/recorded"),
        symfs: scratch("symfs"),
        kallsyms: scratch("kallsyms"),
        home: scratch("home"),
    };
    let wanted = live.wanted();
    let _maps = PerfMaps::bring(&live.symfs.join("tmp"))?;
    let rows = parallel(options.jobs, &wanted, |index, (case, words)| {
        live.row(case, words, index)
    });
    Ok(Table::new(
        "options of report, script, annotate and diff beside perf7",
        rows,
    )
    .print())
}

/// Maps of code made at run time that lie in `/tmp` for a while: perf looks for them there whatever `--symfs` says.
struct PerfMaps(Vec<PathBuf>);

impl PerfMaps {
    /// Brings those of a folder, except where there is one of the same name.
    fn bring(folder: &Path) -> Result<PerfMaps> {
        let mut brought = PerfMaps(Vec::new());
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let map = entry?.path();
            let place = map.file_name().map(|name| Path::new("/tmp").join(name));
            let is_map = map.extension().is_some_and(|extension| extension == "map");
            if let Some(place) = place.filter(|place| is_map && !place.exists()) {
                std::fs::copy(&map, &place)?;
                brought.0.push(place);
            }
        }
        Ok(brought)
    }
}

impl Drop for PerfMaps {
    fn drop(&mut self) {
        self.0
            .iter()
            .for_each(|place| drop(std::fs::remove_file(place)));
    }
}

impl Live<'_> {
    /// The cases with the words to compare.
    fn wanted(&self) -> Vec<(String, Vec<String>)> {
        let pairs = PAIRS
            .iter()
            .filter(|pair| pair.contains(&self.options.filter));
        let diffs = pairs.flat_map(|pair| {
            DIFFS
                .iter()
                .map(|words| ((*pair).to_owned(), self.diff(pair, words)))
        });
        let reports = REPORTS.iter().flat_map(|trial| self.trial(&REPORT, trial));
        let scripts = SCRIPTS.iter().flat_map(|trial| self.trial(&SCRIPT, trial));
        let annotations = ANNOTATIONS
            .iter()
            .flat_map(|trial| self.trial(&ANNOTATE, trial));
        let all = diffs.chain(reports).chain(scripts).chain(annotations);
        all.filter(|(_, words)| is_asked_for(&words[0], &self.options.only))
            .collect()
    }

    /// The texts of some options, each over all its recordings.
    fn trial(&self, command: &[&str], trial: &'static Trial) -> Vec<(String, Vec<String>)> {
        let cases = trial.cases.iter().map(|case| match case.strip_prefix('/') {
            Some(case) => format!("6.1.187/{case}"),
            None => format!("7.2.13/{case}"),
        });
        let cases = cases.filter(|case| case.contains(&self.options.filter));
        let words = |case: &String, words: &str| {
            let input = ["-i".to_owned(), format!("{case}/perf.data")];
            let command = command.iter().map(|word| (*word).to_owned());
            command
                .chain(input)
                .chain(words.split(' ').map(str::to_owned))
                .collect()
        };
        cases
            .flat_map(|case| {
                trial
                    .words
                    .iter()
                    .map(move |text| (case.clone(), words(&case, text)))
            })
            .collect()
    }

    fn diff(&self, pair: &str, words: &str) -> Vec<String> {
        let word = |word: &str| match word {
            "OLD" => format!("6.1.187/{pair}/perf.data"),
            "NEW" => format!("7.2.13/{pair}/perf.data"),
            word => word.to_owned(),
        };
        std::iter::once("diff".to_owned())
            .chain(words.split(' ').map(word))
            .collect()
    }

    fn row(&self, case: &str, words: &[String], index: usize) -> Row {
        let compared = self
            .compare(words, index)
            .unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let text = words.join(" ");
        let outcome = match accepted::find(&self.accepted, case, &text) {
            Some(entry) => entry.judge(compared),
            None => compared,
        };
        Row {
            case: case.to_owned(),
            golden: text,
            outcome,
        }
    }

    fn compare(&self, words: &[String], index: usize) -> Result<Outcome> {
        let mut args = words.to_vec();
        // perf's `annotate` has no code of the kernel without its image, and does not ask for its names.
        let takes_kallsyms = words.first().is_none_or(|command| command != "annotate");
        let kallsyms = takes_kallsyms.then_some(("--kallsyms", &self.kallsyms));
        for (option, path) in [("--symfs", &self.symfs)].into_iter().chain(kallsyms) {
            args.extend([option.to_owned(), path.display().to_string()]);
        }
        let ours = self.read(&self.options.binary, &args, index)?;
        let theirs = self.read(&self.perf, &args, index)?;
        Ok(compare::difference(&theirs, &ours).map_or(Outcome::Identical, Outcome::Differs))
    }

    fn read(&self, program: &Path, args: &[String], index: usize) -> Result<Vec<u8>> {
        let file = |end: &str| self.options.scratch.join(format!("live-{index}.{end}"));
        let job = Job {
            program,
            args,
            folder: &self.recorded,
            home: &self.home,
            stdout: file("out"),
            stderr: file("err"),
        };
        if let Some(crash) = job.run(LIMITS)?.crash() {
            anyhow::bail!("{}: {crash}", program.display());
        }
        let text = std::fs::read(file("out"))?;
        std::fs::remove_file(file("out"))?;
        std::fs::remove_file(file("err"))?;
        Ok(text)
    }
}
