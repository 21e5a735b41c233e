//! Counter values as `read_format` shapes them.

use oxperf_abi::{EventId, ReadFormat};

use crate::{Cursor, Encoder, WireError, Words};

/// The value of one counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadValue {
    /// The count.
    pub value: u64,
    /// The event.
    pub id: Option<EventId>,
    /// Samples it lost.
    pub lost: Option<u64>,
}

/// A read of one counter or of a group, borrowed from its record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadValues<'a> {
    /// Nanoseconds that the event was enabled.
    pub time_enabled: Option<u64>,
    /// Nanoseconds that it counted.
    pub time_running: Option<u64>,
    /// The value of an event outside a group: it stands before the times.
    first: Option<u64>,
    /// The words that follow the times.
    words: Words<'a>,
    format: ReadFormat,
}

impl<'a> ReadValues<'a> {
    /// Decodes the block at the cursor.
    pub fn decode(
        format: ReadFormat,
        cursor: &mut Cursor<'a>,
    ) -> Result<ReadValues<'a>, WireError> {
        let leading = cursor.u64()?;
        let time_enabled = optional(format, ReadFormat::TOTAL_TIME_ENABLED, cursor)?;
        let time_running = optional(format, ReadFormat::TOTAL_TIME_RUNNING, cursor)?;
        let described = (format.0 & (ReadFormat::ID | ReadFormat::LOST).0).count_ones() as usize;
        let (first, bytes) = if format.contains(ReadFormat::GROUP) {
            (None, cursor.items(leading, 8 * (1 + described))?)
        } else {
            (Some(leading), cursor.bytes(8 * described)?)
        };
        Ok(ReadValues {
            time_enabled,
            time_running,
            first,
            words: Words::new(bytes, cursor.endian()),
            format,
        })
    }

    /// Appends the block.
    pub fn encode(&self, encoder: &mut Encoder) {
        let described =
            (self.format.0 & (ReadFormat::ID | ReadFormat::LOST).0).count_ones() as usize;
        encoder.u64(
            self.first
                .unwrap_or((self.words.len() / (1 + described)) as u64),
        );
        [self.time_enabled, self.time_running]
            .into_iter()
            .flatten()
            .for_each(|time| encoder.u64(time));
        self.words.iter().for_each(|word| encoder.u64(word));
    }

    /// Returns whether the values are those of a whole group.
    pub fn is_group(&self) -> bool {
        self.format.contains(ReadFormat::GROUP)
    }

    /// The values, the leader's first.
    pub fn values(&self) -> impl Iterator<Item = ReadValue> + use<'a> {
        let (mut first, mut words, format) = (self.first, self.words.iter(), self.format);
        std::iter::from_fn(move || {
            let value = first.take().or_else(|| {
                if format.contains(ReadFormat::GROUP) {
                    words.next()
                } else {
                    None
                }
            })?;
            let id = format
                .contains(ReadFormat::ID)
                .then(|| words.next())
                .flatten()
                .map(EventId);
            let lost = format
                .contains(ReadFormat::LOST)
                .then(|| words.next())
                .flatten();
            Some(ReadValue { value, id, lost })
        })
    }
}

fn optional(
    format: ReadFormat,
    field: ReadFormat,
    cursor: &mut Cursor<'_>,
) -> Result<Option<u64>, WireError> {
    if format.contains(field) {
        cursor.u64().map(Some)
    } else {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    fn read(format: ReadFormat, words: &[u64]) -> Vec<(u64, Option<u64>, Option<u64>)> {
        let mut encoder = Encoder::new(Endian::Big);
        words.iter().for_each(|word| encoder.u64(*word));
        let values =
            ReadValues::decode(format, &mut Cursor::new(encoder.as_bytes(), Endian::Big)).unwrap();
        let mut again = Encoder::new(Endian::Big);
        values.encode(&mut again);
        assert_eq!(again.as_bytes(), encoder.as_bytes());
        values
            .values()
            .map(|v| (v.value, v.id.map(|id| id.0), v.lost))
            .collect()
    }

    #[test]
    fn a_single_value_stands_before_the_times() {
        let format = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::ID | ReadFormat::LOST;
        assert_eq!(read(format, &[5, 100, 7, 1]), [(5, Some(7), Some(1))]);
    }

    #[test]
    fn a_group_lists_its_members() {
        let format = ReadFormat::GROUP | ReadFormat::ID;
        assert_eq!(
            read(format, &[2, 5, 7, 6, 8]),
            [(5, Some(7), None), (6, Some(8), None)]
        );
    }

    #[test]
    fn a_group_count_past_the_record_is_refused() {
        let bytes = [0xff; 16];
        let format = ReadFormat::GROUP;
        assert!(ReadValues::decode(format, &mut Cursor::new(&bytes, Endian::Little)).is_err());
    }
}
