//! What is said of a recording as a whole: its number, its losses, its events, threads and objects.

use oxperf_abi::{AttrFlags, EventAttr};
use oxperf_data::Reader;
use oxperf_data::features::{Arch, ClockData, CmdLine, CpuDesc, Hostname, OsRelease, SampleTime};
use oxperf_machine::{Dso, Machine, ThreadId};
use oxperf_profile::EventProfile;
use oxperf_resolve::ChainLosses;
use oxperf_session::{Diagnostics, EventTable};

use crate::clock::WallClock;
use crate::lives::Lives;
use crate::rows::{TableCell, TableRows};
use crate::samples::SampleSpan;
use crate::schema::{EVENTS, OBJECTS, RECORDINGS, THREADS};
use crate::stack_id::StackHash;

/// What is known of a recording before its first sample.
#[derive(Clone, Debug)]
pub struct RecordingFacts {
    /// Its number: a hash of all that tells recordings apart, and not of where it lies.
    pub id: i64,
    /// The name of its file.
    pub file: String,
    /// The recorded machine's name.
    pub host: Option<String>,
    /// Its clock and the wall clock.
    pub clock: WallClock,
    /// `key=value` texts of the user, comma separated.
    pub labels: Option<String>,
    texts: [Option<String>; 4],
}

/// What a walk over the recording found.
#[derive(Clone, Copy, Debug)]
pub struct RecordingEnd<'a> {
    /// Its samples.
    pub span: SampleSpan,
    /// Its losses.
    pub diagnostics: &'a Diagnostics,
    /// Those of call chains.
    pub chains: ChainLosses,
}

impl RecordingFacts {
    /// The facts of a recording in the file of this name, which was written last `modified` seconds after 1970.
    pub fn of(reader: &Reader<'_>, file: &str, modified: Option<i64>) -> RecordingFacts {
        let features = reader.features();
        let host = features.get::<Hostname>().ok().flatten();
        let arch = features.get::<Arch>().ok().flatten();
        let kernel = features.get::<OsRelease>().ok().flatten();
        let cpu = features.get::<CpuDesc>().ok().flatten();
        let words = features.get::<CmdLine>().ok().flatten();
        RecordingFacts {
            id: number(reader),
            file: file.to_owned(),
            host: host.map(|host| host.0),
            clock: WallClock::of(reader, modified),
            labels: None,
            texts: [
                arch.map(|arch| arch.0),
                kernel.map(|kernel| kernel.0),
                cpu.map(|cpu| cpu.0),
                words.map(|words| words.0.join(" ")),
            ],
        }
    }

    /// These facts with labels.
    #[must_use]
    pub fn labelled(self, labels: Option<String>) -> RecordingFacts {
        RecordingFacts { labels, ..self }
    }

    /// The row of the recording.
    pub fn row(&self, events: &EventTable, end: &RecordingEnd<'_>) -> TableRows {
        let mut rows = TableRows::new(&RECORDINGS, |_| true);
        let RecordingEnd {
            span,
            diagnostics,
            chains,
        } = end;
        let [arch, kernel, cpu, words] = self
            .texts
            .each_ref()
            .map(|text| TableCell::from(text.as_deref()));
        let moment =
            |time: Option<_>| TableCell::from(time.and_then(|time| self.clock.microseconds(time)));
        let count = |count: u64| TableCell::Int(count.cast_signed());
        let first = events.events().first();
        let frequency = first.and_then(|event| frequency_of(&event.attr));
        let aux = diagnostics.aux.total() + diagnostics.trace_errors;
        let cut: u64 = chains.ends.cut().map(|(_, count)| count).sum();
        rows.push(&[
            TableCell::Int(self.id),
            TableCell::Text(&self.file),
            self.host.as_deref().into(),
            arch,
            kernel,
            cpu,
            words,
            moment(span.first),
            moment(span.last),
            TableCell::Int(self.clock.exact.into()),
            frequency.map(u64::cast_signed).into(),
            count(span.samples),
            count(diagnostics.lost_samples),
            count(diagnostics.lost_records),
            count(aux),
            count(cut + chains.faulty),
            count(diagnostics.undecodable + diagnostics.damage.count()),
            TableCell::Text(env!("CARGO_PKG_VERSION")),
            self.labels.as_deref().into(),
        ]);
        rows
    }

    /// The rows of its events.
    pub fn event_rows(&self, events: &EventTable) -> TableRows {
        let mut rows = TableRows::new(&EVENTS, |_| true);
        for event in events.events() {
            let attr = &event.attr;
            let frequency = frequency_of(attr);
            let period = Some(attr.sample_period).filter(|_| frequency.is_none());
            rows.push(&[
                TableCell::Int(self.id),
                TableCell::Text(&event.name),
                TableCell::Int(attr.kind.0.into()),
                TableCell::Int(attr.config.cast_signed()),
                period.map(u64::cast_signed).into(),
                frequency.map(u64::cast_signed).into(),
                EventProfile::counts_time(&event.name)
                    .then_some("ns")
                    .into(),
            ]);
        }
        rows
    }

    /// The rows of its threads.
    pub(crate) fn thread_rows(&self, machine: &Machine, lives: &Lives) -> TableRows {
        let mut rows = TableRows::new(&THREADS, |_| true);
        for (number, thread) in (0..).zip(machine.threads()) {
            let life = lives.of(ThreadId(number));
            let program = thread
                .pid
                .and_then(|_| machine.program_of(ThreadId(number)));
            let moment = |time: Option<_>| {
                TableCell::from(time.and_then(|time| self.clock.microseconds(time)))
            };
            rows.push(&[
                TableCell::Int(self.id),
                thread.pid.map(|pid| i64::from(pid.0)).into(),
                TableCell::Int(thread.tid.0.into()),
                thread.parent.map(|parent| i64::from(parent.0)).into(),
                TableCell::Text(machine.comm(thread.comm)),
                program.map(|dso| dso.name.as_str()).into(),
                life.cgroup.map(u64::cast_signed).into(),
                moment(life.start),
                moment(life.exit),
            ]);
        }
        rows
    }

    /// The rows of objects, each with whether it has symbols.
    pub fn object_rows<'d>(&self, objects: impl Iterator<Item = (&'d Dso, bool)>) -> TableRows {
        let mut rows = TableRows::new(&OBJECTS, |_| true);
        for (dso, has_symbols) in objects {
            let build_id = dso.build_id.as_ref().map(ToString::to_string);
            rows.push(&[
                TableCell::Int(self.id),
                build_id.as_deref().into(),
                TableCell::Text(&dso.name),
                TableCell::Int(has_symbols.into()),
            ]);
        }
        rows
    }
}

fn frequency_of(attr: &EventAttr) -> Option<u64> {
    let is_frequency = attr.flags.contains(AttrFlags::FREQ);
    is_frequency.then_some(attr.sample_period)
}

/// The hash of what tells recordings apart: where and how they were made, when, and how much there is.
fn number(reader: &Reader<'_>) -> i64 {
    let features = reader.features();
    let mut text = Vec::new();
    let host = features.get::<Hostname>().ok().flatten();
    let words = features.get::<CmdLine>().ok().flatten();
    let words = words.map(|words| words.0).unwrap_or_default();
    let texts = host.map(|host| host.0).into_iter().chain(words);
    texts.for_each(|word| {
        text.extend_from_slice(word.as_bytes());
        text.push(0);
    });
    let clock = features.get::<ClockData>().ok().flatten();
    let times = features.get::<SampleTime>().ok().flatten();
    let ids = reader.events().iter().flat_map(|event| &event.ids);
    let numbers = [
        Some(reader.data().size),
        clock.as_ref().map(|clock| clock.wall_nanoseconds),
        times.as_ref().map(|times| times.first.0),
        times.as_ref().map(|times| times.last.0),
    ];
    let numbers = numbers.into_iter().flatten().chain(ids.map(|id| id.0));
    numbers.for_each(|number| text.extend_from_slice(&number.to_le_bytes()));
    StackHash::of(&text).id.0
}
