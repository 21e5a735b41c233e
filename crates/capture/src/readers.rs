//! Whoever drains the rings of a recording: the recorder's own thread, or several.

use oxperf_abi::Cpu;
use oxperf_data::WriteError;
use oxperf_sys::{DataRing, EventFd};

use crate::acquire::Acquired;
use crate::control::RecordingControl;
use crate::drain::{self, Drain, DrainShare, DrainThreads, Drained, RingToOutput};
use crate::error::CaptureError;
use crate::host_files::HostFiles;
use crate::options::{Draining, ReaderAffinity, RecordOptions, ThreadMasks};
use crate::output::{RecordOutput, RecordingPart};
use crate::plan::{MachineInfo, RingKey, RingKind};
use crate::wake::DRAIN_INTERVAL;

/// The readers of the rings that fill.
pub(crate) enum RingReaders {
    /// The recorder's own thread, into one output.
    Own(Box<Drain>),
    /// Several threads, each ring into a file of its own; none where no ring fills, nor any more once they were stopped.
    Threads(Option<DrainThreads<RecordingPart>>),
}

/// The threads that drain, if there are to be any beside the recorder's own.
///
/// # Errors
/// The user states what cannot be.
pub(crate) fn thread_masks(
    options: &RecordOptions,
    machine: &MachineInfo,
) -> Result<Option<Vec<ThreadMasks>>, CaptureError> {
    let Draining::Threads(layout) = &options.draining else {
        return Ok(None);
    };
    if options.target.per_thread {
        return Err(CaptureError::ThreadsOfTasks);
    }
    let places = HostFiles::this(&options.sysfs).cpus();
    let masks = drain::threads_of(layout, &machine.online, &places);
    masks.map(Some).map_err(CaptureError::Threads)
}

impl RingReaders {
    /// The recorder's own thread is woken by the rings, and drains them all: beside others that keep the newest records or
    /// alone.
    pub(crate) fn own(
        drain: Drain,
        acquired: &Acquired,
        control: &mut RecordingControl,
        beside_newest: bool,
    ) -> RingReaders {
        for (key, owner, kind) in owners(acquired) {
            match acquired.plan.is_of_target(key) {
                true => control.watch_ring(owner, kind),
                // It outlives every task.
                false => control.watch_event(owner),
            }
        }
        RingReaders::Own(Box::new(if beside_newest {
            drain.without_rounds()
        } else {
            drain
        }))
    }

    /// Starts the threads that drain these rings of CPUs; what none of `masks` drains is drained by one more.
    ///
    /// # Errors
    /// The rings are those of tasks, or no thread is to be had.
    pub(crate) fn threads(
        masks: Vec<ThreadMasks>,
        rings: Vec<((RingKey, DataRing), RecordingPart)>,
        acquired: &Acquired,
        control: &mut RecordingControl,
    ) -> Result<RingReaders, CaptureError> {
        for (_, owner, _) in owners(acquired) {
            control.watch_end_of_ring(owner);
        }
        if rings.is_empty() {
            // All keep the newest records: nothing is drained.
            return Ok(RingReaders::Threads(None));
        }
        let threads = DrainThreads::start(shares(masks, rings, acquired)?, DRAIN_INTERVAL);
        let threads = threads.map_err(CaptureError::ThreadStart)?;
        control.watch_threads(&threads);
        Ok(RingReaders::Threads(Some(threads)))
    }

    /// Moves what is in the rings, unless threads do. Returns how many bytes were moved.
    ///
    /// # Errors
    /// The output refuses.
    pub(crate) fn pass(&mut self, output: &mut impl RecordOutput) -> Result<u64, WriteError> {
        match self {
            RingReaders::Own(drain) => drain.pass(output),
            RingReaders::Threads(_) => Ok(0),
        }
    }

    /// As [`RingReaders::pass`], for a pass that is the last one to an output.
    ///
    /// # Errors
    /// The output refuses.
    pub(crate) fn last_pass(&mut self, output: &mut impl RecordOutput) -> Result<u64, WriteError> {
        match self {
            RingReaders::Own(drain) => drain.last_pass(output),
            RingReaders::Threads(_) => Ok(0),
        }
    }

    /// Has the threads drain once more and end, if there are any, and gives what they wrote.
    pub(crate) fn stop(&mut self) -> Vec<Drained<RecordingPart>> {
        match self {
            RingReaders::Own(_) => Vec::new(),
            RingReaders::Threads(threads) => {
                threads.take().map_or_else(Vec::new, DrainThreads::finish)
            }
        }
    }
}

/// The CPUs to which the recorder moves to drain each ring; none where it stays.
pub(crate) fn homes(rings: &[(RingKey, DataRing)], options: &RecordOptions) -> Vec<Vec<Cpu>> {
    let affinity = match &options.draining {
        Draining::Alone(affinity) if *affinity != ReaderAffinity::System => *affinity,
        Draining::Alone(_) | Draining::Threads(_) => return Vec::new(),
    };
    let places = HostFiles::this(&options.sysfs).cpus();
    let home = |(key, _): &(RingKey, DataRing)| match key {
        RingKey::Cpu(cpu) => drain::home(affinity, *cpu, &places),
        RingKey::Task(_) => Vec::new(),
    };
    rings.iter().map(home).collect()
}

/// The descriptors that rings belong to, with what each ring is of.
fn owners(acquired: &Acquired) -> impl Iterator<Item = (RingKey, &EventFd, RingKind)> {
    acquired.plan.rings.iter().flat_map(move |&key| {
        let owner = move |kind| Some((key, acquired.open.owner_of(key, kind)?, kind));
        RingKind::ALL.into_iter().filter_map(owner)
    })
}

fn shares(
    masks: Vec<ThreadMasks>,
    rings: Vec<((RingKey, DataRing), RecordingPart)>,
    acquired: &Acquired,
) -> Result<Vec<DrainShare<'_, RecordingPart>>, CaptureError> {
    let empty = |runs_on| DrainShare {
        runs_on,
        rings: Vec::new(),
    };
    let masks = masks.into_iter();
    let (drains, mut shares): (Vec<_>, Vec<_>) =
        masks.map(|mask| (mask.drains, empty(mask.runs_on))).unzip();
    shares.push(empty(Vec::new()));
    for ((key, ring), output) in rings {
        let RingKey::Cpu(cpu) = key else {
            return Err(CaptureError::ThreadsOfTasks);
        };
        let drainer = drains.iter().position(|cpus| cpus.contains(&cpu));
        let share = shares.get_mut(drainer.unwrap_or(drains.len()));
        let owner = acquired.open.owner_of(key, RingKind::Forward);
        if let (Some(share), Some(owner)) = (share, owner) {
            share.rings.push(RingToOutput {
                owner,
                ring,
                output,
            });
        }
    }
    Ok(shares)
}
