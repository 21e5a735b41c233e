//! The kernel's own code beside a recording: whether it can be copied, and the event that tells how it changes afterwards.

use std::fs::File;
use std::path::Path;

use oxperf_abi::{AttrFlags, SoftwareId};

use crate::error::CaptureError;
use crate::event::EventRequest;

/// Finds out whether the code in the folder `source` can be read, before anything is opened.
///
/// # Errors
/// It cannot.
pub(crate) fn check(source: &Path) -> Result<(), CaptureError> {
    match File::open(source.join("kcore")) {
        Ok(_) => Ok(()),
        Err(error) => Err(CaptureError::KernelCode {
            source_folder: source.to_owned(),
            error,
        }),
    }
}

/// The request for the changes of the code, on all CPUs. A copy of the code is true later with them alone.
pub(crate) fn request() -> EventRequest {
    let mut request = EventRequest::software(SoftwareId::Dummy, "dummy:u");
    request.attr.flags = AttrFlags::EXCLUDE_KERNEL
        | AttrFlags::EXCLUDE_HV
        | AttrFlags::EXCLUDE_GUEST
        | AttrFlags::TEXT_POKE;
    request.time = Some(true);
    request.watches_system = true;
    request
}

#[cfg(test)]
mod tests {
    use oxperf_abi::Cpu;

    use super::*;
    use crate::options::{SamplingOptions, Target, TargetOptions};
    use crate::plan::{MachineInfo, OpenSite, Plan, Purpose, TargetTask};
    use crate::unsupported::{KernelFeature, Unsupported};

    fn plan(target: Target, unsupported: Unsupported) -> Plan {
        let target = TargetOptions {
            target,
            per_thread: true,
            ..TargetOptions::default()
        };
        let requests = [
            EventRequest::software(SoftwareId::CpuClock, "cpu-clock"),
            request(),
        ];
        let machine = MachineInfo {
            online: vec![Cpu(0), Cpu(1)],
            ..MachineInfo::default()
        };
        let sampling = SamplingOptions::default();
        Plan::new(
            &target,
            Purpose::Sampling(&sampling),
            &requests,
            &machine,
            unsupported,
        )
    }

    /// The events with these flags, by their indices.
    fn with(plan: &Plan, flags: AttrFlags) -> Vec<usize> {
        let events = plan.events.iter().enumerate();
        let events = events.filter(|(_, event)| event.attr.flags.contains(flags));
        events.map(|(index, _)| index).collect()
    }

    #[test]
    fn changes_are_told_of_all_cpus_from_the_beginning() {
        // Rings of CPUs beside those of tasks outlive the tasks.
        for (target, of_target) in [
            (Target::Workload, vec![true, false, false]),
            (Target::Cpus(vec![Cpu(1)]), vec![true, true]),
        ] {
            let plan = plan(target, Unsupported::default());
            let everywhere = [Cpu(0), Cpu(1)].map(|cpu| OpenSite {
                cpu: Some(cpu),
                task: TargetTask::Anyone,
            });
            assert_eq!(plan.events[1].sites, everywhere);
            assert_eq!(with(&plan, AttrFlags::TEXT_POKE), [1]);
            assert_eq!(with(&plan, AttrFlags::KSYMBOL), [1]);
            assert_eq!(with(&plan, AttrFlags::DISABLED), [0]);
            assert!(plan.events[1].carries_only_other_records());
            let rings = plan.rings.iter().map(|&key| plan.is_of_target(key));
            assert_eq!(rings.collect::<Vec<_>>(), of_target);
        }
    }

    #[test]
    fn an_older_kernel_tells_no_changes() {
        let without = Unsupported::default().without(KernelFeature::TextPoke);
        let plan = plan(Target::Workload, without);
        assert!(with(&plan, AttrFlags::TEXT_POKE).is_empty());
        assert_eq!(with(&plan, AttrFlags::KSYMBOL), [1]);
    }
}
