//! Events whose samples count alike, as one.

use crate::{EventProfile, SampleMoment};

impl EventProfile {
    /// The samples of several events as those of one, whose name is made of theirs. Their periods have to be of one unit.
    /// Groups stay apart: whoever aggregates adds up those that are alike.
    pub fn joined(events: &[&EventProfile]) -> EventProfile {
        let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
        let mut joined = EventProfile {
            name: names.join(EventProfile::BETWEEN_NAMES),
            ..EventProfile::default()
        };
        for event in events {
            joined.add(event);
        }
        joined
    }

    /// Stands between the names of joined events.
    pub const BETWEEN_NAMES: &str = " + ";

    /// `true` if the periods of the event, or of joined events, are nanoseconds.
    pub fn counts_time(name: &str) -> bool {
        let is_time = |name: &str| {
            let name = name.split(':').next();
            matches!(name, Some("cpu-clock" | "task-clock" | "offcpu-time"))
        };
        name.split(EventProfile::BETWEEN_NAMES).all(is_time)
    }

    fn add(&mut self, event: &EventProfile) {
        let before = self.groups.len();
        let moved = |group: u32| u32::try_from(before + group as usize).unwrap_or(u32::MAX);
        let moments = event.moments.iter().map(|moment| SampleMoment {
            group: moved(moment.group),
            ..*moment
        });
        self.moments.extend(moments);
        self.groups.extend_from_slice(&event.groups);
        self.addresses.extend(&event.addresses);
        self.has_callchains |= event.has_callchains;
        self.lost = self.lost.saturating_add(event.lost);
        self.sample_count = self.sample_count.saturating_add(event.sample_count);
        self.period_total = self.period_total.saturating_add(event.period_total);
        self.latency_total = self.latency_total.saturating_add(event.latency_total);
        self.hidden = self.hidden.saturating_add(event.hidden);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CommId, DetailId, FrameId, NodeId, SampleGroup, ThreadId};

    fn event(name: &str, periods: &[u64]) -> EventProfile {
        let group = |period: &u64| SampleGroup {
            thread: ThreadId(0),
            comm: CommId(0),
            detail: DetailId(0),
            frame: FrameId(0),
            branch: None,
            chain: NodeId(0),
            history: None,
            samples: 1,
            period: *period,
            latency: 0,
            order: 0,
        };
        let moment = |(place, period): (usize, &u64)| SampleMoment {
            time: Some(place as u64),
            cpu: None,
            group: place as u32,
            period: *period,
        };
        EventProfile {
            name: name.to_owned(),
            groups: periods.iter().map(group).collect(),
            moments: periods.iter().enumerate().map(moment).collect(),
            sample_count: periods.len() as u64,
            period_total: periods.iter().sum(),
            ..EventProfile::default()
        }
    }

    #[test]
    fn moments_stay_with_their_groups() {
        let (on, off) = (event("cpu-clock", &[1, 2]), event("offcpu-time", &[30]));
        let joined = EventProfile::joined(&[&on, &off]);
        assert_eq!(joined.name, "cpu-clock + offcpu-time");
        assert_eq!((joined.sample_count, joined.period_total), (3, 33));
        for moment in &joined.moments {
            let group = joined.groups[moment.group as usize];
            assert_eq!(group.period, moment.period);
        }
    }
}
