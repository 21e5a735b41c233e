//! The recordings of Intel PT beside what perf 7.2 prints for them, live.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::accepted::{self, Accepted};
use super::table::{Outcome, Row, Table};
use super::{LIMITS, Options, compare, is_asked_for, parallel, symfs};
use crate::process::{Job, in_path};

/// What is compared: the name of the text, and the command that prints it.
const TEXTS: [(&str, &[&str]); 2] = [("script-dump", &["script", "-D"]), ("report-dump", &["report", "-D"])];

/// The case for measuring: its texts have hundreds of megabytes.
const BIG: &str = "big";

/// What all comparisons have in common.
struct Traced<'a> {
    options: &'a Options,
    perf: PathBuf,
    accepted: Vec<Accepted>,
    /// The objects of all cases, a folder each.
    objects: PathBuf,
}

/// Compares everything and prints the table; `false` when something differs.
pub(super) fn sweep(options: &Options) -> Result<bool> {
    let folder = options.shared.join("fixtures/pt");
    let Some(perf) = in_path("perf7").filter(|_| folder.is_dir()) else {
        println!("SKIPPED: Intel PT, for want of perf7 or of {}", folder.display());
        return Ok(true);
    };
    let objects = options.scratch.join("pt-symfs");
    symfs::rebuild(&folder.join("_symfs"), &objects)?;
    let traced = Traced { options, perf, accepted: accepted::read()?, objects };
    let wanted = wanted(&folder, options)?;
    let rows = parallel(options.jobs, &wanted, |index, (case, text)| traced.row(case, text, index));
    Ok(Table::new("Intel PT beside perf7", rows).print())
}

/// A case folder, and a text to compare for it.
type Wanted = (PathBuf, &'static (&'static str, &'static [&'static str]));

fn wanted(folder: &Path, options: &Options) -> Result<Vec<Wanted>> {
    let mut cases: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    cases.retain(|case| case.join("perf.data").is_file() && !case.ends_with(BIG));
    cases.retain(|case| name(case).contains(&options.filter));
    cases.sort();
    let texts = TEXTS.iter().filter(|(text, _)| is_asked_for(text, &options.only));
    Ok(cases.iter().flat_map(|case| texts.clone().map(move |text| (case.clone(), text))).collect())
}

/// `pt/static-loop`.
fn name(case: &Path) -> String {
    format!("pt/{}", case.file_name().unwrap_or_default().to_string_lossy())
}

impl Traced<'_> {
    fn row(&self, case: &Path, (text, words): &(&str, &[&str]), index: usize) -> Row {
        let compared = self.compare(case, words, index);
        let compared = compared.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let name = name(case);
        let outcome = match accepted::find(&self.accepted, &name, text) {
            Some(entry) => entry.judge(compared),
            None => compared,
        };
        Row { case: name, golden: (*text).to_owned(), outcome }
    }

    fn compare(&self, case: &Path, words: &[&str], index: usize) -> Result<Outcome> {
        let scratch = self.options.scratch.join(format!("pt-{index}"));
        std::fs::create_dir_all(&scratch)?;
        let symfs = self.symfs(case)?;
        let [ours, theirs] =
            [&self.options.binary, &self.perf].map(|program| read(program, words, case, &symfs, &scratch));
        let difference = compare::difference(&theirs?, &ours?);
        std::fs::remove_dir_all(&scratch)?;
        Ok(difference.map_or(Outcome::Identical, Outcome::Differs))
    }

    /// The objects of a case: its link, which may have become a file that holds the target.
    fn symfs(&self, case: &Path) -> Result<PathBuf> {
        let link = case.join("symfs");
        let target = match link.is_dir() {
            true => link.canonicalize()?,
            false => {
                PathBuf::from(std::fs::read_to_string(&link).with_context(|| link.display().to_string())?)
            }
        };
        Ok(self.objects.join(target.file_name().context("the link names no folder")?))
    }
}

/// What `program` prints for the recording of a case.
fn read(program: &Path, words: &[&str], case: &Path, symfs: &Path, scratch: &Path) -> Result<Vec<u8>> {
    let mut args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    args.extend(["-i", "perf.data", "--symfs"].map(str::to_owned));
    args.push(symfs.display().to_string());
    let (stdout, stderr) = (scratch.join("stdout"), scratch.join("stderr"));
    let job = Job { program, args: &args, folder: case, home: scratch, stdout: stdout.clone(), stderr };
    match job.run(LIMITS)?.crash() {
        Some(crash) => anyhow::bail!("{}: {crash}", program.display()),
        None => Ok(std::fs::read(&stdout)?),
    }
}
