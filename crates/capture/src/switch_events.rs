//! Events that are watched everywhere, whose every occurrence begins the next file of a recording. Nothing of them is
//! recorded.

use oxperf_abi::RecordType;
use oxperf_sys::{DataRing, EventFd, RingPages};
use oxperf_wire::{Cursor, Endian, RecordHeader};

use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::explain::{Explanation, OpenAttempt};
use crate::notice::Observer;
use crate::open::{OpenEvents, Refusal, unmapped};
use crate::options::{Rate, SamplingOptions, Target, TargetOptions};
use crate::plan::{MachineInfo, Plan, Purpose, RingKind};
use crate::unsupported::Unsupported;
use crate::{acquire::OpenContext, system};

/// Data pages of a ring: an occurrence is a small record.
const PAGES: usize = 16;

/// The events, open and counting.
#[derive(Debug)]
pub(crate) struct SwitchEvents {
    plan: Plan,
    open: OpenEvents,
    rings: Vec<DataRing>,
}

impl SwitchEvents {
    /// Opens `requests` on all CPUs; each occurrence wakes.
    ///
    /// # Errors
    /// The kernel does not open one of them, or gives no ring.
    pub(crate) fn open(
        requests: &[EventRequest],
        context: OpenContext<'_>,
        observer: &mut dyn Observer,
    ) -> Result<SwitchEvents, CaptureError> {
        let plan = plan(requests, context.machine);
        let opened = OpenEvents::open(context.kernel, &plan, None, observer);
        let mut open = opened.map_err(|refusal| refused(&plan, refusal, context))?;
        let pages = RingPages::new(PAGES).ok_or(CaptureError::RingSize { pages: PAGES })?;
        let rings = open.map_rings(context.kernel, &plan.rings, pages.into());
        let rings = rings.map_err(|error| unmapped(error, pages.into()))?;
        open.enable(context.kernel).map_err(CaptureError::Enable)?;
        Ok(SwitchEvents {
            plan,
            open,
            rings: rings.forward.into_iter().map(|(_, ring)| ring).collect(),
        })
    }

    /// The descriptors to wait on.
    pub(crate) fn owners(&self) -> impl Iterator<Item = &EventFd> {
        let keys = self.plan.rings.iter();
        keys.filter_map(|&key| self.open.owner_of(key, RingKind::Forward))
    }

    /// Returns whether an event occurred since the last call.
    pub(crate) fn take(&mut self) -> bool {
        let mut occurred = false;
        for ring in &mut self.rings {
            let (first, second) = ring.available();
            let length = first.len() + second.len();
            occurred |= has_sample(&[first, second].concat());
            ring.consume(length);
        }
        occurred
    }
}

/// The events alone, without one that tracks tasks.
fn plan(requests: &[EventRequest], machine: &MachineInfo) -> Plan {
    let sampling = SamplingOptions {
        rate: Some(Rate::Period(1)),
        unbuffered: true,
        ..SamplingOptions::default()
    };
    let target = TargetOptions {
        target: Target::AllCpus,
        ..TargetOptions::default()
    };
    let purpose = Purpose::Sampling(&sampling);
    let mut plan = Plan::new(&target, purpose, requests, machine, Unsupported::default());
    plan.events.truncate(requests.len());
    plan
}

fn has_sample(records: &[u8]) -> bool {
    let mut rest = records;
    while let Ok(header) = RecordHeader::decode(&mut Cursor::new(rest, Endian::NATIVE)) {
        if header.kind == RecordType::SAMPLE {
            return true;
        }
        let Some((_, behind)) = rest.split_at_checked(header.size as usize) else {
            return false;
        };
        rest = behind;
    }
    false
}

fn refused(plan: &Plan, refusal: Refusal, context: OpenContext<'_>) -> CaptureError {
    let Some(attempt) = OpenAttempt::of_plan(plan, refusal.event, refusal.site) else {
        return CaptureError::NothingAsked;
    };
    let permissions = system::permissions();
    let facts = system::open_facts(permissions, context.machine, context.sysfs, attempt.pmu);
    CaptureError::NoEvent(Explanation::new(&attempt, refusal.error, &facts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notice::Notice;
    use oxperf_abi::{Cpu, Misc, SoftwareId};
    use oxperf_sys::{FakeKernel, Sysfs};
    use oxperf_wire::Encoder;

    fn record(kind: RecordType) -> Vec<u8> {
        let mut encoder = Encoder::new(Endian::NATIVE);
        encoder.record(kind, Misc(0), |body| body.u64(1));
        encoder.into_bytes()
    }

    #[test]
    fn each_sample_on_any_cpu_counts_once() {
        let kernel = FakeKernel::new();
        let machine = MachineInfo {
            online: vec![Cpu(0), Cpu(1)],
            threads: Vec::new(),
            is_hybrid: false,
        };
        let context = OpenContext {
            kernel: &kernel,
            machine: &machine,
            sysfs: &Sysfs::at("/nonexistent"),
            workload: None,
        };
        let requests = [EventRequest::software(SoftwareId::ContextSwitches, "cs")];
        let mut observer: Vec<Notice> = Vec::new();
        let mut events = SwitchEvents::open(&requests, context, &mut observer).unwrap();
        assert_eq!((events.owners().count(), events.open.events.len()), (2, 1));
        let attr = events.plan.events[0].attr;
        assert_eq!((attr.sample_period, attr.wakeup_events), (1, 1));
        assert!(!events.take());
        assert!(kernel.write_records(1, &record(RecordType::LOST)));
        assert!(!events.take());
        assert!(kernel.write_records(1, &record(RecordType::SAMPLE)));
        assert!(events.take());
        assert!(!events.take());
    }
}
