//! The features of a stream, each in a record of its own, with the lines that a header shows of them.

use crate::text::put;
use oxperf_abi::RecordType;
use oxperf_data::{FeatureId, Features};
use oxperf_wire::user::HeaderFeature;
use oxperf_wire::{Cursor, Endian, WireError};

use super::record_name;
use crate::recording::header;
use crate::text::attr_text::NoEventNames;

/// Shows features as they come.
#[derive(Debug)]
pub(super) struct FeatureTexts {
    endian: Endian,
    utc_offset: fn(i64) -> i32,
    /// Those that others are read by.
    referred: Vec<(FeatureId, Vec<u8>)>,
}

/// The topology is read by the numbers of CPUs, groups by the events.
const REFERRED: [FeatureId; 2] = [FeatureId::NRCPUS, FeatureId::EVENT_DESC];

impl FeatureTexts {
    pub(super) fn new(endian: Endian, utc_offset: fn(i64) -> i32) -> FeatureTexts {
        FeatureTexts {
            endian,
            utc_offset,
            referred: Vec::new(),
        }
    }

    /// Appends the text of a feature's record from its name on.
    pub(super) fn write(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        let record = HeaderFeature::decode(&mut Cursor::new(body, self.endian))?;
        put!(
            out,
            "PERF_RECORD_{}",
            record_name(RecordType::HEADER_FEATURE)
        );
        if !record.bytes.is_empty() {
            // As in perf, a feature without lines leaves its own line open; no bytes at all mark the last one.
            put!(out, ", {}", self.lines(&record));
        }
        Ok(())
    }

    fn lines(&mut self, record: &HeaderFeature<'_>) -> String {
        let mut lines = String::new();
        let Ok(id) = u8::try_from(record.feature).map(FeatureId) else {
            return lines;
        };
        self.referred.retain(|(found, _)| *found != id);
        let own = [(id, record.bytes.to_vec())];
        let all = own.iter().chain(&self.referred).cloned().collect();
        let features = Features::of_stream(all, self.endian);
        header::write_feature(&mut lines, &features, id, &self.utc_offset, &NoEventNames);
        self.referred
            .extend(own.into_iter().filter(|(id, _)| REFERRED.contains(id)));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(texts: &mut FeatureTexts, feature: u64, bytes: &[u8]) -> String {
        let body = [&feature.to_le_bytes(), bytes].concat();
        let mut out = Vec::new();
        assert!(texts.write(&body, &mut out).is_ok());
        String::from_utf8(out).unwrap_or_default()
    }

    #[test]
    fn features_stand_as_in_a_header() {
        let mut texts = FeatureTexts::new(Endian::Little, |_| 0);
        let host = [&64_u32.to_le_bytes()[..], b"vm", &[0; 62]].concat();
        assert_eq!(
            text(&mut texts, 3, &host),
            "PERF_RECORD_FEATURE, # hostname : vm\n"
        );
        let cpus = [2, 0, 0, 0, 4, 0, 0, 0];
        let shown = "PERF_RECORD_FEATURE, # nrcpus online : 4\n# nrcpus avail : 2\n";
        assert_eq!(text(&mut texts, 7, &cpus), shown);
    }

    #[test]
    fn the_mark_of_the_end_has_no_text() {
        let mut texts = FeatureTexts::new(Endian::Little, |_| 0);
        assert_eq!(text(&mut texts, 32, &[]), "PERF_RECORD_FEATURE");
        assert_eq!(text(&mut texts, 4000, &[1]), "PERF_RECORD_FEATURE, ");
    }
}
