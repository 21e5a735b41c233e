//! `-D` of `script` and `report`: every record as bytes and in words.

pub(crate) mod arguments;

use std::io;
use std::ops::ControlFlow;

use clap::ArgMatches;
use oxperf_abi::CpuMode;
use oxperf_data::features::Arch;
use oxperf_data::{Damage, RawRecord, Reader};
use oxperf_machine::Machine;
use oxperf_present::dump::{Architecture, Consumer, DumpOptions, Object, Packets, RecordDump};
use oxperf_present::recording::stats;
use oxperf_query::{Query, RecordOrder};
use oxperf_session::{EventIndex, EventTable, NoSink, RecordStats, SampleEvent, Session, Sink};
use oxperf_wire::Sample;

pub(crate) use arguments::{arguments, is_asked, script_arguments};

use crate::failure::{Failure, code};
use crate::input::Input;
use crate::losses::report_trouble;
use crate::output::Output;

/// The session that the arguments of `script` ask for.
pub(crate) fn session<'r, 'a>(matches: &ArgMatches, reader: &'r Reader<'a>) -> Session<'r, 'a> {
    let session = Session::new(reader);
    match arguments::order(matches) {
        RecordOrder::File => session.in_file_order(),
        RecordOrder::Time => session,
    }
}

/// Shows the records, if the arguments of `script` ask for it.
pub(crate) fn dumper(
    matches: &ArgMatches,
    input: &Input,
    reader: &Reader<'_>,
    events: &EventTable,
    consumer: Consumer,
) -> Option<Dumper> {
    let order = arguments::order(matches);
    is_asked(matches).then(|| Dumper::new(order, (input, reader), events, consumer))
}

/// What a recording was made on; this machine where it does not say.
pub(crate) fn architecture(reader: &Reader<'_>) -> Architecture {
    let recorded = reader.features().get::<Arch>().ok().flatten();
    Architecture::from_machine(
        recorded
            .as_ref()
            .map_or(std::env::consts::ARCH, |arch| &arch.0),
    )
}

/// Shows records and where samples are at home.
pub(crate) struct Dumper {
    dump: RecordDump,
}

impl Dumper {
    /// Shows the records of a recording with these events.
    fn new(
        order: RecordOrder,
        (input, reader): (&Input, &Reader<'_>),
        events: &EventTable,
        consumer: Consumer,
    ) -> Dumper {
        let options = DumpOptions {
            file: &input.path().to_string_lossy(),
            endian: reader.endian(),
            architecture: architecture(reader),
            consumer,
            in_file_order: order == RecordOrder::File,
            utc_offset: oxperf_sys::clock::utc_offset,
        };
        Dumper {
            dump: RecordDump::new(&options, events.clone()),
        }
    }

    /// Writes a record, and the trace that follows it.
    pub(crate) fn record(
        &mut self,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
        output: &mut Output,
    ) -> io::Result<()> {
        self.dump.record(record, event, output.buffer());
        match self.dump.packets(record, output.buffer()) {
            Some(packets) => write_packets(packets, output),
            None => output.settle(),
        }
    }

    /// Writes the trace that a sample holds.
    pub(crate) fn sampled_packets(
        &self,
        sample: &Sample<'_>,
        output: &mut Output,
    ) -> io::Result<()> {
        let packets = self.dump.sampled_packets(sample, output.buffer());
        packets.map_or(Ok(()), |packets| write_packets(packets, output))
    }

    /// Takes other events than it was made with.
    pub(crate) fn set_events(&mut self, events: &EventTable) {
        self.dump.set_events(events.clone());
    }

    /// Writes what is broken.
    pub(crate) fn damage(&self, damage: &Damage, output: &mut Output) -> io::Result<()> {
        self.dump.damage(damage, output.buffer());
        output.settle()
    }

    /// Appends the thread of a sample and what its address lies in.
    pub(crate) fn place(&self, machine: &Machine, event: &SampleEvent<'_>, out: &mut Vec<u8>) {
        let mode = event.misc.cpu_mode();
        let place = machine.locate(event.thread, mode, event.sample.ip.unwrap_or(0));
        let object = match place {
            Some(place) => Object::Named(&machine.dso(place.dso).name),
            None if matches!(mode, CpuMode::Kernel | CpuMode::User) => Object::NotFound,
            None => Object::Outside,
        };
        let tid = machine.thread_info(event.thread).tid.0;
        self.dump
            .place(machine.comm_of(event.thread), tid, &object, out);
    }
}

fn write_packets(mut packets: Packets<'_>, output: &mut Output) -> io::Result<()> {
    while packets.write(output.buffer()) {
        output.settle()?;
    }
    output.settle()
}

/// Writes the records and nothing else of them.
struct DumpSink {
    dumper: Dumper,
    output: Output,
    failed: Option<io::Error>,
}

impl DumpSink {
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

impl Sink for DumpSink {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn event_update(&mut self, events: &EventTable, _: EventIndex) -> bool {
        self.dumper.set_events(events);
        true
    }

    fn record(
        &mut self,
        _: &mut Machine,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
    ) -> ControlFlow<()> {
        let written = self.dumper.record(record, event, &mut self.output);
        self.go_on(written)
    }

    fn damage(&mut self, damage: &Damage) -> ControlFlow<()> {
        let written = self.dumper.damage(damage, &mut self.output);
        self.go_on(written)
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        self.dumper.place(machine, event, self.output.buffer());
        let written = self.dumper.sampled_packets(&event.sample, &mut self.output);
        let settled = written.and_then(|()| self.output.settle());
        self.go_on(settled)
    }
}

/// Runs `report -D`: the records, then how many there are of each kind.
pub(crate) fn report(
    order: RecordOrder,
    quiet: bool,
    input: &Input,
    reader: &Reader<'_>,
    output: Output,
) -> Result<i32, Failure> {
    let progress = input.progress(true);
    // A dump shows what the recording holds: no code that was made at run time is looked for, and trace stays as it is.
    let query = Query {
        order,
        keeps_exited_threads: true,
        progress: Some(&progress),
        ..Query::default()
    };
    let walk = query.start(reader);
    let dumper = Dumper::new(order, (input, reader), walk.events(), Consumer::Report);
    let mut sink = DumpSink {
        dumper,
        output,
        failed: None,
    };
    let finished = walk.run(&mut sink).map_err(|error| input.refuse(&error))?;
    drop(progress);
    if let Some(error) = sink.failed {
        return Err(error.into());
    }
    let mut counted = RecordStats::count(reader).map_err(|error| input.refuse(&error))?;
    for event in &mut counted.events {
        // As in perf, a dump ends with the samples of each event alone.
        (event.lost, event.filtered) = (0, 0);
    }
    stats::write(&mut sink.output, &counted)?;
    sink.output.finish()?;
    if !quiet {
        report_trouble(&finished.diagnostics);
    }
    Ok(code::SUCCESS)
}
