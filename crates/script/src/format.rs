//! Output formats: text, JSON lines, CSV, perf's JSON, CTF.
//!
//! A format receives each sample as a [`SampleView`] and appends to a [`ScriptOutput`], or writes files of its own. A
//! new one is a file in `format/`; the command that offers it gives it to a [`ScriptSink`](crate::sink::ScriptSink).

pub mod csv;
pub mod ctf;
pub mod jsonl;
pub mod perf_json;
pub mod text;

use std::io;
use std::path::Path;
use std::sync::Arc;

use oxperf_data::{Damage, RawRecord, Reader};
use oxperf_machine::Machine;
use oxperf_session::{
    Diagnostics, EventIndex, EventTable, SampleEvent, SampleTextWriter, SessionEvent, SidebandEvent,
};

use crate::chain_use::ChainUse;
use crate::error::ScriptError;
use crate::event_style::EventStyle;
use crate::output::ScriptOutput;
use crate::view::{RecordView, SampleView};

/// The recording that samples come from.
#[derive(Clone, Copy)]
pub struct RecordingInfo<'a> {
    /// The file.
    pub path: &'a Path,
    /// Its last change in seconds since 1970.
    pub modified: i64,
    /// Its header and features.
    pub reader: &'a Reader<'a>,
    /// Its events.
    pub events: &'a EventTable,
}

/// The counts at the end.
#[derive(Clone, Copy)]
pub struct RunTotals<'a> {
    /// Samples that were shown.
    pub samples: u64,
    /// Losses and damage.
    pub diagnostics: &'a Diagnostics,
}

/// The result of a format that is finished.
#[derive(Debug, Default)]
pub struct Written {
    /// Bytes in files of the format's own, beside the output.
    pub bytes: u64,
    /// Other records that it wrote, where it writes them.
    pub others: Option<u64>,
    /// Lines for standard output.
    pub messages: Vec<String>,
    /// Messages for standard error.
    pub warnings: Vec<String>,
}

/// The moment at which a sample is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Before any other choice of samples.
    Early,
    /// After all others.
    Late,
}

/// Makes output of samples.
///
/// A wrapper of a format names it as [`Inner`](SampleFormat::Inner) and returns it from
/// [`inner`](SampleFormat::inner): every method that the wrapper does not define goes there. A format has [`NoFormat`]
/// behind it and ignores what it does not define.
pub trait SampleFormat {
    /// The wrapped format; [`NoFormat`] for one that wraps none.
    type Inner: SampleFormat;

    /// The format that receives what this one does not define.
    fn inner(&mut self) -> Option<&mut Self::Inner>;

    /// The samples of an event whose chains are shown.
    fn chain_use(&mut self, style: &EventStyle) -> ChainUse {
        self.inner()
            .map_or(ChainUse::Never, |inner| inner.chain_use(style))
    }

    /// Takes an event, whose index is the number of those before it.
    fn add_event(&mut self, event: &SessionEvent, style: &EventStyle) {
        if let Some(inner) = self.inner() {
            inner.add_event(event, style);
        }
    }

    /// `true` asks for events that a stream describes between its samples.
    fn takes_new_events(&mut self) -> bool {
        self.inner().is_some_and(SampleFormat::takes_new_events)
    }

    /// The events have changed.
    fn events_changed(&mut self, events: &EventTable) {
        if let Some(inner) = self.inner() {
            inner.events_changed(events);
        }
    }

    /// Begins the output.
    ///
    /// # Errors
    /// It cannot be written.
    fn begin(
        &mut self,
        recording: &RecordingInfo<'_>,
        out: &mut ScriptOutput,
    ) -> Result<(), ScriptError> {
        self.inner()
            .map_or(Ok(()), |inner| inner.begin(recording, out))
    }

    /// A record of any kind, before it is decoded.
    ///
    /// # Errors
    /// It cannot be written.
    #[inline]
    fn raw_record(
        &mut self,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
        out: &mut ScriptOutput,
    ) -> io::Result<()> {
        self.inner()
            .map_or(Ok(()), |inner| inner.raw_record(record, event, out))
    }

    /// A stretch of the recording that cannot be read.
    ///
    /// # Errors
    /// It cannot be written.
    fn damage(&mut self, damage: &Damage, out: &mut ScriptOutput) -> io::Result<()> {
        self.inner()
            .map_or(Ok(()), |inner| inner.damage(damage, out))
    }

    /// Whether a sample is kept; `filtered` finds out whether the options leave it out.
    ///
    /// # Errors
    /// That cannot be found out.
    #[inline]
    fn keeps(
        &mut self,
        stage: Stage,
        view: &SampleView<'_>,
        filtered: &mut dyn FnMut() -> bool,
        out: &mut ScriptOutput,
    ) -> Result<bool, ScriptError> {
        self.inner()
            .map_or(Ok(true), |inner| inner.keeps(stage, view, filtered, out))
    }

    /// A sample that is kept as far as its time and CPU go.
    #[inline]
    fn in_range(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) {
        if let Some(inner) = self.inner() {
            inner.in_range(view, out);
        }
    }

    /// A sample that is shown.
    ///
    /// # Errors
    /// It cannot be written.
    #[inline]
    fn sample(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.sample(view, out))
    }

    /// A sample has been judged, and shown if it is kept.
    ///
    /// # Errors
    /// It cannot be written.
    #[inline]
    fn after_sample(&mut self, event: &SampleEvent<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        self.inner()
            .map_or(Ok(()), |inner| inner.after_sample(event, out))
    }

    /// The writer of an event's samples, if moment and place alone decide their text.
    fn text_writer<'w>(
        &mut self,
        event: EventIndex,
        styles: &[EventStyle],
    ) -> Option<Arc<dyn SampleTextWriter + 'w>>
    where
        Self: 'w,
    {
        self.inner()?.text_writer(event, styles)
    }

    /// A kernel record that is no sample, shown or not.
    ///
    /// # Errors
    /// It cannot be written.
    fn sideband(
        &mut self,
        machine: &Machine,
        event: &SidebandEvent<'_>,
        out: &mut ScriptOutput,
    ) -> io::Result<()> {
        self.inner()
            .map_or(Ok(()), |inner| inner.sideband(machine, event, out))
    }

    /// A kernel record that is no sample and is shown.
    ///
    /// # Errors
    /// It cannot be written.
    fn record(&mut self, view: &mut RecordView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.record(view, out))
    }

    /// Every sample was taken.
    fn end(&mut self, totals: &RunTotals<'_>, out: &mut ScriptOutput) {
        if let Some(inner) = self.inner() {
            inner.end(totals, out);
        }
    }

    /// Everything was appended; the output is written behind this.
    ///
    /// # Errors
    /// A part of it cannot be had.
    fn close(&mut self, out: &mut ScriptOutput) -> Result<(), ScriptError> {
        self.inner().map_or(Ok(()), |inner| inner.close(out))
    }

    /// The output is written: finishes files of the format's own.
    ///
    /// # Errors
    /// They cannot be written.
    fn finish(&mut self) -> Result<Written, ScriptError> {
        self.inner()
            .map_or(Ok(Written::default()), SampleFormat::finish)
    }
}

/// The end of a chain of formats: there is none.
pub enum NoFormat {}

impl SampleFormat for NoFormat {
    type Inner = NoFormat;

    fn inner(&mut self) -> Option<&mut NoFormat> {
        match *self {}
    }
}
