//! The plan of decoding a recording's trace: from its attributes, AUXTRACE_INFO and the request.

use std::num::NonZeroU32;

use intel_pt::{Config, EmitOptions, Errata, Period as Sampling, QuickMode, Ratio};
use oxperf_abi::{EventAttr, SampleType};
use oxperf_session::{EventTable, Session};

use crate::data_source::SourceNumbers;
use crate::events::SynthEvents;
use crate::pebs_event::PebsEvents;
use crate::{ItraceOptions, PtInfo, SynthPeriod, Trace};

/// The traced event's config bits at their architectural places.
mod bits {
    pub(super) const PASS_THROUGH: u64 = 1;
    pub(super) const BRANCH: u64 = 1 << 13;
    pub(super) const NO_TNT: u64 = 1 << 55;
}

/// The choices that are fixed for a whole recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    /// The traced event.
    pub(crate) traced: EventAttr,
    pub(crate) config: Config,
    /// Nothing says when anything happened.
    pub(crate) timeless: bool,
    /// The events whose PEBS records are in the trace.
    pub(crate) pebs: Option<PebsEvents>,
    /// The numbers that PEBS records give the sources of data.
    pub(crate) sources: Option<SourceNumbers>,
    /// Buffers hold TSC packets.
    pub(crate) has_tsc: bool,
    /// The interrupt flag is in the trace.
    pub(crate) has_interrupt_flag: bool,
    /// The ratio of the clocks without turbo, given or guessed.
    pub(crate) max_non_turbo: Option<u8>,
    /// kHz for each step of the core to bus ratio.
    pub(crate) khz_per_ratio: u32,
}

impl Plan {
    /// Makes the plan; `None` when the recording has no event of Intel PT.
    pub(crate) fn new(
        events: &EventTable,
        trace: &Trace<'_>,
        options: &ItraceOptions,
    ) -> Option<Plan> {
        let info = &trace.info;
        let mut attrs = events.events().iter().map(|event| event.attr);
        let traced = attrs.find(|attr| attr.kind.0 == info.pmu_type)?;
        let has = |bit: u64| bit != 0 && traced.config & bit != 0;
        let timed = events
            .events()
            .iter()
            .all(|event| event.attr.sample_type.contains(SampleType::TIME));
        let frequency = info.clock.map_or(0, |clock| clock.frequency());
        let guessed = ((frequency.saturating_add(50_000_000)) / 100_000_000) as u8;
        let max_non_turbo = info
            .max_non_turbo_ratio
            .or(Some(guessed).filter(|ratio| *ratio != 0));
        let khz_per_ratio = max_non_turbo.map_or(0, |ratio| frequency / u64::from(ratio) / 1000);
        let config = Config {
            branches: traced.config & bits::PASS_THROUGH == 0 || traced.config & bits::BRANCH != 0,
            return_compression: !has(info.noretcomp_bit),
            mtc_shift: mtc_shift(traced.config, info),
            tsc_to_crystal: info.tsc_ctc_ratio.map(|(numerator, denominator)| Ratio {
                numerator,
                denominator,
            }),
            max_non_turbo_ratio: max_non_turbo.and_then(|ratio| NonZeroU32::new(ratio.into())),
            errata: trace
                .processor
                .map(|(family, model)| Errata::of(family, model))
                .unwrap_or_default(),
        };
        Some(Plan {
            traced,
            config,
            timeless: options.timeless || info.clock.is_none() || !has(info.tsc_bit) || !timed,
            pebs: PebsEvents::find(events),
            sources: trace
                .processor
                .and_then(|(family, model)| SourceNumbers::of(family, model)),
            has_tsc: has(info.tsc_bit),
            has_interrupt_flag: info.event_trace,
            max_non_turbo,
            khz_per_ratio: u32::try_from(khz_per_ratio).unwrap_or(u32::MAX),
        })
    }

    /// The items that the decoder is to give.
    pub(crate) fn emit_options(&self, options: &ItraceOptions, info: &PtInfo) -> EmitOptions {
        let quick = match options.quick {
            0 if self.traced.config & bits::NO_TNT == 0 => QuickMode::Walk,
            0 | 1 => QuickMode::Addresses,
            _ => QuickMode::Psb,
        };
        let events = options.events;
        let sampled = events.instructions || events.cycles;
        EmitOptions {
            paths: events.branches || options.stacks.follows_branches(),
            period: sampled.then(|| sampling(options.period, info)),
            events: events.ptwrites
                || events.power
                || events.interrupts
                || events.transactions
                || events.other_events,
            quick,
        }
    }
}

fn mtc_shift(config: u64, info: &PtInfo) -> u8 {
    let mask = info.mtc_period_bits;
    if mask == 0 {
        0
    } else {
        ((config & mask) >> mask.trailing_zeros()) as u8
    }
}

fn sampling(period: SynthPeriod, info: &PtInfo) -> Sampling {
    match period {
        SynthPeriod::Instructions(count) if count > 0 => Sampling::Instructions(count),
        SynthPeriod::Ticks(ticks) if ticks > 0 => Sampling::Ticks(ticks),
        SynthPeriod::Nanoseconds(ns) => match info.clock.map_or(ns, |clock| clock.ticks(ns)) {
            0 => Sampling::Instructions(1),
            ticks => Sampling::Ticks(ticks),
        },
        SynthPeriod::Instructions(_) | SynthPeriod::Ticks(_) => Sampling::Instructions(1),
    }
}

/// The plan of decoding a recording's trace, made before its session begins.
#[derive(Clone, Debug)]
pub struct DecodePlan {
    pub(crate) plan: Plan,
    /// The events that are made.
    pub(crate) made: SynthEvents,
    /// All events of the session, those that are made among them.
    pub(crate) events: EventTable,
}

impl DecodePlan {
    /// Plans the decoding; adds the events that are made to the session. `None` when the recording has no event of
    /// Intel PT.
    pub fn new(
        trace: &Trace<'_>,
        options: &ItraceOptions,
        session: &mut Session<'_, '_>,
    ) -> Option<DecodePlan> {
        let plan = Plan::new(session.events(), trace, options)?;
        let first = session.events().events().len();
        let (made, new_events) =
            SynthEvents::new(options, &trace.info, &plan.traced, plan.timeless, first);
        session.add_events(new_events);
        Some(DecodePlan {
            plan,
            made,
            events: session.events().clone(),
        })
    }
}
