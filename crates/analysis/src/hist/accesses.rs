//! Accesses to memory as numbers: the rank of each for every key that is about them.

use std::cmp::Reverse;

use super::key::{AccessKey, SortKey};
use super::rank::ranks;
use oxperf_profile::{AccessAddress, MemoryAccess, Profile, SampleGroup};

/// The ranks of all accesses for the keys that are asked for.
#[derive(Debug)]
pub(crate) struct AccessRanks {
    by_key: Vec<(AccessKey, Vec<u32>)>,
}

impl AccessRanks {
    pub(crate) fn new(profile: &Profile, keys: &[SortKey]) -> AccessRanks {
        let keys = keys.iter().filter_map(|key| match key {
            SortKey::Access(key) => Some(*key),
            _ => None,
        });
        AccessRanks {
            by_key: keys.map(|key| (key, of_key(profile, key))).collect(),
        }
    }

    /// The rank of the access that the samples of a group tell of.
    pub(crate) fn value(&self, key: AccessKey, profile: &Profile, group: &SampleGroup) -> i64 {
        let ranks = self
            .by_key
            .iter()
            .find(|(known, _)| *known == key)
            .map(|(_, ranks)| ranks);
        let access = profile.details.access_number(group.detail);
        let rank = ranks
            .zip(access)
            .and_then(|(ranks, access)| ranks.get(access));
        rank.map_or(i64::MAX, |&rank| rank.into())
    }
}

fn of_key(profile: &Profile, key: AccessKey) -> Vec<u32> {
    let accesses = profile.details.accesses.iter();
    match key {
        AccessKey::DataSymbol => ranks(accesses.map(|access| address(access.data))),
        AccessKey::CodeSymbol => ranks(accesses.map(|access| address(access.code))),
        AccessKey::DataObject => ranks(accesses.map(|access| object(profile, access))),
        AccessKey::Locked => ranks(accesses.map(|access| access.source.locks())),
        AccessKey::Translation => ranks(accesses.map(|access| access.source.translations())),
        AccessKey::Level => ranks(accesses.map(|access| access.source.level_bits())),
        AccessKey::Snoop => ranks(accesses.map(|access| access.source.plain_snoops())),
        AccessKey::Line => ranks(accesses.map(|access| access.line)),
        AccessKey::PhysicalAddress => ranks(accesses.map(|access| access.physical.cast_signed())),
        AccessKey::PageSize => ranks(accesses.map(|access| access.page_size)),
        AccessKey::Blocked => ranks(accesses.map(|access| access.source.blocks())),
    }
}

/// As a signed number: the kernel's come first.
fn address(spot: Option<AccessAddress>) -> Option<i64> {
    spot.map(|spot| spot.address.cast_signed())
}

/// By falling names; no object comes first.
fn object<'a>(profile: &'a Profile, access: &MemoryAccess) -> Option<Reverse<&'a str>> {
    let frame = access
        .data
        .and_then(|spot| profile.frames.get(spot.frame.index()));
    let dso = frame.and_then(|frame| profile.dsos.get(frame.dso?.index()));
    dso.map(|dso| Reverse(dso.short.as_str()))
}
