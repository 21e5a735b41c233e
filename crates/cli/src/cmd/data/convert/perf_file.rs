//! `data convert --to-perf`: one plain `perf.data` of a recording of any form.

use std::fs::{self, File};
use std::io::ErrorKind;

use oxperf_session::{RewriteError, rewrite};

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
    for damage in &done.damage {
        print_error(&format!("Warning: {damage}"));
    }
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
