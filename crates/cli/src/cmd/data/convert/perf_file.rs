//! `data convert --to-perf`: one plain `perf.data` of a recording of any form.

use std::fs::{self, File};
use std::io::ErrorKind;

use oxperf_session::{RewriteError, Rewritten, rewrite};

use super::{Converted, Request};
use crate::failure::Failure;
use crate::output::print_error;

/// Writes the file.
pub(super) fn run(request: &Request<'_>) -> Result<Converted, Failure> {
    let path = request.output.display();
    if request.input.is_read_from(request.output) {
        return Err(Failure::new(format!("{path} is the recording itself: name another file")));
    }
    let reader = request.input.reader()?;
    let mut file = create(request)?;
    let done = rewrite(&reader, &mut file).map_err(|error| match error {
        RewriteError::Read(error) => request.input.refuse(&error),
        other => Failure::new(format!("{path}: {other}")),
    })?;
    report(&done);
    Ok(Converted { bytes: done.bytes, samples: done.samples })
}

/// A new file; one that was there is removed, not cut, because somebody may be reading it.
fn create(request: &Request<'_>) -> Result<File, Failure> {
    let failed =
        |error: std::io::Error| Failure::new(format!("cannot create {}: {error}", request.output.display()));
    if request.force {
        match fs::remove_file(request.output) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    File::create_new(request.output).map_err(failed)
}

/// Tells what the new file does not have.
fn report(done: &Rewritten) {
    for damage in &done.damage {
        print_error(&format!("Warning: {damage}"));
    }
    let counts = [
        (done.undecodable, "records could not be decoded and were left out"),
        (done.unknown_records, "records of kinds that perf does not know were left out"),
        (
            done.raw_unmapped,
            "samples keep raw data in the recorder's byte order: nothing says what they hold",
        ),
        (done.attributes_cut, "events have settings that are newer than this program; they were left out"),
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
