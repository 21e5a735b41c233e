//! A whole recording read from notation.

use crate::bytes::Endian;
use crate::error::{NotationError, Read};
use crate::event::Event;
use crate::feature::Feature;
use crate::file::Shape;
use crate::line::Line;
use crate::record;

/// Events, records and features of a recording, ready to become bytes.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    shape: Shape,
    events: Vec<Event>,
    records: Vec<Vec<u8>>,
    features: Vec<Feature>,
}

impl Recording {
    /// Reads the notation that the crate page describes.
    ///
    /// # Errors
    /// The first line that is not understood.
    pub fn parse(text: &str) -> Result<Recording, NotationError> {
        let mut recording = Recording::default();
        for (index, line) in text.lines().enumerate() {
            recording.add(line).map_err(|reason| NotationError {
                line: index + 1,
                reason,
            })?;
        }
        Ok(recording)
    }

    /// Byte order of everything in it.
    pub fn endian(&self) -> Endian {
        self.shape.endian
    }

    /// The records in the order of their lines, each with its header, padding and trailer.
    pub fn records(&self) -> &[Vec<u8>] {
        &self.records
    }

    /// The bytes of a `perf.data` file.
    pub fn to_file(&self) -> Vec<u8> {
        if self.features.is_empty() && !self.shape.unfinished {
            return self.shape.file(
                &self.events,
                &self.records,
                &[Feature::of_any_recorder(self.shape.endian)],
            );
        }
        self.shape.file(&self.events, &self.records, &self.features)
    }

    fn add(&mut self, text: &str) -> Read<()> {
        let (head, tail) = text.split_once(" | ").unwrap_or((text, ""));
        let Some((first, line)) = Line::parse(head)? else {
            return Ok(());
        };
        match first.as_str() {
            "file" | "event" | "feature" => self.add_part(&first, line),
            _ => self.add_record(&first, line, tail),
        }
    }

    fn add_part(&mut self, first: &str, mut line: Line) -> Read<()> {
        match first {
            "file" if self.records.is_empty() && self.features.is_empty() => {
                self.shape = Shape::parse(&mut line)?
            }
            "file" => return Err("file stands before records and features".to_owned()),
            "event" => self.events.push(Event::parse(&mut line)?),
            _ => {
                let feature = Feature::parse(&mut line, self.shape.endian)?;
                self.features.retain(|other| other.bit != feature.bit);
                self.features.push(feature);
            }
        }
        line.finish()
    }

    fn add_record(&mut self, first: &str, line: Line, tail: &str) -> Read<()> {
        self.records.push(record::encode(
            first,
            line,
            tail,
            &self.events,
            self.shape.endian,
        )?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: &str = "event cycles sample=IDENTIFIER|IP|TID|CPU flags=sample_id_all ids=5,6\n\
                          event dummy sample=IDENTIFIER|TIME flags=sample_id_all ids=9\n";

    fn records(text: &str) -> Vec<Vec<u8>> {
        Recording::parse(&format!("{EVENTS}{text}"))
            .unwrap()
            .records()
            .to_vec()
    }

    fn word(bytes: &[u8], index: usize) -> u64 {
        u64::from_le_bytes(bytes[index * 8..index * 8 + 8].try_into().unwrap())
    }

    #[test]
    fn a_sample_has_the_fields_of_the_event_that_owns_its_id() {
        let bytes = &records("sample id=6 mode=user ip=0x40 pid=1 tid=2 cpu=3")[0];
        let words: Vec<u64> = (0..bytes.len() / 8).map(|i| word(bytes, i)).collect();
        assert_eq!(words, [9 | 2 << 32 | 40 << 48, 6, 0x40, 1 | 2 << 32, 3]);
        assert_eq!(word(&records("sample id=9 time=77")[0], 2), 77);
    }

    #[test]
    fn the_trailer_follows_the_event() {
        let first = &records("comm pid=3 tid=4 a | cpu=1")[0];
        assert_eq!(
            (word(first, 3), word(first, 4), word(first, 5)),
            (3 | 4 << 32, 1, 5)
        );
        let second = &records("comm pid=3 tid=4 a | id=9 time=8")[0];
        assert_eq!((second.len(), word(second, 3), word(second, 4)), (40, 8, 9));
    }

    #[test]
    fn an_error_names_its_line() {
        let error = Recording::parse("event cycles sample=IP\n\nsample pi=4").unwrap_err();
        assert_eq!(
            (error.line, error.reason.as_str()),
            (3, "pi= has no place here")
        );
    }

    #[test]
    fn the_file_points_at_its_parts() {
        let file = Recording::parse(&format!("{EVENTS}finished_round\nfeature arch string=x"))
            .unwrap()
            .to_file();
        let attrs = 104 + 3 * 8;
        assert_eq!((word(&file, 3), word(&file, 4)), (attrs, 2 * 144));
        assert_eq!((word(&file, 5), word(&file, 6)), (attrs + 288, 8));
        assert_eq!(word(&file, 9), 1 << 6);
        let table = (attrs + 288 + 8) as usize / 8;
        assert_eq!(
            (word(&file, table), word(&file, table + 1)),
            (table as u64 * 8 + 16, 68)
        );
    }

    #[test]
    fn damage_on_demand() {
        let text = format!("file data_size=0 truncate=200\n{EVENTS}finished_round");
        let file = Recording::parse(&text).unwrap().to_file();
        assert_eq!((file.len(), word(&file, 6)), (200, 0));
    }
}
