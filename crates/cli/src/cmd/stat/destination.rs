//! The place where counts are written.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use oxperf_present::counts::CountForm;
use oxperf_present::text::calendar::CivilTime;
use oxperf_sys::{Errno, files};

use super::options::CountOutput;
use super::problem::CONTRADICTION;
use crate::failure::Failure;
use crate::output::print_to_error;

/// An open output.
pub(super) enum Destination {
    /// Standard error.
    StandardError,
    /// A file or descriptor.
    File(File),
}

impl Destination {
    /// Opens the output. A file that is no JSON says when it was begun.
    ///
    /// # Errors
    /// It cannot be opened or written to.
    pub(super) fn open(output: &CountOutput, form: &CountForm) -> Result<Destination, Failure> {
        match output {
            CountOutput::StandardError => Ok(Destination::StandardError),
            CountOutput::File { path, appends } => {
                let mut options = OpenOptions::new();
                let options = options.write(true).create(true);
                let file = options.append(*appends).truncate(!appends).open(path);
                let file = file.map_err(|error| {
                    Failure::new(format!(
                        "failed to create output file: {}: {error}",
                        path.display()
                    ))
                })?;
                if *form == CountForm::Json {
                    return Ok(Destination::File(file));
                }
                begun(file)
            }
            CountOutput::Descriptor { number, .. } => {
                let file = files::of_descriptor(*number);
                file.map(Destination::File).map_err(|error| {
                    Failure::with_code(
                        format!("Failed opening logfd: {}", Errno::of(&error)),
                        CONTRADICTION,
                    )
                })
            }
        }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// That of the file.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Destination::StandardError => {
                print_to_error(bytes);
                Ok(())
            }
            Destination::File(file) => file.write_all(bytes),
        }
    }
}

fn begun(mut file: File) -> Result<Destination, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    let offset = oxperf_sys::clock::utc_offset(seconds);
    let moment = CivilTime::new(seconds, offset).ctime();
    file.write_all(format!("# started on {moment}\n\n").as_bytes())?;
    Ok(Destination::File(file))
}
