//! The tracer as a sink: it decodes the code that ran before each record, and passes everything on.

use std::ops::ControlFlow;

use oxperf_data::RawRecord;
use oxperf_machine::Machine;
use oxperf_session::{EventIndex, EventTable, SampleEvent, SidebandEvent, Sink};

use super::Tracer;

impl<S: Sink> Sink for Tracer<'_, '_, S> {
    type Inner = S;

    fn inner(&mut self) -> Option<&mut S> {
        Some(self.sink)
    }

    /// Refuses events that a stream describes late: the tracer's own events stand in the table behind the recorded
    /// ones, and it knows the layouts of those alone that the session began with.
    fn event_update(&mut self, _events: &EventTable, _index: EventIndex) -> bool {
        false
    }

    fn record(
        &mut self,
        machine: &mut Machine,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
    ) -> ControlFlow<()> {
        if let Some(event) = event {
            let id = self.identity(record, event);
            self.decode_before(machine, record, id.time)?;
            self.take_record(machine, record, &id)?;
            self.take_counter(record, event, &id);
            self.take_sched_switch(machine, record, event, &id);
            self.log_record(record, &id);
        }
        self.sink.record(machine, record, event)
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let history = self.synthesizer.stacks.of_recorded(machine, event);
        let mut with_more = *event;
        if with_more.sample.callchain.is_none() && history.callchain.is_some() {
            with_more.sample.callchain = history.callchain;
            // The prefetched values were found without it.
            with_more.prefetched = None;
        }
        with_more.sample.branch_stack = with_more.sample.branch_stack.or(history.branches);
        self.sink.sample(machine, &with_more)
    }

    fn sideband(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        let images = &mut self.synthesizer.images;
        self.missing_code
            .follow(machine, images, event, self.endian);
        self.sink.sideband(machine, event)
    }

    fn end(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        if self.synthesizer.plan.timeless {
            self.decode_timeless(machine, None)?;
        } else {
            self.advance(machine, None)?;
        }
        if let Some(log) = &mut self.log {
            log.hand_over(self.sink);
        }
        self.sink.end(machine)
    }
}
