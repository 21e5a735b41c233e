//! DEBUG_UNWIND: which files were kept to find out why a stack could not be unwound. Their bytes are in the feature
//! behind it, one behind the other.

use oxperf_wire::{Cursor, Encoder};

use super::super::{Feature, FeatureContext, FeatureId};
use super::proto::{fields, put_bytes, put_number};
use crate::FeatureFault;

/// The files that were kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DebugUnwind(pub Vec<DebugUnwindFile>);

/// One file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DebugUnwindFile {
    /// Its path.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
}

impl Feature for DebugUnwind {
    const ID: FeatureId = FeatureId::SIMPLEPERF_DEBUG_UNWIND;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<DebugUnwind, FeatureFault> {
        let mut files = Vec::new();
        fields(cursor.rest(), |field, value| {
            if field == 1 {
                files.push(decode_file(value.bytes())?);
            }
            Ok(())
        })?;
        Ok(DebugUnwind(files))
    }

    fn encode(&self, encoder: &mut Encoder) {
        let mut out = Vec::new();
        for file in &self.0 {
            let mut message = Vec::new();
            put_bytes(&mut message, 1, file.path.as_bytes());
            put_number(&mut message, 2, file.size);
            put_bytes(&mut out, 1, &message);
        }
        encoder.bytes(&out);
    }
}

fn decode_file(message: &[u8]) -> Result<DebugUnwindFile, FeatureFault> {
    let mut file = DebugUnwindFile::default();
    fields(message, |field, value| {
        match field {
            1 => file.path = value.text(),
            2 => file.size = value.number(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::round_trip;
    use super::*;

    #[test]
    fn files_round_trip() {
        let file = DebugUnwindFile {
            path: "perf.data_jit_app_cache:21176-22008".into(),
            size: 832,
        };
        round_trip(&DebugUnwind(vec![file, DebugUnwindFile::default()]));
    }
}
