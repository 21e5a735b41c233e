//! The attribute entries and the ids of each event.

use oxperf_abi::{EventId, FileOffset};
use oxperf_wire::{Cursor, Endian, StoredAttr};

use crate::features::NamedEvent;
use crate::{Damage, DamageList, FileHeader, Section};

/// The smallest entry: an attribute of the first version and the place of its ids.
const SMALLEST_ENTRY: u64 = 64 + Section::STORED;
/// More events than this no recorder has.
const MOST_EVENTS: usize = 1 << 16;

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

/// Reads the entries that the header names, as many as can be read.
pub(super) fn read(
    file: &[u8],
    endian: Endian,
    header: &FileHeader,
    damage: &mut DamageList,
) -> Vec<EventEntry> {
    let attrs = header.attrs;
    let table = attrs.slice(file);
    let unusable = |offset: u64, size| Damage::PartUnusable {
        part: "attributes",
        offset: FileOffset(offset),
        size,
    };
    let Some(stride) = entry_size(header, table, endian) else {
        if attrs.size > 0 {
            damage.add(unusable(attrs.offset, attrs.size));
        }
        return Vec::new();
    };
    if stride as u64 != header.attr_size {
        let (offset, stated) = (FileOffset(attrs.offset), header.attr_size);
        let expected = stated.saturating_sub(Section::STORED);
        damage.add(Damage::AttrSize {
            offset,
            expected,
            found: stride as u64 - Section::STORED,
        });
    }
    if (table.len() as u64) < attrs.size {
        damage.add(cut("attributes", attrs, table));
    }
    let mut ids = IdBudget {
        left: file.len() / 8,
    };
    let mut events = Vec::new();
    for (index, entry) in table.chunks_exact(stride).take(MOST_EVENTS).enumerate() {
        let offset = attrs.offset + (index * stride) as u64;
        let Some((stored, place)) = decode_entry(entry, FileOffset(offset), endian, damage) else {
            damage.add(unusable(offset, attrs.end() - offset));
            break;
        };
        events.push(EventEntry {
            stored,
            ids: ids.read(file, place, endian, damage),
            name: None,
        });
    }
    events
}

/// The size of an entry: as the header says, or as the first attribute does where that makes no sense. `None` where no
/// entries can be.
fn entry_size(header: &FileHeader, table: &[u8], endian: Endian) -> Option<usize> {
    if header.attrs.offset < FileHeader::SIZE_WITHOUT_FEATURES
        || !header.attrs.offset.is_multiple_of(8)
    {
        return None;
    }
    let possible = |size: u64| (SMALLEST_ENTRY..=table.len() as u64).contains(&size);
    let own = StoredAttr::decode(table, endian)
        .ok()
        .map(|stored| u64::from(stored.size) + Section::STORED);
    let size = Some(header.attr_size)
        .filter(|size| possible(*size))
        .or(own.filter(|size| possible(*size)))?;
    usize::try_from(size).ok()
}

/// Looks for entries that no header names: recorders write them between the ids and the data.
pub(super) fn find(
    file: &[u8],
    endian: Endian,
    header: &FileHeader,
    data: Section,
) -> Option<(FileOffset, Vec<EventEntry>)> {
    const FARTHEST: u64 = 1 << 20;
    let first = FileHeader::SIZE.max(data.offset.saturating_sub(FARTHEST));
    (first..data.offset).step_by(8).find_map(|offset| {
        let attrs = Section {
            offset,
            size: data.offset - offset,
        };
        let own = StoredAttr::decode(attrs.slice(file), endian).ok()?;
        let attr_size = u64::from(own.size) + Section::STORED;
        let mut damage = DamageList::default();
        let found = read(
            file,
            endian,
            &FileHeader {
                attr_size,
                attrs,
                ..*header
            },
            &mut damage,
        );
        let fits = own.size <= 256 && attrs.size.is_multiple_of(attr_size) && damage.is_empty();
        let named = found
            .iter()
            .all(|event| event.ids.len() <= (offset - first) as usize / 8);
        (fits && named && !found.is_empty()).then_some((FileOffset(offset), found))
    })
}

/// Splits an entry into the attribute and the place of its ids.
fn decode_entry(
    entry: &[u8],
    offset: FileOffset,
    endian: Endian,
    damage: &mut DamageList,
) -> Option<(StoredAttr, Section)> {
    let room = entry.len() - Section::STORED as usize;
    let stored = StoredAttr::decode(entry, endian).ok()?;
    // The ids' place follows the attribute's own size, which can be less than the entry has room for.
    let own = usize::try_from(stored.size.max(64)).unwrap_or(usize::MAX);
    if own != room {
        damage.add(Damage::AttrSize {
            offset,
            expected: room as u64,
            found: own as u64,
        });
    }
    let place = entry.get(own.min(room)..).unwrap_or_default();
    let place = Section::decode(&mut Cursor::new(place, endian)).ok()?;
    Some((stored, place))
}

impl From<NamedEvent> for EventEntry {
    fn from(named: NamedEvent) -> EventEntry {
        EventEntry {
            stored: named.stored,
            ids: named.ids,
            name: Some(named.name),
        }
    }
}

/// Number of ids that may still be read: entries that all name the same stretch must not multiply it.
struct IdBudget {
    left: usize,
}

impl IdBudget {
    fn read(
        &mut self,
        file: &[u8],
        place: Section,
        endian: Endian,
        damage: &mut DamageList,
    ) -> Vec<EventId> {
        let bytes = place.slice(file);
        let count = (bytes.len() / 8).min(self.left);
        if (count * 8) as u64 != place.size {
            damage.add(cut("event ids", place, &bytes[..count * 8]));
        }
        self.left -= count;
        let mut cursor = Cursor::new(bytes, endian);
        (0..count)
            .map_while(|_| cursor.u64().ok().map(EventId))
            .collect()
    }
}

fn cut(part: &'static str, stated: Section, found: &[u8]) -> Damage {
    let offset = FileOffset(stated.offset);
    Damage::PartCut {
        part,
        offset,
        expected: stated.size,
        found: found.len() as u64,
    }
}
