//! Reading a file image.

mod events;
mod features;
mod records;

use oxperf_wire::Endian;

pub use events::EventEntry;
pub use features::Features;
pub use records::{RawRecord, Records};

use crate::features::{Compressed, EventDesc};
use crate::{Damage, DataError, FeatureId, FileHeader, Section};

/// How the records of a file are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Container {
    /// In this file, plain.
    Plain,
    /// In this file, compressed.
    Compressed,
    /// In further files of the directory that this one stands in.
    Directory,
}

/// A recording whose bytes are at hand. Opening reads the header, the events and the place of the features; records
/// and features are read when asked for.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    file: &'a [u8],
    endian: Endian,
    header: FileHeader,
    data: Section,
    events: Vec<EventEntry>,
    features: Features<'a>,
    damage: Vec<Damage>,
}

impl<'a> Reader<'a> {
    /// Opens a recording from the bytes of its file.
    ///
    /// # Errors
    /// The file is no perf.data, is of a kind that is not read here, or its header or an attribute is unusable.
    /// Everything else that is broken stands in [`Reader::damage`].
    pub fn open(file: &'a [u8]) -> Result<Reader<'a>, DataError> {
        let (endian, mut header) = FileHeader::decode(file)?;
        let mut damage = Vec::new();
        check_layout(&header)?;
        let data = data_section(&header, file, &mut damage);
        if header.data.size == 0 {
            // The table of the features stands behind the data, and their end is unknown.
            header.features = crate::FeatureBits::default();
        }
        let events = events::read(file, endian, &header, &mut damage)?;
        let features = Features::locate(file, endian, &header);
        let mut reader = Reader { file, endian, header, data, events, features, damage };
        reader.name_events();
        Ok(reader)
    }

    /// The recorder's byte order.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// The header; its features are none when the data were never closed.
    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// Where the records are, up to the end of the file when the recorder was killed.
    pub fn data(&self) -> Section {
        self.data
    }

    /// The events in file order.
    pub fn events(&self) -> &[EventEntry] {
        &self.events
    }

    /// The features behind the data.
    pub fn features(&self) -> &Features<'a> {
        &self.features
    }

    /// What is broken in the header and its parts. Records report their own damage while they are read.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// How the records are kept.
    pub fn container(&self) -> Container {
        let bits = self.header.features;
        if bits.contains(FeatureId::DIR_FORMAT) {
            Container::Directory
        } else if bits.contains(FeatureId::COMPRESSED) && self.really_compressed() {
            Container::Compressed
        } else {
            Container::Plain
        }
    }

    /// The records in file order.
    ///
    /// # Errors
    /// They are compressed or not in this file.
    pub fn records(&self) -> Result<Records<'a>, DataError> {
        match self.container() {
            Container::Plain => Ok(Records::new(self.file, self.data, self.endian)),
            Container::Compressed => Err(DataError::Compressed),
            Container::Directory => Err(DataError::Directory),
        }
    }

    /// `perf stat record` sets the bit without compressing; then the method is none.
    fn really_compressed(&self) -> bool {
        !matches!(self.features.get::<Compressed>(), Ok(Some(Compressed { method: 0, .. })))
    }

    /// Gives the events their names from the feature that holds them.
    fn name_events(&mut self) {
        let Ok(Some(desc)) = self.features.get::<EventDesc>() else { return };
        for (entry, named) in self.events.iter_mut().zip(desc.events) {
            entry.name = Some(named.name);
        }
    }
}

/// Refuses a header whose parts cannot be where it says.
fn check_layout(header: &FileHeader) -> Result<(), DataError> {
    let least = events::SMALLEST_ENTRY;
    match header.attr_size {
        0 => return Err(DataError::AttrSizeZero),
        found if found < least => return Err(DataError::AttrSizeSmall { expected: least, found }),
        _ => {}
    }
    if header.attrs.overlaps(header.data) {
        let (attrs, data) = (header.attrs.offset, header.data.offset);
        return Err(DataError::Overlap {
            attrs: oxperf_abi::FileOffset(attrs),
            data: oxperf_abi::FileOffset(data),
        });
    }
    Ok(())
}

/// Where the records really are, given the file's length.
fn data_section(header: &FileHeader, file: &[u8], damage: &mut Vec<Damage>) -> Section {
    let stated = header.data;
    let offset = oxperf_abi::FileOffset(stated.offset);
    let rest = (file.len() as u64).saturating_sub(stated.offset);
    if stated.size == 0 {
        damage.push(Damage::DataSizeZero { offset, found: rest });
        return Section { size: rest, ..stated };
    }
    if stated.size > rest {
        damage.push(Damage::PartCut { part: "data", offset, expected: stated.size, found: rest });
    }
    Section { size: stated.size.min(rest), ..stated }
}

#[cfg(test)]
mod tests;
