//! EVENT_DESC: attribute, name and ids of every event.

use oxperf_abi::EventId;
use oxperf_wire::{Cursor, Encoder, StoredAttr};

use super::{Feature, FeatureContext, FeatureId, strings};
use crate::FeatureFault;

/// The events as the recorder described them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventDesc {
    /// The events, in the order of the attributes in the file.
    pub events: Vec<NamedEvent>,
}

/// One event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedEvent {
    /// The attribute in its stored size.
    pub stored: StoredAttr,
    /// The name it was recorded under.
    pub name: String,
    /// The kernel's ids, one for each CPU and thread.
    pub ids: Vec<EventId>,
}

impl Feature for EventDesc {
    const ID: FeatureId = FeatureId::EVENT_DESC;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<EventDesc, FeatureFault> {
        let count = cursor.u32()?;
        let attr_size = cursor.u32()?;
        let mut events = Vec::new();
        for _ in 0..count {
            events.push(decode_event(cursor, attr_size)?);
        }
        Ok(EventDesc { events })
    }

    fn encode(&self, encoder: &mut Encoder) {
        let attr_size = self
            .events
            .iter()
            .map(|event| event.stored.size)
            .max()
            .unwrap_or(0);
        encoder.u32(self.events.len() as u32);
        encoder.u32(attr_size);
        self.events
            .iter()
            .for_each(|event| encode_event(encoder, event, attr_size));
    }
}

fn decode_event(cursor: &mut Cursor<'_>, attr_size: u32) -> Result<NamedEvent, FeatureFault> {
    let stored = StoredAttr::decode(cursor.items(u64::from(attr_size), 1)?, cursor.endian())?;
    let id_count = cursor.u32()?;
    let name = strings::decode(cursor)?;
    let mut ids = Cursor::new(cursor.items(u64::from(id_count), 8)?, cursor.endian());
    let ids = std::iter::from_fn(|| ids.u64().ok().map(EventId)).collect();
    Ok(NamedEvent { stored, name, ids })
}

fn encode_event(encoder: &mut Encoder, event: &NamedEvent, attr_size: u32) {
    let start = encoder.len();
    event.stored.encode(encoder);
    let padding = (attr_size as usize).saturating_sub(encoder.len() - start);
    encoder.bytes(&vec![0; padding]);
    encoder.u32(event.ids.len() as u32);
    strings::encode(encoder, &event.name);
    event.ids.iter().for_each(|id| encoder.u64(id.0));
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{EventAttr, EventType};

    use super::super::testing::{from_little, round_trip};
    use super::*;

    fn event(name: &str, size: u32, ids: &[u64]) -> NamedEvent {
        let attr = EventAttr {
            kind: EventType::SOFTWARE,
            config: 1,
            ..EventAttr::default()
        };
        let stored = StoredAttr {
            attr,
            size,
            extra: Vec::new(),
        };
        NamedEvent {
            stored,
            name: name.into(),
            ids: ids.iter().copied().map(EventId).collect(),
        }
    }

    #[test]
    fn events_round_trip() {
        round_trip(&EventDesc {
            events: vec![event("task-clock", 64, &[5, 6]), event("dummy:u", 128, &[])],
        });
    }

    #[test]
    fn counts_beyond_the_bytes_are_refused() {
        assert!(from_little::<EventDesc>(&[0xff; 200]).is_err());
    }
}
