//! Opens what a plan lists and maps its rings.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use oxperf_abi::{AttrFlags, EventId, ReadFormat, Tid};
use oxperf_sys::{
    AuxPages, AuxRing, AuxSnapshotRing, BackwardRing, Control, ControlScope, DataRing, EventFd,
    EventTask, Kernel, OpenError, OpenFlags, OpenRequest, RingError, RingPages,
};

use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::explain::RingExplanation;
use crate::notice::{Observer, OpenCall};
use crate::plan::{OpenSite, Plan, PlannedEvent, RingKey, RingKind, TargetTask};
use crate::system;

/// An event with its descriptors.
#[derive(Debug)]
pub struct OpenEvent {
    /// One descriptor a site where the event could be opened.
    pub fds: Vec<(OpenSite, EventFd)>,
    /// The kernel's id of each descriptor.
    pub ids: Vec<EventId>,
    /// The kind of the rings that take its records.
    pub ring_kind: RingKind,
    /// It has a trace, for which its rings have an area.
    pub is_traced: bool,
    /// It counts while the leader of its group does.
    pub follows_leader: bool,
    /// It counts from its opening on.
    pub counts_at_once: bool,
}

/// The rings of a plan.
#[derive(Debug, Default)]
pub struct MappedRings {
    /// Those that are drained as they fill, by their owners.
    pub forward: Vec<(RingKey, DataRing)>,
    /// Those that keep the newest records, by their owners.
    pub backward: Vec<(RingKey, BackwardRing)>,
    /// The areas of traces, by the owners of the rings that they belong to.
    pub traces: Vec<(RingKey, AuxArea)>,
}

/// An area for hardware trace.
#[derive(Debug)]
pub enum AuxArea {
    /// The whole trace comes through it.
    Whole(AuxRing),
    /// It keeps the newest trace.
    Newest(AuxSnapshotRing),
}

/// The sizes of rings, and of the areas for traces that belong to some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingSizes {
    /// Pages of a ring of records.
    pub records: RingPages,
    /// The areas, in a recording with a trace.
    pub areas: Option<AuxAreaSizes>,
}

impl From<RingPages> for RingSizes {
    fn from(records: RingPages) -> RingSizes {
        RingSizes {
            records,
            areas: None,
        }
    }
}

/// Areas for traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuxAreaSizes {
    /// Pages of each.
    pub pages: RingPages,
    /// They keep the newest trace.
    pub keeps_newest: bool,
}

/// All descriptors of a plan, in its order.
#[derive(Debug)]
pub struct OpenEvents {
    /// The events.
    pub events: Vec<OpenEvent>,
    /// Threads that ended before they could be opened.
    pub gone: Vec<Tid>,
}

/// An event that the kernel does not open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The event's index in the plan.
    pub event: usize,
    /// The site where it was to be opened.
    pub site: OpenSite,
    /// The kernel's answer.
    pub error: OpenError,
}

/// Opens one event at its sites, and tells of each call.
struct Opener<'a> {
    kernel: &'a dyn Kernel,
    event: &'a PlannedEvent,
    workload: Option<Tid>,
    observer: &'a mut dyn Observer,
    /// The next call is the event's first.
    is_first: bool,
}

impl Opener<'_> {
    fn open(&mut self, site: OpenSite, group: Option<&EventFd>) -> Result<EventFd, OpenError> {
        let request = OpenRequest {
            attr: &self.event.attr,
            task: task(self.event, self.workload, site)?,
            cpu: site.cpu,
            group,
            flags: OpenFlags::default(),
        };
        let opened = self.kernel.open(&request);
        self.observer.tried(&OpenCall {
            event: self.event,
            is_first: std::mem::replace(&mut self.is_first, false),
            arguments: request.arguments(),
            answer: opened
                .as_ref()
                .map(AsRawFd::as_raw_fd)
                .map_err(|error| *error),
        });
        opened
    }
}

/// Whose events are counted at a site of an event.
fn task(
    event: &PlannedEvent,
    workload: Option<Tid>,
    site: OpenSite,
) -> Result<EventTask<'_>, OpenError> {
    Ok(match site.task {
        TargetTask::Anyone => match &event.request.cgroup {
            Some(cgroup) => EventTask::Cgroup(cgroup.directory()),
            None => EventTask::Any,
        },
        TargetTask::Workload => EventTask::Thread(workload.ok_or(OpenError::NoSuchTask)?),
        TargetTask::Thread(tid) => EventTask::Thread(tid),
    })
}

impl OpenEvents {
    /// Opens every event of `plan`; `workload` stands in for its own task. `observer` sees each call.
    ///
    /// # Errors
    /// The first refusal; nothing stays open then.
    pub fn open(
        kernel: &dyn Kernel,
        plan: &Plan,
        workload: Option<Tid>,
        observer: &mut dyn Observer,
    ) -> Result<OpenEvents, Refusal> {
        let mut open = OpenEvents {
            events: Vec::new(),
            gone: Vec::new(),
        };
        for (index, event) in plan.events.iter().enumerate() {
            let mut opener = Opener {
                kernel,
                event,
                workload,
                observer: &mut *observer,
                is_first: true,
            };
            let fds = open.open_event(&mut opener, index)?;
            open.events.push(OpenEvent {
                fds,
                ids: Vec::new(),
                ring_kind: event.ring_kind(),
                is_traced: event.request.aux.is_traced,
                follows_leader: event.request.leader.is_some(),
                counts_at_once: !event.attr.flags.contains(AttrFlags::DISABLED),
            });
        }
        Ok(open)
    }

    fn open_event(
        &mut self,
        opener: &mut Opener<'_>,
        index: usize,
    ) -> Result<Vec<(OpenSite, EventFd)>, Refusal> {
        let mut fds = Vec::new();
        let mut last_gone = None;
        for &site in &opener.event.sites {
            match self.open_site(opener, site) {
                Ok(fd) => fds.push((site, fd)),
                Err(OpenError::NoSuchTask) => last_gone = Some(self.thread_gone(site)),
                Err(error) => {
                    return Err(Refusal {
                        event: index,
                        site,
                        error,
                    });
                }
            }
        }
        match last_gone {
            Some(site) if fds.is_empty() => Err(Refusal {
                event: index,
                site,
                error: OpenError::NoSuchTask,
            }),
            _ => Ok(fds),
        }
    }

    fn open_site(&self, opener: &mut Opener<'_>, site: OpenSite) -> Result<EventFd, OpenError> {
        let leader = opener.event.request.leader;
        let group = leader.and_then(|leader| self.fd_at(leader, site));
        if leader.is_some() && group.is_none() {
            return Err(OpenError::NoSuchTask);
        }
        opener.open(site, group)
    }

    fn fd_at(&self, event: usize, site: OpenSite) -> Option<&EventFd> {
        let fds = &self.events.get(event)?.fds;
        fds.iter().find(|(own, _)| *own == site).map(|(_, fd)| fd)
    }

    fn thread_gone(&mut self, site: OpenSite) -> OpenSite {
        if let TargetTask::Thread(tid) = site.task
            && !self.gone.contains(&tid)
        {
            self.gone.push(tid);
        }
        site
    }

    /// Lets each event of `plan` sample only what its filter lets through.
    ///
    /// # Errors
    /// A filter that the kernel does not take.
    pub fn set_filters(&self, kernel: &dyn Kernel, plan: &Plan) -> Result<(), CaptureError> {
        let events = self.events.iter().zip(&plan.events);
        for (event, planned) in events {
            let fds = event.fds.iter().map(|(_, fd)| fd);
            set_filter(kernel, &planned.request, fds)?;
        }
        Ok(())
    }

    /// Maps a ring of each kind that is wanted for each owner of the plan, and sends the output of all its events there.
    /// Also asks for the ids.
    ///
    /// # Errors
    /// The kernel's answer to the mapping, the redirection or the question.
    pub fn map_rings(
        &mut self,
        kernel: &dyn Kernel,
        owners: &[RingKey],
        sizes: RingSizes,
    ) -> Result<MappedRings, RingError> {
        let pages = sizes.records;
        let mut rings = MappedRings::default();
        for &key in owners {
            match (self.trace_of(key), sizes.areas) {
                (Some(owner), Some(areas)) => {
                    let (ring, area) = map_with_area(kernel, owner, pages, areas)?;
                    rings.forward.push((key, ring));
                    rings.traces.push((key, area));
                }
                _ => {
                    if let Some(owner) = self.owner_of(key, RingKind::Forward) {
                        rings.forward.push((key, kernel.map_ring(owner, pages)?));
                    }
                }
            }
            if let Some(owner) = self.owner_of(key, RingKind::Backward) {
                let ring = kernel.map_backward_ring(owner, pages)?;
                rings.backward.push((key, ring));
            }
            for kind in RingKind::ALL {
                self.redirect(kernel, key, kind)
                    .map_err(|error| ring_error(&error, pages))?;
            }
        }
        self.read_ids(kernel)
            .map_err(|error| ring_error(&error, pages))?;
        Ok(rings)
    }

    /// Asks for the ids of all descriptors.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn read_ids(&mut self, kernel: &dyn Kernel) -> io::Result<()> {
        for event in &mut self.events {
            let ids = event.fds.iter().map(|(_, fd)| kernel.id(fd));
            event.ids = ids.collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    /// Sends the records of the events behind the first one to the ring of the first one.
    fn redirect(&self, kernel: &dyn Kernel, key: RingKey, kind: RingKind) -> io::Result<()> {
        let mut fds = self.fds_of(key, kind);
        let Some(owner) = fds.next() else {
            return Ok(());
        };
        fds.try_for_each(|fd| kernel.control(fd, Control::SetOutput(owner)))
    }

    /// The descriptor that the ring of this kind belongs to; none when no event wants one, or all its tasks are gone.
    pub fn owner_of(&self, key: RingKey, kind: RingKind) -> Option<&EventFd> {
        self.fds_of(key, kind).next()
    }

    /// The descriptors whose records go to the rings of this owner, each with that which its ring belongs to; `None` is itself.
    pub(crate) fn ring_users(&self, key: RingKey) -> Vec<(RawFd, Option<RawFd>)> {
        let of_kind = |kind| {
            let owner = self.owner_of(key, kind).map(AsRawFd::as_raw_fd);
            let users = self.fds_of(key, kind).map(AsRawFd::as_raw_fd);
            users.map(move |user| (user, owner.filter(|&owner| owner != user)))
        };
        RingKind::ALL.into_iter().flat_map(of_kind).collect()
    }

    /// The descriptor whose trace goes to the area of this owner.
    pub fn trace_of(&self, key: RingKey) -> Option<&EventFd> {
        let traced = self.events.iter().filter(|event| event.is_traced);
        let mut fds = traced.flat_map(|event| &event.fds);
        fds.find(|(site, _)| key.takes(*site)).map(|(_, fd)| fd)
    }

    /// The descriptors whose records go to the ring of this kind; the first one owns it.
    fn fds_of(&self, key: RingKey, kind: RingKind) -> impl Iterator<Item = &EventFd> {
        let events = self.events.iter();
        let fds = events
            .filter(move |event| event.ring_kind == kind)
            .flat_map(|event| &event.fds);
        fds.filter(move |(site, _)| key.takes(*site))
            .map(|(_, fd)| fd)
    }

    /// Starts the counting of everything that is not counting, CPU by CPU; members follow their leaders.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn enable(&self, kernel: &dyn Kernel) -> io::Result<()> {
        OpenEvents::control_by_cpu(
            self.events.iter(),
            kernel,
            Control::Enable(ControlScope::Event),
        )
    }

    /// Stops the counting of everything; what has counted from its opening on comes last: it tracks tasks.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn disable(&self, kernel: &dyn Kernel) -> io::Result<()> {
        let stop = Control::Disable(ControlScope::Event);
        let (at_once, others): (Vec<&OpenEvent>, Vec<&OpenEvent>) =
            self.events.iter().partition(|event| event.counts_at_once);
        OpenEvents::control_by_cpu(others.into_iter(), kernel, stop)?;
        OpenEvents::control_by_cpu(at_once.into_iter(), kernel, stop)
    }

    /// Starts or stops the counting of all events, or of those of a name, and returns whether there are any. What tracks
    /// tasks alone goes on.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn set_counting(
        &self,
        kernel: &dyn Kernel,
        plan: &Plan,
        name: Option<&str>,
        counts: bool,
    ) -> io::Result<bool> {
        let control = match counts {
            true => Control::Enable(ControlScope::Event),
            false => Control::Disable(ControlScope::Event),
        };
        let is_meant = |planned: &PlannedEvent| match name {
            Some(name) => planned.request.name == name,
            None => !planned.carries_only_other_records(),
        };
        let events = self.events.iter().zip(&plan.events);
        let mut is_known = false;
        for (event, _) in events.filter(|(_, planned)| is_meant(planned)) {
            is_known = true;
            let mut fds = event.fds.iter();
            fds.try_for_each(|(_, fd)| kernel.control(fd, control))?;
        }
        Ok(is_known)
    }

    /// Switches these events, CPU by CPU.
    fn control_by_cpu<'a>(
        events: impl Iterator<Item = &'a OpenEvent>,
        kernel: &dyn Kernel,
        control: Control<'_>,
    ) -> io::Result<()> {
        let leaders = events.filter(|event| !event.follows_leader);
        let mut fds: Vec<&(OpenSite, EventFd)> = leaders.flat_map(|event| &event.fds).collect();
        fds.sort_by_key(|(site, _)| site.cpu);
        fds.iter()
            .try_for_each(|(_, fd)| kernel.control(fd, control))
    }

    /// The samples that the kernel could not write, for each descriptor with any: the event's index in the plan, the id,
    /// and how many.
    pub fn lost_samples(&self, kernel: &dyn Kernel, plan: &Plan) -> Vec<(usize, EventId, u64)> {
        let events = self.events.iter().zip(&plan.events).enumerate();
        events
            .filter(|(_, (_, planned))| planned.attr.read_format.contains(ReadFormat::LOST))
            .flat_map(|(index, (event, _))| {
                let fds = event.fds.iter().zip(&event.ids);
                fds.filter_map(move |((_, fd), &id)| {
                    let read = kernel.read(fd).ok()?;
                    let own = read
                        .values
                        .iter()
                        .find(|value| value.id.is_none_or(|own| own == id))?;
                    own.lost
                        .filter(|lost| *lost > 0)
                        .map(|lost| (index, id, lost))
                })
            })
            .collect()
    }
}

/// Lets an event that is open at `fds` count only what its filter lets through.
///
/// # Errors
/// The kernel does not take the filter.
pub(crate) fn set_filter<'f>(
    kernel: &dyn Kernel,
    request: &EventRequest,
    mut fds: impl Iterator<Item = &'f EventFd>,
) -> Result<(), CaptureError> {
    let Some(filter) = &request.filter else {
        return Ok(());
    };
    let failed = |source| CaptureError::Filter {
        event: request.name.clone(),
        filter: filter.clone(),
        source,
    };
    let text = CString::new(filter.as_str()).map_err(|error| failed(error.into()))?;
    fds.try_for_each(|fd| kernel.control(fd, Control::SetFilter(&text)))
        .map_err(failed)
}

/// The error for rings that the kernel does not map.
pub(crate) fn unmapped(error: RingError, sizes: RingSizes) -> CaptureError {
    CaptureError::Ring(RingExplanation {
        error,
        sizes,
        limit_kb: system::ring_memory_limit(),
    })
}

fn map_with_area(
    kernel: &dyn Kernel,
    owner: &EventFd,
    records: RingPages,
    areas: AuxAreaSizes,
) -> Result<(DataRing, AuxArea), RingError> {
    let pages = AuxPages {
        data: records,
        aux: areas.pages,
    };
    if areas.keeps_newest {
        let (ring, area) = kernel.map_aux_snapshot(owner, pages)?;
        return Ok((ring, AuxArea::Newest(area)));
    }
    let (ring, area) = kernel.map_aux(owner, pages)?;
    Ok((ring, AuxArea::Whole(area)))
}

fn ring_error(error: &io::Error, pages: RingPages) -> RingError {
    RingError::Map {
        bytes: pages.bytes(),
        errno: oxperf_sys::Errno::of(error),
    }
}
