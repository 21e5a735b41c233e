//! Mappings and the table of those that hold in one address space.

use std::ops::Range;
use std::sync::Arc;

use crate::{DsoId, Located};

/// The number of a mapping in its machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MapId(pub u32);

/// One mapping as it was recorded; later mappings may hide parts of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Map {
    /// First address.
    pub start: u64,
    /// Address behind the last.
    pub end: u64,
    /// What is mapped.
    pub dso: DsoId,
    /// Added to an address, modulo 2^64, it gives the address in the dso.
    pub bias: u64,
    /// `PROT_*` bits; 0 when the record did not say.
    pub prot: u32,
    /// `MAP_*` bits; 0 when the record did not say.
    pub flags: u32,
    /// File offset of the first address, as recorded.
    pub file_offset: u64,
    /// The file's inode when the record told it.
    pub inode: Option<u64>,
}

impl Map {
    /// The address in the dso's own space: a file offset, or the address itself for kernels and plain memory.
    #[inline]
    pub fn dso_address(&self, address: u64) -> u64 {
        address.wrapping_add(self.bias)
    }

    /// Whether it was mapped to be executed.
    pub(crate) fn is_code(&self) -> bool {
        const PROT_EXEC: u32 = 4;
        self.prot & PROT_EXEC != 0
    }

    /// What stretches of this mapping show.
    pub(crate) fn shown(&self, map: MapId) -> Shown {
        Shown { map, dso: self.dso, bias: self.bias }
    }
}

/// The mappings of one address space, sorted, without overlap; a copy is cheap until it is changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct MapTable {
    regions: Arc<Vec<Stretch>>,
    version: u32,
}

/// A stretch of address space that shows one mapping, with what it takes to tell the place of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stretch {
    start: u64,
    end: u64,
    shown: Shown,
}

/// Addresses that one mapping shows, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    first: u64,
    last: u64,
    shown: Option<Shown>,
}

impl Region {
    /// Where nothing is mapped at all.
    pub(crate) const NOTHING: Region = Region { first: 0, last: u64::MAX, shown: None };

    /// Whether it holds all addresses from one to another.
    #[inline]
    pub fn holds(&self, first: u64, last: u64) -> bool {
        self.first <= first && last <= self.last
    }

    /// What its addresses show.
    #[inline]
    pub fn shown(&self) -> Option<Shown> {
        self.shown
    }
}

/// What a mapping shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown {
    pub(crate) map: MapId,
    pub(crate) dso: DsoId,
    pub(crate) bias: u64,
}

impl Shown {
    /// The place of an address.
    #[inline]
    pub fn locate(self, address: u64) -> Located {
        let Shown { map, dso, bias } = self;
        Located { map, dso, address: address.wrapping_add(bias) }
    }
}

impl MapTable {
    /// The place of an address.
    #[inline]
    pub(crate) fn locate(&self, address: u64) -> Option<Located> {
        Some(self.at(address)?.shown.locate(address))
    }

    /// The region around an address.
    pub(crate) fn region(&self, address: u64) -> Region {
        let after = self.regions.partition_point(|stretch| stretch.start <= address);
        let before = after.checked_sub(1).map(|before| self.regions[before]);
        match before.filter(|stretch| address < stretch.end) {
            Some(stretch) => {
                Region { first: stretch.start, last: stretch.end - 1, shown: Some(stretch.shown) }
            }
            None => Region {
                first: before.map_or(0, |stretch| stretch.end),
                last: self.regions.get(after).map_or(u64::MAX, |stretch| stretch.start - 1),
                shown: None,
            },
        }
    }

    /// The stretch around an address, and the mapping that it shows.
    pub(crate) fn stretch(&self, address: u64) -> Option<(Range<u64>, MapId)> {
        self.at(address).map(|stretch| (stretch.start..stretch.end, stretch.shown.map))
    }

    #[inline]
    fn at(&self, address: u64) -> Option<&Stretch> {
        let after = self.regions.partition_point(|region| region.start <= address);
        self.regions.get(after.checked_sub(1)?).filter(|region| address < region.end)
    }

    /// A number that tables share only if they show the same: see [`MapTable::stamp`].
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// Gives the table a version that no other table had, because it was changed.
    pub(crate) fn stamp(&mut self, version: u32) {
        self.version = version;
    }

    /// Every stretch with what it shows, by address.
    pub(crate) fn stretches(&self) -> impl Iterator<Item = (Range<u64>, Shown)> + '_ {
        self.regions.iter().map(|region| (region.start..region.end, region.shown))
    }

    /// Puts a mapping over whatever was there.
    pub(crate) fn insert(&mut self, start: u64, end: u64, shown: Shown) {
        if start >= end {
            return;
        }
        let regions = Arc::make_mut(&mut self.regions);
        let first = regions.partition_point(|region| region.end <= start);
        let last = first + regions[first..].partition_point(|region| region.start < end);
        let left = regions[first..last]
            .first()
            .filter(|old| old.start < start)
            .map(|old| Stretch { end: start, ..*old });
        let right =
            regions[first..last].last().filter(|old| old.end > end).map(|old| Stretch { start: end, ..*old });
        let kept = left.into_iter().chain([Stretch { start, end, shown }]).chain(right);
        regions.splice(first..last, kept);
    }

    /// Puts a mapping only where nothing is.
    pub(crate) fn insert_below(&mut self, start: u64, end: u64, shown: Shown) {
        let hidden: Vec<Stretch> =
            self.regions.iter().filter(|old| old.start < end && old.end > start).copied().collect();
        self.insert(start, end, shown);
        for region in hidden {
            self.insert(region.start, region.end, region.shown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(number: u32) -> Shown {
        Shown { map: MapId(number), dso: DsoId(number), bias: 5 }
    }

    fn table(maps: &[(u64, u64)]) -> MapTable {
        let mut table = MapTable::default();
        for (index, (start, end)) in maps.iter().enumerate() {
            table.insert(*start, *end, shown(index as u32));
        }
        table
    }

    fn text(table: &MapTable) -> String {
        table.regions.iter().map(|r| format!("{}-{}:{} ", r.start, r.end, r.shown.map.0)).collect()
    }

    #[test]
    fn a_new_mapping_hides_what_it_covers() {
        assert_eq!(text(&table(&[(10, 20), (30, 40)])), "10-20:0 30-40:1 ");
        assert_eq!(text(&table(&[(10, 40), (20, 30)])), "10-20:0 20-30:1 30-40:0 ");
        assert_eq!(text(&table(&[(10, 20), (20, 30), (15, 25)])), "10-15:0 15-25:2 25-30:1 ");
        assert_eq!(text(&table(&[(10, 20), (5, 50)])), "5-50:1 ");
        assert_eq!(text(&table(&[(10, 10)])), "");
    }

    #[test]
    fn inserting_below_fills_gaps_only() {
        let mut table = table(&[(10, 20)]);
        table.insert_below(0, 30, shown(7));
        assert_eq!(text(&table), "0-10:7 10-20:0 20-30:7 ");
    }

    #[test]
    fn finding_respects_both_ends() {
        let table = table(&[(10, 20)]);
        assert_eq!(
            [9, 10, 19, 20].map(|a| table.locate(a).map(|place| place.address)),
            [None, Some(15), Some(24), None]
        );
    }

    #[test]
    fn regions_are_as_long_as_what_they_show() {
        let table = table(&[(10, 20), (20, 30), (40, 50)]);
        for (first, last, map) in [
            (0, 9, None),
            (10, 19, Some(0)),
            (20, 29, Some(1)),
            (30, 39, None),
            (40, 49, Some(2)),
            (50, u64::MAX, None),
        ] {
            for address in [first, last] {
                let region = table.region(address);
                assert_eq!((region.first, region.last), (first, last));
                assert_eq!(region.shown().map(|shown| shown.map.0), map);
                assert!(region.holds(first, last) && (last == u64::MAX || !region.holds(first, last + 1)));
            }
        }
    }
}
