//! Ranks of the data that instructions work on: what tells rows by types apart, and their order.

use std::cmp::Reverse;

use super::key::SortKey;
use super::rank::ranks;
use oxperf_profile::DataPlaces;

/// The ranks of all places by what each key asks of them; greater names and offsets come first.
#[derive(Debug)]
pub(crate) struct DataRanks {
    /// By the keys that ask, the one that tells most first.
    lists: Vec<(SortKey, Vec<u32>)>,
}

impl DataRanks {
    /// The ranks that keys ask for.
    pub(crate) fn new(places: &DataPlaces, keys: &[SortKey]) -> DataRanks {
        let places = || places.list().iter();
        let all = [
            SortKey::DataTypeOffset,
            SortKey::DataTypeLine,
            SortKey::DataType,
        ];
        let asked = all.into_iter().filter(|key| keys.contains(key));
        let ranked = |key| match key {
            SortKey::DataTypeOffset => {
                ranks(places().map(|place| Reverse((&*place.name, place.offset.unwrap_or(0)))))
            }
            SortKey::DataTypeLine => {
                ranks(places().map(|place| Reverse((&*place.name, place.line()))))
            }
            _ => ranks(places().map(|place| Reverse(&*place.name))),
        };
        DataRanks {
            lists: asked.map(|key| (key, ranked(key))).collect(),
        }
    }

    /// True if any key asks.
    pub(crate) fn is_asked(&self) -> bool {
        !self.lists.is_empty()
    }

    /// The rank of a place by a key, or by all keys that ask; 0 where none does.
    pub(crate) fn rank(&self, place: Option<u32>, key: Option<SortKey>) -> u32 {
        let list = self
            .lists
            .iter()
            .find(|(other, _)| key.is_none_or(|key| key == *other));
        let rank = list
            .zip(place)
            .and_then(|((_, ranks), place)| ranks.get(place as usize));
        rank.copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_profile::DataPlace;

    #[test]
    fn the_key_that_tells_most_tells_places_apart() {
        let mut places = DataPlaces::default();
        let place = |name: &str, offset| DataPlace {
            name: name.to_owned(),
            offset: Some(offset),
            field: None,
        };
        [place("a", 0), place("a", 8), place("a", 64), place("b", 0)]
            .into_iter()
            .for_each(|place| places.push(place));
        let ranks = |keys: &[SortKey], key| {
            let ranks = DataRanks::new(&places, keys);
            [0, 1, 2, 3].map(|place| ranks.rank(Some(place), key))
        };
        let [ty, line, offset] = [
            SortKey::DataType,
            SortKey::DataTypeLine,
            SortKey::DataTypeOffset,
        ];
        assert_eq!(ranks(&[ty, offset], None), [3, 2, 1, 0]);
        assert_eq!(ranks(&[ty, line], None), [2, 2, 1, 0]);
        assert_eq!(ranks(&[line, ty], Some(ty)), [1, 1, 1, 0]);
        assert_eq!(ranks(&[], None), [0; 4]);
        assert!(!DataRanks::new(&places, &[SortKey::Symbol]).is_asked());
    }
}
