//! What reaches a tracer from the session: it decodes what ran before each record, and passes everything on.

use std::ops::ControlFlow;

use oxperf_data::{Damage, RawRecord};
use oxperf_machine::Machine;
use oxperf_session::{EventIndex, SampleEvent, SidebandEvent, Sink};

use super::{END, Tracer};

impl<S: Sink> Sink for Tracer<'_, '_, S> {
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

    fn looks_ahead(&self) -> bool {
        self.sink.looks_ahead()
    }

    fn ahead(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        self.sink.ahead(machine, samples);
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let (chain, branches) = self.synthesizer.of_recorded(machine, event);
        let mut with_more = *event;
        if with_more.sample.callchain.is_none() && chain.is_some() {
            with_more.sample.callchain = chain;
            // What was found out ahead was found without it.
            with_more.ahead = None;
        }
        with_more.sample.branch_stack = with_more.sample.branch_stack.or(branches);
        self.sink.sample(machine, &with_more)
    }

    fn sideband(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        self.codeless
            .follow((machine, &mut self.synthesizer.images), event, self.endian);
        self.sink.sideband(machine, event)
    }

    fn damage(&mut self, damage: &Damage) -> ControlFlow<()> {
        self.sink.damage(damage)
    }

    fn round(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        self.sink.round(machine)
    }

    fn end(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        if self.synthesizer.plan.timeless {
            self.decode_timeless(machine, None)?;
        } else {
            self.advance(machine, END)?;
        }
        if let Some(log) = &mut self.log {
            log.hand_over(self.sink);
        }
        self.sink.end(machine)
    }
}
