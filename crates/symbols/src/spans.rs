//! Ranges that may overlap, cut so that each address has one owner: what begins later interrupts what began before.

/// Stretches of addresses that do not overlap, each with its owner.
#[derive(Debug)]
pub(crate) struct Spans<T> {
    /// Apart from the rest, so that a search touches little memory.
    starts: Vec<u64>,
    spans: Vec<Span<T>>,
}

#[derive(Clone, Copy, Debug)]
struct Span<T> {
    end: u64,
    owner: T,
}

impl<T> Default for Spans<T> {
    fn default() -> Spans<T> {
        Spans { starts: Vec::new(), spans: Vec::new() }
    }
}

impl<T: Copy> Spans<T> {
    /// Cuts ranges that come in order of their starts, each as (start, end, owner).
    pub(crate) fn cut(ranges: impl ExactSizeIterator<Item = (u64, u64, T)>) -> Spans<T> {
        let room = ranges.len();
        let spans = Spans { starts: Vec::with_capacity(room), spans: Vec::with_capacity(room) };
        let mut cutter = Cutter { spans, open: Vec::new(), at: 0 };
        for (start, end, owner) in ranges {
            cutter.open(start, end, owner);
        }
        cutter.close_until(u64::MAX);
        cutter.spans
    }

    /// The owner of an address.
    pub(crate) fn find(&self, address: u64) -> Option<T> {
        let after = self.starts.partition_point(|&start| start <= address);
        let span = self.spans.get(after.checked_sub(1)?)?;
        (address < span.end).then_some(span.owner)
    }

    /// All stretches, as (start, end).
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.starts.iter().zip(&self.spans).map(|(&start, span)| (start, span.end))
    }
}

/// Walks ranges in order of their starts and emits spans.
struct Cutter<T> {
    spans: Spans<T>,
    /// Ranges that have begun and not ended, the innermost last.
    open: Vec<(u64, T)>,
    at: u64,
}

impl<T: Copy> Cutter<T> {
    fn open(&mut self, start: u64, end: u64, owner: T) {
        self.close_until(start);
        if end > start {
            self.open.push((end, owner));
        }
        self.at = start;
    }

    /// Emits all spans before `limit` and drops the ranges that end there.
    fn close_until(&mut self, limit: u64) {
        while let Some(&(end, owner)) = self.open.last() {
            self.emit(end.min(limit), owner);
            if end > limit {
                break;
            }
            self.open.pop();
        }
    }

    fn emit(&mut self, end: u64, owner: T) {
        if end > self.at {
            self.spans.starts.push(self.at);
            self.spans.spans.push(Span { end, owner });
            self.at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_range_interrupts_the_outer_one() {
        let spans = Spans::cut([(10, 50, 'a'), (20, 30, 'b'), (60, 60, 'c')].into_iter());
        let owners: Vec<Option<char>> =
            [9, 10, 19, 20, 29, 30, 49, 50, 60].into_iter().map(|address| spans.find(address)).collect();
        let (a, b) = (Some('a'), Some('b'));
        assert_eq!(owners, [None, a, a, b, b, a, a, None, None]);
    }
}
