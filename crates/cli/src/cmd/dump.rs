//! `-D` of `script` and `report`: every record as bytes and in words.

pub(crate) mod arguments;

use std::io;
use std::ops::ControlFlow;

use oxperf_data::features::Arch;
use oxperf_data::{Damage, RawRecord, Reader};
use oxperf_machine::Machine;
use oxperf_present::dump::{Architecture, Consumer, DumpOptions};
use oxperf_present::recording::stats;
use oxperf_query::{Query, RecordOrder};
use oxperf_script::wrap::record_dump::RecordDumper;
use oxperf_session::{EventIndex, EventTable, NoSink, RecordStats, SampleEvent, Sink};

use crate::failure::{Failure, code};
use crate::input::Input;
use crate::losses::report_trouble;
use crate::output::Output;

/// The records that are shown, and the parts of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DumpRequest {
    /// The order of the records.
    pub(crate) order: RecordOrder,
    /// Trace is shown as packets.
    pub(crate) packets: bool,
}

/// The dumper of a recording's records.
pub(crate) fn dumper(
    request: DumpRequest,
    input: &Input,
    reader: &Reader<'_>,
    events: &EventTable,
    consumer: Consumer,
) -> RecordDumper {
    let options = DumpOptions {
        file: &input.path().to_string_lossy(),
        endian: reader.endian(),
        architecture: architecture(reader),
        consumer,
        packets: request.packets,
        in_file_order: request.order == RecordOrder::File,
        utc_offset: oxperf_sys::clock::utc_offset,
    };
    RecordDumper::new(&options, events.clone())
}

/// The architecture that a recording was made on; this machine's where it does not say.
pub(crate) fn architecture(reader: &Reader<'_>) -> Architecture {
    let recorded = reader.features().get::<Arch>().ok().flatten();
    Architecture::from_machine(
        recorded
            .as_ref()
            .map_or(std::env::consts::ARCH, |arch| &arch.0),
    )
}

/// Writes the records and nothing else of them.
struct DumpSink {
    dumper: RecordDumper,
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
    request: DumpRequest,
    quiet: bool,
    input: &Input,
    reader: &Reader<'_>,
    output: Output,
) -> Result<i32, Failure> {
    let progress = input.progress(true);
    // A dump shows what the recording holds: no code that was made at run time is looked for, and trace stays as it is.
    let query = Query {
        order: request.order,
        keeps_exited_threads: true,
        progress: Some(&progress),
        ..Query::default()
    };
    let walk = query.start(reader);
    let dumper = dumper(request, input, reader, walk.events(), Consumer::Report);
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
