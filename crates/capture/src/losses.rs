//! What was lost on the way from the kernel to the files of a recording, by event and CPU.

use std::collections::BTreeMap;

use oxperf_abi::{Cpu, EventId};
use oxperf_wire::kernel::Aux;

use crate::acquire::Acquired;
use crate::finish::Scan;

/// Records of one event that were lost on one CPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventLoss {
    /// The event.
    pub event: String,
    /// The CPU; `None` where an event follows its task.
    pub cpu: Option<Cpu>,
    /// How many.
    pub lost: u64,
}

/// Pieces of hardware traces, as the kernel announced them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TraceCount {
    /// All of them.
    pub pieces: u64,
    /// Bytes of trace in them.
    pub bytes: u64,
    /// Those behind which trace was lost, because the area was full.
    pub truncated: u64,
    /// Those with gaps, as of guests that were not traced.
    pub partial: u64,
    /// Those in which traces of several CPUs collided.
    pub collided: u64,
    /// Those of areas that keep the newest trace: what was older is gone.
    pub overwriting: u64,
}

impl TraceCount {
    pub(crate) fn take(&mut self, piece: Aux) {
        const TRUNCATED: u64 = 1;
        const OVERWRITE: u64 = 2;
        const PARTIAL: u64 = 4;
        const COLLISION: u64 = 8;
        self.add(TraceCount {
            pieces: 1,
            bytes: piece.size,
            truncated: u64::from(piece.flags & TRUNCATED != 0),
            partial: u64::from(piece.flags & PARTIAL != 0),
            collided: u64::from(piece.flags & COLLISION != 0),
            overwriting: u64::from(piece.flags & OVERWRITE != 0),
        });
    }

    pub(crate) fn add(&mut self, other: TraceCount) {
        self.pieces = self.pieces.saturating_add(other.pieces);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.truncated = self.truncated.saturating_add(other.truncated);
        self.partial = self.partial.saturating_add(other.partial);
        self.collided = self.collided.saturating_add(other.collided);
        self.overwriting = self.overwriting.saturating_add(other.overwriting);
    }

    /// Pieces of which something is missing.
    pub fn damaged(&self) -> u64 {
        self.truncated.saturating_add(self.collided)
    }
}

/// The losses so far.
#[derive(Debug, Default)]
pub(crate) struct LossCount {
    /// Samples that the kernel counted as lost, by event and place.
    counted: BTreeMap<EventId, u64>,
    /// Records that the rings report as lost.
    reported: BTreeMap<EventId, u64>,
    /// What the records of hardware traces tell.
    traces: TraceCount,
    all: u64,
}

impl LossCount {
    /// Takes what the kernel has counted by now, and returns how many of a descriptor's are new.
    pub(crate) fn take_counted(&mut self, id: EventId, lost: u64) -> u64 {
        let before = self.counted.insert(id, lost).unwrap_or(0);
        lost.saturating_sub(before)
    }

    /// Adds the losses that the records of a file tell. `counted` of them are those that the kernel counted meanwhile.
    pub(crate) fn add_file(&mut self, scan: &Scan, counted: u64) {
        self.all = self.all.saturating_add(scan.lost(counted));
        self.traces.add(scan.traces);
        for (&id, &lost) in &scan.lost_by_id {
            let so_far = self.reported.entry(id).or_default();
            *so_far = so_far.saturating_add(lost);
        }
    }

    /// All records that were lost.
    pub(crate) fn all(&self) -> u64 {
        self.all
    }

    /// What was told of hardware traces.
    pub(crate) fn traces(&self) -> TraceCount {
        self.traces
    }

    /// The losses of each event and CPU that lost any, in the order of the events. Where the rings and the kernel's counts
    /// tell of the same losses, the larger number counts.
    pub(crate) fn by_event(&self, acquired: &Acquired) -> Vec<EventLoss> {
        let mut losses: Vec<EventLoss> = Vec::new();
        for (planned, open) in acquired.plan.events.iter().zip(&acquired.open.events) {
            let mut by_cpu: BTreeMap<Option<Cpu>, u64> = BTreeMap::new();
            for ((site, _), id) in open.fds.iter().zip(&open.ids) {
                let of_id = |counts: &BTreeMap<EventId, u64>| counts.get(id).copied().unwrap_or(0);
                let lost = of_id(&self.counted).max(of_id(&self.reported));
                let so_far = by_cpu.entry(site.cpu).or_default();
                *so_far = so_far.saturating_add(lost);
            }
            let lost = by_cpu.into_iter().filter(|(_, lost)| *lost > 0);
            losses.extend(lost.map(|(cpu, lost)| EventLoss {
                event: planned.request.name.clone(),
                cpu,
                lost,
            }));
        }
        losses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_before_belongs_to_the_file_before() {
        let mut losses = LossCount::default();
        let new: Vec<u64> = [3, 3, 10]
            .into_iter()
            .map(|lost| losses.take_counted(EventId(7), lost))
            .collect();
        assert_eq!(new, [3, 0, 7]);
    }

    #[test]
    fn pieces_of_traces_are_counted_by_what_they_lack() {
        let mut count = TraceCount::default();
        for flags in [0, 1, 2, 4, 8, 9] {
            count.take(Aux {
                offset: 0,
                size: 1,
                flags,
            });
        }
        let expected = TraceCount {
            pieces: 6,
            bytes: 6,
            truncated: 2,
            partial: 1,
            collided: 2,
            overwriting: 1,
        };
        assert_eq!((count, count.damaged()), (expected, 4));
    }

    #[test]
    fn files_add_up() {
        let mut losses = LossCount::default();
        let scan = Scan {
            lost_records: 5,
            lost_by_id: BTreeMap::from([(EventId(7), 5)]),
            ..Scan::default()
        };
        losses.add_file(&scan, 2);
        losses.add_file(&scan, 9);
        assert_eq!(losses.all(), 5 + 9);
        assert_eq!(losses.reported[&EventId(7)], 10);
    }
}
