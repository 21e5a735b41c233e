//! The comparison over `recorded/`.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::accepted::{self, Accepted};
use super::case::{self, Case, Golden};
use super::table::{Outcome, Row, Table};
use super::{LIMITS, Options, compare, is_asked_for, scope, symfs};
use crate::parallel::parallel;
use crate::process::{Job, read_maybe_zstd};

/// The places that the commands name relative to a case, and where they are now.
struct Places {
    kallsyms: PathBuf,
    symfs: PathBuf,
    /// An empty home, so that no build-id cache is found.
    home: PathBuf,
}

/// Compares everything and prints the table; `false` when something differs.
pub(super) fn sweep(options: &Options) -> Result<bool> {
    let recorded = options.shared.join("fixtures/recorded");
    let places = places(&recorded, &options.scratch)?;
    let accepted = accepted::read()?;
    let cases = case::all(&recorded)?;
    cases
        .iter()
        .try_for_each(|case| bring_perf_maps(&case.folder, &places.symfs))?;
    let wanted = wanted(&cases, options);
    let rows = parallel(options.jobs, &wanted, |index, (case, golden)| {
        let outcome = outcome(case, golden, index, options, &places, &accepted);
        Row {
            case: case.name.clone(),
            golden: golden.file.clone(),
            outcome,
        }
    });
    Ok(Table::new("recorded fixtures", rows).print())
}

fn places(recorded: &Path, scratch: &Path) -> Result<Places> {
    let (kallsyms, home) = (scratch.join("kallsyms"), scratch.join("home"));
    std::fs::create_dir_all(&home)?;
    if !kallsyms.is_file() {
        std::fs::write(&kallsyms, read_maybe_zstd(&recorded.join("kallsyms.zst"))?)?;
    }
    let symfs = scratch.join("symfs");
    symfs::rebuild(&recorded.join("_symfs"), &symfs)?;
    Ok(Places {
        kallsyms,
        symfs,
        home,
    })
}

/// Puts the names of code made at run time, which lie beside the recording, where readers look for them.
fn bring_perf_maps(case: &Path, symfs: &Path) -> Result<()> {
    let folder = symfs.join("tmp");
    std::fs::create_dir_all(&folder)?;
    for entry in std::fs::read_dir(case)? {
        let name = entry?.file_name();
        if name.to_string_lossy().starts_with("perf-") && name.to_string_lossy().ends_with(".map") {
            std::fs::copy(case.join(&name), folder.join(&name))?;
        }
    }
    Ok(())
}

fn wanted<'a>(cases: &'a [Case], options: &Options) -> Vec<(&'a Case, &'a Golden)> {
    let named = cases
        .iter()
        .filter(|case| case.name.contains(&options.filter));
    let pairs = named.flat_map(|case| case.goldens.iter().map(move |golden| (case, golden)));
    pairs
        .filter(|(_, golden)| is_asked_for(&golden.file, &options.only))
        .collect()
}

fn outcome(
    case: &Case,
    golden: &Golden,
    index: usize,
    options: &Options,
    places: &Places,
    accepted: &[Accepted],
) -> Outcome {
    let later = scope::later(case, golden);
    if let Some(reason) = later.filter(|_| !options.all) {
        return Outcome::Later {
            reason,
            would_be: None,
        };
    }
    let Some(expected) = case.expected(golden) else {
        return Outcome::NoText;
    };
    let compared = compare_one(case, golden, &expected, index, options, places);
    let compared = compared.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
    match (later, accepted::find(accepted, &case.name, &golden.file)) {
        (Some(reason), _) => Outcome::Later {
            reason,
            would_be: Some(Box::new(compared)),
        },
        (None, Some(entry)) => entry.judge(compared),
        _ => compared,
    }
}

fn compare_one(
    case: &Case,
    golden: &Golden,
    expected: &Path,
    index: usize,
    options: &Options,
    places: &Places,
) -> Result<Outcome> {
    let (stdout, stderr) = (
        options.scratch.join(format!("{index}.out")),
        options.scratch.join(format!("{index}.err")),
    );
    let args: Vec<String> = golden
        .args
        .iter()
        .map(|word| absolute(word, places))
        .collect();
    let job = Job {
        program: &options.binary,
        args: &args,
        folder: &case.folder,
        home: &places.home,
        stdout: stdout.clone(),
        stderr: stderr.clone(),
    };
    if let Some(crash) = job.run(LIMITS)?.crash() {
        return Ok(Outcome::Failed(crash));
    }
    let mut text = std::fs::read(&stdout)?;
    if golden.with_errors {
        text.extend(std::fs::read(&stderr)?);
    }
    let difference = compare::difference(&read_maybe_zstd(expected)?, &text);
    std::fs::remove_file(&stdout)?;
    std::fs::remove_file(&stderr)?;
    Ok(difference.map_or(Outcome::Identical, Outcome::Differs))
}

fn absolute(word: &str, places: &Places) -> String {
    match word {
        "../../kallsyms" => places.kallsyms.display().to_string(),
        "../../_symfs" => places.symfs.display().to_string(),
        _ => word.to_owned(),
    }
}
