//! What the counters of threads stood at when the threads ended, where the recorder asked for that.

use oxperf_abi::{Pid, Tid};

/// The values of all threads, in the order in which these ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadCounters {
    /// The events that were counted, in the order in which they were met: indices of the recording's events.
    pub events: Vec<usize>,
    /// The threads.
    pub threads: Vec<CountedThread>,
}

/// A thread and what was counted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedThread {
    /// Its process.
    pub pid: Pid,
    /// Its own id.
    pub tid: Tid,
    /// The values of [`ThreadCounters::events`]; what is missing at the end was not counted.
    pub values: Vec<u64>,
}

impl ThreadCounters {
    /// Adds what one counter of a thread stood at: an event may have one for each CPU.
    pub fn add(&mut self, pid: Pid, tid: Tid, event: usize, value: u64) {
        let column = place(&mut self.events, |known| *known == event, || event);
        let is_known = |thread: &CountedThread| (thread.pid, thread.tid) == (pid, tid);
        let row = place(&mut self.threads, is_known, || CountedThread {
            pid,
            tid,
            values: Vec::new(),
        });
        let values = &mut self.threads[row].values;
        values.resize(values.len().max(column + 1), 0);
        values[column] = values[column].wrapping_add(value);
    }
}

/// Where an entry stands, searched from the end; it is appended if there is none.
fn place<T>(list: &mut Vec<T>, is_it: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    list.iter().rposition(is_it).unwrap_or_else(|| {
        list.push(make());
        list.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_one_event_add_up() {
        let mut counters = ThreadCounters::default();
        counters.add(Pid(1), Tid(2), 3, 10);
        counters.add(Pid(1), Tid(3), 4, 7);
        counters.add(Pid(1), Tid(2), 3, 5);
        assert_eq!(counters.events, [3, 4]);
        assert_eq!(counters.threads[0].values, [15]);
        assert_eq!(counters.threads[1].values, [0, 7]);
    }
}
