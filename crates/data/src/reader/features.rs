//! The table of the features behind the data, and access to each.

use oxperf_abi::FileOffset;
use oxperf_wire::{Cursor, Endian};

use crate::features::{FeatureContext, NrCpus};
use crate::{DataError, Feature, FeatureBits, FeatureId, FileHeader, Section};

/// The features of a file. Each is located on opening and decoded when asked for, so that a broken one spoils
/// nothing but itself.
#[derive(Clone, Debug)]
pub struct Features<'a> {
    file: &'a [u8],
    endian: Endian,
    sections: Vec<(FeatureId, Section)>,
    missing_table: Vec<FeatureId>,
    table: u64,
}

impl<'a> Features<'a> {
    /// Reads the table: one section for each set bit, lowest bit first.
    pub(super) fn locate(file: &'a [u8], endian: Endian, header: &FileHeader) -> Features<'a> {
        let table = header.feature_table_offset();
        let size = Section::STORED * header.features.iter().count() as u64;
        let mut cursor = Cursor::new(Section { offset: table, size }.slice(file), endian);
        let (mut sections, mut missing_table) = (Vec::new(), Vec::new());
        for id in header.features.iter() {
            match Section::decode(&mut cursor) {
                Ok(section) => sections.push((id, section)),
                Err(_) => missing_table.push(id),
            }
        }
        Features { file, endian, sections, missing_table, table }
    }

    /// The set bits, also of features whose bytes are not in the file.
    pub fn bits(&self) -> FeatureBits {
        let located = self.sections.iter().map(|(id, _)| *id);
        located.chain(self.missing_table.iter().copied()).collect()
    }

    /// Where a feature's bytes stand; `None` when its bit is not set.
    ///
    /// # Errors
    /// The table is cut before its entry.
    pub fn section(&self, id: FeatureId) -> Result<Option<Section>, DataError> {
        if self.missing_table.contains(&id) {
            let offset = FileOffset(self.table);
            return Err(DataError::FeatureCut { feature: id, offset, expected: Section::STORED, found: 0 });
        }
        Ok(self.sections.iter().find(|(found, _)| *found == id).map(|(_, section)| *section))
    }

    /// A feature's bytes as they are; `None` when its bit is not set.
    ///
    /// # Errors
    /// The bytes or the table's entry are not in the file.
    pub fn raw(&self, id: FeatureId) -> Result<Option<&'a [u8]>, DataError> {
        let Some(section) = self.section(id)? else { return Ok(None) };
        let bytes = section.slice(self.file);
        if (bytes.len() as u64) < section.size {
            let (offset, found) = (FileOffset(section.offset), bytes.len() as u64);
            return Err(DataError::FeatureCut { feature: id, offset, expected: section.size, found });
        }
        Ok(Some(bytes))
    }

    /// A feature's value; `None` when its bit is not set.
    ///
    /// # Errors
    /// The bytes are not in the file or do not decode.
    pub fn get<F: Feature>(&self) -> Result<Option<F>, DataError> {
        let Some(bytes) = self.raw(F::ID)? else { return Ok(None) };
        let decoded = F::decode(&mut Cursor::new(bytes, self.endian), &self.context());
        decoded.map(Some).map_err(|source| DataError::Feature { feature: F::ID, source })
    }

    /// What some features need to know of others.
    fn context(&self) -> FeatureContext {
        let bare = FeatureContext::default();
        let cpus = self.raw(FeatureId::NRCPUS).ok().flatten();
        let cpus = cpus.and_then(|bytes| NrCpus::decode(&mut Cursor::new(bytes, self.endian), &bare).ok());
        FeatureContext { cpus_available: cpus.map(|cpus| cpus.available) }
    }
}
