//! What is shown of a measurement, while it goes on and at its end.

use std::borrow::Cow;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use oxperf_abi::Tid;
use oxperf_analysis::counts::{
    CoreCounts, CountEvent, CountGrouping, CountMetric, CountRow, CountTable, CpuPlaces,
    EventDisplay, MetricCell, MetricCounts,
};
use oxperf_capture::count::{CountOutcome, Counters};
use oxperf_present::counts::{
    CountForm, CountMoment, CountPage, CountStyle, ElapsedTime, LastHeading, MetricPage,
    ThreadLabel, footer, heading, interval_heading, metric_heading, metric_lines, port_heading,
    port_lines, rows,
};

use super::destination::Destination;
use super::events::{merge_cores, name_on_pmu, shown};
use super::graph::Picture;
use super::measure::Readings;
use super::metric_lines::MetricLines;
use super::metrics::MetricSources;
use super::options::{Repeats, StatCommand};
use super::runs::{self, Baseline, NamedRuns, RunKeeper};
use super::wanted::Wanted;
use super::{places, reasons, verbose};
use crate::environment;
use crate::failure::Failure;
use crate::output::print_error;

/// Intervals below one heading.
pub(super) const INTERVALS_A_HEADING: u64 = 26;
/// What is said where no samples tell latencies.
const PUBLISHED_LATENCIES: &str = "Using precomputed retirement latency data as no samples";
/// Clears a terminal and moves its cursor to the beginning.
const CLEAR: &[u8] = b"\x1b[H\x1b[2J\x1b[3J";

/// The output of a measurement.
pub(super) struct Display<'a> {
    command: &'a StatCommand,
    destination: Destination,
    places: CpuPlaces,
    style: CountStyle,
    table: CountTable,
    threads: Vec<ThreadLabel>,
    /// The time of each run so far.
    times: Vec<Duration>,
    usage: Option<(Duration, Duration)>,
    intervals: u64,
    has_heading: bool,
    /// What was not counted, and why.
    reasons: String,
    /// For each event whether nothing here counts it.
    refused: Vec<bool>,
    /// The counters in the order in which they are read, as indices of events and of their sites.
    order: Vec<(usize, usize)>,
    /// The picture of the intervals, where one is drawn.
    picture: Option<Picture>,
    /// The runs, where something becomes of them.
    keeper: Option<RunKeeper>,
    /// The measurement that they are compared with.
    baseline: Option<Baseline>,
    wanted: Wanted,
    /// What metrics are computed with.
    metrics: Option<&'a MetricSources<'a>>,
    last_heading: LastHeading,
    /// It was said that no samples tell latencies.
    lacks_samples: bool,
}

impl<'a> Display<'a> {
    /// Opens the output.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(super) fn new(
        command: &'a StatCommand,
        wanted: Wanted,
        metrics: Option<&'a MetricSources<'a>>,
    ) -> Result<Display<'a>, Failure> {
        let separator = environment::digit_separator().filter(|_| command.groups_digits);
        let baseline = command.runs.baseline.as_deref().map(Baseline::read);
        let baseline = baseline.transpose()?;
        if let Some(baseline) = &baseline {
            let own = if command.repeats == Repeats::Times(1) {
                1
            } else {
                usize::MAX
            };
            runs::check_runs(command.runs.limit, baseline.runs.runs.len().min(own))?;
        }
        Ok(Display {
            command,
            destination: Destination::open(&command.output, &command.form)?,
            places: if needs_places(command, &wanted) {
                places::of_machine(&command.options.sysfs)
            } else {
                CpuPlaces::default()
            },
            style: CountStyle {
                form: command.form.clone(),
                grouping: command.grouping,
                unit_width: 0,
                digit_separator: separator.unwrap_or_default(),
                is_repeated: command.repeats != Repeats::Times(1),
                names_core_pmus: metrics.is_some_and(MetricSources::has_several_cores),
                is_coloured: command.is_coloured(),
            },
            table: CountTable::default(),
            threads: Vec::new(),
            times: Vec::new(),
            usage: None,
            intervals: 0,
            has_heading: false,
            reasons: String::new(),
            refused: Vec::new(),
            order: Vec::new(),
            picture: command.draws_graph.then(Picture::default),
            keeper: command.runs.keeps_runs().then(|| RunKeeper::new(command)),
            baseline,
            wanted,
            metrics,
            last_heading: LastHeading::default(),
            lacks_samples: false,
        })
    }

    /// Takes note of what a run counts.
    pub(super) fn opened(&mut self, counters: &Counters, threads: &[Tid]) {
        let events = counters.events();
        if let Some(keeper) = &mut self.keeper {
            keeper.opened(events, threads);
        }
        if !self.times.is_empty() {
            return;
        }
        for warning in &self.command.warnings {
            print_error(warning);
        }
        // What is left out without a word needs no reason.
        let told = events.iter().zip(0..).filter(|(event, index)| {
            event.is_supported() || self.wanted.skippable.get(*index) != Some(&true)
        });
        self.reasons = reasons::text(told.map(|(event, _)| event));
        self.refused = events.iter().map(|event| !event.is_supported()).collect();
        self.order = counters.reading_order();
        let events = self.displayed(shown(events, threads));
        self.style.unit_width = CountStyle::unit_width(&events);
        self.threads = threads.iter().map(|&tid| counted_thread(tid)).collect();
        self.table = CountTable::new(events);
    }

    /// The events with what is shown of each.
    fn displayed(&self, mut events: Vec<CountEvent>) -> Vec<CountEvent> {
        for (index, event) in events.iter_mut().enumerate() {
            let display = self.wanted.displays.get(index).copied();
            // The default metrics are those of one kind of cores each.
            if self.command.metrics.merges_cores
                && display.unwrap_or_default() == EventDisplay::Count
            {
                merge_cores(event);
            }
            let is_skipped = !event.is_supported && self.wanted.skippable.get(index) == Some(&true);
            event.display = match is_skipped {
                true => EventDisplay::Nothing,
                false => display.unwrap_or_default(),
            };
            if self.command.shows_core_sums_on_cpus && event.core_counts == CoreCounts::Summed {
                event.core_counts = CoreCounts::SummedOnEachCpu;
            }
        }
        events
    }

    /// Shows what was counted in an interval that ended at `moment`.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn interval(&mut self, moment: Duration, counted: &Readings) -> io::Result<()> {
        self.table.set(counted, self.command.scales);
        self.tell_counts(counted)?;
        if let Some(picture) = self.picture.take() {
            return self.draw(picture, moment);
        }
        let mut out = Vec::new();
        if self.command.clears_screen {
            out.extend_from_slice(CLEAR);
        }
        let has_heading =
            self.command.clears_screen || self.intervals.is_multiple_of(INTERVALS_A_HEADING);
        self.intervals += 1;
        self.push_table(&mut out, CountMoment::Interval(moment), has_heading);
        self.write(&out)
    }

    /// Draws the picture anew, with an interval that ended at `moment`.
    fn draw(&mut self, mut picture: Picture, moment: Duration) -> io::Result<()> {
        let merges = self.command.merges_pmus;
        let mut shown = self.table.rows(self.command.grouping, &self.places, merges);
        shown.retain(|row| self.is_drawn(row.event));
        let page = CountPage {
            events: &self.named_events(),
            rows: &shown,
            metrics: &[],
            threads: &self.threads,
            moment: CountMoment::Interval(moment),
        };
        let out = picture.draw(&page, &self.style, moment);
        self.picture = Some(picture);
        self.write(&out)
    }

    /// Returns whether an event has a line in pictures: one that is there for metrics alone has none.
    fn is_drawn(&self, event: usize) -> bool {
        let display = self.table.events().get(event).map(|event| event.display);
        match display.unwrap_or_default() {
            EventDisplay::Count => true,
            EventDisplay::WithMetrics => self.wanted.metrics.beside(event).next().is_some(),
            EventDisplay::MetricsAlone | EventDisplay::Nothing => false,
        }
    }

    /// Takes the counts and times of a run that has ended.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn run_ended(
        &mut self,
        counted: &Readings,
        outcome: &CountOutcome,
    ) -> io::Result<()> {
        self.table.set(counted, self.command.scales);
        if self.command.options.interval.is_none() {
            self.tell_counts(counted)?;
        }
        self.table.finish_run();
        if let Some(keeper) = &mut self.keeper {
            keeper.run_ended(counted, outcome);
        }
        self.times.push(outcome.elapsed);
        let usage = outcome.usage.map(|usage| (usage.user, usage.system));
        let is_told = self.command.tells_usage && self.command.repeats == Repeats::Times(1);
        self.usage = usage.filter(|_| is_told);
        self.tell_signal(outcome);
        Ok(())
    }

    /// Says once that latencies were wanted of samples, and are those that were published.
    pub(super) fn tell_samples(&mut self, counters: &Counters) {
        if !self.lacks_samples && counters.lacks_latency_samples() {
            self.lacks_samples = true;
            print_error(PUBLISHED_LATENCIES);
        }
    }

    /// Tells what the counters say, where the user wants to know everything.
    fn tell_counts(&mut self, counted: &Readings) -> io::Result<()> {
        if self.command.verbosity == 0 {
            return Ok(());
        }
        let mut text = String::new();
        if self.command.verbosity > 1 {
            text = verbose::counters(self.table.events(), &self.order, counted);
        }
        let has_sums = self.command.grouping == CountGrouping::All;
        let sums = self.table.last_run();
        let events = self.table.events().to_vec();
        for (index, event) in events.iter().enumerate() {
            let sites = counted.get(index);
            let unread = sites.is_none_or(|sites| sites.iter().any(Option::is_none));
            if self.refused.get(index) == Some(&true) || unread {
                self.destination
                    .write(std::mem::take(&mut text).as_bytes())?;
                print_error(&format!("failed to read counter {}", event.name));
            } else if let Some(row) = sums.iter().find(|row| row.event == index)
                && has_sums
            {
                text += &verbose::sum(event, &row.total);
            }
        }
        self.destination.write(text.as_bytes())
    }

    /// Tells what the counters say at the end of a run with intervals.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn tell_end(&mut self, counted: &Readings) -> io::Result<()> {
        let mut table = self.table.clone();
        table.set(counted, self.command.scales);
        std::mem::swap(&mut table, &mut self.table);
        let told = self.tell_counts(counted);
        self.table = table;
        told
    }

    /// Says which signal ended the workload, as a shell does.
    fn tell_signal(&self, outcome: &CountOutcome) {
        let signal = outcome.ending.workload.and_then(|status| status.signal());
        let program = self.command.options.target.workload.as_ref();
        let name = program.and_then(|program| program.arguments.first());
        if let (Some(signal), Some(name)) = (signal, name) {
            let words = oxperf_sys::signal_name(signal);
            print_error(&format!("{}: {words}", name.to_string_lossy()));
        }
    }

    /// Shows the sums of all runs.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let has_intervals = self.command.options.interval.is_some();
        if has_intervals && !self.command.shows_summary {
            return Ok(());
        }
        let is_text = self.style.form == CountForm::Text;
        let mut out = Vec::new();
        if is_text && !has_intervals && !self.has_heading {
            let runs = match self.command.repeats {
                Repeats::Times(times) => times.into(),
                Repeats::ForEver => 1,
            };
            heading(&mut out, &self.command.subject, runs);
            self.has_heading = true;
        }
        let is_summary = has_intervals && self.command.names_summary;
        let moment = if is_summary {
            CountMoment::Summary
        } else {
            CountMoment::Whole
        };
        self.push_table(&mut out, moment, !has_intervals);
        if is_text {
            footer(&mut out, &self.time());
        }
        self.write(&out)?;
        self.tell_reasons();
        Ok(())
    }

    fn time(&self) -> ElapsedTime {
        ElapsedTime {
            runs: self.times.clone(),
            usage: self.usage,
            lists_runs: self.command.lists_runs,
            follows_rows: !self.command.counts_nothing,
        }
    }

    /// Why events were not counted, for people alone.
    fn tell_reasons(&self) {
        let is_compared = self.baseline.is_some();
        let for_people = self.style.form == CountForm::Text && !self.command.is_quiet;
        if for_people && !is_compared && !self.reasons.is_empty() {
            print_error(self.reasons.trim_end());
        }
    }

    /// Forgets the runs so far: the next is shown by itself.
    pub(super) fn forget_runs(&mut self) {
        self.table = CountTable::default();
        self.times.clear();
    }

    /// Appends what was counted, below a heading if `has_heading`.
    fn push_table(&mut self, out: &mut Vec<u8>, moment: CountMoment, has_heading: bool) {
        if let Some(ports) = &self.wanted.ports {
            if has_heading {
                port_heading(out, &self.style, moment);
            }
            let traffic = ports.traffic(&self.table, &self.places);
            return port_lines(out, &traffic, &self.style, moment);
        }
        if self.command.metrics.alone && !self.command.counts_nothing {
            return self.push_metric_lines(out, moment, has_heading);
        }
        if has_heading && matches!(moment, CountMoment::Interval(_)) {
            interval_heading(out, &self.style);
        }
        self.push_rows(out, moment);
    }

    fn push_metric_lines(&self, out: &mut Vec<u8>, moment: CountMoment, has_heading: bool) {
        let merges = self.command.merges_pmus;
        let rows = self.table.rows(self.command.grouping, &self.places, merges);
        let metrics = MetricLines::new(&self.wanted, &rows);
        let page = MetricPage {
            labels: &metrics.labels(),
            lines: &metrics.lines(self.metrics, self.table.events(), &rows),
            threads: &self.threads,
            moment,
        };
        if has_heading {
            metric_heading(out, &page, &self.style);
        }
        metric_lines(out, &page, &self.style);
    }

    fn push_rows(&mut self, out: &mut Vec<u8>, moment: CountMoment) {
        let merges = self.command.merges_pmus;
        let mut shown = self.table.rows(self.command.grouping, &self.places, merges);
        if self.command.lists_all_threads {
            // Most threads of a system did nothing meanwhile.
            shown.retain(|row| row.total.value != 0.0);
        }
        let mut last_heading = std::mem::take(&mut self.last_heading);
        let events = self.named_events();
        let metrics = metric_cells(&self.wanted, self.metrics, &events, &shown);
        let page = CountPage {
            events: &events,
            rows: &shown,
            metrics: &metrics,
            threads: &self.threads,
            moment,
        };
        rows(out, &page, &self.style, &mut last_heading);
        self.last_heading = last_heading;
    }

    /// The names of the events as rows have them.
    pub(super) fn names(&self) -> Vec<String> {
        let events = self.named_events();
        events.iter().map(|event| event.name.clone()).collect()
    }

    /// The events by the names that rows have.
    fn named_events(&self) -> Cow<'_, [CountEvent]> {
        let events = self.table.events();
        let is_on_pmu = |index: usize| {
            let by_pmu = !self.command.merges_pmus;
            by_pmu && (events[index].belongs_to_pmu || self.is_of_several(index))
        };
        if !(0..events.len()).any(is_on_pmu) {
            return Cow::Borrowed(events);
        }
        let mut named = events.to_vec();
        for (index, event) in named.iter_mut().enumerate() {
            if is_on_pmu(index) {
                event.name = name_on_pmu(&event.name, &event.pmu);
            }
        }
        Cow::Owned(named)
    }

    /// Returns whether the event is one of those of several PMUs that are told apart.
    fn is_of_several(&self, event: usize) -> bool {
        !self.command.metrics.merges_cores && self.table.has_alike(event)
    }

    /// What becomes of the runs when the last one is over: they are written to a file, or compared with earlier ones, which
    /// is shown in place of the table. Returns a sentence about what grew by more than it may.
    ///
    /// # Errors
    /// A file cannot be read or written, or there are too few runs to tell.
    pub(super) fn finish_runs(&mut self) -> Result<Option<String>, Failure> {
        let options = &self.command.runs;
        let Some(runs) = self.keeper.take().map(RunKeeper::into_runs) else {
            return Ok(None);
        };
        if let Some(path) = &options.file {
            runs::write(path, &runs)?;
        }
        let Some(baseline) = &self.baseline else {
            return Ok(None);
        };
        let after = NamedRuns {
            name: "now",
            runs: &runs,
        };
        let compared = runs::compare(baseline.named(), after, &self.command.form, options.limit)?;
        self.destination.write(&compared.text)?;
        Ok(compared.grown)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let is_compared = self.baseline.is_some();
        if self.command.is_quiet || is_compared {
            return Ok(());
        }
        self.destination.write(bytes)
    }
}

/// Returns whether counts are added up by parts of the machine: all of them, those of root ports by die, or those of events
/// that are added up by core.
fn needs_places(command: &StatCommand, wanted: &Wanted) -> bool {
    let has_ports = wanted.ports.is_some();
    has_ports
        || command.grouping.is_by_place()
        || wanted.requests.iter().any(|request| request.per_core)
}

/// For each row the values of the metrics beside it.
fn metric_cells<'a>(
    wanted: &'a Wanted,
    metrics: Option<&MetricSources<'_>>,
    events: &[CountEvent],
    rows: &[CountRow],
) -> Vec<Vec<MetricCell<'a>>> {
    let Some(metrics) = metrics else {
        return Vec::new();
    };
    let is_supported = |event: usize| events.get(event).is_some_and(|event| event.is_supported);
    let counts = MetricCounts::new(rows, &is_supported);
    let cells = |row: &CountRow| {
        let beside = wanted.metrics.beside(row.event);
        let cell = |metric: &'a _| {
            CountMetric::cell(
                metric,
                &counts,
                (row.event, row.group),
                metrics.environment(),
            )
        };
        beside.map(cell).collect()
    };
    rows.iter().map(cells).collect()
}

/// A thread with its name; one that is gone has none.
fn counted_thread(tid: Tid) -> ThreadLabel {
    let comm = std::fs::read_to_string(format!("/proc/{tid}/comm"));
    ThreadLabel {
        tid,
        comm: comm.unwrap_or_default().trim_end().to_owned(),
    }
}
