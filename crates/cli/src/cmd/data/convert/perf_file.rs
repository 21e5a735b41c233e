//! `data convert --to-perf`: one plain `perf.data` of a recording of any form.

use oxperf_session::{RewriteError, Rewritten, rewrite};

use super::{Converted, Request};
use crate::failure::Failure;
use crate::input::chain;
use crate::losses::report_damage;
use crate::output::print_error;

/// Writes the file.
pub(super) fn run(request: &Request<'_>) -> Result<Converted, Failure> {
    let path = request.output.display();
    let reader = request.input.reader()?;
    let mut file = request.create_file()?;
    let done = rewrite(&reader, &mut file).map_err(|error| match error {
        RewriteError::Read(error) => request.input.refuse(&error),
        other => Failure::new(format!("{path}: {}", chain(&other))),
    })?;
    report(&done);
    Ok(Converted {
        bytes: done.bytes,
        samples: done.samples,
        others: None,
        skipped: 0,
    })
}

/// Tells what the new file does not have.
fn report(done: &Rewritten) {
    report_damage(&done.damage);
    let counts = [
        (
            done.undecodable,
            "records could not be decoded and were left out",
        ),
        (
            done.unknown_records,
            "records of kinds that perf does not know were left out",
        ),
        (
            done.raw_unmapped,
            "samples keep raw data in the recorder's byte order: nothing says what they hold",
        ),
        (
            done.attributes_cut,
            "events have settings that are newer than this program; they were left out",
        ),
    ];
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        print_error(&format!("Warning: {count} {what}"));
    }
    for feature in &done.features_left_out {
        print_error(&format!(
            "Warning: feature {feature} has nothing that can be converted and was left out"
        ));
    }
    if let Some(cpus) = done.assumed_cpus {
        print_error(&format!(
            "The recording does not say how many CPUs the machine had; by its records {cpus} is written"
        ));
    }
}
