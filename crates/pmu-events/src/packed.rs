//! The form of the built-in tables: a mapfile, and a compressed block for each model.
//!
//! `cargo xtask pmu-events` writes it with [`write()`]; [`PackedTables`] reads it. A file holds the mapfile as text, the
//! plain names, a directory of models, and the blocks. A model is read without any other.

mod block;
mod bytes;

use crate::plain_names::is_plain;
use crate::store::Store;
use bytes::{Cursor, put_number, put_text};
use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};

pub use block::PackedEvent;

const MAGIC: &[u8] = b"oxpmu-2\n";

/// A block of more bytes than this, unpacked, is refused.
const MAX_BLOCK: u64 = 1 << 24;

/// The bytes that come out of one byte of a block, about.
const UNPACKED: usize = 5;

/// The tables of one model, to be packed.
#[derive(Clone, Debug, Default)]
pub struct PackedModel {
    /// Its path, as the mapfile has it.
    pub path: String,
    /// Its events by name and PMU.
    pub events: Vec<PackedEvent>,
}

/// Faults of packed tables.
#[derive(Debug, thiserror::Error)]
pub enum PackedError {
    /// These bytes are no packed tables, or end too early.
    #[error("these are no packed tables")]
    Form,
    /// A block cannot be uncompressed.
    #[error("a block cannot be uncompressed: {0}")]
    Block(#[from] io::Error),
}

/// Packs a mapfile and the models that it names. The same input gives the same bytes.
///
/// # Errors
/// None: what is written is memory; the type is that of the compressor.
pub fn write(mapfile: &str, models: &[PackedModel]) -> io::Result<Vec<u8>> {
    let mut blocks = Vec::new();
    for model in models {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&block::encode(&model.events))?;
        blocks.push(encoder.finish()?);
    }
    let mut packed = MAGIC.to_vec();
    put_text(&mut packed, mapfile);
    let plain = plain_names(models);
    put_number(&mut packed, plain.len());
    plain.iter().for_each(|name| put_text(&mut packed, name));
    put_number(&mut packed, models.len());
    for (model, block) in models.iter().zip(&blocks) {
        put_text(&mut packed, &model.path);
        put_number(&mut packed, block.len());
    }
    packed.extend(blocks.concat());
    Ok(packed)
}

/// The names of events that [`is_plain`] of all models.
fn plain_names(models: &[PackedModel]) -> BTreeSet<&str> {
    let events = models.iter().flat_map(|model| &model.events);
    let names = events.map(|event| event.name.as_str());
    names.filter(|name| is_plain(name)).collect()
}

/// Packed tables, their mapfile and directory read.
#[derive(Clone, Debug)]
pub struct PackedTables<'a> {
    /// The text of the mapfile.
    pub mapfile: &'a str,
    /// In their order.
    plain_names: Vec<&'a str>,
    models: Vec<(&'a str, &'a [u8])>,
}

impl<'a> PackedTables<'a> {
    /// Reads the mapfile and the directory.
    ///
    /// # Errors
    /// The bytes are of another form.
    pub fn read(packed: &'a [u8]) -> Result<PackedTables<'a>, PackedError> {
        Self::directory(packed).ok_or(PackedError::Form)
    }

    fn directory(packed: &'a [u8]) -> Option<PackedTables<'a>> {
        let mut cursor = Cursor::new(packed.strip_prefix(MAGIC)?);
        let mapfile = cursor.text()?;
        let mut plain_names = Vec::new();
        for _ in 0..cursor.number()? {
            plain_names.push(cursor.text()?);
        }
        let count = cursor.number()?;
        let mut sizes = Vec::new();
        for _ in 0..count {
            sizes.push((cursor.text()?, cursor.number()?));
        }
        let mut models = Vec::new();
        for (path, size) in sizes {
            models.push((path, cursor.take(size)?));
        }
        Some(PackedTables {
            mapfile,
            plain_names,
            models,
        })
    }

    /// Returns whether a model may have an event of this name in lower case, as far as can be said without unpacking one.
    pub fn may_have(&self, name: &str) -> bool {
        !is_plain(name) || self.plain_names.binary_search(&name).is_ok()
    }

    /// The paths of the models.
    pub fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.models.iter().map(|(path, _)| *path)
    }

    /// The events of the models with these paths, as they were packed.
    ///
    /// # Errors
    /// A block is of another form.
    pub fn events(&self, paths: &[&str]) -> Result<Vec<PackedEvent>, PackedError> {
        let store = self.unpack(paths)?;
        Ok(store.events().map(PackedEvent::from).collect())
    }

    /// The events of the models with these paths, together.
    pub(crate) fn unpack(&self, paths: &[&str]) -> Result<Store, PackedError> {
        let mut store = crate::store::StoreBuilder::default();
        for (_, block) in self.models.iter().filter(|(path, _)| paths.contains(path)) {
            let mut bytes = Vec::with_capacity(block.len() * UNPACKED);
            ZlibDecoder::new(*block)
                .take(MAX_BLOCK)
                .read_to_end(&mut bytes)?;
            block::decode(&bytes, &mut store).ok_or(PackedError::Form)?;
        }
        Ok(store.finish())
    }
}

#[cfg(test)]
mod tests;
