//! What the printer does with what a session tells.

use std::ops::ControlFlow;
use std::sync::Arc;

use oxperf_data::{Damage, RawRecord};
use oxperf_machine::Machine;
use oxperf_present::records;
use oxperf_session::{
    EventIndex, EventTable, NoSink, SampleEvent, SampleTextWriter, SidebandEvent, Sink,
};
use oxperf_wire::user::AuxtraceError;

use super::line_text::LineText;
use super::printer::{Form, Printer};
use super::view::event_name;
use crate::failure::Failure;

impl Printer<'_> {
    /// Whether a sample is shown: by the user's filter, by the options, and by the filter again. A dump tells where all
    /// samples of the time and the CPUs are at home.
    fn takes(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> Result<bool, Failure> {
        if !self.passes_dlfilter(true, machine, event)? || !self.filter.takes_when(event) {
            return Ok(false);
        }
        if let Some(dumper) = &self.dumper {
            dumper.place(machine, event, self.output.buffer());
        }
        Ok(self.filter.takes_thread(machine, event.thread)
            && self.takes_function(machine, event)
            && self.switching.takes(event.event)
            && self.passes_dlfilter(false, machine, event)?)
    }

    /// Ends the session when nothing can be written any more.
    fn go_on(&mut self, printed: Result<(), impl Into<Failure>>) -> ControlFlow<()> {
        match printed {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error.into());
                ControlFlow::Break(())
            }
        }
    }
}

impl Sink for Printer<'_> {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn event_update(&mut self, events: &EventTable, index: EventIndex) -> bool {
        let Some(event) = events.events().get(index.0) else {
            return false;
        };
        if let Some(dumper) = &mut self.dumper {
            dumper.set_events(events);
        }
        match self.views.get_mut(index.0) {
            Some(view) => view.name = event_name(event, self.formatters),
            None => self.add_view(event),
        }
        true
    }

    fn record(
        &mut self,
        _: &mut Machine,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
    ) -> ControlFlow<()> {
        self.memo.forget_head();
        let Some(dumper) = &mut self.dumper else {
            return ControlFlow::Continue(());
        };
        let written = dumper.record(record, event, &mut self.output);
        self.go_on(written)
    }

    fn damage(&mut self, damage: &Damage) -> ControlFlow<()> {
        let Some(dumper) = &self.dumper else {
            return ControlFlow::Continue(());
        };
        let written = dumper.damage(damage, &mut self.output);
        self.go_on(written)
    }

    fn wants_batches(&mut self) -> bool {
        self.chains.wants_batches()
    }

    fn prefetch(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        self.chains.prefetch(machine, samples);
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let taken = match self.takes(machine, event) {
            Ok(taken) => taken,
            Err(failure) => return self.go_on(Err(failure)),
        };
        if taken && self.left == Some(0) {
            return ControlFlow::Break(());
        }
        let printed = if taken {
            self.print(machine, event)
        } else {
            Ok(())
        };
        self.left = self.left.map(|left| left - u64::from(taken));
        let printed = printed.and_then(|()| match &self.dumper {
            Some(dumper) => dumper.sampled_packets(&event.sample, &mut self.output),
            None => Ok(()),
        });
        self.go_on(printed)
    }

    fn text_writer<'w>(&mut self, event: EventIndex) -> Option<Arc<dyn SampleTextWriter + 'w>>
    where
        Self: 'w,
    {
        let plain = matches!(self.form, Form::Text)
            && self.left.is_none()
            && self.switching.takes_all()
            && self.dlfilter.is_none();
        let untimed = plain
            && self.filter.times_pass()
            && self.dumper.is_none()
            && !self.symbols.ask_anything();
        if !untimed || self.counts_time() {
            return None;
        }
        Some(Arc::new(LineText::of(&self.views[event.0], self)?))
    }

    fn sample_text(
        &mut self,
        machine: &Machine,
        common: &SampleEvent<'_>,
        text: &[u8],
    ) -> ControlFlow<()> {
        if !self.filter.takes(machine, common) {
            return ControlFlow::Continue(());
        }
        let passed = self.fill(machine).and_then(|()| self.output.pass(text));
        self.go_on(passed)
    }

    fn sideband(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        self.cgroups.learn(event, self.endian);
        let printed = self.print_sideband(machine, event);
        self.go_on(printed)
    }

    fn trace_error(&mut self, machine: &mut Machine, error: &AuxtraceError<'_>) -> ControlFlow<()> {
        if !self.filter.takes_time_of(error.time) {
            return ControlFlow::Continue(());
        }
        records::trace_error(self.output.buffer(), error);
        let settled = self.settle(machine);
        self.go_on(settled)
    }

    fn log(&mut self, text: &[u8]) {
        self.output.buffer().extend_from_slice(text);
    }

    fn round(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        let printed = self.print_round(machine);
        self.go_on(printed)
    }
}
