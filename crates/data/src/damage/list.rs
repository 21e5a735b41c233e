//! Damage in bounded memory: the first stretches one by one, all of them in sums.

use std::fmt;

use super::Damage;

/// The damage of a recording. A file can be broken in more places than anybody wants to read about: the first ones are
/// listed, the others are counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DamageList {
    listed: Vec<Damage>,
    unlisted: u64,
    lost_bytes: u64,
}

impl DamageList {
    /// Number of those that are listed one by one.
    pub const LISTED: usize = 32;

    /// Adds one more.
    pub fn add(&mut self, damage: Damage) {
        self.lost_bytes = self.lost_bytes.saturating_add(damage.lost_bytes());
        if self.listed.len() < Self::LISTED {
            self.listed.push(damage);
        } else {
            self.unlisted += 1;
        }
    }

    /// Adds all of a list that was made behind this one.
    pub fn append(&mut self, later: DamageList) {
        let (unlisted, lost_bytes) = (
            later.unlisted,
            self.lost_bytes.saturating_add(later.lost_bytes),
        );
        later.listed.into_iter().for_each(|damage| self.add(damage));
        self.unlisted = self.unlisted.saturating_add(unlisted);
        self.lost_bytes = lost_bytes;
    }

    /// The first ones, in the order in which they were met.
    pub fn listed(&self) -> &[Damage] {
        &self.listed
    }

    /// Their number beside the listed ones.
    pub fn unlisted(&self) -> u64 {
        self.unlisted
    }

    /// Their number.
    pub fn count(&self) -> u64 {
        self.listed.len() as u64 + self.unlisted
    }

    /// Returns whether nothing is broken.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Bytes of data that all of them lose, as far as they can be counted.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }
}

impl Extend<Damage> for DamageList {
    fn extend<T: IntoIterator<Item = Damage>>(&mut self, damage: T) {
        damage.into_iter().for_each(|one| self.add(one));
    }
}

impl FromIterator<Damage> for DamageList {
    fn from_iter<T: IntoIterator<Item = Damage>>(damage: T) -> DamageList {
        let mut list = DamageList::default();
        list.extend(damage);
        list
    }
}

/// A line for each listed one, and one for all others.
impl fmt::Display for DamageList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.listed
            .iter()
            .try_for_each(|damage| writeln!(f, "{damage}"))?;
        if self.unlisted > 0 {
            writeln!(
                f,
                "{} more damaged places, {} bytes of data lost in all",
                self.unlisted, self.lost_bytes
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use oxperf_abi::FileOffset;

    use super::*;

    #[test]
    fn the_first_are_listed_and_all_are_counted() {
        let gap = |at| Damage::Gap {
            from: FileOffset(at),
            to: FileOffset(at + 24),
        };
        let list: DamageList = (0..40).map(|index| gap(100 * index)).collect();
        assert_eq!(
            (
                list.listed().len(),
                list.unlisted(),
                list.count(),
                list.lost_bytes()
            ),
            (32, 8, 40, 960)
        );
        let mut twice = list.clone();
        twice.append(list.clone());
        assert_eq!(
            (twice.listed().len(), twice.count(), twice.lost_bytes()),
            (32, 80, 1920)
        );
        let text = list.to_string();
        assert!(
            text.starts_with("no records from 0x0 to 0x18: 24 bytes of data skipped\n"),
            "{text}"
        );
        assert!(
            text.ends_with("\n8 more damaged places, 960 bytes of data lost in all\n"),
            "{text}"
        );
    }
}
