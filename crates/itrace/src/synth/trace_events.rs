//! What the trace tells beside the flow of control: one sample each.

use std::ops::ControlFlow;

use intel_pt::packet::{ControlFlowEvent, EventData};
use intel_pt::{Event, Moment, Transfer};
use oxperf_machine::Machine;
use oxperf_session::{EventDatum, EventIndex, Payload, SampleFlags, Sink};

use super::Synthesizer;
use crate::decoded::Told;
use crate::queue::Lane;
use crate::select::{Point, flags_of, state_flags, transfer_flags};

impl Synthesizer<'_> {
    /// An event.
    pub(super) fn event(
        &mut self,
        lane: &mut Lane<'_>,
        event: Event,
        told: &Told,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let (events, moment) = (self.events, &told.moment);
        // An event that does not say where it was is where the program is.
        let place = told.place(&lane.earlier);
        let here = place.map(|(ip, _)| ip);
        let mut to = 0;
        let (event, ip, payload) = match event {
            Event::Psb { offset, ip, begins } => {
                to = ip.filter(|_| begins).unwrap_or(0);
                (events.psb, ip.filter(|_| !begins), Payload::Psb { offset })
            }
            Event::Cbr {
                ratio, to: begins, ..
            } => {
                if std::mem::replace(&mut lane.cbr_seen, ratio) == ratio {
                    return ControlFlow::Continue(());
                }
                to = begins.unwrap_or(0);
                (
                    events.cbr,
                    here.filter(|_| begins.is_none()),
                    self.cbr(ratio),
                )
            }
            Event::PtWrite { value, ip } => (
                events.ptwrite,
                ip.or(here),
                Payload::PtWrite {
                    exact: ip.is_some(),
                    value,
                },
            ),
            Event::Mwait(wait) => {
                let (hints, extensions) = (wait.hints().into(), wait.extensions().into());
                (events.mwait, here, Payload::Mwait { hints, extensions })
            }
            Event::PowerEntry(entry) => {
                let (hardware, state, sub_state) =
                    (entry.hardware(), entry.c_state(), entry.sub_c_state());
                (
                    events.pwre,
                    here,
                    Payload::PowerEntry {
                        hardware,
                        state,
                        sub_state,
                    },
                )
            }
            Event::ExStop { ip } => (
                events.exstop,
                ip.or(here),
                Payload::ExStop {
                    exact: ip.is_some(),
                },
            ),
            Event::PowerExit(exit) => {
                let (deepest, last, wake_reason) =
                    (exit.deepest(), exit.last(), exit.wake_reason());
                (
                    events.pwrx,
                    here,
                    Payload::PowerExit {
                        deepest,
                        last,
                        wake_reason,
                    },
                )
            }
            Event::Transaction { ip, .. } => {
                return self.transaction(lane, ip, moment, machine, sink);
            }
            Event::ControlFlow {
                event,
                ip,
                transfer,
                ..
            } => {
                let exact = event.ip() || transfer.is_some();
                let payload = control_flow(event, &told.data, exact);
                return self.interruption(
                    lane,
                    (events.evt, ip, transfer, payload),
                    moment,
                    machine,
                    sink,
                );
            }
            Event::InterruptFlag {
                enabled,
                ip,
                transfer,
            } => {
                let payload = Payload::InterruptFlag {
                    enabled,
                    by_branch: transfer.is_some(),
                };
                let interruption = (events.iflag, Some(ip), transfer, payload);
                return self.interruption(lane, interruption, moment, machine, sink);
            }
            Event::Block { ip } => return self.block(lane, ip, told, machine, sink),
        };
        let Some(event) = event.filter(|_| !self.skips()) else {
            return ControlFlow::Continue(());
        };
        let ran = place.filter(|_| ip.is_some() && !matches!(payload, Payload::Psb { .. }));
        let flags = ran.map_or(SampleFlags::default(), |(_, class)| flags_of(class));
        let point = Point {
            to,
            flags,
            ..Point::at(ip.unwrap_or(0), moment)
        };
        self.hand_over(
            lane,
            (event, 1, (0, 0), Some(payload)),
            &point,
            machine,
            sink,
        )
    }

    /// What event trace tells, alone or with a transfer of control.
    fn interruption(
        &mut self,
        lane: &mut Lane<'_>,
        (event, ip, transfer, payload): (
            Option<EventIndex>,
            Option<u64>,
            Option<Transfer>,
            Payload,
        ),
        moment: &Moment,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let Some(event) = event.filter(|_| !self.skips()) else {
            return ControlFlow::Continue(());
        };
        let flags = transfer.map_or(SampleFlags::default(), transfer_flags);
        let point = Point {
            to: transfer.and_then(|transfer| transfer.to).unwrap_or(0),
            flags: flags | state_flags(moment, &self.plan),
            ..Point::at(ip.unwrap_or(0), moment)
        };
        self.hand_over(
            lane,
            (event, 1, (0, 0), Some(payload)),
            &point,
            machine,
            sink,
        )
    }

    fn cbr(&self, ratio: u8) -> Payload {
        let frequency = u32::from(ratio).saturating_mul(self.plan.khz_per_ratio);
        Payload::Cbr {
            ratio,
            frequency,
            max_non_turbo: self.plan.max_non_turbo,
        }
    }

    fn transaction(
        &mut self,
        lane: &mut Lane<'_>,
        ip: u64,
        moment: &Moment,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let Some(event) = self.events.transactions.filter(|_| !self.skips()) else {
            return ControlFlow::Continue(());
        };
        let point = Point {
            flags: state_flags(moment, &self.plan),
            ..Point::at(ip, moment)
        };
        self.hand_over(lane, (event, 1, (0, 0), None), &point, machine, sink)
    }
}

fn control_flow(event: ControlFlowEvent, told: &[EventData], exact: bool) -> Payload {
    let mut data = [None; EventDatum::MOST];
    for (to, from) in data.iter_mut().zip(told) {
        *to = Some(EventDatum {
            kind: from.kind(),
            value: from.value(),
        });
    }
    Payload::ControlFlow {
        kind: event.kind(),
        vector: event.vector(),
        exact,
        data,
    }
}
