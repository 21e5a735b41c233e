//! The runs of a measurement, one after another.

use std::cell::RefCell;
use std::process::Command;

use oxperf_abi::CountReading;
use oxperf_capture::count::{
    CountContext, CountNews, CountOutcome, CountRecorder, CountRequest, CountingRun, RoundKind,
};
use oxperf_capture::{CaptureError, ControlChannel, ControlMessage, Ending, EventRequest, Start};
use oxperf_sys::{Kernel, LoggingKernel, RealKernel, files};

use super::Failed;
use super::control;
use super::options::{Repeats, StatCommand};
use super::show::Display;
use super::verbose;
use crate::output::print_error;

/// The end of a measurement.
pub(super) struct Measured {
    /// The end of the last run.
    pub(super) ending: Ending,
}

/// What the counters say, for each event and each of its sites.
pub(super) type Readings = Vec<Vec<Option<CountReading>>>;

/// Counts in as many runs as the user wants, or until a signal ends one.
pub(super) fn measure(
    command: &StatCommand,
    requests: Vec<EventRequest>,
    channel: Option<&RefCell<ControlChannel>>,
    display: &mut Display<'_>,
) -> Result<Measured, Failed> {
    let mut requests: Vec<CountRequest> = requests.into_iter().map(CountRequest::from).collect();
    let mut runs = 0;
    loop {
        if command.verbosity > 0 && command.repeats != Repeats::Times(1) {
            print_error(&format!("[ perf stat: executing run #{} ... ]", runs + 1));
        }
        let outcome = run_with_hooks(command, &mut requests, channel, display)?;
        runs += 1;
        let is_last = match command.repeats {
            Repeats::Times(times) => runs >= times,
            Repeats::ForEver => false,
        };
        if is_last || outcome.ending.signal.is_some() {
            display.finish()?;
            return Ok(Measured {
                ending: outcome.ending,
            });
        }
        if command.repeats == Repeats::ForEver {
            display.finish()?;
            display.forget_runs();
        }
    }
}

/// One run, between the commands of the user. A command before it that fails leaves the run out, as in perf.
fn run_with_hooks(
    command: &StatCommand,
    requests: &mut Vec<CountRequest>,
    channel: Option<&RefCell<ControlChannel>>,
    display: &mut Display<'_>,
) -> Result<CountOutcome, Failed> {
    if !hook(command.before.as_deref()) {
        return Ok(CountOutcome::default());
    }
    if command.syncs {
        files::write_out();
    }
    let outcome = run(command, requests, channel, display)?;
    hook(command.after.as_deref());
    Ok(outcome)
}

/// Runs a command of the user's by the shell; returns whether it succeeded.
fn hook(text: Option<&str>) -> bool {
    let Some(text) = text else {
        return true;
    };
    let status = Command::new("/bin/sh").args(["-c", text]).status();
    status.is_ok_and(|status| status.success())
}

fn run(
    command: &StatCommand,
    requests: &mut Vec<CountRequest>,
    channel: Option<&RefCell<ControlChannel>>,
    display: &mut Display<'_>,
) -> Result<CountOutcome, Failed> {
    let log = command.open_log.clone();
    let log = log.map(|folder| LoggingKernel::new(&RealKernel, folder));
    let context = CountContext {
        kernel: log.as_ref().map_or(&RealKernel as &dyn Kernel, |log| log),
        options: &command.options,
        control: channel,
    };
    let mut told = verbose::Told::new(command.verbosity);
    let mut run = CountingRun::open(context, std::mem::take(requests), &mut told)?;
    if let Some(failure) = log.as_ref().and_then(LoggingKernel::take_failure) {
        return Err(CaptureError::from(failure).into());
    }
    if command.repeats != Repeats::Times(1) {
        *requests = run.counters().requests();
    }
    display.opened(run.counters(), &run.machine().threads);
    let recorder = command
        .recording
        .as_ref()
        .map(|options| run.record(options, &display.names()));
    let mut recorder = recorder.transpose()?;
    start(command, &mut run)?;
    if let Some(recorder) = &mut recorder {
        recorder.settle()?;
    }
    let (mut readings, mut counted) = (Readings::new(), Readings::new());
    let mut before: Option<Readings> = None;
    loop {
        let moment = match run.wait()? {
            CountNews::Ended => break,
            CountNews::Interval(moment) => moment,
            CountNews::Asked(message) => {
                obey(command, &run, channel, &message)?;
                continue;
            }
        };
        run.read_into(&mut readings);
        display.tell_samples(run.counters());
        if let Some(recorder) = &mut recorder {
            recorder.counts(&readings)?;
            recorder.end_round(RoundKind::Interval, moment)?;
        }
        since(&readings, before.as_ref(), &mut counted);
        display.interval(moment, &counted)?;
        readings = before.replace(readings).unwrap_or_default();
    }
    let outcome = run.stop()?;
    // What is counted behind the last interval is in none, but it is told and recorded.
    let reads_again = before.is_some() && (command.verbosity > 0 || recorder.is_some());
    let again = reads_again.then(|| run.read());
    if let Some(again) = again.as_ref().filter(|_| command.verbosity > 0) {
        display.tell_end(again)?;
    }
    // The last interval ends with the run.
    let readings = before.unwrap_or_else(|| run.read());
    display.tell_samples(run.counters());
    run.close();
    if let Some(recorder) = recorder {
        let readings = again.as_ref().unwrap_or(&readings);
        end_recording(command, recorder, readings, &outcome)?;
    }
    display.run_ended(&readings, &outcome)?;
    Ok(outcome)
}

/// Writes the counts at the end, in a round of their own where there are no intervals.
fn end_recording(
    command: &StatCommand,
    mut recorder: CountRecorder,
    readings: &Readings,
    outcome: &CountOutcome,
) -> Result<(), CaptureError> {
    recorder.counts(readings)?;
    recorder.kernel_map()?;
    if command.options.interval.is_none() {
        recorder.end_round(RoundKind::Final, outcome.elapsed)?;
    }
    recorder.finish()
}

fn obey(
    command: &StatCommand,
    run: &CountingRun<'_>,
    channel: Option<&RefCell<ControlChannel>>,
    message: &ControlMessage,
) -> Result<(), CaptureError> {
    let is_obeyed = control::obey(command.verbosity, run, message)?;
    if let Some(channel) = channel.filter(|_| is_obeyed) {
        channel.borrow_mut().acknowledge();
    }
    Ok(())
}

fn start(command: &StatCommand, run: &mut CountingRun<'_>) -> Result<(), Failed> {
    let start = command.options.target.start;
    if start != Start::Now {
        print_error("Events disabled");
    }
    run.start()?;
    if let Start::After(_) = start {
        print_error("Events enabled");
    }
    Ok(())
}

/// Puts what was counted since the reading before into `counted`.
fn since(readings: &Readings, before: Option<&Readings>, counted: &mut Readings) {
    counted.resize_with(readings.len(), Vec::new);
    for (event, (sites, counted)) in readings.iter().zip(counted).enumerate() {
        let earlier = before.and_then(|before| before.get(event));
        let earlier = |site: usize| *earlier?.get(site)?;
        let site = |(site, reading): (usize, &Option<CountReading>)| {
            let earlier = earlier(site).unwrap_or_default();
            reading.map(|reading| reading.since(earlier))
        };
        counted.clear();
        counted.extend(sites.iter().enumerate().map(site));
    }
}
