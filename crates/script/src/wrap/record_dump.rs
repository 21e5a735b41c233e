//! `-D`: every record as bytes and in words, between the samples.

use std::io;
use std::sync::Arc;

use oxperf_abi::CpuMode;
use oxperf_data::{Damage, RawRecord};
use oxperf_machine::Machine;
use oxperf_ordered::BackgroundWriter;
use oxperf_present::dump::{DumpOptions, Object, Packets, RecordDump};
use oxperf_session::{EventIndex, EventTable, SampleEvent, SampleTextWriter};
use oxperf_wire::Sample;

use crate::event_style::EventStyle;
use crate::format::SampleFormat;
use crate::output::ScriptOutput;
use crate::view::{RecordView, SampleView};

/// Writes records, and the thread and object of samples.
pub struct RecordDumper {
    dump: RecordDump,
}

impl RecordDumper {
    /// Writes the records of a recording with these events.
    pub fn new(options: &DumpOptions<'_>, events: EventTable) -> RecordDumper {
        RecordDumper {
            dump: RecordDump::new(options, events),
        }
    }

    /// Writes a record, and the trace that follows it.
    pub fn record(
        &mut self,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
        writer: &mut BackgroundWriter,
    ) -> io::Result<()> {
        self.dump.record(record, event, writer.buffer());
        match self.dump.packets(record, writer.buffer()) {
            Some(packets) => write_packets(packets, writer),
            None => writer.settle(),
        }
    }

    /// Writes the trace that a sample holds.
    pub fn sampled_packets(
        &self,
        sample: &Sample<'_>,
        writer: &mut BackgroundWriter,
    ) -> io::Result<()> {
        let packets = self.dump.sampled_packets(sample, writer.buffer());
        packets.map_or(Ok(()), |packets| write_packets(packets, writer))
    }

    /// Takes other events than it was made with.
    pub fn set_events(&mut self, events: &EventTable) {
        self.dump.set_events(events.clone());
    }

    /// Writes a stretch of the recording that cannot be read.
    pub fn damage(&self, damage: &Damage, writer: &mut BackgroundWriter) -> io::Result<()> {
        self.dump.damage(damage, writer.buffer());
        writer.settle()
    }

    /// Appends the thread of a sample and the object of its address.
    pub fn place(&self, machine: &Machine, event: &SampleEvent<'_>, out: &mut Vec<u8>) {
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

fn write_packets(mut packets: Packets<'_>, writer: &mut BackgroundWriter) -> io::Result<()> {
    while packets.write(writer.buffer()) {
        writer.settle()?;
    }
    writer.settle()
}

/// Writes the records between the samples; without a dumper, nothing but the samples.
pub struct RecordDumpFormat<F> {
    dumper: Option<RecordDumper>,
    inner: F,
}

impl<F> RecordDumpFormat<F> {
    /// Writes records before what `inner` makes of them.
    pub fn new(dumper: Option<RecordDumper>, inner: F) -> RecordDumpFormat<F> {
        RecordDumpFormat { dumper, inner }
    }
}

impl<F: SampleFormat> SampleFormat for RecordDumpFormat<F> {
    type Inner = F;

    fn inner(&mut self) -> Option<&mut F> {
        Some(&mut self.inner)
    }

    fn events_changed(&mut self, events: &EventTable) {
        if let Some(dumper) = &mut self.dumper {
            dumper.set_events(events);
        }
        self.inner.events_changed(events);
    }

    #[inline]
    fn raw_record(
        &mut self,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
        out: &mut ScriptOutput,
    ) -> io::Result<()> {
        if let Some(dumper) = &mut self.dumper {
            dumper.record(record, event, &mut out.writer)?;
        }
        self.inner.raw_record(record, event, out)
    }

    fn damage(&mut self, damage: &Damage, out: &mut ScriptOutput) -> io::Result<()> {
        if let Some(dumper) = &self.dumper {
            dumper.damage(damage, &mut out.writer)?;
        }
        self.inner.damage(damage, out)
    }

    #[inline]
    fn in_range(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) {
        if let Some(dumper) = &self.dumper {
            dumper.place(view.machine, view.event, out.buffer());
        }
        self.inner.in_range(view, out);
    }

    #[inline]
    fn sample(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        self.inner.sample(view, out)?;
        // Records are written between the samples.
        if self.dumper.is_some() {
            out.fill(view.machine.objects())?;
        }
        Ok(())
    }

    #[inline]
    fn after_sample(&mut self, event: &SampleEvent<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        if let Some(dumper) = &self.dumper {
            dumper.sampled_packets(&event.sample, &mut out.writer)?;
        }
        self.inner.after_sample(event, out)
    }

    fn text_writer<'w>(
        &mut self,
        event: EventIndex,
        styles: &[EventStyle],
    ) -> Option<Arc<dyn SampleTextWriter + 'w>>
    where
        Self: 'w,
    {
        if self.dumper.is_none() {
            self.inner.text_writer(event, styles)
        } else {
            None
        }
    }

    fn record(&mut self, view: &mut RecordView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        self.inner.record(view, out)?;
        if self.dumper.is_some() {
            out.fill(view.machine.objects())?;
        }
        Ok(())
    }
}
