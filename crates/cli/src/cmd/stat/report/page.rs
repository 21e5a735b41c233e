//! A round of a recording's counts as a page of rows, in the form that is asked for.

use std::io;
use std::time::Duration;

use oxperf_abi::{CountReading, Tid};
use oxperf_analysis::counts::{CountEvent, CountGrouping, CountSite, CountTable, CpuPlaces};
use oxperf_data::features::{CmdLine, Version};
use oxperf_data::{Container, Reader};
use oxperf_present::counts::{
    CountForm, CountMoment, CountPage, CountStyle, CountSubject, ElapsedTime, LastHeading,
    ThreadLabel, footer, heading, interval_heading, rows,
};
use oxperf_present::text::sanitize;
use oxperf_session::{
    CountCollector, CounterPlace, RecordedCounter, RecordedEvent, RecordedThread,
};
use oxperf_wire::user::StatRound;

use super::super::destination::Destination;
use super::super::recorded_grouping;
use super::super::show::INTERVALS_A_HEADING;
use super::ReportOptions;
use crate::environment;
use crate::failure::Failure;
use crate::input::Input;
use crate::output::print_error;

/// The name of a stream that does not say which command made it.
const STREAM: &str = "pipe";
/// Any thread, in labels of threads.
const ANY_THREAD: Tid = Tid(-1);

/// The output of a report.
pub(super) struct Pages<'o> {
    options: &'o ReportOptions,
    destination: Destination,
    places: CpuPlaces,
    subject: CountSubject,
    /// The version of the program that recorded.
    recorder: Option<String>,
    intervals: u64,
}

impl<'o> Pages<'o> {
    /// Opens the output.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(super) fn new(
        options: &'o ReportOptions,
        input: (&Input, &Reader<'_>),
        places: CpuPlaces,
    ) -> Result<Pages<'o>, Failure> {
        Ok(Pages {
            options,
            destination: Destination::open(&options.output, &options.form)?,
            places,
            subject: subject(input.0, input.1),
            recorder: version(input.1),
            intervals: 0,
        })
    }

    /// Shows what was counted in a round.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn show(&mut self, counts: &CountCollector, round: StatRound) -> io::Result<()> {
        let settings = counts.settings().unwrap_or_default();
        let grouping = self.options.grouping;
        let grouping =
            grouping.unwrap_or_else(|| recorded_grouping::of(settings, self.recorder.as_deref()));
        let style = self.style(grouping);
        let table = table(counts);
        if self.options.verbosity > 0 && grouping == CountGrouping::All {
            tell_sums(&table);
        }
        let threads: Vec<ThreadLabel> = counts.threads().iter().map(label).collect();
        let time = Duration::from_nanos(round.time.0);
        let is_interval = settings.interval > 0;
        let moment = match is_interval {
            true => CountMoment::Interval(time),
            false => CountMoment::Whole,
        };
        let mut out = Vec::new();
        self.push_heading(&mut out, &style, is_interval);
        let shown = table.rows(grouping, &self.places, false);
        let page = CountPage {
            events: table.events(),
            rows: &shown,
            metrics: &[],
            threads: &threads,
            moment,
        };
        rows(&mut out, &page, &style, &mut LastHeading::default());
        if style.form == CountForm::Text && !is_interval {
            footer(&mut out, &elapsed(time));
        }
        self.destination.write(&out)
    }

    fn push_heading(&mut self, out: &mut Vec<u8>, style: &CountStyle, is_interval: bool) {
        if is_interval {
            if self.intervals.is_multiple_of(INTERVALS_A_HEADING) {
                interval_heading(out, style);
            }
            self.intervals += 1;
        } else if style.form == CountForm::Text {
            heading(out, &self.subject, 1);
        }
    }

    fn style(&self, grouping: CountGrouping) -> CountStyle {
        let separator = environment::digit_separator().filter(|_| self.options.groups_digits);
        CountStyle {
            form: self.options.form.clone(),
            grouping,
            // The units come with the records, behind the width of their column.
            unit_width: CountStyle::unit_width(&[]),
            digit_separator: separator.unwrap_or_default(),
            is_repeated: false,
            names_core_pmus: false,
            is_coloured: false,
        }
    }
}

/// The command that was recorded, else the recording.
fn subject(input: &Input, reader: &Reader<'_>) -> CountSubject {
    let recorded = reader.features().get::<CmdLine>().ok().flatten();
    let words = recorded
        .map(|line| line.0)
        .filter(|words| !words.is_empty());
    let unknown = || match reader.container() {
        Container::Stream => STREAM.to_owned(),
        _ => input.path().display().to_string(),
    };
    CountSubject::Command(words.unwrap_or_else(|| vec![unknown()]))
}

fn version(reader: &Reader<'_>) -> Option<String> {
    let version = reader.features().get::<Version>().ok().flatten();
    version.map(|version| version.0)
}

fn label(thread: &RecordedThread) -> ThreadLabel {
    ThreadLabel {
        tid: thread.tid.unwrap_or(ANY_THREAD),
        comm: thread.comm.clone(),
    }
}

fn elapsed(time: Duration) -> ElapsedTime {
    ElapsedTime {
        runs: vec![time],
        follows_rows: true,
        ..ElapsedTime::default()
    }
}

/// The sum of each event, where the user wants to know everything.
fn tell_sums(table: &CountTable) {
    for row in table.last_run() {
        if let Some(event) = table.events().get(row.event) {
            let (value, total) = (row.total.value, row.total);
            let name = sanitize(&event.name);
            print_error(&format!(
                "{name}: {value:.0} {} {}",
                total.enabled, total.running
            ));
        }
    }
}

/// The counts of the round.
fn table(counts: &CountCollector) -> CountTable {
    let mut events = Vec::new();
    let mut readings = Vec::new();
    for (index, event) in counts.events().iter().enumerate() {
        let places = counts.places(index);
        let said = |place: &CounterPlace| event.at(*place).map(RecordedCounter::in_round);
        readings.push(
            places
                .iter()
                .map(said)
                .collect::<Vec<Option<CountReading>>>(),
        );
        events.push(count_event(event, places));
    }
    let mut table = CountTable::new(events);
    let scales = counts.settings().is_none_or(|settings| settings.scales);
    table.set(&readings, scales);
    table
}

fn count_event(event: &RecordedEvent, places: Vec<CounterPlace>) -> CountEvent {
    let site = |place: CounterPlace| CountSite {
        cpu: place.cpu,
        thread: place.thread as usize,
    };
    CountEvent {
        name: event.name.clone(),
        unit: event.unit.clone(),
        scale: event.scale,
        // The recording does not tell what nothing counted from what counted nothing.
        is_supported: true,
        sites: places.into_iter().map(site).collect(),
        ..CountEvent::default()
    }
}
