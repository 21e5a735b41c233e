//! The counts of a run written to a recording, as `perf stat record` writes them.
//!
//! ```text
//! what is counted: units, names, threads, CPUs, settings -> the counts of each round, and its end
//! ```

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use oxperf_abi::{CountReading, Cpu, EventId, Misc, PerfTime, RecordType, Tid};
use oxperf_data::features::StatData;
use oxperf_data::{FeatureSet, WriterEvent};
use oxperf_sys::Sysfs;
use oxperf_wire::user::{Stat, StatConfig, StatRound};
use oxperf_wire::{Encoder, Endian};

use super::counters::{CountedEvent, CounterPlace, Counters};
use super::own::OwnCounter;
use crate::describe::{self, EventLabels};
use crate::error::CaptureError;
use crate::finish::{RecordingFacts, add_recording_features};
use crate::host_files::HostFiles;
use crate::interrupts::Interrupts;
use crate::options::{BuildIdPolicy, Destination, OutputOptions, Target};
use crate::output::Recording;
use crate::plan::{MachineInfo, OpenSite, Plan, TargetTask};
use crate::synthesize::{ProcDir, RecordSink, Synthesizer, Trailer};

/// The first of the ids that counters get which no kernel has: perf names all of those by 0, and its readers take that for
/// the first event of the recording. The kernel counts its ids from 1.
const FIRST_OWN_ID: u64 = 1 << 62;
/// Records are appended in pieces of about so many bytes.
const PIECE: usize = 1 << 20;

/// The settings that readers of a recording of counts need, as perf numbers them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StatSettings {
    /// What counts are added up by.
    pub aggregation: u64,
    /// The level of the caches that counts are added up by.
    pub cache_level: u64,
    /// The time between rounds.
    pub interval: Option<Duration>,
    /// Counts are scaled up for the time in which they did not run.
    pub scales: bool,
}

impl StatSettings {
    fn encode(&self, body: &mut Encoder) {
        let interval = self.interval.unwrap_or_default().as_millis();
        let settings = [
            (StatConfig::AGGREGATION, self.aggregation),
            (
                StatConfig::INTERVAL,
                u64::try_from(interval).unwrap_or(u64::MAX),
            ),
            (StatConfig::SCALE, u64::from(self.scales)),
            (StatConfig::LEVEL, self.cache_level),
        ];
        StatConfig::encode_settings(&settings, body);
    }
}

/// All that a recording of counts is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CountRecordOptions {
    /// The file or stream.
    pub destination: Destination,
    /// The command line of this recording, program first, kept in the file's header.
    pub command_line: Vec<String>,
    /// The settings.
    pub settings: StatSettings,
}

impl CountRecordOptions {
    /// Returns whether counts go to a stream.
    pub fn is_stream(&self) -> bool {
        self.destination == Destination::StandardOutput
    }

    fn output(&self) -> OutputOptions {
        OutputOptions {
            destination: self.destination.clone(),
            build_ids: BuildIdPolicy::Off,
            command_line: self.command_line.clone(),
            ..OutputOptions::default()
        }
    }
}

/// The end of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundKind {
    /// An interval is over.
    Interval,
    /// The run is.
    Final,
}

/// A counter as STAT records name it, by its place among the readings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct RecordedSite {
    event: usize,
    site: usize,
    id: EventId,
    cpu: u32,
    thread: u32,
}

/// A recording of counts that is being written.
pub struct CountRecorder {
    recording: Recording,
    /// The counters, CPU by CPU.
    sites: Vec<RecordedSite>,
}

/// The run whose counts are recorded.
pub(super) struct RecordedRun<'a> {
    pub(super) counters: &'a Counters,
    /// The names of the events as tables show them; they stand in files.
    pub(super) names: &'a [String],
    pub(super) ids: Vec<Vec<Option<EventId>>>,
    pub(super) machine: &'a MachineInfo,
    pub(super) workload: Option<Tid>,
    pub(super) target: &'a Target,
    pub(super) sysfs: &'a Sysfs,
}

impl CountRecorder {
    /// Begins a recording of what a run counts: the output is made, and what describes the counts is written.
    ///
    /// # Errors
    /// The output cannot be made or refuses.
    pub(super) fn begin(
        options: &CountRecordOptions,
        run: &RecordedRun<'_>,
        interrupts: Rc<Interrupts>,
    ) -> Result<CountRecorder, CaptureError> {
        let features = match options.is_stream() {
            // perf's streams of counts describe no machine.
            true => FeatureSet::new(),
            false => run.features(options),
        };
        let events = run.writer_events(options.is_stream());
        let mut recording = Recording::begin(&options.output(), &events, features, interrupts)?;
        recording.append(&run.description(options))?;
        Ok(CountRecorder {
            recording,
            sites: run.sites(),
        })
    }

    /// Gives the output its name for good: the program runs.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn settle(&mut self) -> Result<(), CaptureError> {
        self.recording.settle()
    }

    /// Writes what the counters say; those that could not be read are left out.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    pub fn counts(&mut self, readings: &[Vec<Option<CountReading>>]) -> Result<(), CaptureError> {
        let mut records = Encoder::new(Endian::NATIVE);
        for own in &self.sites {
            let reading = readings
                .get(own.event)
                .and_then(|sites| sites.get(own.site));
            let Some(reading) = reading.copied().flatten() else {
                continue;
            };
            let stat = own.stat(reading);
            records.record(RecordType::STAT, Misc(0), |body| stat.encode(body));
            if records.len() >= PIECE {
                self.recording.append(records.as_bytes())?;
                records.clear();
            }
        }
        self.recording.append(records.as_bytes())
    }

    /// Ends a round, so long after the start.
    ///
    /// # Errors
    /// As [`CountRecorder::counts`].
    pub fn end_round(&mut self, kind: RoundKind, moment: Duration) -> Result<(), CaptureError> {
        let round = StatRound {
            kind: u64::from(kind == RoundKind::Final),
            time: PerfTime(u64::try_from(moment.as_nanos()).unwrap_or(u64::MAX)),
        };
        let mut sink = RecordSink::new(Trailer::default());
        sink.user_record(RecordType::STAT_ROUND, |body| round.encode(body));
        self.recording.append(sink.as_bytes())
    }

    /// Writes the kernel's mapping, without which older tools complain, where its address is not hidden.
    ///
    /// # Errors
    /// As [`CountRecorder::counts`].
    pub fn kernel_map(&mut self) -> Result<(), CaptureError> {
        let mut sink = RecordSink::new(Trailer::default());
        let synthesizer = Synthesizer::new(
            Path::new("/"),
            Trailer::default(),
            Some(&crate::build_id::of_file),
        );
        // Counts need no addresses.
        let _ = synthesizer.kernel_alone(&mut sink);
        self.recording.append(sink.as_bytes())
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// The output refuses. All records can be read nevertheless.
    pub fn finish(self) -> Result<(), CaptureError> {
        self.recording.finish(Default::default(), None)
    }
}

impl RecordedSite {
    fn stat(&self, reading: CountReading) -> Stat {
        Stat {
            id: self.id,
            cpu: self.cpu,
            thread: self.thread,
            value: reading.value,
            enabled: reading.enabled,
            running: reading.running,
        }
    }
}

/// Gives the counters that no kernel has ids, among those of all counters.
pub(super) fn name_own(counters: &Counters, ids: &mut [Vec<Option<EventId>>]) {
    for (number, own) in counters.own.iter().enumerate() {
        let place = own.place();
        let id = ids
            .get_mut(place.event)
            .and_then(|ids| ids.get_mut(place.site));
        if let Some(id) = id {
            *id = Some(EventId(FIRST_OWN_ID + number as u64));
        }
    }
}

impl RecordedRun<'_> {
    fn events(&self) -> impl Iterator<Item = (&CountedEvent, &Vec<Option<EventId>>)> {
        self.counters.events.iter().zip(&self.ids)
    }

    fn writer_events(&self, is_stream: bool) -> Vec<WriterEvent> {
        let named = self.events().zip(self.names);
        let event = |((event, ids), name): ((&CountedEvent, &Vec<Option<EventId>>), &String)| {
            WriterEvent {
                attr: event.planned.attr,
                // A stream names its events in records of their own.
                name: if is_stream {
                    String::new()
                } else {
                    name.clone()
                },
                ids: ids.iter().flatten().copied().collect(),
            }
        };
        named.map(event).collect()
    }

    fn features(&self, options: &CountRecordOptions) -> FeatureSet {
        let plan = Plan {
            events: self
                .counters
                .events
                .iter()
                .map(|event| event.planned.clone())
                .collect(),
            rings: Vec::new(),
        };
        let facts = RecordingFacts {
            plan: &plan,
            command_line: &options.command_line,
            tracing_data: None,
            clock: None,
        };
        let mut features = HostFiles::this(self.sysfs).features();
        add_recording_features(facts, &mut features);
        features.insert(&StatData);
        features
    }

    /// The records before all counts.
    fn description(&self, options: &CountRecordOptions) -> Vec<u8> {
        let mut sink = RecordSink::new(Trailer::default());
        for (event, ids) in self.events() {
            let Some(id) = ids.iter().flatten().next() else {
                continue;
            };
            let request = event.request();
            let labels = EventLabels {
                unit: request.unit.as_deref(),
                scale: request.scale,
                cpus: request.cpus.as_ref().unwrap_or(&self.machine.online),
                name: options.is_stream().then_some(&*request.name),
            };
            describe::write_labels(&labels, *id, &mut sink);
        }
        describe::write_thread_map(&self.threads(), self.names().as_ref(), &mut sink);
        describe::write_cpus(self.cpus(), &mut sink);
        sink.user_record(RecordType::STAT_CONFIG, |body| {
            options.settings.encode(body)
        });
        sink.into_bytes()
    }

    /// The threads that were asked for.
    fn threads(&self) -> Vec<Tid> {
        match self.target {
            Target::Workload => self.workload.into_iter().collect(),
            _ => self.machine.threads.clone(),
        }
    }

    /// Where threads have their names; a program that has not begun has none yet.
    fn names(&self) -> Option<ProcDir> {
        let has_begun = *self.target != Target::Workload;
        has_begun.then(|| ProcDir::new(Path::new("/proc")))
    }

    /// The CPUs that were asked for; none where tasks are followed.
    fn cpus(&self) -> &[Cpu] {
        match self.target {
            Target::AllCpus => &self.machine.online,
            Target::Cpus(cpus) => cpus,
            _ => &[],
        }
    }

    /// The counters CPU by CPU, event by event.
    fn sites(&self) -> Vec<RecordedSite> {
        let open = self.counters.order.iter().copied();
        let own = self.counters.own.iter().map(OwnCounter::place);
        let mut sites: Vec<RecordedSite> = open
            .chain(own)
            .filter_map(|place| self.site(place))
            .collect();
        // No CPU comes before all others.
        sites.sort_by_key(|own| (own.cpu.wrapping_add(1), own.event, own.site));
        sites
    }

    fn site(&self, place: CounterPlace) -> Option<RecordedSite> {
        let event = self.counters.events.get(place.event)?;
        let id = (*self.ids.get(place.event)?.get(place.site)?)?;
        let open = *event.planned.sites.get(place.site)?;
        Some(RecordedSite {
            event: place.event,
            site: place.site,
            id,
            cpu: open.cpu.map_or(u32::MAX, |cpu| cpu.0),
            thread: self.thread_index(open),
        })
    }

    fn thread_index(&self, site: OpenSite) -> u32 {
        let threads = &self.machine.threads;
        let index = match site.task {
            TargetTask::Thread(tid) => threads.iter().position(|own| *own == tid),
            TargetTask::Anyone | TargetTask::Workload => None,
        };
        index.unwrap_or(0) as u32
    }
}
