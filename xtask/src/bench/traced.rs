//! Decoding Intel PT: `../shared/fixtures/pt/big`, 124 million instructions in 13.5 MB of trace.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::read::{Input, Measure, run_one, run_ours};
use super::{Options, libipt};
use crate::sweep::symfs;
use crate::workspace;

/// From bare decoding to a line for each instruction, on one core and on two; perf needs minutes for the last.
const MEASURES: [Measure; 11] = [
    ERRORS.with_own("pt-errors", &ONE),
    ERRORS.with_own("pt-errors-2", &TWO),
    Measure::to_nowhere("pt-dump", &["script", "-D"], 2),
    BRANCHES.with_own("pt-branches", &ONE),
    BRANCHES.with_own("pt-branches-2", &TWO),
    INSTRUCTIONS.with_own("pt-instructions", &ONE),
    INSTRUCTIONS.with_own("pt-instructions-2", &TWO),
    BRANCH_LINES.with_own("pt-branch-lines", &ONE),
    BRANCH_LINES.with_own("pt-branch-lines-2", &TWO),
    INSTRUCTION_LINES.with_own("pt-instruction-lines", &ONE),
    INSTRUCTION_LINES.with_own("pt-instruction-lines-2", &TWO),
];

const ERRORS: Measure = Measure::to_nowhere("pt-errors", &["script", "--itrace=e"], 3);
const BRANCHES: Measure = Measure::to_nowhere(
    "pt-branches",
    &["script", "--itrace=b", "-F", "ip,addr,flags"],
    1,
);
const INSTRUCTIONS: Measure = Measure::to_nowhere(
    "pt-instructions",
    &["script", "--itrace=i0ns", "-F", "ip"],
    1,
);

/// What is shown of its own accord: perf needs a minute and ten.
const BRANCH_LINES: Measure = Measure::to_nowhere("pt-branch-lines", &["script", "--itrace=b"], 0);
const INSTRUCTION_LINES: Measure =
    Measure::to_nowhere("pt-instruction-lines", &["script", "--itrace=i0ns"], 0);

const ONE: [&str; 2] = ["--decode-threads", "1"];
const TWO: [&str; 2] = ["--decode-threads", "2"];

/// Measures everything.
pub(super) fn run(options: &Options) -> Result<()> {
    let case = workspace::shared().map(|shared| shared.join("fixtures/pt/big"));
    let Some(case) = case.filter(|case| case.join("perf.data").is_file()) else {
        println!("SKIPPED: there is no ../shared/fixtures/pt/big to decode");
        return Ok(());
    };
    let symfs = objects(&case, &options.folder)?;
    let input = Input {
        symfs: Some(symfs.clone()),
        ..Input::local(case.join("perf.data"))
    };
    MEASURES
        .iter()
        .try_for_each(|measure| run_one(measure, &input, options).map(drop))?;
    let ours = run_ours(&ERRORS.with_own("pt-errors", &ONE), &input, options)?;
    libipt::run("pt-errors", &ours, (&case, &symfs), &options.folder)
}

/// The case's objects as real files: its link may have become a file that holds the target.
fn objects(case: &Path, folder: &Path) -> Result<PathBuf> {
    let link = case.join("symfs");
    let target = match link.is_dir() {
        true => link,
        false => {
            let text =
                std::fs::read_to_string(&link).with_context(|| link.display().to_string())?;
            case.join(text.trim_end())
        }
    };
    let objects = folder.join("pt-symfs");
    symfs::rebuild(&target, &objects)?;
    Ok(objects)
}
