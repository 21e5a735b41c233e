//! The table of the features behind the data, and access to each.

use oxperf_abi::FileOffset;
use oxperf_wire::{Cursor, Encoder, Endian};

use super::layout::Layout;
use crate::features::{FeatureContext, NrCpus, recode};
use crate::{Damage, DamageList, DataError, Feature, FeatureBits, FeatureId, Section};

/// The features of a recording. Each is located on opening and decoded when asked for, so that a broken one spoils
/// nothing but itself.
#[derive(Clone, Debug)]
pub struct Features<'a> {
    endian: Endian,
    place: Place<'a>,
}

/// The source of the bytes.
#[derive(Clone, Debug)]
enum Place<'a> {
    /// Behind the data of a file.
    File(Located<'a>),
    /// In records of a stream, kept in their order.
    Records(Vec<(FeatureId, Vec<u8>)>),
}

/// The content of the table behind the data.
#[derive(Clone, Debug)]
struct Located<'a> {
    file: &'a [u8],
    sections: Vec<(FeatureId, Section)>,
    missing_table: Vec<FeatureId>,
    table: u64,
}

impl<'a> Features<'a> {
    /// Reads the table: one section for each set bit, lowest bit first.
    pub(super) fn locate(
        file: &'a [u8],
        endian: Endian,
        layout: &Layout,
        damage: &mut DamageList,
    ) -> Features<'a> {
        let table = layout.table;
        let size = Section::STORED * layout.features.iter().count() as u64;
        let mut cursor = Cursor::new(
            Section {
                offset: table,
                size,
            }
            .slice(file),
            endian,
        );
        let (mut sections, mut missing_table) = (Vec::new(), Vec::new());
        for id in layout.features.iter() {
            match Section::decode(&mut cursor) {
                Ok(section) => sections.push((id, section)),
                Err(_) => missing_table.push(id),
            }
        }
        damage.extend(
            sections
                .iter()
                .filter_map(|(id, section)| outside(*id, *section, file)),
        );
        if !missing_table.is_empty() {
            let (offset, found) = (FileOffset(table), (sections.len() as u64) * Section::STORED);
            damage.add(Damage::PartCut {
                part: "table of features",
                offset,
                expected: size,
                found,
            });
        }
        Features {
            endian,
            place: Place::File(Located {
                file,
                sections,
                missing_table,
                table,
            }),
        }
    }

    /// The features that came as records.
    pub fn of_stream(features: Vec<(FeatureId, Vec<u8>)>, endian: Endian) -> Features<'static> {
        Features {
            endian,
            place: Place::Records(features),
        }
    }

    /// The byte order of what they hold.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// The set bits, also of features whose bytes are not in the file.
    pub fn bits(&self) -> FeatureBits {
        match &self.place {
            Place::File(located) => located.bits(),
            Place::Records(features) => features.iter().map(|(id, _)| *id).collect(),
        }
    }

    /// The section of a feature's bytes in the file; `None` when its bit is not set, and for all of a stream.
    ///
    /// # Errors
    /// The table is cut before its entry.
    pub fn section(&self, id: FeatureId) -> Result<Option<Section>, DataError> {
        match &self.place {
            Place::File(located) => located.section(id),
            Place::Records(_) => Ok(None),
        }
    }

    /// A feature's bytes as they are; `None` when its bit is not set.
    ///
    /// # Errors
    /// The bytes or the table's entry are not in the file.
    pub fn raw(&self, id: FeatureId) -> Result<Option<&[u8]>, DataError> {
        match &self.place {
            Place::File(located) => located.raw(id),
            Place::Records(features) => Ok(features
                .iter()
                .find(|(found, _)| *found == id)
                .map(|(_, bytes)| bytes.as_slice())),
        }
    }

    /// A feature's value; `None` when its bit is not set.
    ///
    /// # Errors
    /// The bytes are not in the file or do not decode.
    pub fn get<F: Feature>(&self) -> Result<Option<F>, DataError> {
        let Some(bytes) = self.raw(F::ID)? else {
            return Ok(None);
        };
        let decoded = F::decode(&mut Cursor::new(bytes, self.endian), &self.context());
        decoded.map(Some).map_err(|source| DataError::Feature {
            feature: F::ID,
            source,
        })
    }

    /// A feature's bytes in another byte order; `None` when its bit is not set, or where its numbers lie is not known.
    ///
    /// # Errors
    /// As [`Features::get`].
    pub fn in_order(&self, id: FeatureId, endian: Endian) -> Result<Option<Vec<u8>>, DataError> {
        let Some(bytes) = self.raw(id)? else {
            return Ok(None);
        };
        let mut encoder = Encoder::new(endian);
        match recode(
            id,
            &mut Cursor::new(bytes, self.endian),
            &self.context(),
            &mut encoder,
        ) {
            Some(Ok(())) => Ok(Some(encoder.into_bytes())),
            Some(Err(source)) => Err(DataError::Feature {
                feature: id,
                source,
            }),
            None => Ok(None),
        }
    }

    /// The values that some features need of others.
    fn context(&self) -> FeatureContext {
        let bare = FeatureContext::default();
        let cpus = self.raw(FeatureId::NRCPUS).ok().flatten();
        let cpus =
            cpus.and_then(|bytes| NrCpus::decode(&mut Cursor::new(bytes, self.endian), &bare).ok());
        FeatureContext {
            cpus_available: cpus.map(|cpus| cpus.available),
        }
    }
}

/// Tells that the file ends before a feature does.
fn outside(id: FeatureId, section: Section, file: &[u8]) -> Option<Damage> {
    let found = section.slice(file).len() as u64;
    let (part, offset, expected) = (
        id.name().unwrap_or("feature"),
        FileOffset(section.offset),
        section.size,
    );
    (found < expected).then_some(Damage::PartCut {
        part,
        offset,
        expected,
        found,
    })
}

impl<'a> Located<'a> {
    fn bits(&self) -> FeatureBits {
        let located = self.sections.iter().map(|(id, _)| *id);
        located.chain(self.missing_table.iter().copied()).collect()
    }

    fn section(&self, id: FeatureId) -> Result<Option<Section>, DataError> {
        if self.missing_table.contains(&id) {
            let offset = FileOffset(self.table);
            return Err(DataError::FeatureCut {
                feature: id,
                offset,
                expected: Section::STORED,
                found: 0,
            });
        }
        Ok(self
            .sections
            .iter()
            .find(|(found, _)| *found == id)
            .map(|(_, section)| *section))
    }

    fn raw(&self, id: FeatureId) -> Result<Option<&'a [u8]>, DataError> {
        let Some(section) = self.section(id)? else {
            return Ok(None);
        };
        let bytes = section.slice(self.file);
        if (bytes.len() as u64) < section.size {
            let (offset, found) = (FileOffset(section.offset), bytes.len() as u64);
            return Err(DataError::FeatureCut {
                feature: id,
                offset,
                expected: section.size,
                found,
            });
        }
        Ok(Some(bytes))
    }
}
