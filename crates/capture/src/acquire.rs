//! Plans and opens until the kernel takes everything, asking for less each time that it refuses.

use oxperf_abi::Tid;
use oxperf_sys::{Kernel, OpenError};

use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::explain::{Explanation, Permissions, Wanted};
use crate::fallback::{self, Step};
use crate::missing::Missing;
use crate::note::{Note, Notes};
use crate::open::{OpenEvents, Refusal};
use crate::options::RecordOptions;
use crate::plan::{Plan, Scene};
use crate::system;

/// A plan that the kernel took, and its descriptors.
#[derive(Debug)]
pub struct Acquired {
    /// What is open.
    pub plan: Plan,
    /// Its descriptors.
    pub open: OpenEvents,
}

/// Opens as many of `requests` as the kernel takes.
///
/// # Errors
/// None of them can be opened.
pub fn acquire(
    kernel: &dyn Kernel,
    options: &RecordOptions,
    requests: Vec<EventRequest>,
    scene: &Scene,
    workload: Option<Tid>,
    notes: &mut dyn Notes,
) -> Result<Acquired, CaptureError> {
    let (missing, permissions) = (Missing::default(), system::permissions());
    let mut attempt = Attempt { options, requests, missing, raised_files: false, permissions, notes };
    loop {
        let plan = Plan::new(options, &attempt.requests, scene, attempt.missing);
        match OpenEvents::open(kernel, &plan, workload) {
            Ok(open) => {
                open.gone.iter().for_each(|&tid| attempt.notes.note(Note::ThreadGone(tid)));
                attempt.notes.opened(&plan);
                return Ok(Acquired { plan, open });
            }
            Err(refusal) => attempt.adapt(&plan, refusal)?,
        }
    }
}

/// What changes between two plans.
struct Attempt<'a> {
    options: &'a RecordOptions,
    requests: Vec<EventRequest>,
    missing: Missing,
    raised_files: bool,
    permissions: Permissions,
    notes: &'a mut dyn Notes,
}

impl Attempt<'_> {
    /// Makes the next plan ask for less. Every call takes something away, so that the attempts end.
    fn adapt(&mut self, plan: &Plan, refusal: Refusal) -> Result<(), CaptureError> {
        if refusal.error == OpenError::ProcessFiles && !self.raised_files {
            self.raised_files = true;
            self.permissions.open_files = system::raise_open_files();
            return Ok(());
        }
        match (self.step(plan, refusal), self.requests.get_mut(refusal.event)) {
            (Step::Change(change), Some(request)) => {
                fallback::apply(change, request).into_iter().for_each(|note| self.notes.note(note));
                Ok(())
            }
            (Step::Without(missing, feature), _) => {
                self.missing = missing;
                self.notes.note(Note::FeatureMissing(feature));
                Ok(())
            }
            _ => self.remove(refusal.event, self.explain(plan, refusal)),
        }
    }

    fn step(&self, plan: &Plan, refusal: Refusal) -> Step {
        let cpu_wide = self.options.target.is_cpu_wide();
        plan.events.get(refusal.event).map_or(Step::GiveUp, |event| {
            fallback::step(event, refusal.error, cpu_wide, self.missing, self.permissions)
        })
    }

    fn explain(&self, plan: &Plan, refusal: Refusal) -> Explanation {
        let event = &plan.events[refusal.event];
        let wanted = Wanted {
            cpu_wide: self.options.target.is_cpu_wide(),
            kernel: !event.attr.flags.contains(oxperf_abi::AttrFlags::EXCLUDE_KERNEL),
            tracepoint: event.request.is_tracepoint(),
        };
        let (target, permissions) = (&self.options.target, self.permissions);
        Explanation::new(&event.request.name, refusal.error, wanted, target, permissions)
    }

    /// Leaves an event out, with its group when it leads one. Without any event left, or without the tracking event
    /// that the recording cannot do without, that is an error.
    fn remove(&mut self, event: usize, explanation: Explanation) -> Result<(), CaptureError> {
        let kept = without_event(&self.requests, event);
        if kept.is_empty() || event >= self.requests.len() {
            return Err(CaptureError::NoEvent(explanation));
        }
        self.requests = kept;
        self.notes.note(Note::EventRemoved(explanation));
        Ok(())
    }
}

/// The requests without the one at `event` and, when it leads a group, without its members; leaders keep being
/// named by their new places.
fn without_event(requests: &[EventRequest], event: usize) -> Vec<EventRequest> {
    let stays = |index: usize, request: &EventRequest| index != event && request.leader != Some(event);
    let mut new_place = Vec::with_capacity(requests.len());
    let mut next = 0;
    for (index, request) in requests.iter().enumerate() {
        new_place.push(next);
        next += usize::from(stays(index, request));
    }
    let kept = requests.iter().enumerate().filter(|(index, request)| stays(*index, request));
    kept.map(|(_, request)| {
        let leader = request.leader.and_then(|leader| new_place.get(leader).copied());
        EventRequest { leader, ..request.clone() }
    })
    .collect()
}
