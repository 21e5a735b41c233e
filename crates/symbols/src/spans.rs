//! Ranges that may overlap, cut so that each address has one owner: what begins later interrupts what began before.

use std::ops::Range;

/// Stretches of addresses that do not overlap, each with its owner.
#[derive(Debug)]
pub(crate) struct Spans<T> {
    spans: Vec<Span<T>>,
    index: Index,
}

#[derive(Clone, Copy, Debug)]
struct Span<T> {
    start: u64,
    end: u64,
    owner: T,
}

impl<T> Default for Spans<T> {
    fn default() -> Spans<T> {
        Spans {
            spans: Vec::new(),
            index: Index::default(),
        }
    }
}

impl<T: Copy> Spans<T> {
    /// Cuts ranges that come in order of their starts, each as (start, end, owner).
    pub(crate) fn cut(ranges: impl ExactSizeIterator<Item = (u64, u64, T)>) -> Spans<T> {
        let mut cutter = Cutter {
            spans: Vec::with_capacity(ranges.len()),
            open: Vec::new(),
            at: 0,
        };
        for (start, end, owner) in ranges {
            cutter.open(start, end, owner);
        }
        cutter.close_until(u64::MAX);
        let spans = cutter.spans;
        Spans {
            index: Index::of(spans.iter().map(|span| span.start)),
            spans,
        }
    }

    /// The owner of an address.
    pub(crate) fn find(&self, address: u64) -> Option<T> {
        let part = self.index.part(address);
        let after = part.start
            + self
                .spans
                .get(part)?
                .partition_point(|span| span.start <= address);
        let span = self.spans.get(after.checked_sub(1)?)?;
        (address < span.end).then_some(span.owner)
    }

    /// All stretches, as (start, end).
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.spans.iter().map(|span| (span.start, span.end))
    }
}

/// An index to search in: numbers that ascend, parted by equal stretches of what they are, about one number a stretch.
#[derive(Debug, Default)]
struct Index {
    first: u64,
    /// A stretch is two to this power long.
    bits: u32,
    /// Number of numbers that lie before each stretch, and behind the last all of them.
    before: Vec<u32>,
}

impl Index {
    fn of(numbers: impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + Clone) -> Index {
        let (Some(first), Some(last)) = (numbers.clone().next(), numbers.clone().next_back())
        else {
            return Index::default();
        };
        let bits = (0..64)
            .find(|bits| (last - first) >> bits <= numbers.len() as u64)
            .unwrap_or(63);
        let mut before = Vec::with_capacity(((last - first) >> bits) as usize + 2);
        let count = numbers.len() as u32;
        for (nth, number) in (0..count).zip(numbers) {
            before.resize(
                before.len().max(((number - first) >> bits) as usize + 1),
                nth,
            );
        }
        before.push(count);
        Index {
            first,
            bits,
            before,
        }
    }

    /// The numbers of the stretch that a number belongs to. All before them are less, and all behind them greater.
    fn part(&self, number: u64) -> Range<usize> {
        let Some(behind) = number.checked_sub(self.first) else {
            return 0..0;
        };
        let all = self.before.last().copied().unwrap_or(0);
        let before = |stretch: u64| {
            let known = usize::try_from(stretch)
                .ok()
                .and_then(|stretch| self.before.get(stretch));
            *known.unwrap_or(&all) as usize
        };
        let stretch = behind >> self.bits;
        before(stretch)..before(stretch.saturating_add(1))
    }
}

/// Walks ranges in order of their starts and emits spans.
struct Cutter<T> {
    spans: Vec<Span<T>>,
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
            self.spans.push(Span {
                start: self.at,
                end,
                owner,
            });
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
        let owners: Vec<Option<char>> = [9, 10, 19, 20, 29, 30, 49, 50, 60]
            .into_iter()
            .map(|address| spans.find(address))
            .collect();
        let (a, b) = (Some('a'), Some('b'));
        assert_eq!(owners, [None, a, a, b, b, a, a, None, None]);
    }

    #[test]
    fn an_index_leads_to_where_a_search_of_all_numbers_ends() {
        let near = (0..500u64)
            .map(|nth| 0x1000 + nth * nth % 7 + 8 * nth)
            .collect();
        let lists: [Vec<u64>; 5] = [
            vec![],
            vec![5],
            vec![0, u64::MAX],
            vec![3, 4, 5, 1 << 40, (1 << 40) + 1],
            near,
        ];
        for numbers in lists {
            let index = Index::of(numbers.iter().copied());
            let around =
                |&number: &u64| [number.saturating_sub(1), number, number.saturating_add(1)];
            for number in numbers.iter().flat_map(around).chain([0, 99, u64::MAX]) {
                let part = index.part(number);
                let found = part.start + numbers[part].partition_point(|&known| known <= number);
                assert_eq!(
                    found,
                    numbers.partition_point(|&known| known <= number),
                    "{number} in {numbers:?}"
                );
            }
        }
    }
}
