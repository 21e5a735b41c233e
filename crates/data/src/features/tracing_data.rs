//! TRACING_DATA: the formats of the tracepoints, as bytes. The `tracepoint` crate reads them.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId};
use crate::FeatureFault;

/// The formats of the tracepoints in the layout of `trace.dat`, undecoded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracingDataSection(pub Vec<u8>);

impl Feature for TracingDataSection {
    const ID: FeatureId = FeatureId::TRACING_DATA;

    fn decode(
        cursor: &mut Cursor<'_>,
        _: &FeatureContext,
    ) -> Result<TracingDataSection, FeatureFault> {
        Ok(TracingDataSection(cursor.rest().to_vec()))
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.bytes(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn bytes_stay_what_they_are() {
        round_trip(&TracingDataSection(b"\x17\x08Dtracing0.6".to_vec()));
    }
}
