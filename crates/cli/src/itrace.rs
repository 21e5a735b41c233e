//! `--itrace` of `script` and `report`: samples made of the recording's hardware trace.

mod log;
pub(crate) mod places;

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_abi::Cpu;
use oxperf_data::Reader;
use oxperf_itrace::{
    Cores, DecodePlan, Images, ItraceOptions, Trace, Tracer, TracerOptions, Window,
};
use oxperf_session::{Finished, Session, Sink};

use crate::failure::Failure;
use crate::filter::Filter;
use crate::input::Input;

/// The options; `--itrace` without a value stands for the letters of `bare`.
pub(crate) fn arguments(bare: &'static str) -> [Arg; 3] {
    [
        Arg::new("itrace")
            .long("itrace")
            .value_name("OPTIONS")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(bare)
            .help("What to make of Intel PT trace: letters such as i10us b cr e w p x g16 l32; see docs/commands.md"),
        Arg::new("no-itrace")
            .long("no-itrace")
            .action(ArgAction::SetTrue)
            .help("Do not decode hardware trace"),
        Arg::new("decode-threads")
            .long("decode-threads")
            .value_name("N")
            .value_parser(clap::value_parser!(u16).range(1..))
            .help("Decode hardware trace on so many cores; on all by default"),
    ]
}

/// The options that were given, or those that the command has of its own.
pub(crate) fn options(
    matches: &ArgMatches,
    own: ItraceOptions,
) -> Result<Option<ItraceOptions>, Failure> {
    let text = matches.get_one::<String>("itrace");
    let parsed = text.map(|text| ItraceOptions::parse(text)).transpose();
    let parsed = parsed.map_err(|error| Failure::bad_option(error.to_string()))?;
    Ok((!matches.get_flag("no-itrace")).then(|| parsed.unwrap_or(own)))
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
        let given = matches.get_one::<u16>("decode-threads");
        let cores = given.map_or_else(Cores::all, |count| Cores::new(usize::from(*count)));
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
        let log = log::writer(&options, reader.endian())?;
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
