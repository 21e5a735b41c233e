//! The events whose samples are made of the trace, and their attributes.

use oxperf_abi::{AttrFlags, BranchSampleType, EventAttr, EventType, HardwareId, SampleType};
use oxperf_session::{EventIndex, SessionEvent};
use oxperf_wire::SampleLayout;

use crate::{ItraceOptions, PtInfo, SynthPeriod};

/// The places of the events in the session's table; `None` for those that are not asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SynthEvents {
    pub(crate) branches: Option<EventIndex>,
    pub(crate) instructions: Option<EventIndex>,
    pub(crate) cycles: Option<EventIndex>,
    pub(crate) transactions: Option<EventIndex>,
    pub(crate) ptwrite: Option<EventIndex>,
    pub(crate) cbr: Option<EventIndex>,
    pub(crate) psb: Option<EventIndex>,
    pub(crate) mwait: Option<EventIndex>,
    pub(crate) pwre: Option<EventIndex>,
    pub(crate) exstop: Option<EventIndex>,
    pub(crate) pwrx: Option<EventIndex>,
    pub(crate) evt: Option<EventIndex>,
    pub(crate) iflag: Option<EventIndex>,
}

/// Bits of an attribute that made events have in common with the traced one.
const INHERITED_FLAGS: [AttrFlags; 5] = [
    AttrFlags::EXCLUDE_USER,
    AttrFlags::EXCLUDE_KERNEL,
    AttrFlags::EXCLUDE_HV,
    AttrFlags::EXCLUDE_HOST,
    AttrFlags::EXCLUDE_GUEST,
];

/// Makes the events, one after another.
struct Maker {
    next: usize,
    made: Vec<SessionEvent>,
    attr: EventAttr,
}

impl Maker {
    fn make(&mut self, name: Option<&str>, config: u64) -> Option<EventIndex> {
        let attr = EventAttr {
            config,
            ..self.attr
        };
        let name = name.map_or_else(|| attr.generic_name(), str::to_owned);
        self.made.push(SessionEvent {
            attr,
            layout: SampleLayout::new(&attr),
            name,
        });
        self.next += 1;
        Some(EventIndex(self.next - 1))
    }

    fn with(&mut self, kind: SampleType, config: u64) -> Option<EventIndex> {
        let plain = self.attr.sample_type;
        self.attr.sample_type = plain | kind;
        let index = self.make(None, config);
        self.attr.sample_type = plain;
        index
    }
}

impl SynthEvents {
    /// The events that the options ask for, the first of which gets the place `first`.
    pub(crate) fn new(
        options: &ItraceOptions,
        info: &PtInfo,
        traced: &EventAttr,
        timeless: bool,
        first: usize,
    ) -> (SynthEvents, Vec<SessionEvent>) {
        let attr = EventAttr {
            kind: EventType::HARDWARE,
            sample_type: sample_type(traced, info, timeless),
            sample_period: 1,
            read_format: traced.read_format,
            flags: flags(traced),
            ..EventAttr::default()
        };
        let mut maker = Maker {
            next: first,
            made: Vec::new(),
            attr,
        };
        let mut events = SynthEvents::default();
        events.point_events(options, info, &mut maker);
        events.payload_events(options, traced, &mut maker);
        events.interrupts(options, info, traced, &mut maker);
        (events, maker.made)
    }

    /// Events that are points of code.
    fn point_events(&mut self, options: &ItraceOptions, info: &PtInfo, maker: &mut Maker) {
        let (instructions, branches) = (
            HardwareId::Instructions as u64,
            HardwareId::BranchInstructions as u64,
        );
        if options.events.branches {
            self.branches = maker.with(SampleType::ADDR, branches);
        }
        if options.stacks.callchain {
            maker.attr.sample_type |= SampleType::CALLCHAIN;
        }
        if options.stacks.last_branch {
            maker.attr.sample_type |= SampleType::BRANCH_STACK;
            maker.attr.branch_sample_type = BranchSampleType::HW_INDEX;
        }
        maker.attr.sample_period = match options.period {
            SynthPeriod::Nanoseconds(ns) => info.clock.map_or(ns, |clock| clock.ticks(ns)),
            SynthPeriod::Instructions(count) | SynthPeriod::Ticks(count) => count,
        };
        if options.events.instructions {
            self.instructions = maker.make(None, instructions);
        }
        if options.events.cycles {
            self.cycles = maker.make(None, HardwareId::CpuCycles as u64);
        }
        maker.attr.sample_period = 1;
        maker.attr.sample_type.0 &= !SampleType::PERIOD.0;
        if options.events.transactions {
            self.transactions = maker.make(Some("transactions"), instructions);
        }
    }

    /// Events with a payload.
    fn payload_events(&mut self, options: &ItraceOptions, traced: &EventAttr, maker: &mut Maker) {
        maker.attr.kind = EventType::SYNTHETIC;
        maker.attr.sample_type |= SampleType::RAW;
        if options.events.ptwrites {
            self.ptwrite = maker.make(Some("ptwrite"), 0);
        }
        if options.events.power {
            self.power(traced, maker);
        }
    }

    fn power(&mut self, traced: &EventAttr, maker: &mut Maker) {
        self.cbr = maker.make(Some("cbr"), 5);
        self.psb = maker.make(Some("psb"), 6);
        if traced.config & POWER_EVENTS != 0 {
            self.mwait = maker.make(Some("mwait"), 1);
            self.pwre = maker.make(Some("pwre"), 2);
            self.exstop = maker.make(Some("exstop"), 3);
            self.pwrx = maker.make(Some("pwrx"), 4);
        }
    }

    /// Interrupts and the like, and the interrupt flag.
    fn interrupts(
        &mut self,
        options: &ItraceOptions,
        info: &PtInfo,
        traced: &EventAttr,
        maker: &mut Maker,
    ) {
        if !options.events.interrupts || traced.config & EVENT_TRACE == 0 {
            return;
        }
        self.evt = maker.make(Some("evt"), 7);
        if info.event_trace {
            self.iflag = maker.make(Some("iflag"), 8);
        }
    }
}

/// The bit of the traced event's config that turns power events on.
const POWER_EVENTS: u64 = 1 << 4;

/// The bit of the traced event's config that turns event trace on.
const EVENT_TRACE: u64 = 1 << 31;

fn flags(traced: &EventAttr) -> AttrFlags {
    let inherited = INHERITED_FLAGS
        .into_iter()
        .filter(|flag| traced.flags.contains(*flag));
    inherited.fold(AttrFlags::SAMPLE_ID_ALL, |all, flag| all | flag)
}

fn sample_type(traced: &EventAttr, info: &PtInfo, timeless: bool) -> SampleType {
    /// The fields that a hardware sample of any kind may have.
    const COMMON: u64 = 0x1_03cf;
    let mut kind = SampleType(traced.sample_type.0 & COMMON) | SampleType::IP | SampleType::TID;
    kind |= SampleType::PERIOD;
    kind.0 &= !SampleType::TIME.0;
    if !timeless {
        kind |= SampleType::TIME;
    }
    if !info.per_cpu {
        kind.0 &= !SampleType::CPU.0;
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_perfs_order() {
        let options = ItraceOptions::parse("ibxwpy").unwrap();
        let kernel_too = EventAttr {
            flags: AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV,
            ..EventAttr::default()
        };
        let traced = EventAttr {
            config: 1 << 4,
            ..kernel_too
        };
        let info = PtInfo {
            per_cpu: true,
            ..PtInfo::default()
        };
        let (events, made) = SynthEvents::new(&options, &info, &traced, false, 3);
        let names: Vec<&str> = made.iter().map(|event| event.name.as_str()).collect();
        let payloads = ["ptwrite", "cbr", "psb", "mwait", "pwre", "exstop", "pwrx"];
        let places = ["branches:u", "instructions:u", "cycles:u", "transactions"];
        assert_eq!(names, [&places[..], &payloads[..]].concat());
        assert_eq!(
            (events.branches, events.pwrx),
            (Some(EventIndex(3)), Some(EventIndex(13)))
        );
        assert!(
            made[0]
                .attr
                .sample_type
                .contains(SampleType::ADDR | SampleType::TIME)
        );
        assert!(!made[1].attr.sample_type.contains(SampleType::ADDR));
    }

    #[test]
    fn events_are_made_on_request_alone() {
        let (events, made) = SynthEvents::new(
            &ItraceOptions::NOTHING,
            &PtInfo::default(),
            &EventAttr::default(),
            true,
            0,
        );
        assert_eq!((events, made.len()), (SynthEvents::default(), 0));
    }
}
