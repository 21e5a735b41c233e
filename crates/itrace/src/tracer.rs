//! The sink between a session and whoever wants samples: decodes the trace in step with the records.
//!
//! Before a record of time T counts, every queue is decoded up to T, the one that is furthest behind first; so the
//! machine is always as it was when the code ran.

mod decode;
mod missing_code;
mod records;
mod sharing;
mod sink;

use intel_pt::{EmitOptions, Period as Sampling, QuickMode};
use oxperf_abi::{Cpu, PerfTime, Pid, Tid};
use oxperf_machine::Machine;
use oxperf_session::{EventTable, Sink};
use oxperf_wire::Endian;
use rustc_hash::FxHashMap;

use crate::ItraceOptions;
use crate::code::Images;
use crate::decoded::PriorState;
use crate::events::SynthEvents;
use crate::log::{Log, LogWriter};
use crate::options::SoleEvent;
use crate::parallel::{ChunkOutput, Cores, WorkerPool};
use crate::plan::{DecodePlan, Plan};
use crate::queue::QueueDecoder;
use crate::select::{BranchFilter, TextFastPath, TextSelection};
use crate::synth::{QueueState, SynthContext, SynthSetup, Synthesizer};
use crate::trace::Trace;
use crate::window::{Bounds, Window};
use missing_code::MissingCode;

/// The choices of a tracer beside its plan.
pub struct TracerOptions {
    /// The samples that are made of the trace.
    pub itrace: ItraceOptions,
    /// The sources of code.
    pub images: Images,
    /// Samples hold the bytes of their instruction.
    pub with_code: bool,
    /// The cores that decode, where that makes no difference but of time.
    pub cores: Cores,
    /// The moments that are asked for.
    pub window: Window,
    /// The same for the log, stretch by stretch: first and last moment; none for all.
    pub times: Vec<(PerfTime, PerfTime)>,
    /// The writer of the decoding's log, if there is to be one.
    pub log: Option<Box<dyn LogWriter>>,
}

/// Decodes the trace of a recording and hands its samples, among the recorded ones, to another sink.
pub struct Tracer<'t, 's, S> {
    trace: &'t Trace<'t>,
    sink: &'s mut S,
    synthesizer: Synthesizer<'s>,
    queues: Vec<TracedQueue<'t>>,
    pool: WorkerPool<'t>,
    /// The task that runs on each CPU.
    current: FxHashMap<Cpu, (Pid, Tid)>,
    events: EventTable,
    endian: Endian,
    errors: u64,
    missing_code: MissingCode,
    /// Bytes of trace that were shared out.
    shared: u64,
    /// Bytes that were not decoded, before the moments that are asked for.
    left_out: u64,
    /// The queues were decoded up to their first time stamp.
    begun: bool,
    bounds: Bounds,
    emit: EmitOptions,
    log: Option<Log>,
}

/// A queue: its decoder and the synthesis of its samples.
struct TracedQueue<'t> {
    queue: QueueDecoder<'t>,
    state: QueueState,
}

impl<'t> TracedQueue<'t> {
    /// The queue with the machine that its code runs on and the sink of its samples.
    #[inline]
    fn context<'c, S>(
        &'c mut self,
        machine: &'c mut Machine,
        sink: &'c mut S,
    ) -> SynthContext<'c, 't, S> {
        SynthContext {
            machine,
            sink,
            queue: &mut self.queue,
            state: &mut self.state,
        }
    }

    /// True when the text of a chunk can stand behind the text so far, and `prior` is the state before the chunk.
    fn continues(&self, output: &ChunkOutput, prior: &PriorState) -> bool {
        let written = self.state.prefix.written();
        output.fits(self.queue.timestamp, written, prior.instructions)
    }

    /// Goes on behind the text of a chunk.
    fn go_on_writing(&mut self, output: &ChunkOutput, prior: &PriorState) {
        if let Some(written) = output.written() {
            self.state.prefix.set_written(prior.instructions + written);
        }
    }
}

impl<'t, 's, S: Sink> Tracer<'t, 's, S> {
    /// A tracer to be wrapped around `sink`, of a session whose records have this byte order and in which the trace was
    /// planned.
    pub fn new(
        trace: &'t Trace<'t>,
        endian: Endian,
        planned: DecodePlan,
        options: TracerOptions,
        sink: &'s mut S,
    ) -> Tracer<'t, 's, S> {
        let DecodePlan { plan, made, events } = planned;
        let itrace = options.itrace;
        let mut emit = plan.emit_options(&itrace, &trace.info);
        let log = (options.log).map(|writer| Log::new(&itrace, options.times, writer));
        emit.paths |= log.is_some();
        let fast_path = if log.is_some() {
            None
        } else {
            fast_path(&itrace, made, sink)
        };
        if fast_path.is_some() {
            (emit.paths, emit.period) = (true, None);
        }
        let is_foretold = log.is_none() && can_be_foretold(emit, plan.has_tsc);
        let cores = if is_foretold {
            options.cores
        } else {
            Cores::ONE
        };
        let jumps = is_foretold && !needs_all_before(&itrace, emit);
        let clock = trace.info.clock.filter(|_| !plan.timeless);
        let mut images = options.images;
        images.expect(&trace.text_pokes);
        let synthesizer = Synthesizer::new(SynthSetup {
            options: itrace,
            plan,
            clock: trace.info.clock,
            events: made,
            images,
            with_code: options.with_code,
            paths: emit.paths,
            fast_path,
        });
        let mut tracer = Tracer {
            trace,
            sink,
            queues: queues(trace, &plan, emit),
            pool: WorkerPool::new(cores, &plan, emit),
            synthesizer,
            current: FxHashMap::default(),
            events,
            endian,
            errors: 0,
            missing_code: MissingCode::default(),
            shared: 0,
            left_out: 0,
            begun: false,
            bounds: Bounds::new(options.window, clock, jumps),
            emit,
            log,
        };
        tracer.begin_log();
        tracer
    }

    /// Errors of decoding that were reported.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// Bytes of trace that several cores decoded.
    pub fn shared(&self) -> u64 {
        self.shared
    }

    /// Bytes of trace before the moments that are asked for that were not decoded.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Writes the beginning of the log, if there is one.
    fn begin_log(&mut self) {
        let Some(log) = &mut self.log else { return };
        let plan = &self.synthesizer.plan;
        let clock = self.trace.info.clock;
        log.begin(plan, clock);
        for traced in &mut self.queues {
            traced.queue.decoder.keep_notes();
            if plan.timeless {
                log.begin_queue(plan);
            }
        }
    }
}

/// The queues of a trace that have any, at their beginning.
fn queues<'t>(trace: &'t Trace<'t>, plan: &Plan, emit: EmitOptions) -> Vec<TracedQueue<'t>> {
    let overlapping = trace.in_samples || trace.info.snapshots;
    let queues = trace
        .queues
        .values()
        .filter(|queue| !queue.buffers.is_empty());
    queues
        .enumerate()
        .map(|(number, queue)| TracedQueue {
            queue: QueueDecoder::new(number, queue, plan, emit, overlapping),
            state: QueueState::default(),
        })
        .collect()
}

/// True when a scanner can foretell all that a decoder goes by: where there is more than PSBs, and the times are known by
/// which samples are due.
fn can_be_foretold(emit: EmitOptions, has_tsc: bool) -> bool {
    let timed = !matches!(emit.period, Some(Sampling::Ticks(_))) || has_tsc;
    timed && emit.quick != QuickMode::Psb
}

/// True when samples depend on all of the trace before them.
fn needs_all_before(options: &ItraceOptions, emit: EmitOptions) -> bool {
    let counts = emit
        .period
        .is_some_and(|period| period != Sampling::Instructions(1));
    counts || options.stacks.follows_branches() || options.skip != 0
}

/// The samples of code that ran that become text: every instruction or branches, if nothing has to be counted or followed
/// for them and the sink can write them.
fn fast_path<'s, S: Sink + 's>(
    options: &ItraceOptions,
    events: SynthEvents,
    sink: &mut S,
) -> Option<TextFastPath<'s>> {
    let (event, selection) = match options.sole_event()? {
        SoleEvent::Instructions => (events.instructions?, TextSelection::Instructions),
        SoleEvent::Branches => {
            let filter = BranchFilter::new(&options.events);
            (events.branches?, TextSelection::Branches(filter))
        }
    };
    Some(TextFastPath::new(
        event,
        selection,
        sink.text_writer(event)?,
    ))
}
