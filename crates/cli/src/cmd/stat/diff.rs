//! `stat diff`: two measurements that were kept, beside each other.

pub(super) mod arguments;

use std::path::PathBuf;

use oxperf_present::counts::CountForm;

use super::runs::{self, Baseline, GrowthLimit};
use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::output::{print_error, stdout};

/// The command.
pub(super) const ENTRY: Entry = Entry {
    name: "diff",
    command: arguments::command,
    run: |matches, _| perform(&arguments::options(matches)?),
    shares_work: false,
};

/// The options.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct StatDiffOptions {
    /// The file of the earlier measurement.
    before: PathBuf,
    /// The file of the later measurement.
    after: PathBuf,
    /// The form of the output.
    form: CountForm,
    /// The file that is written in place of standard output.
    output: Option<PathBuf>,
    /// So many percent more are a failure.
    limit: Option<GrowthLimit>,
}

/// Compares two files; the exit code says whether anything grew by more than it may.
fn perform(options: &StatDiffOptions) -> Result<i32, Failure> {
    use std::io::Write;
    let (before, after) = (
        Baseline::read(&options.before)?,
        Baseline::read(&options.after)?,
    );
    let (form, limit) = (&options.form, options.limit);
    let compared = runs::compare(before.named(), after.named(), form, limit)?;
    match &options.output {
        Some(path) => std::fs::write(path, &compared.text)?,
        None => {
            let mut out = stdout();
            out.write_all(&compared.text)?;
            out.flush()?;
        }
    }
    Ok(match compared.grown {
        Some(sentence) => {
            print_error(&sentence);
            runs::GROWN
        }
        None => code::SUCCESS,
    })
}
