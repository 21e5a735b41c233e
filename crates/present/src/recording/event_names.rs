//! The names that a recording itself holds for the numbers in its attributes.

use oxperf_abi::EventType;
use oxperf_data::features::PmuMappings;
use oxperf_data::{FeatureId, Reader};
use oxperf_tracepoint::Formatters;

use crate::text::attr_text::EventNames;

/// Names of PMUs and tracepoints from a recording's features, whatever machine it is read on.
#[derive(Debug)]
pub struct RecordedNames {
    pmus: PmuMappings,
    tracepoints: Option<Formatters>,
}

impl RecordedNames {
    /// Takes what the recording has; what it lacks or what is broken has no names.
    pub fn new(reader: &Reader<'_>) -> RecordedNames {
        let features = reader.features();
        let tracing = features.raw(FeatureId::TRACING_DATA).ok().flatten();
        let tracing = tracing.and_then(|bytes| oxperf_tracepoint::TracingData::decode(bytes).ok());
        RecordedNames {
            pmus: features.get().ok().flatten().unwrap_or_default(),
            tracepoints: tracing.as_ref().map(Formatters::new),
        }
    }
}

impl EventNames for RecordedNames {
    fn pmu(&self, kind: EventType) -> Option<String> {
        self.pmus
            .0
            .iter()
            .find(|pmu| pmu.kind == kind)
            .map(|pmu| pmu.name.clone())
    }

    fn event(&self, kind: EventType, config: u64) -> Option<String> {
        let tracepoints = self
            .tracepoints
            .as_ref()
            .filter(|_| kind == EventType::TRACEPOINT)?;
        tracepoints.name(config)
    }
}
