//! GROUP_DESC: which events form groups.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, decode_list, encode_list, strings};
use crate::FeatureFault;

/// The groups of more than one event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GroupDesc(pub Vec<GroupEntry>);

/// One group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupEntry {
    /// Its name, `{anon_group}` where none was given.
    pub name: String,
    /// The leader's place in the list of events.
    pub leader: u32,
    /// Number of events that it has, with the leader; they follow it in the list.
    pub members: u32,
}

impl GroupEntry {
    /// The name that stands in files for no name.
    pub const ANONYMOUS: &'static str = "{anon_group}";
}

impl Feature for GroupDesc {
    const ID: FeatureId = FeatureId::GROUP_DESC;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<GroupDesc, FeatureFault> {
        let groups = decode_list(cursor, |cursor| {
            Ok(GroupEntry {
                name: strings::decode(cursor)?,
                leader: cursor.u32()?,
                members: cursor.u32()?,
            })
        });
        groups.map(GroupDesc)
    }

    fn encode(&self, encoder: &mut Encoder) {
        encode_list(encoder, &self.0, |encoder, group| {
            strings::encode(encoder, &group.name);
            encoder.u32(group.leader);
            encoder.u32(group.members);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn groups_round_trip() {
        let group = GroupEntry {
            name: GroupEntry::ANONYMOUS.into(),
            leader: 1,
            members: 3,
        };
        round_trip(&GroupDesc(vec![group]));
    }
}
