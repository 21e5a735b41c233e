//! `data convert --to-ctf`: the sink that writes samples, and with `--all` other records, as a trace.

mod streams;

use std::io;
use std::ops::ControlFlow;

use oxperf_abi::{Cpu, EventType, PerfTime, RecordType};
use oxperf_data::Reader;
use oxperf_data::features::ClockData;
use oxperf_machine::Machine;
use oxperf_present::ctf::{Clock, Metadata, SampleClass, Sideband};
use oxperf_query::{Query, TimeWindows, formatters};
use oxperf_session::{EventTable, NoSink, SampleEvent, SidebandEvent, Sink};
use oxperf_tracepoint::Formatters;
use oxperf_wire::kernel::Lost;
use oxperf_wire::{Cursor, Endian};

use super::{Converted, Request};
use crate::failure::Failure;
use crate::input::report_trouble;
use crate::output::print_error;
use streams::Streams;

/// Writes the folder.
pub(super) fn run(request: &Request<'_>) -> Result<Converted, Failure> {
    let (input, path) = (request.input, request.output.display());
    let reader = input.reader()?;
    let with_others = request.matches.get_flag("all");
    let clock = clock(&reader, request.matches.get_flag("tod"))?;
    let times = request.times(&reader)?;
    let formatters = formatters(&reader);
    let progress = input.progress(false);
    // As perf's: samples as they were recorded, without guests, code made at run time and hardware trace.
    let query = Query {
        progress: Some(&progress),
        ..Query::default()
    };
    let walk = query.start(&reader);
    let classes = sample_classes(walk.events(), &formatters, reader.endian());
    let failed = |error: io::Error| Failure::new(format!("cannot write the trace {path}: {error}"));
    if input.is_read_from(request.output) || input.is_read_from(&request.output.join("metadata")) {
        return Err(Failure::new(format!(
            "{path} is the recording itself: name another folder"
        )));
    }
    let mut streams = Streams::create(request.output).map_err(failed)?;
    streams
        .describe(&describe(&reader, clock, &classes, with_others))
        .map_err(failed)?;
    let mut writer = Writer {
        streams,
        failed: None,
        classes,
        endian: reader.endian(),
        with_others,
        times,
        now: 0,
        converted: Converted {
            bytes: 0,
            samples: 0,
            others: with_others.then_some(0),
            skipped: 0,
        },
    };
    let finished = walk
        .run(&mut writer)
        .map_err(|error| input.refuse(&error))?;
    let converted = writer.finish().map_err(failed)?;
    report_trouble(&finished.diagnostics);
    Ok(converted)
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

fn sample_classes<'f>(
    events: &EventTable,
    formatters: &'f Formatters,
    endian: Endian,
) -> Vec<SampleClass<'f>> {
    let class = |event: &oxperf_session::SessionEvent| {
        let formatter = formatters
            .get(event.attr.config)
            .filter(|_| event.attr.kind == EventType::TRACEPOINT);
        SampleClass::new(&event.name, &event.attr, formatter, endian)
    };
    events.events().iter().map(class).collect()
}

fn describe(
    reader: &Reader<'_>,
    clock: Clock,
    samples: &[SampleClass<'_>],
    with_others: bool,
) -> String {
    let others = if with_others {
        Sideband::classes()
    } else {
        Vec::new()
    };
    let classes: Vec<_> = samples
        .iter()
        .map(SampleClass::class)
        .chain(&others)
        .collect();
    let mut text = String::new();
    Metadata {
        reader,
        clock,
        classes: &classes,
    }
    .write(&mut text);
    text
}

/// The sink.
struct Writer<'f> {
    streams: Streams,
    failed: Option<io::Error>,
    classes: Vec<SampleClass<'f>>,
    endian: Endian,
    with_others: bool,
    times: Option<TimeWindows>,
    /// The time of the last record that told one.
    now: u64,
    converted: Converted,
}

impl Writer<'_> {
    fn finish(mut self) -> io::Result<Converted> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.streams.displaced > 0 {
            let count = self.streams.displaced;
            print_error(&format!(
                "Warning:\n{count} events have another time or CPU in the trace: it has no place for theirs"
            ));
        }
        self.converted.bytes = self.streams.finish()?;
        Ok(self.converted)
    }

    /// When an event is; one that tells no time, or one that no clock shows, is where it stands between the others.
    fn time(&mut self, recorded: Option<PerfTime>) -> u64 {
        let recorded = recorded
            .map(|time| time.0)
            .filter(|time| i64::try_from(*time).is_ok());
        self.now = recorded.unwrap_or(self.now);
        self.now
    }

    fn write_sample(&mut self, event: &SampleEvent<'_>) -> io::Result<()> {
        let time = self.time(event.sample.time);
        let out = self
            .streams
            .event(cpu(event.sample.cpu), event.event.0, time)?;
        self.classes[event.event.0].write(&event.sample, out);
        self.converted.samples += 1;
        Ok(())
    }

    fn write_sideband(&mut self, event: &SidebandEvent<'_>) -> io::Result<()> {
        let (record, cpu) = (&event.record, cpu(event.id.cpu));
        if record.header.kind == RecordType::LOST
            && let Ok(lost) = Lost::decode(&mut Cursor::new(record.body, self.endian))
        {
            self.streams.discard(cpu, lost.lost);
        }
        let decoded = Sideband::decode(record, &event.id, self.endian)
            .ok()
            .flatten();
        if let (true, Some(sideband)) = (self.with_others, decoded) {
            let time = self.time(event.id.time);
            let out = self
                .streams
                .event(cpu, self.classes.len() + sideband.class(), time)?;
            sideband.write(out);
            self.converted.others = self.converted.others.map(|count| count + 1);
        }
        Ok(())
    }

    fn go_on(&mut self, written: io::Result<()>) -> ControlFlow<()> {
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// The CPU of an event; the first for those that tell none.
fn cpu(recorded: Option<Cpu>) -> u32 {
    recorded.map_or(0, |cpu| cpu.0)
}

impl Sink for Writer<'_> {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, _: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        if !self
            .times
            .as_ref()
            .is_none_or(|times| times.take(event.sample.time))
        {
            self.converted.skipped += 1;
            return ControlFlow::Continue(());
        }
        let written = self.write_sample(event);
        self.go_on(written)
    }

    fn sideband(&mut self, _: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        let written = self.write_sideband(event);
        self.go_on(written)
    }
}
