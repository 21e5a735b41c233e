//! Where the log of decoding hardware trace goes (`--itrace=d`), and the records in it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use oxperf_data::RawRecord;
use oxperf_itrace::{ItraceOptions, LogWriter};
use oxperf_present::{dump, records};
use oxperf_query::QueryRun;
use oxperf_session::{Finished, Sink};
use oxperf_sys::files::create_output;
use oxperf_wire::Endian;
use oxperf_wire::user::AuxtraceError;

use crate::failure::Failure;
use crate::input::Input;

/// The file in the working folder.
const NAME: &str = "intel_pt.log";

/// Runs a walk whose decoder of hardware trace may write a log.
pub(crate) fn run(
    mut walk: QueryRun<'_, '_>,
    (input, endian): (&Input, Endian),
    sink: &mut impl Sink,
) -> Result<Finished, Failure> {
    let log = match walk.itrace() {
        Some(options) => writer(options, endian)?,
        None => None,
    };
    if let Some(log) = log {
        walk.log_trace_to(log);
    }
    walk.run(sink).map_err(|error| input.refuse(&error))
}

/// Writes the log that the options ask for, if they do.
pub(crate) fn writer(
    options: &ItraceOptions,
    endian: Endian,
) -> Result<Option<Box<dyn LogWriter>>, Failure> {
    if !options.log.written {
        return Ok(None);
    }
    let file = match options.log.with.contains('o') {
        true => None,
        false => Some(
            create_output(Path::new(NAME))
                .map_err(|error| Failure::new(format!("{NAME}: {error}")))?,
        ),
    };
    Ok(Some(Box::new(Writer {
        file: file.map(BufWriter::new),
        endian,
    })))
}

struct Writer {
    /// `None` where the log stands among the samples.
    file: Option<BufWriter<File>>,
    endian: Endian,
}

impl LogWriter for Writer {
    fn write(&mut self, text: &[u8]) -> bool {
        if let Some(file) = &mut self.file {
            // Samples are what was asked for: a full disk ends the log, not them.
            let _ = file.write_all(text);
        }
        self.file.is_some()
    }

    fn record(&self, record: &RawRecord<'_>, out: &mut Vec<u8>) {
        dump::kernel_line(record, self.endian, out);
    }

    fn error(&self, error: &AuxtraceError<'_>, out: &mut Vec<u8>) {
        records::trace_error(out, error);
    }
}
