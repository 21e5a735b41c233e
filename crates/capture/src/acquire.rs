//! Plans and opens until the kernel takes everything, asking for less each time that it refuses.

use oxperf_abi::Tid;
use oxperf_sys::{Kernel, OpenError, Sysfs};

use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::explain::{Explanation, OpenAttempt, Permissions};
use crate::fallback::{self, FallbackStep};
use crate::notice::{Notice, Observer};
use crate::open::{OpenEvents, Refusal};
use crate::options::TargetOptions;
use crate::plan::{MachineInfo, Plan, Purpose, Requests};
use crate::system;
use crate::unsupported::Unsupported;

/// A plan that the kernel took, and its descriptors.
#[derive(Debug)]
pub struct Acquired {
    /// The plan.
    pub plan: Plan,
    /// Its descriptors.
    pub open: OpenEvents,
}

/// The kernel and the tasks that a plan is opened on.
#[derive(Clone, Copy)]
pub struct OpenContext<'a> {
    /// The kernel.
    pub kernel: &'a dyn Kernel,
    /// CPUs and threads.
    pub machine: &'a MachineInfo,
    /// The PMUs, for the reasons of refusals.
    pub sysfs: &'a Sysfs,
    /// The first thread of the workload, when there is one.
    pub workload: Option<Tid>,
}

/// Opens as many of `requests` as the kernel takes.
///
/// # Errors
/// None of them can be opened.
pub fn acquire(
    target: &TargetOptions,
    purpose: Purpose<'_>,
    requests: Vec<EventRequest>,
    context: OpenContext<'_>,
    observer: &mut dyn Observer,
) -> Result<Acquired, CaptureError> {
    let mut attempt = Attempt {
        target,
        context,
        requests: with_privilege(target, requests),
        removed: Vec::new(),
        unsupported: Unsupported::default(),
        raised_files: false,
        permissions: system::permissions(),
        observer,
    };
    loop {
        let unsupported = attempt.unsupported;
        let requests = Requests {
            kept: &attempt.requests,
            removed: &attempt.removed,
        };
        let plan = Plan::new(target, purpose, requests, context.machine, unsupported);
        match OpenEvents::open(context.kernel, &plan, context.workload, attempt.observer) {
            Ok(open) => {
                for &tid in &open.gone {
                    attempt.observer.notice(Notice::ThreadGone(tid));
                }
                attempt.observer.opened(&plan);
                return Ok(Acquired { plan, open });
            }
            Err(refusal) => attempt.adapt(&plan, refusal)?,
        }
    }
}

/// The requests with the target's privilege: an event that takes another's place is named by what it counts.
fn with_privilege(target: &TargetOptions, mut requests: Vec<EventRequest>) -> Vec<EventRequest> {
    for request in &mut requests {
        target.privilege.apply(&mut request.attr.flags);
    }
    requests
}

/// The inputs that change between two plans.
struct Attempt<'a> {
    target: &'a TargetOptions,
    context: OpenContext<'a>,
    requests: Vec<EventRequest>,
    /// Events that were left out.
    removed: Vec<EventRequest>,
    unsupported: Unsupported,
    raised_files: bool,
    permissions: Permissions,
    observer: &'a mut dyn Observer,
}

impl Attempt<'_> {
    /// Makes the next plan ask for less. Every call takes something away, so that the attempts end.
    fn adapt(&mut self, plan: &Plan, refusal: Refusal) -> Result<(), CaptureError> {
        if refusal.error == OpenError::ProcessFiles && !self.raised_files {
            self.raised_files = true;
            self.permissions.open_files = system::raise_open_files();
            return Ok(());
        }
        let step = self.step(plan, refusal);
        match (step, self.requests.get_mut(refusal.event)) {
            (FallbackStep::Change(change), Some(request)) => {
                if let Some(notice) = fallback::apply(change, request) {
                    self.observer.notice(notice);
                }
                Ok(())
            }
            (FallbackStep::Without(unsupported, feature), _) => {
                self.unsupported = unsupported;
                self.observer.notice(Notice::FeatureUnsupported(feature));
                Ok(())
            }
            _ => match self.explain(plan, refusal) {
                Some(explanation) => self.remove(refusal.event, explanation),
                None => Err(CaptureError::NothingAsked),
            },
        }
    }

    fn step(&self, plan: &Plan, refusal: Refusal) -> FallbackStep {
        let Some(event) = plan.events.get(refusal.event) else {
            return FallbackStep::GiveUp;
        };
        fallback::step(
            event,
            refusal.error,
            self.target.target.is_cpu_wide(),
            self.unsupported,
            self.permissions,
        )
    }

    /// The reason for a refusal; `None` for an event that no plan has.
    fn explain(&self, plan: &Plan, refusal: Refusal) -> Option<Explanation> {
        let attempt = OpenAttempt::of_plan(plan, refusal.event, refusal.site)?;
        let (context, permissions) = (&self.context, self.permissions);
        let facts = system::open_facts(permissions, context.machine, context.sysfs, attempt.pmu);
        Some(Explanation::new(&attempt, refusal.error, &facts))
    }

    /// Leaves an event out, with its group when it leads one. Without any event left that counts, or without the tracking event
    /// that the recording cannot do without, that is an error.
    fn remove(&mut self, event: usize, explanation: Explanation) -> Result<(), CaptureError> {
        let kept = without_event(&self.requests, event);
        let counts_nothing = kept.iter().all(EventRequest::is_dummy);
        if counts_nothing || event >= self.requests.len() {
            return Err(CaptureError::NoEvent(explanation));
        }
        self.removed.push(self.requests[event].clone());
        self.requests = kept;
        self.observer.notice(Notice::EventRemoved(explanation));
        Ok(())
    }
}

/// The requests without the one at `event` and, when it leads a group, without its members; leaders keep being
/// named by their new indices.
pub(crate) fn without_event(requests: &[EventRequest], event: usize) -> Vec<EventRequest> {
    let stays =
        |index: usize, request: &EventRequest| index != event && request.leader != Some(event);
    let mut new_place = Vec::with_capacity(requests.len());
    let mut next = 0;
    for (index, request) in requests.iter().enumerate() {
        new_place.push(next);
        next += usize::from(stays(index, request));
    }
    let kept = requests
        .iter()
        .enumerate()
        .filter(|(index, request)| stays(*index, request));
    kept.map(|(_, request)| {
        let leader = request
            .leader
            .and_then(|leader| new_place.get(leader).copied());
        EventRequest {
            leader,
            ..request.clone()
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{SamplingOptions, Target};
    use oxperf_abi::{AttrFlags, Cpu, EventType, ReadFormat, SoftwareId};
    use oxperf_sys::{Errno, FakeKernel, OpenRequest};

    const ENOENT: i32 = 2;
    const ESRCH: i32 = 3;
    const EACCES: i32 = 13;
    const EINVAL: i32 = 22;

    fn software(id: SoftwareId) -> EventRequest {
        EventRequest::software(id, id.names()[0])
    }

    fn cycles() -> EventRequest {
        let mut request = EventRequest::software(SoftwareId::CpuClock, "cycles:P");
        request.attr.kind = EventType::HARDWARE;
        request
    }

    /// The events that are open in the end, one line each, then the notices on the way.
    fn outcome(kernel: FakeKernel, target: Target, requests: Vec<EventRequest>) -> String {
        let threads = if target == Target::Workload {
            Vec::new()
        } else {
            vec![Tid(10), Tid(11)]
        };
        let machine = MachineInfo {
            online: vec![Cpu(0)],
            threads,
            is_hybrid: false,
        };
        let target = TargetOptions {
            target,
            ..TargetOptions::default()
        };
        let context = OpenContext {
            kernel: &kernel,
            machine: &machine,
            sysfs: &Sysfs::at("/nonexistent"),
            workload: Some(Tid(7)),
        };
        let sampling = SamplingOptions::default();
        let purpose = Purpose::Sampling(&sampling);
        let mut observer: Vec<Notice> = Vec::new();
        let acquired = acquire(&target, purpose, requests, context, &mut observer);
        let mut lines = match acquired {
            Ok(Acquired { plan, open }) => {
                let names = plan.events.iter().zip(&open.events);
                names
                    .map(|(event, open)| format!("{} x{}", event.request.name, open.fds.len()))
                    .collect()
            }
            Err(error) => vec![format!(
                "error: {}",
                error.to_string().lines().next().unwrap_or_default()
            )],
        };
        let kind = |notice: &Notice| {
            format!("{notice:?}")
                .split([' ', '('])
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        lines.extend(observer.iter().map(kind));
        lines.join("; ")
    }

    fn refusing(
        refusal: impl Fn(&OpenRequest<'_>) -> Option<i32> + Send + Sync + 'static,
    ) -> FakeKernel {
        FakeKernel::new().refusing(move |request| refusal(request).map(Errno))
    }

    fn hardware(request: &OpenRequest<'_>) -> bool {
        request.attr.kind == EventType::HARDWARE
    }

    #[test]
    fn cycles_become_time_without_counters() {
        let kernel = || refusing(|request| hardware(request).then_some(ENOENT));
        let requests = || vec![cycles()];
        assert_eq!(
            outcome(kernel(), Target::Workload, requests()),
            "task-clock x1; EventReplaced"
        );
        assert_eq!(
            outcome(kernel(), Target::AllCpus, requests()),
            "cpu-clock x1; dummy:u x1; EventReplaced"
        );
    }

    #[test]
    fn an_old_kernel_loses_features_until_it_takes_the_rest() {
        let old = |request: &OpenRequest<'_>| {
            let new = request
                .attr
                .flags
                .intersects(AttrFlags::BUILD_ID | AttrFlags::BPF_EVENT)
                || request.attr.read_format.contains(ReadFormat::LOST);
            new.then_some(EINVAL)
        };
        let got = outcome(
            refusing(old),
            Target::Workload,
            vec![software(SoftwareId::CpuClock)],
        );
        assert_eq!(
            got,
            "cpu-clock x1; FeatureUnsupported; FeatureUnsupported; FeatureUnsupported"
        );
    }

    #[test]
    fn what_cannot_be_opened_is_left_out_with_its_group() {
        let mut leader = cycles();
        leader.attr.config = 1;
        let member = EventRequest {
            leader: Some(0),
            ..software(SoftwareId::PageFaults)
        };
        let others = [
            software(SoftwareId::CpuClock),
            EventRequest {
                leader: Some(2),
                ..software(SoftwareId::Dummy)
            },
        ];
        let requests = [vec![leader, member], others.to_vec()].concat();
        let kernel = refusing(|request| hardware(request).then_some(ENOENT));
        assert_eq!(
            outcome(kernel, Target::Workload, requests),
            "cpu-clock x1; dummy x1; EventRemoved"
        );
    }

    #[test]
    fn nothing_left_is_an_error_that_names_the_event() {
        let kernel = refusing(|_| Some(EINVAL));
        let got = outcome(
            kernel,
            Target::Workload,
            vec![software(SoftwareId::CpuClock)],
        );
        assert!(
            got.starts_with("error: Failure to open event 'cpu-clock': Invalid argument."),
            "{got}"
        );
    }

    #[test]
    fn a_thread_that_is_gone_is_passed_over() {
        let gone = |request: &OpenRequest<'_>| {
            matches!(request.task, oxperf_sys::EventTask::Thread(Tid(10))).then_some(ESRCH)
        };
        let target = Target::Threads(vec![Tid(10), Tid(11)]);
        let got = outcome(
            refusing(gone),
            target.clone(),
            vec![software(SoftwareId::CpuClock)],
        );
        assert_eq!(got, "cpu-clock x1; ThreadGone");
        let got = outcome(
            refusing(|_| Some(ESRCH)),
            target,
            vec![software(SoftwareId::CpuClock)],
        );
        assert_eq!(
            got,
            "error: Failure to open event 'cpu-clock': No such process."
        );
    }

    #[test]
    fn a_weak_group_is_taken_apart() {
        let leader = EventRequest {
            weak_group: true,
            ..software(SoftwareId::CpuClock)
        };
        let member = EventRequest {
            leader: Some(0),
            weak_group: true,
            ..software(SoftwareId::PageFaults)
        };
        let kernel = refusing(|request| request.group.is_some().then_some(EINVAL));
        assert_eq!(
            outcome(kernel, Target::Workload, vec![leader, member]),
            "cpu-clock x1; page-faults x1"
        );
    }

    #[test]
    fn a_forbidden_target_ends_with_the_setting() {
        let got = outcome(
            refusing(|_| Some(EACCES)),
            Target::AllCpus,
            vec![software(SoftwareId::CpuClock)],
        );
        assert!(
            got.contains("error: Failure to open event 'cpu-clock"),
            "{got}"
        );
    }

    #[test]
    fn leaders_keep_their_members_when_others_go() {
        let member = EventRequest {
            leader: Some(1),
            ..software(SoftwareId::PageFaults)
        };
        let requests = [
            software(SoftwareId::Dummy),
            software(SoftwareId::CpuClock),
            member,
        ];
        assert_eq!(without_event(&requests, 0)[1].leader, Some(0));
        assert_eq!(without_event(&requests, 1).len(), 1);
    }
}
