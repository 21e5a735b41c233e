//! The samples of each event and thread, in the order of time.

use oxperf_profile::{NodeId, ProfileThread, ThreadId};

use super::super::code::CodeExport;

/// A thread with its samples of one event.
#[derive(Debug)]
pub(super) struct CodeTrack {
    /// The place of the event.
    pub(super) event: usize,
    pub(super) thread: ProfileThread,
    pub(super) samples: Vec<CodeSample>,
}

/// A sample and its stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeSample {
    /// Nanoseconds since the first sample of all events. Without times every sample counts as one nanosecond.
    pub(super) since_start: u64,
    pub(super) cpu: Option<u32>,
    pub(super) chain: NodeId,
    pub(super) period: u64,
}

/// Event after event, each thread with samples, in the order of their first ones.
pub(super) fn tracks(code: &CodeExport<'_>) -> Vec<CodeTrack> {
    let moments = code.events.iter().flat_map(|event| &event.moments);
    let first = moments.filter_map(|moment| moment.time).min().unwrap_or(0);
    let mut tracks: Vec<CodeTrack> = Vec::new();
    for (event, profile) in code.events.iter().enumerate() {
        let mut track_of: Vec<Option<usize>> = vec![None; code.profile.threads.len()];
        for (nth, moment) in (0u64..).zip(&profile.moments) {
            let Some(group) = profile.groups.get(moment.group as usize) else {
                continue;
            };
            let sample = CodeSample {
                since_start: moment.time.map_or(nth, |time| time - first),
                cpu: moment.cpu,
                chain: group.chain,
                period: moment.period,
            };
            let ThreadId(number) = group.thread;
            let thread = code.profile.threads.get(number as usize).copied();
            let Some((slot, thread)) = track_of.get_mut(number as usize).zip(thread) else {
                continue;
            };
            let track = *slot.get_or_insert_with(|| {
                tracks.push(CodeTrack {
                    event,
                    thread,
                    samples: Vec::new(),
                });
                tracks.len() - 1
            });
            tracks[track].samples.push(sample);
        }
    }
    tracks
}

impl CodeTrack {
    pub(super) fn is_main(&self) -> bool {
        self.thread.pid.0 == self.thread.tid.0
    }

    /// The thread's name at the end of the recording.
    pub(super) fn name<'a>(&self, code: &CodeExport<'a>) -> &'a str {
        let comm = code.profile.comms.get(self.thread.comm.index());
        comm.map_or("", String::as_str)
    }
}
