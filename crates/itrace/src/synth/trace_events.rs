//! Events of the trace beside the flow of control: one sample each.

use std::num::NonZeroU8;
use std::ops::ControlFlow;

use intel_pt::packet::{ControlFlowEvent, EventData};
use intel_pt::{Event, Moment, RatioPlace, Transfer};
use oxperf_session::{EventDatum, EventIndex, Payload, SampleFlags, Sink};

use super::Synthesizer;
use super::context::{QueueState, SynthContext};
use super::deliver::NewSample;
use crate::decoded::DecodedItem;
use crate::select::{Point, class_flags, known, state_flags, transfer_flags};

/// An event that is more than its place.
struct PayloadEvent {
    /// Its index; `None` where nobody asks for it.
    event: Option<EventIndex>,
    ip: Option<u64>,
    /// The address where tracing begins with it.
    to: Option<u64>,
    payload: Payload,
}

/// An interruption: an event that a transfer of control may come with.
struct Interruption {
    event: Option<EventIndex>,
    ip: Option<u64>,
    transfer: Option<Transfer>,
    payload: Payload,
}

impl Synthesizer<'_> {
    /// Makes the samples of an event.
    pub(super) fn event(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        event: Event,
        item: &DecodedItem,
    ) -> ControlFlow<()> {
        let events = self.events;
        match event {
            Event::Transaction { ip, .. } => self.transaction(cx, ip, &item.moment),
            Event::ControlFlow {
                event,
                ip,
                transfer,
                ..
            } => {
                let exact = event.ip() || transfer.is_some();
                let interruption = Interruption {
                    event: events.evt,
                    ip,
                    transfer,
                    payload: control_flow(event, &item.data, exact),
                };
                self.interruption(cx, interruption, &item.moment)
            }
            Event::InterruptFlag {
                enabled,
                ip,
                transfer,
            } => {
                let interruption = Interruption {
                    event: events.iflag,
                    ip,
                    transfer,
                    payload: Payload::InterruptFlag {
                        enabled,
                        by_branch: transfer.is_some(),
                    },
                };
                self.interruption(cx, interruption, &item.moment)
            }
            Event::Block { ip } => self.block(cx, ip, item),
            event => self.payload_sample(cx, event, item),
        }
    }

    /// Makes the sample of an event with a payload.
    fn payload_sample(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        event: Event,
        item: &DecodedItem,
    ) -> ControlFlow<()> {
        // An event without a place is where the program is.
        let position = item.position(&cx.queue.prior);
        let here = position.map(|position| position.ip);
        let Some(found) = self.payload_event(cx.state, event, here) else {
            return ControlFlow::Continue(());
        };
        let PayloadEvent {
            event,
            ip,
            to,
            payload,
        } = found;
        let Some(event) = event.filter(|_| !self.skips()) else {
            return ControlFlow::Continue(());
        };
        let ran = position.filter(|_| ip.is_some() && !matches!(payload, Payload::Psb { .. }));
        let flags = ran.map_or(SampleFlags::default(), |ran| class_flags(ran.class));
        let point = Point {
            to: known(to),
            flags,
            ..Point::at(ip, &item.moment)
        };
        self.deliver(cx, NewSample::single(event, Some(payload)), &point)
    }

    /// An event with a payload; `here` is the place of the program. `None` where it says nothing new.
    fn payload_event(
        &self,
        state: &mut QueueState,
        event: Event,
        here: Option<u64>,
    ) -> Option<PayloadEvent> {
        let events = self.events;
        let mut to = None;
        let (event, ip, payload) = match event {
            Event::Psb { offset, ip, begins } => {
                to = ip.filter(|_| begins);
                (events.psb, ip.filter(|_| !begins), Payload::Psb { offset })
            }
            Event::Cbr { ratio, place, .. } => {
                let known = NonZeroU8::new(ratio);
                if std::mem::replace(&mut state.cbr_seen, known) == known {
                    return None;
                }
                if let RatioPlace::Begin(begins) = place {
                    to = Some(begins);
                }
                let ip = here.filter(|_| place == RatioPlace::Here);
                (events.cbr, ip, self.cbr(ratio))
            }
            Event::PtWrite { value, ip } => {
                let exact = ip.is_some();
                (
                    events.ptwrite,
                    ip.or(here),
                    Payload::PtWrite { exact, value },
                )
            }
            Event::Mwait(wait) => {
                let (hints, extensions) = (wait.hints().into(), wait.extensions().into());
                (events.mwait, here, Payload::Mwait { hints, extensions })
            }
            Event::PowerEntry(entry) => {
                let payload = Payload::PowerEntry {
                    hardware: entry.hardware(),
                    state: entry.c_state(),
                    sub_state: entry.sub_c_state(),
                };
                (events.pwre, here, payload)
            }
            Event::ExStop { ip } => {
                let exact = ip.is_some();
                (events.exstop, ip.or(here), Payload::ExStop { exact })
            }
            Event::PowerExit(exit) => {
                let payload = Payload::PowerExit {
                    deepest: exit.deepest(),
                    last: exit.last(),
                    wake_reason: exit.wake_reason(),
                };
                (events.pwrx, here, payload)
            }
            Event::Transaction { .. }
            | Event::ControlFlow { .. }
            | Event::InterruptFlag { .. }
            | Event::Block { .. } => return None,
        };
        Some(PayloadEvent {
            event,
            ip,
            to,
            payload,
        })
    }

    /// Makes the sample of an interruption.
    fn interruption(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        interruption: Interruption,
        moment: &Moment,
    ) -> ControlFlow<()> {
        let Interruption {
            event,
            ip,
            transfer,
            payload,
        } = interruption;
        let Some(event) = event.filter(|_| !self.skips()) else {
            return ControlFlow::Continue(());
        };
        let flags = transfer.map_or(SampleFlags::default(), transfer_flags);
        let point = Point {
            to: known(transfer.and_then(|transfer| transfer.to)),
            flags: flags | state_flags(moment, &self.plan),
            ..Point::at(ip, moment)
        };
        self.deliver(cx, NewSample::single(event, Some(payload)), &point)
    }

    fn cbr(&self, ratio: u8) -> Payload {
        let frequency = u32::from(ratio).saturating_mul(self.plan.khz_per_ratio);
        Payload::Cbr {
            ratio,
            frequency,
            max_non_turbo: self.plan.max_non_turbo.unwrap_or(0),
        }
    }

    fn transaction(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        ip: u64,
        moment: &Moment,
    ) -> ControlFlow<()> {
        let Some(event) = self.events.transactions.filter(|_| !self.skips()) else {
            return ControlFlow::Continue(());
        };
        let point = Point {
            flags: state_flags(moment, &self.plan),
            ..Point::at(Some(ip), moment)
        };
        self.deliver(cx, NewSample::single(event, None), &point)
    }
}

fn control_flow(event: ControlFlowEvent, found: &[EventData], exact: bool) -> Payload {
    let mut data = [None; EventDatum::MOST];
    for (to, from) in data.iter_mut().zip(found) {
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
