//! Events and features of a recording for its plain file.

use oxperf_data::features::{AuxtraceIndex, BuildIdEntry, BuildIds, EventDesc, NamedEvent};
use oxperf_data::{FeatureId, FeatureSet, RawRecord, Reader};
use oxperf_wire::user::BuildIdRecord;
use oxperf_wire::{Cursor, Endian, StoredAttr, attr};

use super::Gathered;
use crate::EventTable;

/// The largest attribute that perf 6.1 reads.
const WELL_KNOWN_SIZE: u32 = 128;

/// The events with their names.
pub(super) fn described(reader: &Reader<'_>, events: &EventTable) -> EventDesc {
    let entries = reader.events().iter().zip(events.events());
    let describe = |(entry, event): (&oxperf_data::EventEntry, &crate::SessionEvent)| NamedEvent {
        stored: readable(&entry.stored),
        name: event.name.clone(),
        ids: entry.ids.clone(),
    };
    EventDesc { events: entries.map(describe).collect() }
}

/// An attribute in a size that perf reads; it refuses sizes that are newer than itself.
fn readable(stored: &StoredAttr) -> StoredAttr {
    let size = stored.size.min(WELL_KNOWN_SIZE.max(attr::smallest_size(&stored.attr)));
    StoredAttr { attr: stored.attr, size, extra: Vec::new() }
}

/// The features of the plain file; that of the events is the writer's.
pub(super) fn rewritten(reader: &Reader<'_>, gathered: &Gathered) -> FeatureSet {
    let mut features = FeatureSet::new();
    for id in reader.features().bits().iter().filter(|id| !REPLACED.contains(id)) {
        if let Ok(Some(bytes)) = reader.features().raw(id) {
            features.insert_raw(id, bytes.to_vec());
        }
    }
    if !gathered.auxtrace.is_empty() {
        features.insert(&AuxtraceIndex(gathered.auxtrace.clone()));
    }
    if !gathered.build_ids.is_empty() {
        features.insert(&BuildIds(gathered.build_ids.clone()));
    }
    features
}

/// Features that describe the form of the recording, or are made anew.
const REPLACED: [FeatureId; 4] =
    [FeatureId::EVENT_DESC, FeatureId::AUXTRACE, FeatureId::DIR_FORMAT, FeatureId::COMPRESSED];

/// What a stream's record says about a binary; `None` when it says nothing.
pub(super) fn build_id(record: &RawRecord<'_>) -> Option<BuildIdEntry> {
    let misc = record.header.misc;
    let found = BuildIdRecord::decode(misc, &mut Cursor::new(record.body, Endian::NATIVE)).ok()?;
    let name = String::from_utf8_lossy(found.filename).into_owned();
    Some(BuildIdEntry { misc, pid: found.pid, build_id: found.build_id?, name })
}
