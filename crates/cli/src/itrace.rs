//! `--itrace` of `script` and `report`: samples made of the recording's hardware trace.

pub(crate) mod places;

use clap::ArgMatches;
use oxperf_abi::Cpu;
use oxperf_data::Reader;
use oxperf_itrace::{
    Cores, DecodePlan, Images, ItraceOptions, Trace, Tracer, TracerOptions, Window,
};
use oxperf_session::{Finished, Session, Sink};

use crate::failure::Failure;
use crate::filter::Filter;
use crate::input::Input;

pub(crate) use crate::arguments::itrace::arguments;

/// The options that were given, or those that the command has of its own.
pub(crate) fn options(
    matches: &ArgMatches,
    own: ItraceOptions,
) -> Result<Option<ItraceOptions>, Failure> {
    let request = crate::arguments::itrace::options(matches).request(own)?;
    Ok(request.map(|request| request.itrace))
}

/// The trace of a recording and how it is to be decoded.
pub(crate) struct Decoding<'a> {
    trace: Trace<'a>,
    planned: DecodePlan,
    options: ItraceOptions,
    images: Images,
    with_code: bool,
    cores: Cores,
    window: Window,
}

impl<'a> Decoding<'a> {
    /// Finds the trace and tells the session of the events that will be made of it; `None` when there is none.
    pub(crate) fn prepare(
        matches: &ArgMatches,
        options: Option<ItraceOptions>,
        (input, reader): (&Input, &Reader<'a>),
        session: &mut Session<'_, '_>,
        cpus: &dyn Fn(Cpu) -> bool,
    ) -> Result<Option<Decoding<'a>>, Failure> {
        let Some(options) = options else {
            return Ok(None);
        };
        let trace =
            Trace::find(reader, session.events(), cpus).map_err(|error| input.refuse(&error))?;
        let Some(trace) = trace else { return Ok(None) };
        let planned = DecodePlan::new(&trace, &options, session);
        let images = Images::new(places::code_places(matches, input, reader));
        let Some(request) = crate::arguments::itrace::options(matches).request(options)? else {
            return Ok(None);
        };
        let cores = request.cores;
        let (with_code, window) = (false, Window::ALL);
        Ok(planned.map(|planned| Decoding {
            trace,
            planned,
            options,
            images,
            with_code,
            cores,
            window,
        }))
    }

    /// Leaves trace undecoded that the filter of times leaves nothing of. `counts` says whether samples tell what was
    /// counted since the last one.
    pub(crate) fn leave_out(&mut self, filter: &Filter, counts: bool) {
        if let Some((first, last)) = filter.first_and_last() {
            self.window = Window {
                first,
                last,
                counts,
            };
        }
    }

    /// Lets samples hold the bytes of their instruction.
    pub(crate) fn set_with_code(&mut self) {
        self.with_code = true;
    }

    /// Runs a session with a sink that also gets the samples of the trace.
    pub(crate) fn run(
        self,
        session: Session<'_, '_>,
        (input, reader): (&Input, &Reader<'_>),
        sink: &mut impl Sink,
    ) -> Result<Finished, Failure> {
        let Decoding {
            trace,
            planned,
            options,
            images,
            with_code,
            cores,
            window,
        } = self;
        let log = crate::itrace_log::writer(&options, reader.endian())?;
        let options = TracerOptions {
            itrace: options,
            images,
            with_code,
            cores,
            window,
            log,
        };
        let mut tracer = Tracer::new(&trace, reader.endian(), planned, options, sink);
        let mut finished = session
            .run(&mut tracer)
            .map_err(|error| input.refuse(&error))?;
        finished.diagnostics.trace_errors = tracer.errors();
        Ok(finished)
    }
}
