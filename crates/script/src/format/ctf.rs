//! The Common Trace Format of `data convert --to-ctf`: a folder with samples and, where asked for, other records.

mod streams;

use std::io;
use std::path::Path;

use oxperf_abi::{Cpu, EventType, PerfTime, ReadFormat};
use oxperf_machine::Machine;
use oxperf_present::ctf::{Clock, Metadata, SampleClass, Sideband};
use oxperf_present::records::KernelRecord;
use oxperf_session::{EventTable, SessionEvent, SidebandEvent};
use oxperf_tracepoint::Formatters;
use oxperf_wire::Endian;

use crate::error::ScriptError;
use crate::format::{NoFormat, RecordingInfo, SampleFormat, Written};
use crate::output::ScriptOutput;
use crate::view::SampleView;
use streams::Streams;

/// Writes samples as the events of a trace.
pub struct CtfFormat<'s> {
    streams: Option<Streams>,
    classes: Vec<SampleClass<'s>>,
    clock: Clock,
    endian: Endian,
    /// The number of other records, where these are written, too.
    others: Option<u64>,
    /// The time of the last record that had one.
    now: u64,
}

impl<'s> CtfFormat<'s> {
    /// A trace in `folder`, with the times of `clock`; the records that are no samples are in it where `with_others`.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn create(
        folder: &Path,
        classes: Vec<SampleClass<'s>>,
        clock: Clock,
        endian: Endian,
        with_others: bool,
    ) -> io::Result<CtfFormat<'s>> {
        Ok(CtfFormat {
            streams: Some(Streams::create(folder)?),
            classes,
            clock,
            endian,
            others: with_others.then_some(0),
            now: 0,
        })
    }

    /// The time of an event; one that has no time, or one that no clock shows, is where it stands between the others.
    fn time(&mut self, recorded: Option<PerfTime>) -> u64 {
        let recorded = recorded
            .map(|time| time.0)
            .filter(|time| i64::try_from(*time).is_ok());
        self.now = recorded.unwrap_or(self.now);
        self.now
    }

    fn write_metadata(&mut self, recording: &RecordingInfo<'_>) -> io::Result<()> {
        let others = if self.others.is_some() {
            Sideband::classes()
        } else {
            Vec::new()
        };
        let samples = self.classes.iter().map(SampleClass::class);
        let classes: Vec<_> = samples.chain(&others).collect();
        let mut text = String::new();
        Metadata {
            reader: recording.reader,
            clock: self.clock,
            classes: &classes,
        }
        .write(&mut text);
        self.streams
            .as_mut()
            .map_or(Ok(()), |streams| streams.describe(&text))
    }
}

/// The classes of all events' samples.
pub fn sample_classes<'f>(
    events: &EventTable,
    formatters: &'f Formatters,
    endian: Endian,
) -> Vec<SampleClass<'f>> {
    let class = |event: &SessionEvent| {
        let formatter = formatters
            .get(event.attr.config)
            .filter(|_| event.attr.kind == EventType::TRACEPOINT);
        SampleClass::new(&event.name, &event.attr, formatter, endian)
    };
    events.events().iter().map(class).collect()
}

/// The CPU of an event; the first for those that have none.
fn cpu(recorded: Option<Cpu>) -> u32 {
    recorded.map_or(0, |cpu| cpu.0)
}

impl SampleFormat for CtfFormat<'_> {
    type Inner = NoFormat;

    fn inner(&mut self) -> Option<&mut NoFormat> {
        None
    }

    fn begin(
        &mut self,
        recording: &RecordingInfo<'_>,
        _: &mut ScriptOutput,
    ) -> Result<(), ScriptError> {
        Ok(self.write_metadata(recording)?)
    }

    fn sample(&mut self, view: &SampleView<'_>, _: &mut ScriptOutput) -> io::Result<()> {
        let sample = view.sample();
        let (time, class) = (self.time(sample.time), view.event.event.0);
        let Some(streams) = &mut self.streams else {
            return Ok(());
        };
        let out = streams.event(cpu(sample.cpu), class, time)?;
        self.classes[class].write(sample, out);
        Ok(())
    }

    fn sideband(
        &mut self,
        _: &Machine,
        event: &SidebandEvent<'_>,
        _: &mut ScriptOutput,
    ) -> io::Result<()> {
        let (header, cpu) = (event.record.header, cpu(event.id.cpu));
        let decoded = KernelRecord::decode(&event.record, ReadFormat::default(), self.endian);
        let Ok(record) = decoded else { return Ok(()) };
        if let (KernelRecord::Lost(lost), Some(streams)) = (&record, &mut self.streams) {
            streams.discard(cpu, lost.lost);
        }
        let sideband = Sideband::of(&record, header.misc, &event.id);
        let (Some(count), Some(sideband)) = (self.others, sideband) else {
            return Ok(());
        };
        let (time, class) = (
            self.time(event.id.time),
            self.classes.len() + sideband.class(),
        );
        if let Some(streams) = &mut self.streams {
            sideband.write(streams.event(cpu, class, time)?);
        }
        self.others = Some(count + 1);
        Ok(())
    }

    fn finish(&mut self) -> Result<Written, ScriptError> {
        let mut written = Written {
            others: self.others,
            ..Written::default()
        };
        if let Some(streams) = self.streams.take() {
            let displaced = streams.displaced;
            if displaced > 0 {
                written.warnings.push(format!(
                    "Warning:\n{displaced} events have another time or CPU in the trace: it has no place for theirs"
                ));
            }
            written.bytes = streams.finish()?;
        }
        Ok(written)
    }
}
