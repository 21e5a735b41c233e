//! A recording read as a query asks.

use std::path::Path;

use oxperf_abi::RecordType;
use oxperf_data::{DataError, Reader};
use oxperf_itrace::{
    Cores, DecodePlan, Images, ItraceOptions, LogWriter, Trace, Tracer, TracerOptions, Window,
};
use oxperf_objects::SearchPaths;
use oxperf_session::{EventTable, Finished, ProgressObserver, Session, Sink};

use crate::{Filter, GuestOptions, SymbolOptions};

/// The order in which records are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RecordOrder {
    /// By time, as the recorder's rounds allow.
    #[default]
    Time,
    /// As they stand in the file.
    File,
}

/// All that decides how a recording is read. The default is a plain walk: by time, over every record, without guests,
/// logs of JIT compilers and hardware trace.
#[derive(Clone, Copy, Default)]
pub struct Query<'r> {
    /// The order of records.
    pub order: RecordOrder,
    /// The kinds of kernel records that are looked at; `None` is all.
    pub only: Option<&'static [RecordType]>,
    /// Records of threads after their end count as theirs.
    pub keeps_exited_threads: bool,
    /// Samples are delivered at once whose user callers come in a record of their own, and without them.
    pub leaves_chains_open: bool,
    /// The guests that are known before any record describes them; `None` is none.
    pub guests: Option<&'r GuestOptions>,
    /// The places of the logs of code that programs made (`jit-PID.dump`); `None` reads none.
    pub jit_logs: Option<&'r SearchPaths>,
    /// Observes how far the walk has come.
    pub progress: Option<&'r dyn ProgressObserver>,
}

impl<'r> Query<'r> {
    /// Prepares a walk over a recording.
    pub fn start<'a>(&self, reader: &'r Reader<'a>) -> QueryRun<'r, 'a> {
        let mut session = Session::new(reader);
        if self.order == RecordOrder::File {
            session = session.in_file_order();
        }
        if let Some(kinds) = self.only {
            session = session.only(kinds);
        }
        if self.keeps_exited_threads {
            session = session.keeping_exited_threads();
        }
        if self.leaves_chains_open {
            session = session.leaving_chains_open();
        }
        if let Some(guests) = self.guests {
            session = session.knowing_guests(&guests.known());
        }
        if let Some(places) = self.jit_logs {
            session = session.with_jit_logs(places.clone());
        }
        if let Some(observer) = self.progress {
            session = session.observed_by(observer);
        }
        QueryRun {
            session,
            reader,
            decoding: None,
        }
    }
}

impl std::fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Query")
            .field("order", &self.order)
            .field("only", &self.only)
            .finish_non_exhaustive()
    }
}

/// The options of decoding hardware trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceOptions<'o> {
    /// The samples that are made of it.
    pub itrace: ItraceOptions,
    /// The cores that it is decoded on.
    pub cores: Cores,
    /// The files with the code that ran.
    pub symbols: &'o SymbolOptions,
    /// The recording's path, for a copy of the kernel's code in it.
    pub recording: &'o Path,
}

/// A walk over a recording, prepared.
pub struct QueryRun<'r, 'a> {
    session: Session<'r, 'a>,
    reader: &'r Reader<'a>,
    decoding: Option<Decoding<'a>>,
}

/// The trace of a recording and how it is to be decoded.
struct Decoding<'a> {
    trace: Trace<'a>,
    plan: DecodePlan,
    options: TracerOptions,
}

impl QueryRun<'_, '_> {
    /// Adds the samples that are made of the recording's trace of the CPUs that `filter` takes, and their events;
    /// `false` when there is no trace.
    ///
    /// # Errors
    /// The records cannot be had; see [`Reader::source`].
    pub fn decode_trace(
        &mut self,
        options: TraceOptions<'_>,
        filter: &Filter,
    ) -> Result<bool, DataError> {
        let takes_cpu = |cpu| filter.takes_cpu(Some(cpu));
        let Some(trace) = Trace::find(self.reader, self.session.events(), &takes_cpu)? else {
            return Ok(false);
        };
        let Some(plan) = DecodePlan::new(&trace, &options.itrace, &mut self.session) else {
            return Ok(false);
        };
        let code = options
            .symbols
            .code_search_paths(options.recording, self.reader);
        self.decoding = Some(Decoding {
            trace,
            plan,
            options: TracerOptions {
                itrace: options.itrace,
                images: Images::new(code),
                with_code: false,
                cores: options.cores,
                window: Window::ALL,
                times: Vec::new(),
                log: None,
            },
        });
        Ok(true)
    }

    /// `true` if samples are made of hardware trace.
    pub fn decodes_trace(&self) -> bool {
        self.decoding.is_some()
    }

    /// The samples that are made of hardware trace, if any are.
    pub fn itrace(&self) -> Option<&ItraceOptions> {
        self.decoding
            .as_ref()
            .map(|decoding| &decoding.options.itrace)
    }

    /// `true` if samples get call chains of the calls in hardware trace.
    pub fn follows_calls(&self) -> bool {
        let stacks = self.itrace().map(|itrace| itrace.stacks);
        stacks.is_some_and(|stacks| stacks.callchain || stacks.add_callchain)
    }

    /// Leaves trace undecoded that the filter of times leaves nothing of. `counts` says that samples hold what was
    /// counted since the last one.
    pub fn skip_trace_outside(&mut self, filter: &Filter, counts: bool) {
        let stretches = filter.stretches();
        if filter.first_and_last().is_some() && stretches.is_empty() {
            // No moment counts, such as in a part without work.
            self.decoding = None;
        }
        if let (Some(decoding), Some((first, last))) = (&mut self.decoding, filter.first_and_last())
        {
            decoding.options.times = stretches;
            decoding.options.window = Window {
                first,
                last,
                counts,
            };
        }
    }

    /// Has samples of the trace hold the bytes of their instruction.
    pub fn trace_with_code(&mut self) {
        if let Some(decoding) = &mut self.decoding {
            decoding.options.with_code = true;
        }
    }

    /// Writes the log of decoding by `log`.
    pub fn log_trace_to(&mut self, log: Box<dyn LogWriter>) {
        if let Some(decoding) = &mut self.decoding {
            decoding.options.log = Some(log);
        }
    }

    /// Reads of samples the prefix alone: see [`Session::prefix_only`].
    #[must_use]
    pub fn prefix_only(mut self) -> Self {
        self.session = self.session.prefix_only();
        self
    }

    /// The recording's events, with those that are made of its trace.
    pub fn events(&self) -> &EventTable {
        self.session.events()
    }

    /// Walks the recording to its end or until the sink breaks off.
    ///
    /// # Errors
    /// The records cannot be had; see [`Reader::source`].
    pub fn run(self, sink: &mut impl Sink) -> Result<Finished, DataError> {
        let Some(Decoding {
            trace,
            plan,
            options,
        }) = self.decoding
        else {
            return self.session.run(sink);
        };
        let mut tracer = Tracer::new(&trace, self.reader.endian(), plan, options, sink);
        let mut finished = self.session.run(&mut tracer)?;
        finished.diagnostics.trace_errors = tracer.errors();
        Ok(finished)
    }
}
