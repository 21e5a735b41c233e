//! `data convert --to-ctf`: samples, and with `--all` other records, as a trace.

use std::io;

use oxperf_data::Reader;
use oxperf_data::features::ClockData;
use oxperf_present::ctf::Clock;
use oxperf_query::{Query, formatters};
use oxperf_resolve::Chains;
use oxperf_script::deferred_symbols::SymbolNames;
use oxperf_script::format::ctf::{CtfFormat, sample_classes};

use super::{Conversion, Converted, Request};
use crate::failure::Failure;
use crate::output::{Output, print_error};

/// Writes the folder.
pub(super) fn run(request: &Request<'_>) -> Result<Converted, Failure> {
    let (input, path) = (request.input, request.output.display());
    let reader = input.reader()?;
    let clock = clock(&reader, request.options.time_of_day)?;
    let filter = request.times(&reader)?;
    let formatters = formatters(&reader);
    let progress = input.progress(false);
    // As perf's: samples as they were recorded, without guests, code made at run time and hardware trace.
    let query = Query {
        progress: Some(&progress),
        ..Query::default()
    };
    let walk = query.start(&reader);
    let classes = sample_classes(walk.events(), &formatters, reader.endian());
    if input.is_read_from(request.output) || input.is_read_from(&request.output.join("metadata")) {
        return Err(Failure::new(format!(
            "{path} is the recording itself: name another folder"
        )));
    }
    let failed = |error: io::Error| Failure::new(format!("cannot write the trace {path}: {error}"));
    let with_others = request.options.with_others;
    let format = CtfFormat::create(request.output, classes, clock, reader.endian(), with_others);
    let format = format.map_err(failed)?;
    let conversion = Conversion {
        input,
        reader: &reader,
        formatters: &formatters,
        names: SymbolNames::none(),
        chains: Chains::default(),
        filter,
    };
    let shown = conversion.run_with(walk, format, Output::nowhere(), &failed)?;
    for warning in &shown.written.warnings {
        print_error(warning);
    }
    Ok(Converted::of(&shown))
}

/// The clock of the trace; that of the wall is known if the recording has one moment by both.
fn clock(reader: &Reader<'_>, by_the_wall: bool) -> Result<Clock, Failure> {
    if !by_the_wall {
        return Ok(Clock::Recorded);
    }
    let data = reader.features().get::<ClockData>().ok().flatten();
    data.map(Clock::Wall).ok_or_else(|| {
        Failure::new(
            "Can't provide --tod time, missing clock data. Please record with -k/--clockid option.",
        )
    })
}
