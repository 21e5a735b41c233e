//! Opens the counters of a plan, CPU by CPU, and does without those that the kernel refuses.

use std::collections::BTreeSet;
use std::os::fd::AsRawFd;

use oxperf_abi::{Cpu, SampleType, Tid};
use oxperf_sys::{Kernel, OpenError, OpenFlags, OpenRequest, Sysfs};

use super::counters::{CountedEvent, CounterPlace, Counters};
use super::latency::{LatencyContext, LatencyOptions, LatencySampler};
use super::moves::CpuMoves;
use super::own::{OwnCounter, OwnSource, OwnSources};
use super::{CountRequest, Findings};
use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::explain::{Explanation, OpenAttempt, Permissions};
use crate::fallback::{self, EventChange, FallbackStep};
use crate::notice::{Notice, Observer, OpenCall};
use crate::open::set_filter;
use crate::options::TargetOptions;
use crate::plan::{MachineInfo, Plan, PlannedEvent, TargetTask};
use crate::system;
use crate::unsupported::Unsupported;

/// The kernel and the tasks that counters are opened on.
pub(super) struct Opening<'a> {
    pub(super) kernel: &'a dyn Kernel,
    pub(super) target: &'a TargetOptions,
    pub(super) machine: &'a MachineInfo,
    pub(super) sysfs: &'a Sysfs,
    /// The first thread of the workload, when there is one.
    pub(super) workload: Option<Tid>,
    pub(super) permissions: Permissions,
    pub(super) raised_files: bool,
    /// This thread may go to the CPU of a counter.
    pub(super) may_move: bool,
    /// Counts are recorded to a stream.
    pub(super) to_stream: bool,
    pub(super) latencies: LatencyOptions,
}

/// Who hears of the calls that open one event.
struct Told<'a> {
    observer: &'a mut dyn Observer,
    /// The next call is the first with the attribute.
    is_first: bool,
}

impl Opening<'_> {
    /// Opens the counters of all events that the kernel counts.
    ///
    /// # Errors
    /// None of them does.
    pub(super) fn open(
        mut self,
        mut requests: Vec<CountRequest>,
        observer: &mut dyn Observer,
    ) -> Result<Counters, CaptureError> {
        leave_groups(&mut requests);
        let (events, earlier): (Vec<EventRequest>, Vec<Findings>) =
            requests.into_iter().map(CountRequest::split).unzip();
        let mut counters = Counters {
            members: members(&events),
            sources: self.sources(&events, observer),
            events: self
                .planned(events)
                .into_iter()
                .zip(earlier)
                .map(|(planned, findings)| CountedEvent::new(planned, findings))
                .collect(),
            order: Vec::new(),
            own: Vec::new(),
            may_move: self.may_move,
        };
        let mut moves = CpuMoves::new(self.may_move);
        for cpu in cpus(&counters.events) {
            moves.to(cpu, counters.events.len());
            for event in 0..counters.events.len() {
                self.open_on(cpu, event, &mut counters, observer);
            }
        }
        self.open_dissolved(&mut counters, observer);
        self.refuse_unplugged(&mut counters, observer);
        counters.events.iter().try_for_each(|event| {
            set_filter(self.kernel, event.request(), event.fds.iter().flatten())
        })?;
        let refusal = |event: &CountedEvent| event.refusal.clone();
        match counters.events.iter().rev().find_map(refusal) {
            Some(refusal) if !counters.events.iter().any(CountedEvent::is_supported) => {
                Err(CaptureError::NoEvent(refusal))
            }
            _ => Ok(counters),
        }
    }

    fn planned(&self, requests: Vec<EventRequest>) -> Vec<PlannedEvent> {
        let mut events = Plan::for_counting(self.target, requests, self.machine).events;
        if self.to_stream {
            events
                .iter_mut()
                .for_each(|event| event.attr.sample_type = SampleType::EMPTY);
        }
        events
    }

    /// Opens the event's counters on a CPU, or those that belong to none.
    fn open_on(
        &mut self,
        cpu: Option<Cpu>,
        event: usize,
        counters: &mut Counters,
        observer: &mut dyn Observer,
    ) {
        let mut is_first = true;
        for site in 0..counters.events[event].planned.sites.len() {
            let place = CounterPlace { event, site };
            let opened = &counters.events[event];
            let is_here = opened.planned.sites[site].cpu == cpu && !opened.waits;
            if !is_here || !opened.is_supported() || counters.leader_is_gone(place) {
                continue;
            }
            if let Some(own) = self.own_counter(place, counters) {
                if std::mem::take(&mut is_first) {
                    observer.counted_here(&counters.events[event].planned);
                }
                counters.own.push(own);
                continue;
            }
            let mut told = Told {
                observer: &mut *observer,
                is_first,
            };
            while let Err(error) = self.open_counter(place, counters, &mut told) {
                if !self.adapt(place, error, counters, told.observer) {
                    break;
                }
                told.is_first = true;
            }
            is_first = false;
        }
    }

    /// The sources of counters that no kernel has, if there are such.
    fn sources(&self, events: &[EventRequest], observer: &mut dyn Observer) -> Option<OwnSources> {
        let has_own = events.iter().any(EventRequest::is_read_here);
        let sampler = self.sampler(events, observer);
        has_own.then(|| OwnSources::new(self.target, self.sysfs).with_sampler(sampler))
    }

    /// Opens samples of latencies, if they are wanted of an event.
    fn sampler(
        &self,
        events: &[EventRequest],
        observer: &mut dyn Observer,
    ) -> Option<LatencySampler> {
        let has_latencies = events.iter().any(|event| event.retire_latency);
        if !self.latencies.samples || !has_latencies {
            return None;
        }
        let context = LatencyContext {
            kernel: self.kernel,
            machine: self.machine,
            sysfs: self.sysfs,
            choice: self.latencies.choice,
        };
        match LatencySampler::open(context, events, observer) {
            Ok(sampler) => Some(sampler),
            Err(error) => {
                observer.notice(Notice::LatenciesNotSampled(error.to_string()));
                None
            }
        }
    }

    /// The counter of an event that no kernel counts.
    fn own_counter(&self, place: CounterPlace, counters: &Counters) -> Option<OwnCounter> {
        let sources = counters.sources.as_ref()?;
        let event = &counters.events[place.event];
        let site = event.planned.sites[place.site];
        let source = match (event.request().retire_latency, place.site) {
            (true, 0) => OwnSource::Latency {
                event: place.event,
                published: event.request().published_latency,
            },
            (true, _) => OwnSource::Elsewhere,
            (false, _) => sources.of(event.request(), site, self.workload)?,
        };
        Some(OwnCounter::new(place, source))
    }

    fn open_counter(
        &self,
        place: CounterPlace,
        counters: &mut Counters,
        told: &mut Told<'_>,
    ) -> Result<(), OpenError> {
        let event = &counters.events[place.event];
        let site = event.planned.sites[place.site];
        let group = match event.request().leader {
            Some(leader) => Some(
                counters.events[leader]
                    .fd_at(site)
                    .ok_or(OpenError::NoSuchTask)?,
            ),
            None => None,
        };
        let cgroup = event.request().cgroup.as_ref();
        let task = match (site.task, cgroup) {
            (TargetTask::Anyone, Some(cgroup)) => oxperf_sys::EventTask::Cgroup(cgroup.directory()),
            (TargetTask::Anyone, None) => oxperf_sys::EventTask::Any,
            (TargetTask::Workload, _) => {
                oxperf_sys::EventTask::Thread(self.workload.ok_or(OpenError::NoSuchTask)?)
            }
            (TargetTask::Thread(tid), _) => oxperf_sys::EventTask::Thread(tid),
        };
        let request = OpenRequest {
            attr: &event.planned.attr,
            task,
            cpu: site.cpu,
            group,
            flags: OpenFlags::default(),
        };
        let opened = self.kernel.open(&request);
        told.observer.tried(&OpenCall {
            event: &event.planned,
            is_first: std::mem::take(&mut told.is_first),
            arguments: request.arguments(),
            answer: opened
                .as_ref()
                .map(AsRawFd::as_raw_fd)
                .map_err(|error| *error),
        });
        let fd = opened?;
        counters.events[place.event].fds[place.site] = Some(fd);
        counters.order.push(place);
        Ok(())
    }

    /// Changes what is asked for after a refusal, and returns whether the counter is to be tried again. Every change takes
    /// something away, so that the attempts end.
    fn adapt(
        &mut self,
        place: CounterPlace,
        error: OpenError,
        counters: &mut Counters,
        observer: &mut dyn Observer,
    ) -> bool {
        if error == OpenError::ProcessFiles && !self.raised_files {
            self.raised_files = true;
            self.permissions.open_files = system::raise_open_files();
            return true;
        }
        let event = &counters.events[place.event];
        // A thread that ended is one that counts nothing more.
        let threads = self.machine.threads.len();
        if error == OpenError::NoSuchTask && threads > 1 {
            return false;
        }
        // So does a CPU that went offline since the CPUs were listed.
        if error == OpenError::NoDevice && event.planned.sites[place.site].cpu.is_some() {
            counters.events[place.event].unplugged = Some(place.site);
            return false;
        }
        match self.step(event, error) {
            FallbackStep::Change(EventChange::LeaveGroup) => {
                dissolve(place.event, counters);
                false
            }
            FallbackStep::Change(change) if !event.is_open() => {
                self.change(place.event, change, counters, observer);
                true
            }
            _ => {
                observer.refused(&counters.events[place.event].planned, error);
                self.refuse(place, error, counters);
                false
            }
        }
    }

    fn step(&self, event: &CountedEvent, error: OpenError) -> FallbackStep {
        let is_weak = event.request().weak_group && event.request().leader.is_some();
        match error {
            OpenError::Invalid if is_weak => FallbackStep::Change(EventChange::LeaveGroup),
            // What cannot be counted here is shown as such, not replaced.
            OpenError::NoSuchEvent
            | OpenError::NoPmu
            | OpenError::Invalid
            | OpenError::NotImplemented => FallbackStep::GiveUp,
            _ => fallback::step(
                &event.planned,
                error,
                self.target.target.is_cpu_wide(),
                Unsupported::default(),
                self.permissions,
            ),
        }
    }

    fn change(
        &self,
        event: usize,
        change: EventChange,
        counters: &mut Counters,
        observer: &mut dyn Observer,
    ) {
        let changed = &mut counters.events[event];
        if let Some(notice) = fallback::apply(change, &mut changed.planned.request) {
            if let Notice::EventReplaced { asked, .. } = &notice {
                changed.replaces = Some(asked.clone());
            }
            observer.notice(notice);
        }
        self.plan_again(counters);
    }

    /// Makes the attributes of all events that are not open yet anew.
    fn plan_again(&self, counters: &mut Counters) {
        let requests: Vec<EventRequest> = counters
            .events
            .iter()
            .map(|event| event.request().clone())
            .collect();
        let planned = self.planned(requests);
        for (event, planned) in counters.events.iter_mut().zip(planned) {
            if !event.is_open() {
                event.planned = planned;
            }
        }
    }

    /// Opens the events that left a weak group, which is done when everything else is open.
    fn open_dissolved(&mut self, counters: &mut Counters, observer: &mut dyn Observer) {
        let mut waiting = Vec::new();
        for (index, event) in counters.events.iter_mut().enumerate() {
            if std::mem::take(&mut event.waits) {
                waiting.push(index);
            }
        }
        if waiting.is_empty() {
            return;
        }
        self.plan_again(counters);
        for cpu in cpus(&counters.events) {
            for &event in &waiting {
                self.open_on(cpu, event, counters, observer);
            }
        }
    }

    /// Does without the events of which no CPU has the device.
    fn refuse_unplugged(&self, counters: &mut Counters, observer: &mut dyn Observer) {
        for event in 0..counters.events.len() {
            let counted = &counters.events[event];
            if let Some(site) = counted.unplugged.filter(|_| !counted.is_open()) {
                let error = OpenError::NoDevice;
                observer.refused(&counted.planned, error);
                self.refuse(CounterPlace { event, site }, error, counters);
            }
        }
    }

    /// Does without the event, and without the members of the group that it leads.
    fn refuse(&self, place: CounterPlace, error: OpenError, counters: &mut Counters) {
        let explanation = self.explain(place, error, counters);
        let members = counters.members[place.event].clone();
        for event in [place.event].into_iter().chain(members) {
            counters.events[event].refusal = Some(explanation.clone());
        }
    }

    fn explain(&self, place: CounterPlace, error: OpenError, counters: &Counters) -> Explanation {
        let event = &counters.events[place.event];
        let site = event.planned.sites[place.site];
        let in_group = |leader: usize| {
            let members = &counters.members[leader];
            let before = members.iter().position(|&member| member == place.event);
            before.map_or(1, |before| before + 2)
        };
        let group = event.request().leader.map(in_group);
        let attempt = OpenAttempt::of_event(&event.planned, site, group);
        let facts = system::open_facts(self.permissions, self.machine, self.sysfs, attempt.pmu);
        Explanation::new(&attempt, error, &facts)
    }
}

/// Takes the events that no kernel counts out of their groups; the first other event of a group leads the rest.
fn leave_groups(requests: &mut [CountRequest]) {
    let is_own = |request: &CountRequest| request.event.is_read_here();
    for index in 0..requests.len() {
        if !is_own(&requests[index]) {
            continue;
        }
        requests[index].event.leader = None;
        let members = requests.iter().enumerate();
        let members: Vec<usize> = members
            .filter(|(_, request)| request.event.leader == Some(index) && !is_own(request))
            .map(|(member, _)| member)
            .collect();
        for &member in &members {
            requests[member].event.leader =
                members.first().copied().filter(|&first| first != member);
        }
    }
}

/// Makes every event of the group that `event` belongs to stand alone; what was open of it is closed, to be opened again.
fn dissolve(event: usize, counters: &mut Counters) {
    let leader = counters.events[event].request().leader.unwrap_or(event);
    let members = std::mem::take(&mut counters.members[leader]);
    let group: Vec<usize> = [leader].into_iter().chain(members).collect();
    for &event in &group {
        let dissolved = &mut counters.events[event];
        dissolved.planned.request.leader = None;
        dissolved.waits = true;
        dissolved.fds.iter_mut().for_each(|fd| *fd = None);
    }
    counters.order.retain(|place| !group.contains(&place.event));
}

/// The CPUs of all sites, rising; those that belong to none come first.
fn cpus(events: &[CountedEvent]) -> BTreeSet<Option<Cpu>> {
    let sites = events.iter().flat_map(|event| &event.planned.sites);
    sites.map(|site| site.cpu).collect()
}

/// The members of the group that each event leads.
fn members(requests: &[EventRequest]) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); requests.len()];
    for (index, request) in requests.iter().enumerate() {
        if let Some(of_leader) = request.leader.and_then(|leader| members.get_mut(leader)) {
            of_leader.push(index);
        }
    }
    members
}
