//! Every public recording through the readers: any of them may be refused, none may crash us. Beside it, live, what
//! perf prints for the same file.

mod beside;
mod hase;
pub(super) mod inputs;
mod own;
mod perfparser;
mod quipper;
mod simpleperf;

use anyhow::Result;

use super::accepted::Accepted;
use super::table::{Row, Table};
use super::{Options, accepted};
use crate::parallel::parallel;
use beside::{Beside, Census};
pub(super) use inputs::{Input, recordings};
use own::Fate;

/// Outcome of one file.
struct Fared {
    /// With each of our own commands.
    fates: Vec<Fate>,
    rows: Vec<Row>,
    census: Census,
}

/// Runs all commands over all files and prints what came of it; `false` when one misbehaved or differs.
pub(super) fn sweep(options: &Options) -> Result<bool> {
    let inputs = recordings(&options.shared.join("fixtures/public"), &options.filter)?;
    let accepted = accepted::read()?;
    let beside = Beside::new(options, &accepted)?;
    let fared = parallel(options.jobs, &inputs, |index, input| {
        try_file(input, index, options, &beside, &accepted).unwrap_or_else(|error| Fared {
            fates: vec![Fate::Bad(format!("{error:#}"))],
            rows: Vec::new(),
            census: Census::default(),
        })
    });
    let (mut fates, mut rows, mut census) = (Vec::new(), Vec::new(), Census::default());
    for one in fared {
        fates.push(one.fates);
        rows.extend(one.rows);
        census.add(&one.census);
    }
    let behaved = own::print(&inputs, &fates);
    let same = Table::new("public fixtures beside perf7 and expected texts", rows).print();
    census.print(inputs.len());
    Ok(behaved && same)
}

fn try_file(
    input: &Input,
    index: usize,
    options: &Options,
    beside: &Beside<'_>,
    accepted: &[Accepted],
) -> Result<Fared> {
    let folder = options.scratch.join(format!("public-{index}"));
    std::fs::create_dir_all(&folder)?;
    let file = input.unpack(&folder)?;
    let fates = own::try_commands(&file, &folder, options)?;
    let (mut rows, census) = beside.compare(input, &file, &folder)?;
    rows.extend(quipper::compare(input, &file, accepted)?);
    rows.extend(hase::compare(input, &file, &folder, options)?);
    rows.extend(perfparser::compare(input, &file, &folder, options)?);
    rows.extend(simpleperf::compare(
        input, &file, &folder, options, accepted,
    )?);
    std::fs::remove_dir_all(&folder)?;
    Ok(Fared {
        fates,
        rows,
        census,
    })
}
