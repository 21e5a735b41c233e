//! The attribute entries and the ids of each event.

use oxperf_abi::{EventId, FileOffset};
use oxperf_wire::{Cursor, Endian, StoredAttr};

use crate::{Damage, DamageList, DataError, FileHeader, Section};

/// The smallest entry: an attribute of the first version and the place of its ids.
pub(super) const SMALLEST_ENTRY: u64 = 64 + Section::STORED;

/// One event of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventEntry {
    /// The attribute, with its size in the file and bytes that this program does not know.
    pub stored: StoredAttr,
    /// The kernel's ids, one for each CPU and thread that it was opened on.
    pub ids: Vec<EventId>,
    /// The name it was recorded under, from the EVENT_DESC feature.
    pub name: Option<String>,
}

/// Reads all entries that the file has.
pub(super) fn read(
    file: &[u8],
    endian: Endian,
    header: &FileHeader,
    damage: &mut DamageList,
) -> Result<Vec<EventEntry>, DataError> {
    let table = header.attrs.slice(file);
    if (table.len() as u64) < header.attrs.size {
        damage.add(cut("attributes", header.attrs, table));
    }
    let stride = usize::try_from(header.attr_size).unwrap_or(usize::MAX);
    let mut ids = IdBudget { left: file.len() / 8 };
    let mut events = Vec::new();
    for (index, entry) in table.chunks_exact(stride).enumerate() {
        let offset = FileOffset(header.attrs.offset + (index * stride) as u64);
        let (stored, place) = decode_entry(entry, offset, endian, damage)?;
        events.push(EventEntry { stored, ids: ids.read(file, place, endian, damage), name: None });
    }
    Ok(events)
}

/// Splits an entry into the attribute and the place of its ids.
fn decode_entry(
    entry: &[u8],
    offset: FileOffset,
    endian: Endian,
    damage: &mut DamageList,
) -> Result<(StoredAttr, Section), DataError> {
    let room = entry.len() - Section::STORED as usize;
    let failed = |source| DataError::Attr { offset, source };
    let stored = StoredAttr::decode(entry, endian).map_err(failed)?;
    // The ids' place follows the attribute's own size, which can be less than the entry has room for.
    let own = usize::try_from(stored.size.max(64)).unwrap_or(usize::MAX);
    if own != room {
        damage.add(Damage::AttrSize { offset, expected: room as u64, found: own as u64 });
    }
    let place = entry.get(own.min(room)..).unwrap_or_default();
    let place = Section::decode(&mut Cursor::new(place, endian)).map_err(failed)?;
    Ok((stored, place))
}

/// How many ids may still be read: entries that all name the same stretch must not multiply it.
struct IdBudget {
    left: usize,
}

impl IdBudget {
    fn read(&mut self, file: &[u8], place: Section, endian: Endian, damage: &mut DamageList) -> Vec<EventId> {
        let bytes = place.slice(file);
        let count = (bytes.len() / 8).min(self.left);
        if (count * 8) as u64 != place.size {
            damage.add(cut("event ids", place, &bytes[..count * 8]));
        }
        self.left -= count;
        let mut cursor = Cursor::new(bytes, endian);
        (0..count).map_while(|_| cursor.u64().ok().map(EventId)).collect()
    }
}

fn cut(part: &'static str, stated: Section, found: &[u8]) -> Damage {
    let offset = FileOffset(stated.offset);
    Damage::PartCut { part, offset, expected: stated.size, found: found.len() as u64 }
}
