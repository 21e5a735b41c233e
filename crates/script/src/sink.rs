//! The sink between a session and a format: judges samples, gives each its view.

use std::ops::ControlFlow;
use std::sync::Arc;

use oxperf_abi::{CpuMode, RecordType};
use oxperf_data::{Damage, RawRecord};
use oxperf_machine::Machine;
use oxperf_present::records;
use oxperf_resolve::{ChainLosses, Chains, Names};
use oxperf_session::{
    EventIndex, EventTable, Finished, NoSink, SampleEvent, SampleTextWriter, SidebandEvent, Sink,
};
use oxperf_tracepoint::Formatters;
use oxperf_wire::kernel::CallchainDeferred;
use oxperf_wire::user::AuxtraceError;
use oxperf_wire::{Cursor, Endian, Sample};

use crate::chain_use::ChainUse;
use crate::error::ScriptError;
use crate::event_style::{EventStyles, event_name};
use crate::format::{RecordingInfo, RunTotals, SampleFormat, Stage, Written};
use crate::output::ScriptOutput;
use crate::record_text::{VisibleRecords, write_record_text};
use crate::selection::Selection;
use crate::view::{RecordView, SampleView};

/// The state of the recording that samples are shown with.
pub struct ScriptSource<'s> {
    /// The styles of events.
    pub styles: EventStyles,
    /// The call chains of samples.
    pub chains: Chains,
    /// Names of symbols.
    pub names: Arc<Names<'static>>,
    /// Text of tracepoints.
    pub formatters: &'s Formatters,
    /// The byte order of records.
    pub endian: Endian,
    /// `true` where the recording may still be made: everything is written at the end of each round.
    pub live: bool,
}

/// Shows samples, and other records, in a format.
pub struct ScriptSink<'s, F> {
    source: ScriptSource<'s>,
    selection: Selection,
    visible: VisibleRecords,
    format: F,
    out: ScriptOutput,
    failed: Option<ScriptError>,
    /// Samples that were shown.
    shown: u64,
    /// Samples outside of the times and CPUs that are shown.
    skipped: u64,
}

/// The counts of a sink that has finished.
pub struct Shown {
    /// Losses of call chains.
    pub chain_losses: ChainLosses,
    /// Samples that were shown.
    pub samples: u64,
    /// Samples outside of the times and CPUs that are shown.
    pub skipped: u64,
    /// Bytes of the output.
    pub bytes: u64,
    /// The result of the format.
    pub written: Written,
}

impl<'s, F: SampleFormat> ScriptSink<'s, F> {
    /// Shows what is selected of `source` in a format.
    pub fn new(
        source: ScriptSource<'s>,
        selection: Selection,
        visible: VisibleRecords,
        format: F,
        out: ScriptOutput,
    ) -> ScriptSink<'s, F> {
        ScriptSink {
            source,
            selection,
            visible,
            format,
            out,
            failed: None,
            shown: 0,
            skipped: 0,
        }
    }

    /// Takes the recording's events and begins the output.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(&mut self, recording: &RecordingInfo<'_>) -> Result<(), ScriptError> {
        for index in 0..recording.events.events().len() {
            self.add_event(recording.events, EventIndex(index));
        }
        self.format.begin(recording, &mut self.out)
    }

    /// Writes the end of the output, and everything that was not written yet.
    pub fn end(&mut self, finished: &Finished) {
        let totals = RunTotals {
            samples: self.shown,
            diagnostics: &finished.diagnostics,
        };
        self.format.end(&totals, &mut self.out);
        if self.failed.is_none()
            && let Err(error) = self.out.fill(finished.machine.objects())
        {
            self.failed = Some(error.into());
        }
    }

    /// Closes the output and the format's own files.
    ///
    /// # Errors
    /// They cannot be written, or could not be before.
    pub fn finish(mut self) -> Result<Shown, ScriptError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.format.close(&mut self.out)?;
        let bytes = self.out.writer.finish()?;
        Ok(Shown {
            chain_losses: self.source.chains.losses(),
            samples: self.shown,
            skipped: self.skipped,
            bytes,
            written: self.format.finish()?,
        })
    }

    fn add_event(&mut self, events: &EventTable, index: EventIndex) {
        let Some(event) = events.events().get(index.0) else {
            return;
        };
        let mut style = self.source.styles.style_of(event, self.source.formatters);
        style.chain_use = self.format.chain_use(&style);
        self.format.add_event(event, &style);
        self.source.styles.add(style);
    }

    /// Shows a sample if it is selected; `false` where no more can be shown.
    fn show(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> Result<bool, ScriptError> {
        let (selection, format, out) = (&mut self.selection, &mut self.format, &mut self.out);
        let style = &self.source.styles.list()[event.event.0];
        let mut view = SampleView::new(machine, event, style);
        if !format.keeps(
            Stage::Early,
            &view,
            &mut || selection.leaves_out(&view),
            out,
        )? {
            return Ok(true);
        }
        if !selection.filter.takes_when(event) {
            self.skipped += 1;
            return Ok(true);
        }
        format.in_range(&view, out);
        let taken = selection.takes(&view)
            && format.keeps(Stage::Late, &view, &mut || selection.leaves_out(&view), out)?;
        if !taken {
            return Ok(true);
        }
        if let Some(remaining) = &mut selection.remaining {
            if *remaining == 0 {
                return Ok(false);
            }
            *remaining -= 1;
        }
        self.shown += 1;
        if style.chain_use.takes(event) {
            view.chain = Some(self.source.chains.of(machine, event));
        }
        format.sample(&view, out)?;
        out.settle(machine.objects())?;
        Ok(true)
    }

    /// Shows a record that is no sample, if its kind is visible.
    fn show_record(
        &mut self,
        machine: &mut Machine,
        event: &SidebandEvent<'_>,
    ) -> Result<(), ScriptError> {
        self.format.sideband(machine, event, &mut self.out)?;
        let visible = self.visible.contains(event.record.header.kind);
        if !visible || !self.selection.filter.takes_cpu(event.id.cpu) {
            return Ok(());
        }
        let ScriptSource {
            names,
            endian,
            chains,
            styles,
            ..
        } = &mut self.source;
        let mut text = Vec::new();
        let described = write_record_text(event, *endian, names, machine, &mut text);
        let Ok(subject) = described else {
            return Ok(());
        };
        let style = &styles.list()[event.event.0];
        let shows_chain = style.chain_use == ChainUse::WhereRecorded;
        let mut view = RecordView {
            machine,
            event,
            style,
            subject,
            text: &text,
            chain: shows_chain
                .then(|| user_callers(event, *endian, chains))
                .flatten(),
        };
        self.format.record(&mut view, &mut self.out)?;
        self.out.settle(machine.objects())?;
        Ok(())
    }

    /// Shows the end of a round, if that is visible.
    fn show_round(&mut self, machine: &Machine) -> Result<(), ScriptError> {
        if self.visible.contains(RecordType::FINISHED_ROUND) {
            records::finished_round(self.out.buffer());
        }
        if !self.source.live {
            return Ok(self.out.settle(machine.objects())?);
        }
        self.out.fill(machine.objects())?;
        Ok(std::io::Write::flush(&mut self.out.writer)?)
    }

    /// Ends the session when nothing can be written any more.
    fn go_on(&mut self, written: Result<(), impl Into<ScriptError>>) -> ControlFlow<()> {
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error.into());
                ControlFlow::Break(())
            }
        }
    }
}

/// The user part of call chains, which comes in a record of its own.
fn user_callers<'c>(
    event: &SidebandEvent<'_>,
    endian: Endian,
    chains: &'c mut Chains,
) -> Option<&'c [(CpuMode, u64)]> {
    if event.record.header.kind != RecordType::CALLCHAIN_DEFERRED {
        return None;
    }
    let record = CallchainDeferred::decode(&mut Cursor::new(event.record.body, endian)).ok()?;
    let sample = Sample {
        callchain: Some(record.chain),
        ..Sample::default()
    };
    Some(chains.recorded(CpuMode::User, &sample))
}

impl<F: SampleFormat> Sink for ScriptSink<'_, F> {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn event_update(&mut self, events: &EventTable, index: EventIndex) -> bool {
        let Some(event) = events.events().get(index.0) else {
            return false;
        };
        if !self.format.takes_new_events() {
            return false;
        }
        self.format.events_changed(events);
        match self.source.styles.get_mut(index.0) {
            Some(style) => style.name = event_name(event, self.source.formatters),
            None => self.add_event(events, index),
        }
        true
    }

    #[inline]
    fn record(
        &mut self,
        _: &mut Machine,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
    ) -> ControlFlow<()> {
        let written = self.format.raw_record(record, event, &mut self.out);
        self.go_on(written)
    }

    fn damage(&mut self, damage: &Damage) -> ControlFlow<()> {
        let written = self.format.damage(damage, &mut self.out);
        self.go_on(written)
    }

    fn wants_batches(&mut self) -> bool {
        self.source.chains.wants_batches()
    }

    fn prefetch(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        self.source.chains.prefetch(machine, samples);
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        match self.show(machine, event) {
            Ok(true) => {}
            Ok(false) => return ControlFlow::Break(()),
            Err(error) => return self.go_on(Err(error)),
        }
        let written = self.format.after_sample(event, &mut self.out);
        self.go_on(written)
    }

    fn text_writer<'w>(&mut self, event: EventIndex) -> Option<Arc<dyn SampleTextWriter + 'w>>
    where
        Self: 'w,
    {
        if !self.selection.takes_any_text() {
            return None;
        }
        self.format.text_writer(event, self.source.styles.list())
    }

    fn sample_text(
        &mut self,
        machine: &Machine,
        common: &SampleEvent<'_>,
        text: &[u8],
    ) -> ControlFlow<()> {
        if !self.selection.takes_text(machine, common) {
            return ControlFlow::Continue(());
        }
        let passed = self
            .out
            .fill(machine.objects())
            .and_then(|()| self.out.writer.pass(text));
        self.go_on(passed)
    }

    fn sideband(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        let printed = self.show_record(machine, event);
        self.go_on(printed)
    }

    fn trace_error(&mut self, machine: &mut Machine, error: &AuxtraceError<'_>) -> ControlFlow<()> {
        if !self.selection.filter.takes_time_of(error.time) {
            return ControlFlow::Continue(());
        }
        records::trace_error(self.out.buffer(), error);
        let settled = self.out.settle(machine.objects());
        self.go_on(settled)
    }

    fn log(&mut self, text: &[u8]) {
        self.out.buffer().extend_from_slice(text);
    }

    fn round(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        let printed = self.show_round(machine);
        self.go_on(printed)
    }
}
