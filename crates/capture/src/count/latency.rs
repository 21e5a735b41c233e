//! Latencies of retirement. Of an event with the modifier `R` it is not counted how often it happened: what is shown are the
//! cycles that its instructions took to retire. Samples tell them, which are taken of the whole system beside the counting;
//! without samples they are what was published for the event.

use std::cell::RefCell;

use oxperf_abi::{EventAttr, EventId, RecordType};
use oxperf_data::WriteError;
use oxperf_sys::{Kernel, RingPages, Sysfs};
use oxperf_wire::{Cursor, Endian, RecordHeader, SampleLayout, SampleWeight};

use crate::acquire::{Acquired, OpenContext, acquire};
use crate::drain::Drain;
use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::notice::Observer;
use crate::open::unmapped;
use crate::options::{SamplingOptions, Target, TargetOptions};
use crate::output::RecordOutput;
use crate::plan::{MachineInfo, Purpose};
use crate::system;

/// Which latency is shown of an event whose samples differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LatencyChoice {
    /// The mean of all.
    #[default]
    Mean,
    /// The smallest.
    Minimum,
    /// The greatest.
    Maximum,
    /// That of the last sample.
    Last,
}

/// Where latencies of retirement come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LatencyOptions {
    /// Samples are taken.
    pub samples: bool,
    /// What is shown of them.
    pub choice: LatencyChoice,
}

/// The latencies of an event's samples so far.
#[derive(Clone, Copy, Default, Debug)]
struct Latencies {
    samples: u64,
    sum: u64,
    least: u16,
    greatest: u16,
    last: u16,
}

impl Latencies {
    fn add(&mut self, cycles: u16) {
        self.least = match self.samples {
            0 => cycles,
            _ => self.least.min(cycles),
        };
        self.greatest = self.greatest.max(cycles);
        self.last = cycles;
        self.samples += 1;
        self.sum += u64::from(cycles);
    }

    /// What is shown; `None` without samples. Means are rounded.
    fn value(&self, choice: LatencyChoice) -> Option<u64> {
        let mean = (self.sum + self.samples / 2).checked_div(self.samples)?;
        Some(match choice {
            LatencyChoice::Mean => mean,
            LatencyChoice::Minimum => self.least.into(),
            LatencyChoice::Maximum => self.greatest.into(),
            LatencyChoice::Last => self.last.into(),
        })
    }
}

/// The surroundings of samples.
#[derive(Clone, Copy)]
pub(super) struct LatencyContext<'a> {
    pub(super) kernel: &'a dyn Kernel,
    pub(super) machine: &'a MachineInfo,
    pub(super) sysfs: &'a Sysfs,
    pub(super) choice: LatencyChoice,
}

/// Samples of the events of a measurement whose latencies are wanted.
#[derive(Debug)]
pub(super) struct LatencySampler {
    acquired: Acquired,
    drain: RefCell<Drain>,
    samples: RefCell<LatencySamples>,
    choice: LatencyChoice,
}

impl LatencySampler {
    /// Opens samples of those of `requests` whose latencies are wanted; they are taken once they are enabled.
    ///
    /// # Errors
    /// None can be taken.
    pub(super) fn open(
        context: LatencyContext<'_>,
        requests: &[EventRequest],
        observer: &mut dyn Observer,
    ) -> Result<LatencySampler, CaptureError> {
        let wanted = requests.iter().filter(|request| request.retire_latency);
        let wanted: Vec<EventRequest> = wanted.map(sampled).collect();
        let target = TargetOptions {
            target: Target::AllCpus,
            ..TargetOptions::default()
        };
        let sampling = SamplingOptions::default();
        let opening = OpenContext {
            kernel: context.kernel,
            machine: context.machine,
            sysfs: context.sysfs,
            workload: None,
        };
        let purpose = Purpose::Sampling(&sampling);
        let mut acquired = acquire(&target, purpose, wanted, opening, observer)?;
        let pages = system::default_ring_pages();
        let pages = RingPages::new(pages).ok_or(CaptureError::RingSize { pages })?;
        let keys = acquired.plan.rings.clone();
        let rings = acquired.open.map_rings(context.kernel, &keys, pages.into());
        let rings = rings.map_err(|error| unmapped(error, pages.into()))?;
        let rings = rings.forward.into_iter().map(|(_, ring)| ring).collect();
        Ok(LatencySampler {
            samples: RefCell::new(LatencySamples::new(&acquired, requests)),
            drain: RefCell::new(Drain::new(rings)),
            acquired,
            choice: context.choice,
        })
    }

    /// Begins to take samples, or takes no more. What cannot be switched has no samples, and shows what was published.
    pub(super) fn switch(&self, kernel: &dyn Kernel, takes: bool) {
        let _ = match takes {
            true => self.acquired.open.enable(kernel),
            false => self.acquired.open.disable(kernel),
        };
    }

    /// Takes the samples out of their rings, so that there is room for more.
    pub(super) fn drain(&self) {
        // Memory takes everything.
        let _ = self
            .drain
            .borrow_mut()
            .pass(&mut *self.samples.borrow_mut());
    }

    /// The latency of the event of an index; `None` where no sample tells it.
    pub(super) fn latency(&self, event: usize) -> Option<u64> {
        self.drain();
        let samples = self.samples.borrow();
        let mut sampled = samples.events.iter();
        let own = sampled.find(|own| own.stands_for.contains(&event))?;
        own.latencies.value(self.choice)
    }
}

/// The event as it is sampled: by itself, and with the precision that latencies need.
fn sampled(request: &EventRequest) -> EventRequest {
    let mut sampled = EventRequest {
        leader: None,
        cgroup: None,
        ..request.clone()
    };
    let precise = sampled.attr.flags.precise_ip().max(1);
    sampled.attr.flags.set_precise_ip(precise);
    sampled
}

/// The samples of all events.
#[derive(Debug)]
struct LatencySamples {
    events: Vec<SampledEvent>,
}

/// The samples of an event.
#[derive(Debug)]
struct SampledEvent {
    /// The indices of the events whose latencies these are.
    stands_for: Vec<usize>,
    ids: Vec<EventId>,
    layout: SampleLayout,
    latencies: Latencies,
}

impl LatencySamples {
    fn new(acquired: &Acquired, requests: &[EventRequest]) -> LatencySamples {
        let events = acquired.plan.events.iter().zip(&acquired.open.events);
        let events = events.filter(|(planned, _)| planned.request.retire_latency);
        // Another name or fewer modes may have been needed; what is counted stays the same.
        let codes = |attr: &EventAttr| (attr.kind, attr.config, attr.config1, attr.config2);
        let same = |attr: EventAttr| {
            let requests = requests.iter().enumerate();
            let is_same = move |(_, request): &(usize, &EventRequest)| {
                request.retire_latency && codes(&request.attr) == codes(&attr)
            };
            requests.filter(is_same).map(|(index, _)| index).collect()
        };
        LatencySamples {
            events: events
                .map(|(planned, open)| SampledEvent {
                    stands_for: same(planned.attr),
                    ids: open.ids.clone(),
                    layout: SampleLayout::new(&planned.attr),
                    latencies: Latencies::default(),
                })
                .collect(),
        }
    }

    /// Takes the body of a sample. One that does not say whose it is belongs to the only event.
    fn add(&mut self, body: &[u8]) {
        let Some(first) = self.events.first() else {
            return;
        };
        let Ok(sample) = first.layout.decode_sample(body, Endian::NATIVE) else {
            return;
        };
        let own = match sample.id {
            Some(id) => self.events.iter_mut().find(|event| event.ids.contains(&id)),
            None => self.events.first_mut(),
        };
        let Some(own) = own else {
            return;
        };
        let weight = own.layout.decode_sample(body, Endian::NATIVE);
        if let Some(SampleWeight::Parts { var3, .. }) = weight.ok().and_then(|own| own.weight) {
            own.latencies.add(var3);
        }
    }
}

impl RecordOutput for LatencySamples {
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
        let mut rest = records;
        while let Ok(header) = RecordHeader::decode(&mut Cursor::new(rest, Endian::NATIVE)) {
            let size = header.size as usize;
            let Some(body) = rest.get(RecordHeader::SIZE..size) else {
                break;
            };
            if header.kind == RecordType::SAMPLE {
                self.add(body);
            }
            rest = &rest[size..];
        }
        Ok(())
    }

    fn end_pass(&mut self, _: Option<&[u8]>) -> Result<(), WriteError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{Cpu, Misc, SampleType, SoftwareId};
    use oxperf_sys::FakeKernel;
    use oxperf_wire::Encoder;

    use super::*;
    use crate::notice::Notice;

    fn request(id: SoftwareId, retire_latency: bool) -> EventRequest {
        EventRequest {
            retire_latency,
            ..EventRequest::software(id, "event")
        }
    }

    #[test]
    fn values_of_samples() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.value(LatencyChoice::Mean), None);
        for cycles in [5, 2, 4] {
            latencies.add(cycles);
        }
        let values = [
            LatencyChoice::Mean,
            LatencyChoice::Minimum,
            LatencyChoice::Maximum,
            LatencyChoice::Last,
        ]
        .map(|choice| latencies.value(choice).unwrap());
        assert_eq!(values, [4, 2, 5, 4]);
    }

    /// A sample of which only the id and the latency matter.
    fn sample(fields: SampleType, id: EventId, cycles: u64) -> Vec<u8> {
        let mut encoder = Encoder::new(Endian::NATIVE);
        encoder.record(RecordType::SAMPLE, Misc(0), |body| {
            if fields.contains(SampleType::IDENTIFIER) {
                body.u64(id.0);
            }
            for field in [
                SampleType::IP,
                SampleType::TID,
                SampleType::TIME,
                SampleType::ID,
                SampleType::CPU,
                SampleType::PERIOD,
            ] {
                if fields.contains(field) {
                    body.u64(if field == SampleType::ID { id.0 } else { 0 });
                }
            }
            body.u64(cycles << 48);
        });
        encoder.into_bytes()
    }

    #[test]
    fn samples_tell_the_latencies_of_their_events() {
        let kernel = FakeKernel::new();
        let context = LatencyContext {
            kernel: &kernel,
            machine: &MachineInfo {
                online: vec![Cpu(0)],
                threads: Vec::new(),
                is_hybrid: false,
            },
            sysfs: &Sysfs::default(),
            choice: LatencyChoice::Mean,
        };
        let requests = [
            request(SoftwareId::CpuClock, true),
            request(SoftwareId::PageFaults, false),
            request(SoftwareId::TaskClock, true),
        ];
        let mut notices: Vec<Notice> = Vec::new();
        let sampler = LatencySampler::open(context, &requests, &mut notices).unwrap();
        let opened = kernel.opened();
        let layouts: Vec<SampleLayout> = opened
            .iter()
            .map(|event| SampleLayout::new(&event.attr))
            .collect();
        sampler.switch(&kernel, true);
        let ids: Vec<EventId> = sampler
            .acquired
            .open
            .events
            .iter()
            .flat_map(|event| event.ids.clone())
            .collect();
        for (event, cycles) in [(0, 10), (0, 20), (1, 7)] {
            let record = sample(layouts[event].sample_type(), ids[event], cycles);
            assert!(kernel.write_records(event, &record));
        }
        let latencies = [0, 1, 2].map(|event| sampler.latency(event));
        assert_eq!(latencies, [Some(15), None, Some(7)]);
    }
}
