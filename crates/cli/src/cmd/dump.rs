//! `-D` of `script` and `report`: every record as bytes and in words.

use std::io;
use std::ops::ControlFlow;

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_abi::CpuMode;
use oxperf_data::features::Arch;
use oxperf_data::{Damage, RawRecord, Reader};
use oxperf_machine::Machine;
use oxperf_present::dump::{Architecture, Consumer, Dump, DumpOptions, Object, Packets};
use oxperf_present::recording::stats;
use oxperf_query::{Query, RecordOrder};
use oxperf_session::{EventIndex, EventTable, NoSink, RecordStats, SampleEvent, Session, Sink};
use oxperf_wire::Sample;

use crate::failure::{Failure, code};
use crate::input::{Input, is_quiet, report_trouble};
use crate::output::Output;

/// The options of commands that take the order of the file beside `-D`.
pub(crate) fn arguments() -> [Arg; 2] {
    [
        in_order_of_time(),
        Arg::new(DISABLE_ORDER)
            .long(DISABLE_ORDER)
            .action(ArgAction::SetTrue)
            .help("With -D: records in the order of the file, not of time"),
    ]
}

/// The options of `script`, which has one for each order.
pub(crate) fn script_arguments() -> [Arg; 2] {
    [
        in_order_of_time(),
        Arg::new(UNSORTED)
            .long(UNSORTED)
            .action(ArgAction::SetTrue)
            .help("The same in the order of the file, not of time"),
    ]
}

const DISABLE_ORDER: &str = "disable-order";
const UNSORTED: &str = "dump-unsorted-raw-trace";

fn in_order_of_time() -> Arg {
    Arg::new("dump-raw-trace")
        .short('D')
        .long("dump-raw-trace")
        .action(ArgAction::SetTrue)
        .help("Show every record as bytes and in words")
}

/// Whether an option is given, in a command that may not have it.
fn is_given(matches: &ArgMatches, option: &str) -> bool {
    matches
        .try_get_one(option)
        .is_ok_and(|given| given == Some(&true))
}

/// Whether records are to be shown.
pub(crate) fn is_asked(matches: &ArgMatches) -> bool {
    matches.get_flag("dump-raw-trace") || is_given(matches, UNSORTED)
}

fn is_in_file_order(matches: &ArgMatches) -> bool {
    is_given(matches, DISABLE_ORDER) || is_given(matches, UNSORTED)
}

/// The order that the options ask for.
fn order(matches: &ArgMatches) -> RecordOrder {
    if is_in_file_order(matches) {
        RecordOrder::File
    } else {
        RecordOrder::Time
    }
}

/// The session that the options ask for.
pub(crate) fn session<'r, 'a>(matches: &ArgMatches, reader: &'r Reader<'a>) -> Session<'r, 'a> {
    let session = Session::new(reader);
    if is_in_file_order(matches) {
        session.in_file_order()
    } else {
        session
    }
}

/// What shows the records, if the options ask for it.
pub(crate) fn dumper(
    matches: &ArgMatches,
    input: &Input,
    reader: &Reader<'_>,
    events: &EventTable,
    consumer: Consumer,
) -> Option<Dumper> {
    if !is_asked(matches) {
        return None;
    }
    let options = DumpOptions {
        file: &input.path().to_string_lossy(),
        endian: reader.endian(),
        architecture: architecture(reader),
        consumer,
        in_file_order: is_in_file_order(matches),
        utc_offset: oxperf_sys::clock::utc_offset,
    };
    Some(Dumper {
        dump: Dump::new(&options, events.clone()),
    })
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
    dump: Dump,
}

impl Dumper {
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
    matches: &ArgMatches,
    input: &Input,
    reader: &Reader<'_>,
    output: Output,
) -> Result<i32, Failure> {
    let progress = input.progress(true);
    // A dump shows what the recording holds: no code that was made at run time is looked for, and trace stays as it is.
    let query = Query {
        order: order(matches),
        keeps_exited_threads: true,
        progress: Some(&progress),
        ..Query::default()
    };
    let walk = query.start(reader);
    let Some(dumper) = dumper(matches, input, reader, walk.events(), Consumer::Report) else {
        return Ok(code::SUCCESS);
    };
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
    if !is_quiet(matches) {
        report_trouble(&finished.diagnostics);
    }
    Ok(code::SUCCESS)
}
