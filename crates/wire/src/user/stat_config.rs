//! Options that `perf stat` counted with.

use crate::{Cursor, Encoder, WireError, Words};

/// STAT_CONFIG: settings, each a tag and a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatConfig<'a> {
    words: Words<'a>,
}

impl<'a> StatConfig<'a> {
    /// Tag: how counts are added up.
    pub const AGGREGATION: u64 = 0;
    /// Tag: milliseconds between prints.
    pub const INTERVAL: u64 = 1;
    /// Tag: whether counts are scaled up for the time they did not run.
    pub const SCALE: u64 = 2;
    /// Tag: which cache level counts are added up by.
    pub const LEVEL: u64 = 3;

    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<StatConfig<'a>, WireError> {
        let count = cursor.u64()?;
        Ok(StatConfig {
            words: Words::new(cursor.items(count, 16)?, cursor.endian()),
        })
    }

    /// The settings: tag and value.
    pub fn settings(&self) -> impl Iterator<Item = (u64, u64)> + use<'a> {
        let mut words = self.words.iter();
        std::iter::from_fn(move || Some((words.next()?, words.next()?)))
    }

    /// The value of the last setting with a tag.
    pub fn setting(&self, tag: u64) -> Option<u64> {
        self.settings()
            .filter(|(found, _)| *found == tag)
            .last()
            .map(|(_, value)| value)
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64((self.words.len() / 2) as u64);
        self.words.iter().for_each(|word| encoder.u64(word));
    }

    /// Appends the body of such a record.
    pub fn encode_settings(settings: &[(u64, u64)], encoder: &mut Encoder) {
        encoder.u64(settings.len() as u64);
        for (tag, value) in settings {
            encoder.u64(*tag);
            encoder.u64(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let settings = [(StatConfig::SCALE, 1), (StatConfig::INTERVAL, 1000)];
        let mut body = Encoder::new(Endian::Big);
        StatConfig::encode_settings(&settings, &mut body);
        let read = StatConfig::decode(&mut Cursor::new(body.as_bytes(), Endian::Big)).unwrap();
        assert_eq!(read.settings().collect::<Vec<_>>(), settings);
        assert_eq!((read.setting(1), read.setting(0)), (Some(1000), None));
    }
}
