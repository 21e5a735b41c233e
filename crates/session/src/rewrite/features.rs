//! Events and features of a recording for its plain file.

use oxperf_data::features::{
    AuxtraceIndex, BuildIdEntry, BuildIds, EventDesc, NamedEvent, NrCpus, StatData,
};
use oxperf_data::{FeatureId, FeatureSet, RawRecord, Reader};
use oxperf_wire::user::BuildIdRecord;
use oxperf_wire::{Cursor, Endian, StoredAttr, attr};

use super::{Gathered, tracing};
use crate::EventTable;

/// The largest attribute that perf 6.1 reads.
const WELL_KNOWN_SIZE: u32 = 128;

/// The events with their names; without any when none was recorded: perf makes them from the attributes then.
pub(super) fn described(reader: &Reader<'_>, events: &EventTable) -> EventDesc {
    let entries = reader.events().iter().zip(events.events());
    let named = reader.events().iter().any(|entry| entry.name.is_some());
    let describe = |(entry, event): (&oxperf_data::EventEntry, &crate::SessionEvent)| NamedEvent {
        stored: readable(&entry.stored),
        name: if named {
            event.name.clone()
        } else {
            String::new()
        },
        ids: entry.ids.clone(),
    };
    EventDesc {
        events: entries.map(describe).collect(),
    }
}

/// An attribute in a size that perf reads; it refuses sizes that are newer than itself.
fn readable(stored: &StoredAttr) -> StoredAttr {
    let size = stored
        .size
        .min(WELL_KNOWN_SIZE.max(attr::smallest_size(&stored.attr)));
    StoredAttr {
        attr: stored.attr,
        size,
        extra: Vec::new(),
    }
}

/// Number of attributes that have settings that are in none of the sizes known here.
pub(super) fn cut_attributes(reader: &Reader<'_>) -> u64 {
    let is_cut = |stored: &StoredAttr| stored.extra.iter().any(|byte| *byte != 0);
    reader
        .events()
        .iter()
        .filter(|entry| is_cut(&entry.stored))
        .count() as u64
}

/// The features of the plain file, and those of the recording that cannot be in it; that of the events is the
/// writer's.
pub(super) fn rewritten(reader: &Reader<'_>, gathered: &Gathered) -> (FeatureSet, Vec<FeatureId>) {
    let (mut features, mut left_out) = (FeatureSet::new(), Vec::new());
    for id in reader
        .features()
        .bits()
        .iter()
        .filter(|id| !REPLACED.contains(id))
    {
        match native(reader, id) {
            // perf refuses a list of BPF programs without its length; other features may be empty.
            Some(bytes) if bytes.is_empty() && BPF.contains(&id) => {}
            Some(bytes) => features.insert_raw(id, bytes),
            None => left_out.push(id),
        }
    }
    if let Some(tracing) = tracing::completed(reader, gathered.tracing.as_deref()) {
        left_out.retain(|id| *id != FeatureId::TRACING_DATA);
        features.insert(&tracing);
    }
    if !gathered.auxtrace.is_empty() {
        features.insert(&AuxtraceIndex(gathered.auxtrace.clone()));
    }
    if !gathered.build_ids.is_empty() {
        features.insert(&BuildIds(gathered.build_ids.clone()));
    }
    if gathered.counts {
        // A stream cannot have this one, and without it perf wants samples.
        features.insert(&StatData);
    }
    if let Some(cpus) = gathered.cpus {
        features.insert(&NrCpus {
            available: cpus,
            online: cpus,
        });
    }
    (features, left_out)
}

/// Features that describe the form of the recording, or are made anew.
const REPLACED: [FeatureId; 4] = [
    FeatureId::EVENT_DESC,
    FeatureId::AUXTRACE,
    FeatureId::DIR_FORMAT,
    FeatureId::COMPRESSED,
];

/// Features that hold structures of the recorder's kernel.
const BPF: [FeatureId; 2] = [FeatureId::BPF_PROG_INFO, FeatureId::BPF_BTF];

/// A feature's bytes in this machine's byte order; `None` when they cannot be read.
fn native(reader: &Reader<'_>, id: FeatureId) -> Option<Vec<u8>> {
    let (features, foreign) = (reader.features(), reader.endian() != Endian::NATIVE);
    let bytes = features.raw(id).ok().flatten()?;
    match id {
        FeatureId::TRACING_DATA if foreign => tracing::reordered(reader),
        id if BPF.contains(&id) => (!foreign || bytes.is_empty()).then(|| bytes.to_vec()),
        FeatureId::TRACING_DATA => Some(bytes.to_vec()),
        id => match features.in_order(id, Endian::NATIVE) {
            Ok(Some(recoded)) if foreign => Some(recoded),
            // A feature whose numbers are not known is kept as it is.
            Ok(_) => Some(bytes.to_vec()),
            Err(_) => None,
        },
    }
}

/// A binary's build id from a stream's record; `None` when it has none.
pub(super) fn build_id(record: &RawRecord<'_>, endian: Endian) -> Option<BuildIdEntry> {
    let misc = record.header.misc;
    let found = BuildIdRecord::decode(misc, &mut Cursor::new(record.body, endian)).ok()?;
    let name = String::from_utf8_lossy(found.filename).into_owned();
    Some(BuildIdEntry {
        misc,
        pid: found.pid,
        build_id: found.build_id?,
        name,
    })
}
