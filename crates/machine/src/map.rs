//! Mappings and the table of those that hold in one address space.

use std::ops::Range;

use crate::range_map::{MappedRange, RangeMap};
use crate::{DsoId, MappedAddress};

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
    /// The dso that is mapped.
    pub dso: DsoId,
    /// Added to an address, modulo 2^64, it gives the address in the dso.
    pub bias: u64,
    /// `PROT_*` bits, where a record says them; an MMAP record says only whether code may run.
    pub prot: Option<u32>,
    /// `MAP_*` bits, where a record says them.
    pub flags: Option<u32>,
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

    /// Returns whether it was mapped to be executed; `None` where no record says it.
    pub fn is_executable(&self) -> Option<bool> {
        const PROT_EXEC: u32 = 4;
        self.prot.map(|prot| prot & PROT_EXEC != 0)
    }

    /// `true` if it may hold code: mappings of records that do not say it may.
    pub fn may_be_run(&self) -> bool {
        self.is_executable().unwrap_or(true)
    }

    /// The object that regions of this mapping show.
    pub(crate) fn shown(&self, map: MapId) -> MappedObject {
        MappedObject {
            map,
            dso: self.dso,
            bias: self.bias,
        }
    }
}

/// The mappings of one address space; a copy shares what is not changed afterwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct MapTable {
    mapped: RangeMap,
    /// The ranges that show where none of the former lies: a kernel's image, under its modules.
    below: RangeMap,
    version: u32,
}

/// Addresses that one mapping shows, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) shown: Option<MappedObject>,
}

impl Region {
    /// The region of an empty address space.
    pub(crate) const NOTHING: Region = Region {
        first: 0,
        last: u64::MAX,
        shown: None,
    };

    /// Returns whether it holds all addresses from one to another.
    #[inline]
    pub fn holds(&self, first: u64, last: u64) -> bool {
        self.first <= first && last <= self.last
    }

    /// The object that its addresses show; `None` where nothing is mapped.
    #[inline]
    pub fn shown(&self) -> Option<MappedObject> {
        self.shown
    }

    /// The part of another region that lies in this one.
    fn part_of(self, other: Region) -> Region {
        Region {
            first: self.first.max(other.first),
            last: self.last.min(other.last),
            ..other
        }
    }
}

/// The object that a mapping shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MappedObject {
    pub(crate) map: MapId,
    pub(crate) dso: DsoId,
    pub(crate) bias: u64,
}

impl MappedObject {
    /// The place of an address.
    #[inline]
    pub fn locate(self, address: u64) -> MappedAddress {
        let MappedObject { map, dso, bias } = self;
        MappedAddress {
            map,
            dso,
            address: address.wrapping_add(bias),
        }
    }
}

impl MapTable {
    /// The place of an address.
    #[inline]
    pub(crate) fn locate(&self, address: u64) -> Option<MappedAddress> {
        let stretch = self.mapped.at(address).or_else(|| self.below.at(address))?;
        Some(stretch.shown.locate(address))
    }

    /// The region around an address.
    pub(crate) fn region(&self, address: u64) -> Region {
        let region = self.mapped.region(address);
        if region.shown.is_some() {
            region
        } else {
            region.part_of(self.below.region(address))
        }
    }

    /// The stretch around an address, and the mapping that it shows.
    pub(crate) fn stretch(&self, address: u64) -> Option<(Range<u64>, MapId)> {
        let Region { first, last, shown } = self.region(address);
        shown.map(|shown| (first..last + 1, shown.map))
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
    pub(crate) fn stretches(&self) -> impl Iterator<Item = (Range<u64>, MappedObject)> + '_ {
        let mut next = Some(0);
        let regions = std::iter::from_fn(move || {
            let region = self.region(next?);
            next = region.last.checked_add(1);
            Some(region)
        });
        regions
            .filter_map(|Region { first, last, shown }| shown.map(|shown| (first..last + 1, shown)))
    }

    /// Puts a mapping over whatever was there.
    pub(crate) fn insert(&mut self, start: u64, end: u64, shown: MappedObject) {
        self.mapped.insert(MappedRange { start, end, shown });
    }

    /// Puts a mapping from an address on only where nothing is.
    pub(crate) fn insert_below(&mut self, start: u64, shown: MappedObject) {
        // All of them go on to the end of memory.
        let end = self.below.start().unwrap_or(u64::MAX);
        self.below.insert(MappedRange { start, end, shown });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(number: u32) -> MappedObject {
        MappedObject {
            map: MapId(number),
            dso: DsoId(number),
            bias: 5,
        }
    }

    fn table(maps: &[(u64, u64)]) -> MapTable {
        let mut table = MapTable::default();
        for (index, (start, end)) in maps.iter().enumerate() {
            table.insert(*start, *end, shown(index as u32));
        }
        table
    }

    fn text(table: &MapTable) -> String {
        table
            .stretches()
            .map(|(r, shown)| format!("{}-{}:{} ", r.start, r.end, shown.map.0))
            .collect()
    }

    #[test]
    fn a_new_mapping_hides_what_it_covers() {
        assert_eq!(text(&table(&[(10, 20), (30, 40)])), "10-20:0 30-40:1 ");
        assert_eq!(
            text(&table(&[(10, 40), (20, 30)])),
            "10-20:0 20-30:1 30-40:0 "
        );
        assert_eq!(
            text(&table(&[(10, 20), (20, 30), (15, 25)])),
            "10-15:0 15-25:2 25-30:1 "
        );
        assert_eq!(text(&table(&[(10, 20), (5, 50)])), "5-50:1 ");
        assert_eq!(text(&table(&[(10, 10)])), "");
    }

    #[test]
    fn inserting_below_fills_gaps_only() {
        let mut table = table(&[(10, 20)]);
        table.insert_below(5, shown(7));
        table.insert_below(0, shown(8));
        table.insert_below(12, shown(9));
        table.insert(30, 40, shown(1));
        let end = u64::MAX;
        assert_eq!(
            text(&table),
            format!("0-5:8 5-10:7 10-20:0 20-30:7 30-40:1 40-{end}:7 ")
        );
        assert_eq!(table.stretch(25), Some((20..30, MapId(7))));
        assert_eq!(table.locate(25), Some(shown(7).locate(25)));
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
                assert!(
                    region.holds(first, last)
                        && (last == u64::MAX || !region.holds(first, last + 1))
                );
            }
        }
    }
}
