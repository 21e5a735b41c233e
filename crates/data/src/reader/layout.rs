//! Layout of a file: the sections of its records and features as its header states them, or as they are found when
//! that is wrong.

use oxperf_abi::FileOffset;
use oxperf_wire::{Cursor, Endian};

use super::Records;
use super::framing::Framing;
use super::sanity::SanityCheck;
use crate::{Damage, DamageList, FeatureBits, FileHeader, Section};

/// The parts of the header that can be believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    /// The records, as far as the file has them.
    pub(super) data: Section,
    /// The features that have a place in the table.
    pub(super) features: FeatureBits,
    /// Start of the table of the features.
    pub(super) table: u64,
}

/// Room that a recorder leaves in the table for features that it may not write.
const MOST_PLACES: u64 = 256 * Section::STORED;

impl Layout {
    /// Looks where the parts of `file` are.
    pub(super) fn find(
        file: &[u8],
        endian: Endian,
        header: &FileHeader,
        damage: &mut DamageList,
    ) -> Layout {
        let looked = Look {
            file,
            endian,
            header,
        };
        let begin = looked.begin_of_data(damage);
        let stated = Section {
            offset: begin,
            size: header.data.size,
        };
        let moved = begin != header.data.offset;
        let left = (file.len() as u64).saturating_sub(begin);
        let credible = stated.size > 0 && stated.size <= left && !moved;
        if looked.is_unfinished() && !moved {
            return looked.unfinished(stated, left, damage);
        }
        if credible && looked.table_is_there(stated.end()) {
            return Layout {
                data: stated,
                features: header.features,
                table: stated.end(),
            };
        }
        match looked.end_of_data(begin) {
            Some(end) => {
                let found = end - begin;
                looked.tell_size(begin, found, damage);
                Layout {
                    data: Section {
                        offset: begin,
                        size: found,
                    },
                    features: header.features,
                    table: end,
                }
            }
            None => looked.without_table(stated, left, moved, damage),
        }
    }
}

/// A file and what its header says about it.
struct Look<'a> {
    file: &'a [u8],
    endian: Endian,
    header: &'a FileHeader,
}

impl<'a> Look<'a> {
    fn records_from(&self, offset: u64) -> Records<'a> {
        let size = (self.file.len() as u64).saturating_sub(offset);
        let plausible = SanityCheck::new(Framing {
            endian: self.endian,
        });
        Records::new(self.file, Section { offset, size }, plausible)
    }

    /// The first record that is found from `offset` on.
    fn first_record(&self, offset: u64) -> Option<u64> {
        self.records_from(offset)
            .find_map(Result::ok)
            .map(|raw| raw.offset.0)
    }

    /// Offset of the first record. Where the header says so there is one, unless it lies or the first one is broken.
    fn begin_of_data(&self, damage: &mut DamageList) -> u64 {
        let (stated, length) = (self.header.data.offset, self.file.len() as u64);
        let least = self
            .header
            .size
            .clamp(FileHeader::SIZE_WITHOUT_FEATURES, FileHeader::SIZE);
        let possible = (least..=length).contains(&stated);
        if possible
            && (stated == length
                || self
                    .records_from(stated)
                    .next()
                    .is_some_and(|first| first.is_ok()))
        {
            return stated;
        }
        let found = self.first_record(least);
        let begin = if possible {
            found.filter(|found| *found < stated)
        } else {
            found
        };
        match begin {
            Some(found) => {
                damage.add(Damage::DataMisplaced {
                    stated: FileOffset(stated),
                    found: FileOffset(found),
                });
                found
            }
            None => stated.min(length),
        }
    }

    /// Returns whether the places of all features are in the file; so it is without any.
    fn table_is_there(&self, table: u64) -> bool {
        let length = self.file.len() as u64;
        let mut places = self.places(table);
        let possible = |place: Section| {
            place.offset >= FileHeader::SIZE_WITHOUT_FEATURES && place.end() <= length
        };
        self.header
            .features
            .iter()
            .all(|_| places.next().is_some_and(possible))
    }

    /// Returns whether a table stands here that nothing else can be: features one behind another, the first behind the
    /// table.
    fn is_table(&self, table: u64) -> bool {
        let count = self.header.features.iter().count();
        let least = table.saturating_add(Section::STORED * count as u64);
        let mut places = self.places(table).take(count);
        let Some(first) = places.next() else {
            return false;
        };
        let mut end = first.end();
        let one_by_one = places.by_ref().all(|place| {
            let fits = place.offset == end;
            end = place.end();
            fits
        });
        let near = (least..=table.saturating_add(MOST_PLACES)).contains(&first.offset);
        near && one_by_one && end <= self.file.len() as u64 && self.table_is_there(table)
    }

    fn places(&self, table: u64) -> impl Iterator<Item = Section> + 'a {
        let bytes = Section {
            offset: table,
            size: MOST_PLACES,
        }
        .slice(self.file);
        let mut cursor = Cursor::new(bytes, self.endian);
        std::iter::from_fn(move || Section::decode(&mut cursor).ok())
    }

    /// Returns whether the header is one that a recorder writes before its end: it claims data and no features, which
    /// every recorder adds when it closes a file. Versions without features cannot say so.
    fn is_unfinished(&self) -> bool {
        let header = self.header;
        header.size == FileHeader::SIZE && header.data.size > 0 && header.features.is_empty()
    }

    /// The data of a file that was not closed: as far as the header claims, and whole records behind that, which a
    /// recorder wrote before it could claim them.
    fn unfinished(&self, stated: Section, left: u64, damage: &mut DamageList) -> Layout {
        let mut data = Section {
            size: stated.size.min(left),
            ..stated
        };
        if data.size < stated.size {
            self.tell_size(data.offset, data.size, damage);
        }
        let behind = Section {
            offset: data.end(),
            size: left - data.size,
        }
        .slice(self.file);
        data.size += Framing {
            endian: self.endian,
        }
        .whole_records(behind) as u64;
        damage.add(Damage::NotFinished {
            offset: FileOffset(data.offset),
            found: data.size,
        });
        Layout {
            data,
            features: FeatureBits::default(),
            table: data.end(),
        }
    }

    /// End of the records and begin of the table of the features, when there is such a place.
    fn end_of_data(&self, begin: u64) -> Option<u64> {
        let mut end = begin;
        for item in self.records_from(begin) {
            match item {
                Ok(raw) => {
                    end = raw.offset.0 + u64::from(raw.header.size) + raw.payload.len() as u64
                }
                Err(damage) if self.is_table(damage.offset().0) => return Some(damage.offset().0),
                Err(_) => {}
            }
        }
        Some(end).filter(|end| self.is_table(*end))
    }

    /// Tells that the header states a wrong size.
    fn tell_size(&self, begin: u64, found: u64, damage: &mut DamageList) {
        let (offset, expected) = (FileOffset(begin), self.header.data.size);
        if expected == 0 {
            damage.add(Damage::NotFinished { offset, found });
        } else if expected != found {
            damage.add(Damage::PartCut {
                part: "data",
                offset,
                expected,
                found,
            });
        }
    }

    /// The data of a file whose table of features is not found.
    fn without_table(
        &self,
        stated: Section,
        left: u64,
        moved: bool,
        damage: &mut DamageList,
    ) -> Layout {
        let size = if moved || stated.size == 0 {
            left
        } else {
            stated.size.min(left)
        };
        if stated.size == 0 || size < stated.size {
            self.tell_size(stated.offset, size, damage);
        }
        // Behind data whose end is not known stands no table that could be known.
        let unknown = moved || stated.size == 0;
        let features = if unknown {
            FeatureBits::default()
        } else {
            self.header.features
        };
        Layout {
            data: Section { size, ..stated },
            features,
            table: stated.end(),
        }
    }
}
