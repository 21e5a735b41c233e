//! `stat report`: the counts of a recording that `stat record` made, as `stat` shows them.

mod arguments;
mod page;

use std::ops::ControlFlow;

use oxperf_analysis::counts::{CountGrouping, CpuPlaces};
use oxperf_data::{FeatureId, RawRecord, Reader};
use oxperf_machine::Machine;
use oxperf_present::counts::CountForm;
use oxperf_query::{Query, RecordOrder};
use oxperf_session::{CountCollector, EventIndex, EventTable, LostCountRecords, NoSink, Sink};
use oxperf_sys::Sysfs;

use super::options::CountOutput;
use super::places;
use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::{Input, InputOptions};
use crate::losses::report_trouble;
use crate::output::print_error;
use page::Pages;

/// The command.
pub(super) const ENTRY: Entry = Entry {
    name: "report",
    command: arguments::command,
    run: arguments::run,
    shares_work: false,
};

/// The options of `stat report`.
struct ReportOptions {
    input: InputOptions,
    /// What counts are added up by; as the recorder did where it is not said.
    grouping: Option<CountGrouping>,
    form: CountForm,
    output: CountOutput,
    groups_digits: bool,
    verbosity: u8,
    sysfs: Sysfs,
}

/// Shows the counts of a recording.
fn perform(options: &ReportOptions) -> Result<i32, Failure> {
    let input = Input::new(&options.input)?;
    let reader = input.reader_of_any()?;
    let progress = input.progress(false);
    let query = Query {
        order: RecordOrder::File,
        progress: Some(&progress),
        ..Query::default()
    };
    let walk = query.start(&reader);
    let mut sink = ReportSink {
        collector: CountCollector::new(walk.events(), reader.endian()),
        pages: Pages::new(options, (&input, &reader), places(options, &reader))?,
        failed: None,
    };
    let finished = walk.run(&mut sink).map_err(|error| input.refuse(&error))?;
    drop(progress);
    if let Some(error) = sink.failed {
        return Err(error.into());
    }
    report_trouble(&finished.diagnostics);
    report_lost(sink.collector.lost(), sink.collector.rounds());
    let holds_counts = reader.features().bits().contains(FeatureId::STAT);
    if sink.collector.rounds() == 0 && !holds_counts {
        let path = input.path().display();
        return Err(Failure::new(format!(
            "{path} holds no counts: perf's and our stat record write them"
        )));
    }
    Ok(code::SUCCESS)
}

/// The places of the CPUs of the machine that the recording was made on; a stream does not describe it, and is mostly
/// read where it is made.
fn places(options: &ReportOptions, reader: &Reader<'_>) -> CpuPlaces {
    places::of_recording(reader).unwrap_or_else(|| places::of_machine(&options.sysfs))
}

/// Warns of counts that could not be taken.
fn report_lost(lost: LostCountRecords, rounds: u64) {
    // Behind the last interval the recorder may write counts that are in no interval.
    let cut = if rounds == 0 { lost.without_round } else { 0 };
    let counts = [
        (lost.undecodable, "records of counts could not be decoded"),
        (lost.unknown_ids, "counts with id not present in the header"),
        (
            cut,
            "counts are not shown: the recording ends before their round does",
        ),
    ];
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        print_error(&format!("Warning:\n{count} {what}"));
    }
}

/// Shows each round when it ends.
struct ReportSink<'o> {
    collector: CountCollector,
    pages: Pages<'o>,
    failed: Option<std::io::Error>,
}

impl Sink for ReportSink<'_> {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn event_update(&mut self, events: &EventTable, _: EventIndex) -> bool {
        self.collector.set_events(events);
        true
    }

    fn record(
        &mut self,
        _: &mut Machine,
        record: &RawRecord<'_>,
        _: Option<EventIndex>,
    ) -> ControlFlow<()> {
        let Some(round) = self.collector.take(record) else {
            return ControlFlow::Continue(());
        };
        let shown = self.pages.show(&self.collector, round);
        self.collector.begin_round();
        match shown {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}
