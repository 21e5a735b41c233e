//! Open counters, and what they say.

use std::io;

use oxperf_abi::{CountReading, Cpu, EventId};
use oxperf_sys::{Control, ControlScope, CounterRead, EventFd, Kernel, cpus};

use super::latency::LatencySampler;
use super::moves::CpuMoves;
use super::own::{OwnCounter, OwnSources, RunMoment};
use super::{CountRequest, Findings};
use crate::event::EventRequest;
use crate::explain::Explanation;
use crate::plan::{OpenSite, PlannedEvent};

/// An event with its counters.
#[derive(Debug)]
pub struct CountedEvent {
    /// The event as it was opened.
    pub planned: PlannedEvent,
    /// The reason why nothing counts it.
    pub refusal: Option<Explanation>,
    /// The name that the user gave, where another event took its place.
    pub replaces: Option<String>,
    /// It left a group that could not be opened, and is opened alone when everything else is.
    pub(super) waits: bool,
    /// The last site whose CPU said that it has no such device: it may have gone offline.
    pub(super) unplugged: Option<usize>,
    /// The counter at each site of the plan; none where its thread or its CPU is gone.
    pub(super) fds: Vec<Option<EventFd>>,
}

impl CountedEvent {
    pub(super) fn new(planned: PlannedEvent, findings: Findings) -> CountedEvent {
        CountedEvent {
            fds: planned.sites.iter().map(|_| None).collect(),
            planned,
            refusal: findings.refusal,
            replaces: findings.replaces,
            waits: false,
            unplugged: None,
        }
    }

    /// The request.
    pub fn request(&self) -> &EventRequest {
        &self.planned.request
    }

    /// Returns whether the kernel counts it.
    pub fn is_supported(&self) -> bool {
        self.refusal.is_none()
    }

    /// Returns whether it is open anywhere.
    pub(super) fn is_open(&self) -> bool {
        self.fds.iter().any(Option::is_some)
    }

    /// The counter at a site.
    pub(super) fn fd_at(&self, site: OpenSite) -> Option<&EventFd> {
        let index = self.planned.sites.iter().position(|own| *own == site)?;
        self.fds.get(index)?.as_ref()
    }
}

/// The counter of an event at one of its sites, by their indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CounterPlace {
    pub(super) event: usize,
    pub(super) site: usize,
}

/// All counters of a run.
#[derive(Debug)]
pub struct Counters {
    pub(super) events: Vec<CountedEvent>,
    /// The counters in the order in which they were opened: CPU by CPU.
    pub(super) order: Vec<CounterPlace>,
    /// The members of each event's group; none of an event that stands alone or is a member.
    pub(super) members: Vec<Vec<usize>>,
    /// The counters that no kernel has.
    pub(super) own: Vec<OwnCounter>,
    /// Where those get their values from; none where there are none of them.
    pub(super) sources: Option<OwnSources>,
    /// This thread may go to the CPU of a counter.
    pub(super) may_move: bool,
}

/// What the counters of an event said, site by site: nothing where one could not be read.
pub(super) type EventReadings = Vec<Option<CountReading>>;

impl Counters {
    /// The events, in the order in which they were asked for.
    pub fn events(&self) -> &[CountedEvent] {
        &self.events
    }

    /// The counters in the order in which they are read, as indices of events and of their sites.
    pub fn reading_order(&self) -> Vec<(usize, usize)> {
        let own = self.own.iter().map(OwnCounter::place);
        let places = self.order.iter().copied().chain(own);
        places.map(|place| (place.event, place.site)).collect()
    }

    /// What was found out about the events, so that the next run need not.
    pub fn requests(&self) -> Vec<CountRequest> {
        let request = |event: &CountedEvent| CountRequest {
            event: event.request().clone(),
            findings: Findings {
                refusal: event.refusal.clone(),
                replaces: event.replaces.clone(),
            },
        };
        self.events.iter().map(request).collect()
    }

    /// Returns whether the leader of the event's group has no counter at the event's site: its thread or its CPU is gone.
    pub(super) fn leader_is_gone(&self, place: CounterPlace) -> bool {
        let event = &self.events[place.event];
        let site = event.planned.sites[place.site];
        let Some(leader) = event.request().leader.map(|leader| &self.events[leader]) else {
            return false;
        };
        leader.planned.sites.contains(&site) && leader.fd_at(site).is_none()
    }

    /// The ids of all counters that are open.
    pub(super) fn ids(&self, kernel: &dyn Kernel) -> Vec<Vec<Option<EventId>>> {
        let id = |fd: &Option<EventFd>| fd.as_ref().and_then(|fd| kernel.id(fd).ok());
        let ids = |event: &CountedEvent| event.fds.iter().map(id).collect();
        self.events.iter().map(ids).collect()
    }

    /// Starts the counting; members follow their leaders.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(super) fn enable(&self, kernel: &dyn Kernel) -> io::Result<()> {
        self.control_leaders(kernel, Control::Enable(ControlScope::Event))
    }

    /// The samples that tell latencies, where some are taken.
    pub(super) fn sampler(&self) -> Option<&LatencySampler> {
        self.sources.as_ref()?.sampler.as_ref()
    }

    /// Returns whether latencies are wanted of samples, and an event has none.
    pub fn lacks_latency_samples(&self) -> bool {
        let Some(sampler) = self.sampler() else {
            return false;
        };
        let mut events = self.events.iter().enumerate();
        events.any(|(index, event)| {
            event.request().retire_latency && sampler.latency(index).is_none()
        })
    }

    /// Stops the counting.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(super) fn disable(&self, kernel: &dyn Kernel) -> io::Result<()> {
        self.control_leaders(kernel, Control::Disable(ControlScope::Event))
    }

    fn control_leaders(&self, kernel: &dyn Kernel, control: Control<'_>) -> io::Result<()> {
        let mut moves = CpuMoves::new(self.may_move);
        for places in self.by_cpu() {
            moves.to(self.cpu_of(places), places.len());
            for place in places {
                let event = &self.events[place.event];
                let leads = event.request().leader.is_none();
                if let Some(fd) = event.fds[place.site].as_ref().filter(|_| leads) {
                    kernel.control(fd, control)?;
                }
            }
        }
        Ok(())
    }

    /// Lets all events count, or the one of a name, or lets them count no more; returns whether there are such.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(super) fn set_counting(
        &self,
        kernel: &dyn Kernel,
        name: Option<&str>,
        counts: bool,
        moment: RunMoment,
    ) -> io::Result<bool> {
        let control = match counts {
            true => Control::Enable(ControlScope::Event),
            false => Control::Disable(ControlScope::Event),
        };
        let Some(name) = name else {
            self.control_leaders(kernel, control)?;
            self.set_own(|_| true, counts, moment);
            return Ok(true);
        };
        let Some(index) = self
            .events
            .iter()
            .position(|event| event.request().name == name)
        else {
            return Ok(false);
        };
        for fd in self.events[index].fds.iter().flatten() {
            kernel.control(fd, control)?;
        }
        self.set_own(|event| event == index, counts, moment);
        Ok(true)
    }

    fn set_own(&self, is_meant: impl Fn(usize) -> bool, counts: bool, moment: RunMoment) {
        let Some(sources) = &self.sources else {
            return;
        };
        for own in self.own.iter().filter(|own| is_meant(own.place().event)) {
            match counts {
                true => own.start(sources, moment),
                false => own.stop(sources, moment),
            }
        }
    }

    /// Starts the counters that no kernel has.
    pub(super) fn start_own(&self, moment: RunMoment) {
        self.set_own(|_| true, true, moment);
    }

    /// Stops the counters that no kernel has.
    pub(super) fn stop_own(&self, moment: RunMoment) {
        self.set_own(|_| true, false, moment);
    }

    /// Runs of counters of one CPU, or of none.
    fn by_cpu(&self) -> impl Iterator<Item = &[CounterPlace]> {
        let cpu = |place: &CounterPlace| self.events[place.event].planned.sites[place.site].cpu;
        self.order.chunk_by(move |one, next| cpu(one) == cpu(next))
    }

    /// The CPU of a run of counters.
    fn cpu_of(&self, places: &[CounterPlace]) -> Option<Cpu> {
        let place = places.first()?;
        self.events[place.event].planned.sites[place.site].cpu
    }

    /// Closes all counters.
    pub(super) fn close(&mut self) {
        let mut moves = CpuMoves::new(self.may_move);
        let runs: Vec<(Option<Cpu>, Vec<CounterPlace>)> = self
            .by_cpu()
            .map(|places| (self.cpu_of(places), places.to_vec()))
            .collect();
        for (cpu, places) in runs {
            moves.to(cpu, places.len());
            for place in places {
                self.events[place.event].fds[place.site] = None;
            }
        }
    }

    /// Reads all counters: a group with one read of its leader, so that its counts belong together. What `readings` were
    /// before is forgotten.
    pub(super) fn read(
        &self,
        kernel: &dyn Kernel,
        moment: RunMoment,
        readings: &mut Vec<EventReadings>,
    ) {
        readings.resize_with(self.events.len(), EventReadings::new);
        for (sites, event) in readings.iter_mut().zip(&self.events) {
            sites.clear();
            sites.resize(event.fds.len(), None);
        }
        let here = cpus::current();
        let mut runs: Vec<&[CounterPlace]> = self.by_cpu().collect();
        // Stable: the counters of this CPU come first, for which no move is needed.
        runs.sort_by_key(|places| self.cpu_of(places) != here);
        let mut moves = CpuMoves::new(self.may_move);
        for places in runs {
            moves.to(self.cpu_of(places), places.len());
            for &place in places {
                self.read_at(kernel, place, readings);
            }
        }
        if let Some(sources) = &self.sources {
            for own in &self.own {
                let place = own.place();
                readings[place.event][place.site] = own.read(sources, moment);
            }
        }
    }

    fn read_at(&self, kernel: &dyn Kernel, place: CounterPlace, readings: &mut [EventReadings]) {
        let event = &self.events[place.event];
        let leads = event.request().leader.is_none();
        let Some(fd) = event.fds[place.site].as_ref().filter(|_| leads) else {
            return;
        };
        let Ok(read) = kernel.read(fd) else {
            return;
        };
        let members = &self.members[place.event];
        // The kernel counts a group as a whole: without one of its members there is no count of the group.
        if read.values.len() != 1 + members.len() {
            return;
        }
        let site = event.planned.sites[place.site];
        readings[place.event][place.site] = reading(&read, 0);
        for (index, &member) in members.iter().enumerate() {
            let sites = &self.events[member].planned.sites;
            if let Some(place) = sites.iter().position(|own| *own == site) {
                readings[member][place] = reading(&read, index + 1);
            }
        }
    }
}

fn reading(read: &CounterRead, index: usize) -> Option<CountReading> {
    Some(CountReading {
        value: read.values.get(index)?.value,
        enabled: read.enabled?,
        running: read.running?,
    })
}
