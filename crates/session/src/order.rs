//! Putting records in time order with bounded memory.
//!
//! Records of one CPU are in order, those of different CPUs are not. The recorder marks rounds: once it has emptied
//! every ring twice, nothing older can still come. So a mark releases what is not younger than the youngest record at
//! the mark before.
//!
//! ```text
//! time of records:   3 1 5 | 4 7 6 | 9 8 |
//! released at marks:     -       1 3 4 5   6 7
//! ```

use oxperf_abi::PerfTime;

/// Records that wait for their turn.
#[derive(Debug)]
pub(crate) struct Order<T> {
    waiting: Vec<(PerfTime, T)>,
    /// Empty, with memory for those that wait on when others are released.
    spare: Vec<(PerfTime, T)>,
    youngest: PerfTime,
    /// The time up to which the next mark releases records, as the last one said.
    limit: PerfTime,
    released: PerfTime,
    out_of_order: u64,
}

impl<T> Order<T> {
    pub(crate) fn new() -> Order<T> {
        let (zero, waiting, spare) = (PerfTime(0), Vec::new(), Vec::new());
        Order {
            waiting,
            spare,
            youngest: zero,
            limit: zero,
            released: zero,
            out_of_order: 0,
        }
    }

    /// Takes a record.
    #[inline]
    pub(crate) fn push(&mut self, time: PerfTime, record: T) {
        self.out_of_order += u64::from(time < self.released);
        self.youngest = self.youngest.max(time);
        self.waiting.push((time, record));
    }

    /// A round is finished: gives what can be released, oldest first; equal times keep the order they came in.
    pub(crate) fn finish_round(&mut self) -> Vec<(PerfTime, T)> {
        let limit = std::mem::replace(&mut self.limit, self.youngest);
        self.waiting.sort_by_key(|(time, _)| *time);
        let count = self.waiting.partition_point(|(time, _)| *time <= limit);
        self.release(count)
    }

    /// The recording is at its end: gives everything.
    pub(crate) fn finish(&mut self) -> Vec<(PerfTime, T)> {
        self.waiting.sort_by_key(|(time, _)| *time);
        self.release(self.waiting.len())
    }

    fn release(&mut self, count: usize) -> Vec<(PerfTime, T)> {
        let mut rest = std::mem::take(&mut self.spare);
        rest.extend(self.waiting.drain(count..));
        let ready = std::mem::replace(&mut self.waiting, rest);
        if let Some((time, _)) = ready.last() {
            self.released = self.released.max(*time);
        }
        ready
    }

    /// Takes the list of what was released back, for its memory.
    pub(crate) fn take_back(&mut self, mut released: Vec<(PerfTime, T)>) {
        released.clear();
        self.spare = released;
    }

    /// Records that came after younger ones had been released.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.out_of_order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays records and marks (`|`), and writes what each mark and the end release.
    fn play(script: &str) -> (String, u64) {
        let mut order = Order::new();
        let text =
            |ready: &[(PerfTime, char)]| ready.iter().map(|(_, name)| name).collect::<String>();
        let mut out = Vec::new();
        for item in script.chars() {
            match item.to_digit(36) {
                Some(time) => order.push(PerfTime(u64::from(time)), item),
                None => {
                    let ready = order.finish_round();
                    out.push(text(&ready));
                    order.take_back(ready);
                }
            }
        }
        out.push(text(&order.finish()));
        (out.join("|"), order.out_of_order())
    }

    #[test]
    fn a_mark_releases_up_to_the_mark_before() {
        assert_eq!(play("315|476|98|"), ("|1345|67|89".to_owned(), 0));
    }

    #[test]
    fn late_records_are_counted_and_come_out_at_once() {
        assert_eq!(play("5|6|3|7"), ("|5|36|7".to_owned(), 1));
    }

    #[test]
    fn without_marks_everything_waits_for_the_end() {
        assert_eq!(play("321"), ("123".to_owned(), 0));
    }
}
