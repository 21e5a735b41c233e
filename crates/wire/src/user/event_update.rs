//! An addition to an event after its attribute.

use oxperf_abi::EventId;

use super::CpuMap;
use crate::{Cursor, Encoder, WireError};

/// EVENT_UPDATE: more about one event.
#[derive(Clone, PartialEq, Debug)]
pub struct EventUpdate<'a> {
    /// The event.
    pub id: EventId,
    /// The addition.
    pub update: Update<'a>,
}

/// The addition of an EVENT_UPDATE.
#[derive(Clone, PartialEq, Debug)]
pub enum Update<'a> {
    /// Unit of the counts.
    Unit(&'a [u8]),
    /// Factor of the counts.
    Scale(f64),
    /// Name.
    Name(&'a [u8]),
    /// CPUs; `None` in a shape that is not known.
    Cpus(Option<CpuMap>),
    /// A kind that this crate does not know.
    Unknown(u64),
}

impl<'a> EventUpdate<'a> {
    /// Returns the update if its numbers are known, and can so be written in another byte order.
    pub(crate) fn known(self) -> Option<EventUpdate<'a>> {
        let is_known = !matches!(self.update, Update::Unknown(_) | Update::Cpus(None));
        is_known.then_some(self)
    }

    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<EventUpdate<'a>, WireError> {
        let (kind, id) = (cursor.u64()?, EventId(cursor.u64()?));
        let update = match kind {
            0 => Update::Unit(cursor.c_string()?),
            1 => Update::Scale(f64::from_bits(cursor.u64()?)),
            2 => Update::Name(cursor.c_string()?),
            3 => Update::Cpus(CpuMap::decode(cursor)?),
            kind => Update::Unknown(kind),
        };
        Ok(EventUpdate { id, update })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        let kind = match &self.update {
            Update::Unit(_) => 0,
            Update::Scale(_) => 1,
            Update::Name(_) => 2,
            Update::Cpus(_) => 3,
            Update::Unknown(kind) => *kind,
        };
        encoder.u64(kind);
        encoder.u64(self.id.0);
        match &self.update {
            Update::Unit(text) | Update::Name(text) => encoder.c_string_padded(text),
            Update::Scale(scale) => encoder.u64(scale.to_bits()),
            Update::Cpus(Some(cpus)) => cpus.encode(encoder),
            Update::Cpus(None) | Update::Unknown(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn every_kind_round_trips() {
        let cpus = CpuMap::Range {
            any: false,
            start: 0,
            end: 1,
        };
        for update in [
            Update::Unit(b"msec"),
            Update::Scale(0.25),
            Update::Name(b"n"),
            Update::Cpus(Some(cpus)),
            Update::Unknown(9),
        ] {
            let record = EventUpdate {
                id: EventId(7),
                update,
            };
            let mut body = Encoder::new(Endian::Little);
            record.encode(&mut body);
            assert_eq!(
                EventUpdate::decode(&mut Cursor::new(body.as_bytes(), Endian::Little)),
                Ok(record)
            );
        }
    }
}
