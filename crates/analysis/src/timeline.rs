//! When and where samples were taken: the samples of a call tree by stretches of time, threads and CPUs.
//!
//! A view that lets its reader choose a stretch of time, threads or CPUs needs every sample's moment, but not every
//! sample: samples that agree in stretch, thread, CPU and node of the tree become one cell.

use oxperf_abi::{Pid, Tid};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::flame::FlameWeight;
use oxperf_profile::{EventProfile, Profile, ThreadId};

/// Samples of one event by time, thread and CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The first sample's time, in nanoseconds of the recording's clock; `None` where no sample has a time.
    pub start: Option<u64>,
    /// Length of a stretch, in nanoseconds; never 0.
    pub stretch: u64,
    /// Number of stretches.
    pub stretches: u32,
    /// The threads that samples are of.
    pub threads: Vec<TimelineThread>,
    /// The pairs of a thread and a CPU that samples are of.
    pub lanes: Vec<TimelineLane>,
    /// The samples, ordered by stretch, lane and node; each combination once.
    pub cells: Vec<TimelineCell>,
}

/// A thread of a time line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineThread {
    /// Its process.
    pub pid: Pid,
    /// Its id.
    pub tid: Tid,
    /// The name it has when the recording ends.
    pub name: String,
}

/// A thread on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineLane {
    /// Index into [`Timeline::threads`].
    pub thread: u32,
    /// The CPU, where the recording tells.
    pub cpu: Option<u32>,
}

/// Samples that agree in all that a time line tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineCell {
    /// Number of the stretch; samples without a time are in the first.
    pub stretch: u32,
    /// Index into [`Timeline::lanes`].
    pub lane: u32,
    /// The node of the call tree that the samples belong to.
    pub node: u32,
    /// What they weigh.
    pub weight: FlameWeight,
}

impl TimelineCell {
    fn place(&self) -> (u32, u32, u32) {
        (self.stretch, self.lane, self.node)
    }
}

impl Timeline {
    /// Most stretches of a time line: as many as a wide screen has pixels.
    pub const MAX_STRETCHES: u32 = 2048;

    /// The time line of an event's [`moments`](EventProfile::moments), given the node of each of its groups.
    ///
    /// Stretches become longer until there are at most `max_cells` cells, or one stretch is left.
    pub fn of_event(
        profile: &Profile,
        event: &EventProfile,
        places: &[Option<u32>],
        max_cells: usize,
    ) -> Timeline {
        let times = event.moments.iter().filter_map(|moment| moment.time);
        let (start, end) = times.fold((u64::MAX, 0), |(start, end), time| {
            (start.min(time), end.max(time))
        });
        let span = end.saturating_sub(start).saturating_add(1);
        let stretch = span.div_ceil(u64::from(Timeline::MAX_STRETCHES)).max(1);
        let mut line = Timeline {
            start: (start <= end).then_some(start),
            stretch,
            stretches: u32::try_from(span.div_ceil(stretch)).unwrap_or(1),
            ..Timeline::default()
        };
        line.fill(profile, event, places, start);
        line.merge();
        while line.cells.len() > max_cells && line.stretches > 1 {
            line.lengthen();
        }
        line
    }

    /// Makes a cell of every sample.
    fn fill(
        &mut self,
        profile: &Profile,
        event: &EventProfile,
        places: &[Option<u32>],
        start: u64,
    ) {
        let mut lanes = Lanes::default();
        for moment in &event.moments {
            let group = event.groups.get(moment.group as usize);
            let Some((group, Some(node))) = group.zip(places.get(moment.group as usize).copied())
            else {
                continue;
            };
            let passed = moment.time.unwrap_or(start).saturating_sub(start);
            let lane = lanes.number(self, profile, (group.thread, moment.cpu));
            self.cells.push(TimelineCell {
                stretch: (passed / self.stretch) as u32,
                lane,
                node,
                weight: FlameWeight {
                    value: moment.period,
                    samples: 1,
                },
            });
        }
    }

    /// Makes stretches twice as long.
    fn lengthen(&mut self) {
        self.stretch = self.stretch.saturating_mul(2);
        self.stretches = self.stretches.div_ceil(2);
        self.cells.iter_mut().for_each(|cell| cell.stretch /= 2);
        self.merge();
    }

    fn merge(&mut self) {
        self.cells.par_sort_unstable_by_key(TimelineCell::place);
        self.cells.dedup_by(|cell, kept| {
            let same = cell.place() == kept.place();
            if same {
                kept.weight.add(cell.weight);
            }
            same
        });
    }
}

/// Threads and lanes by what they are.
#[derive(Default)]
struct Lanes {
    threads: FxHashMap<ThreadId, u32>,
    lanes: FxHashMap<(ThreadId, Option<u32>), u32>,
}

impl Lanes {
    /// The number of a lane; a new one is added to the time line.
    fn number(
        &mut self,
        line: &mut Timeline,
        profile: &Profile,
        lane: (ThreadId, Option<u32>),
    ) -> u32 {
        let threads = &mut self.threads;
        *self.lanes.entry(lane).or_insert_with(|| {
            let (thread, cpu) = lane;
            let thread = *threads.entry(thread).or_insert_with(|| {
                line.threads.push(describe(profile, thread));
                line.threads.len() as u32 - 1
            });
            line.lanes.push(TimelineLane { thread, cpu });
            line.lanes.len() as u32 - 1
        })
    }
}

fn describe(profile: &Profile, thread: ThreadId) -> TimelineThread {
    let Some(thread) = profile.threads.get(thread.index()) else {
        return TimelineThread {
            pid: Pid(-1),
            tid: Tid(-1),
            name: String::new(),
        };
    };
    let name = profile
        .comms
        .get(thread.comm.index())
        .cloned()
        .unwrap_or_default();
    TimelineThread {
        pid: thread.pid,
        tid: thread.tid,
        name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_profile::{
        CommId, ContextTree, DetailId, FrameId, ProfileThread, SampleGroup, SampleMoment,
    };

    fn event(moments: &[(Option<u64>, u32, u32)]) -> (Profile, EventProfile) {
        let thread = |tid| ProfileThread {
            pid: Pid(1),
            tid: Tid(tid),
            comm: CommId(0),
        };
        let profile = Profile {
            comms: vec!["app".into()],
            threads: vec![thread(1), thread(2)],
            ..Profile::default()
        };
        let group = |thread| SampleGroup {
            branch: None,
            history: None,
            thread: ThreadId(thread),
            comm: CommId(0),
            detail: DetailId(0),
            frame: FrameId(0),
            chain: ContextTree::ROOT,
            samples: 0,
            period: 0,
            latency: 0,
            order: 0,
        };
        let moments = moments.iter().map(|&(time, cpu, group)| SampleMoment {
            time,
            cpu: Some(cpu),
            group,
            period: 10,
        });
        let event = EventProfile {
            groups: vec![group(0), group(1)],
            moments: moments.collect(),
            ..EventProfile::default()
        };
        (profile, event)
    }

    fn cells(line: &Timeline) -> Vec<(u32, u32, u32, u64)> {
        line.cells
            .iter()
            .map(|c| (c.stretch, c.lane, c.node, c.weight.samples))
            .collect()
    }

    #[test]
    fn samples_that_agree_are_one_cell() {
        let (profile, event) = event(&[
            (Some(100), 0, 0),
            (Some(100), 0, 0),
            (Some(102), 0, 1),
            (Some(102), 1, 1),
        ]);
        let line = Timeline::of_event(&profile, &event, &[Some(7), Some(8)], 100);
        assert_eq!(
            (line.start, line.stretch, line.stretches),
            (Some(100), 1, 3)
        );
        assert_eq!(cells(&line), [(0, 0, 7, 2), (2, 1, 8, 1), (2, 2, 8, 1)]);
        assert_eq!(line.cells[0].weight.value, 20);
        assert_eq!(
            line.threads.iter().map(|t| t.tid.0).collect::<Vec<_>>(),
            [1, 2]
        );
        assert_eq!(
            line.lanes[2],
            TimelineLane {
                thread: 1,
                cpu: Some(1)
            }
        );
    }

    #[test]
    fn stretches_grow_until_the_cells_are_few() {
        let moments: Vec<_> = (0..4096).map(|time| (Some(time), 0, 0)).collect();
        let (profile, event) = event(&moments);
        let line = Timeline::of_event(&profile, &event, &[Some(0), Some(0)], 100);
        assert_eq!(
            (line.stretch, line.stretches, line.cells.len()),
            (64, 64, 64)
        );
        assert_eq!(
            line.cells
                .iter()
                .map(|cell| cell.weight.samples)
                .sum::<u64>(),
            4096
        );
    }

    #[test]
    fn the_ends_of_time_are_held() {
        let (profile, event) = event(&[(Some(0), 0, 0), (Some(u64::MAX), 0, 0), (None, 0, 0)]);
        let line = Timeline::of_event(&profile, &event, &[Some(0), None], 100);
        assert_eq!(cells(&line), [(0, 0, 0, 2), (line.stretches - 1, 0, 0, 1)]);
        assert!(line.stretches <= Timeline::MAX_STRETCHES);
    }

    #[test]
    fn hidden_samples_have_no_moments() {
        let (profile, mut event) = event(&[(Some(1), 0, 0), (Some(2), 0, 1), (Some(3), 0, 1)]);
        event.retain(false, |group| group.thread == ThreadId(1));
        let line = Timeline::of_event(&profile, &event, &[Some(5)], 100);
        assert_eq!(
            (line.start, cells(&line)),
            (Some(2), vec![(0, 0, 5, 1), (1, 0, 5, 1)])
        );
        assert_eq!(line.threads[0].tid, Tid(2));
    }

    #[test]
    fn without_times_there_is_one_stretch() {
        let (profile, event) = event(&[(None, 0, 0), (None, 1, 9)]);
        let line = Timeline::of_event(&profile, &event, &[Some(3), None], 100);
        assert_eq!(
            (line.start, line.stretches, cells(&line)),
            (None, 1, vec![(0, 0, 3, 1)])
        );
        assert_eq!(
            Timeline::of_event(&profile, &EventProfile::default(), &[], 1).cells,
            []
        );
    }
}
