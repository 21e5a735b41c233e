//! The samples of an event, thread by thread.

use oxperf_profile::{ProfileThread, SampleMoment, ThreadId};

use super::Exported;

/// A thread and its samples in the order of time.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) thread: ProfileThread,
    pub(super) samples: Vec<Placed>,
}

/// A sample and where its stack stands in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Nanoseconds since the first sample of the event. Without times every sample counts as one nanosecond.
    pub(super) since_start: u64,
    pub(super) cpu: Option<u32>,
    pub(super) node: u32,
    pub(super) period: u64,
}

/// Each thread with samples, in the order of their first ones.
pub(super) fn lanes(exported: &Exported<'_>) -> Vec<Lane> {
    let event = exported.event;
    let first = event
        .moments
        .iter()
        .filter_map(|moment| moment.time)
        .min()
        .unwrap_or(0);
    let mut lane_of: Vec<Option<usize>> = vec![None; exported.profile.threads.len()];
    let mut lanes: Vec<Lane> = Vec::new();
    for (nth, moment) in (0u64..).zip(&event.moments) {
        let Some((thread, placed)) = place(
            exported,
            moment,
            moment.time.map_or(nth, |time| time - first),
        ) else {
            continue;
        };
        let Some(slot) = lane_of.get_mut(thread.index()) else {
            continue;
        };
        let lane = *slot.get_or_insert_with(|| {
            lanes.push(Lane {
                thread: exported.profile.threads[thread.index()],
                samples: Vec::new(),
            });
            lanes.len() - 1
        });
        lanes[lane].samples.push(placed);
    }
    lanes
}

fn place(
    exported: &Exported<'_>,
    moment: &SampleMoment,
    since_start: u64,
) -> Option<(ThreadId, Placed)> {
    let group = exported.event.groups.get(moment.group as usize)?;
    let node = (*exported.places.get(moment.group as usize)?)?;
    Some((
        group.thread,
        Placed {
            since_start,
            cpu: moment.cpu,
            node,
            period: moment.period,
        },
    ))
}

impl Lane {
    /// The thread's name at the end of the recording.
    pub(super) fn name<'a>(&self, exported: &Exported<'a>) -> &'a str {
        exported
            .profile
            .comms
            .get(self.thread.comm.index())
            .map_or("", String::as_str)
    }
}
