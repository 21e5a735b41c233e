//! META_INFO: what the recorder knew, as keys with values.

use oxperf_wire::{Cursor, Encoder};

use super::super::{Feature, FeatureContext, FeatureId};
use super::text;
use crate::FeatureFault;

/// Keys and values in the order of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MetaInfo(pub Vec<(String, String)>);

impl Feature for MetaInfo {
    const ID: FeatureId = FeatureId::SIMPLEPERF_META_INFO;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<MetaInfo, FeatureFault> {
        let mut pairs = Vec::new();
        while cursor.remaining() > 0 {
            pairs.push((text::take(cursor)?, text::take(cursor)?));
        }
        Ok(MetaInfo(pairs))
    }

    fn encode(&self, encoder: &mut Encoder) {
        self.0
            .iter()
            .flat_map(|(key, value)| [key, value])
            .for_each(|one| text::put(encoder, one));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::round_trip;
    use super::*;

    #[test]
    fn pairs_round_trip() {
        round_trip(&MetaInfo(vec![
            ("clockid".into(), "monotonic".into()),
            ("empty".into(), String::new()),
        ]));
    }
}
