//! Sets of CPUs as the kernel writes them: lists like `0-3,8` and masks like `ff,00000003`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A set of small numbers: CPUs or nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct CpuSet(BTreeSet<u32>);

/// A text that is no list or mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NotACpuSet;

impl CpuSet {
    /// More CPUs than any kernel is built for; keeps a senseless range from filling the memory.
    const LIMIT: u32 = 1 << 20;

    /// The numbers, rising.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    /// The number of CPUs.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The highest.
    pub(super) fn highest(&self) -> Option<u32> {
        self.0.last().copied()
    }

    /// Reads a mask: hexadecimal words of 32 bits, the highest first.
    pub(super) fn from_mask(mask: &str) -> Option<CpuSet> {
        let mut set = BTreeSet::new();
        for (word, digits) in mask.rsplit(',').enumerate() {
            let bits = u32::from_str_radix(digits, 16).ok()?;
            let base = u32::try_from(word * 32)
                .ok()
                .filter(|base| *base < Self::LIMIT)?;
            set.extend(
                (0..32)
                    .filter(|bit| bits >> bit & 1 == 1)
                    .map(|bit| base + bit),
            );
        }
        Some(CpuSet(set))
    }

    /// The runs of neighbours: first and last.
    fn runs(&self) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for cpu in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == cpu => *last = cpu,
                _ => runs.push((cpu, cpu)),
            }
        }
        runs
    }
}

impl FromStr for CpuSet {
    type Err = NotACpuSet;

    fn from_str(list: &str) -> Result<CpuSet, NotACpuSet> {
        let mut set = BTreeSet::new();
        for range in list.trim().split(',').filter(|range| !range.is_empty()) {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let first: u32 = first.parse().map_err(|_| NotACpuSet)?;
            let last: u32 = last.parse().map_err(|_| NotACpuSet)?;
            if last >= Self::LIMIT {
                return Err(NotACpuSet);
            }
            set.extend(first..=last);
        }
        Ok(CpuSet(set))
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.runs().into_iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_and_print() {
        for list in ["0", "0-3", "0-3,8,10-11", ""] {
            assert_eq!(list.parse::<CpuSet>().unwrap().to_string(), list);
        }
        assert_eq!("0-3,8".parse::<CpuSet>().unwrap().len(), 5);
        assert_eq!("0-3,8".parse::<CpuSet>().unwrap().highest(), Some(8));
        for bad in ["a", "1-", "0-4294967295"] {
            assert_eq!(bad.parse::<CpuSet>(), Err(NotACpuSet), "{bad}");
        }
    }

    #[test]
    fn masks_read() {
        assert_eq!(CpuSet::from_mask("3").unwrap().to_string(), "0-1");
        assert_eq!(
            CpuSet::from_mask("1,80000001").unwrap().to_string(),
            "0,31-32"
        );
        assert_eq!(CpuSet::from_mask("x"), None);
    }
}
