//! What `report` shows of a recording without looking at its samples.

use oxperf_data::Reader;
use oxperf_present::stats;
use oxperf_session::{Diagnostics, RecordStats};

use crate::failure::{Failure, code};
use crate::input::{Input, report_trouble};
use crate::output::Output;

/// Counts the records of each kind.
pub(super) fn stats(input: &Input, reader: &Reader<'_>) -> Result<i32, Failure> {
    let counted = RecordStats::count(reader).map_err(|error| input.refuse(&error))?;
    let mut output = Output::stdout();
    stats::write(&mut output, &counted)?;
    output.finish()?;
    report_trouble(&Diagnostics {
        damage: [reader.damage(), &counted.damage].concat(),
        unknown_records: counted.unknown(),
        ..Diagnostics::default()
    });
    Ok(code::SUCCESS)
}
