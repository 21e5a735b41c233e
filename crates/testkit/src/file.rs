//! The container: header, ids, attributes, data, features, as `perf record` lays them out.

use crate::bytes::{Bytes, Endian};
use crate::error::Read;
use crate::event::{Event, encode_attr};
use crate::feature::Feature;
use crate::line::Line;

const HEADER: usize = 104;

/// A place in the file: offset and size in bytes.
type Section = (usize, usize);

/// The words of the `file` line.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) endian: Endian,
    attr_size: u32,
    claimed_data_size: Option<u64>,
    truncate: Option<usize>,
    /// Without features, although the file is whole otherwise.
    pub(crate) unfinished: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            endian: Endian::Little,
            attr_size: 128,
            claimed_data_size: None,
            truncate: None,
            unfinished: false,
        }
    }
}

impl Shape {
    pub(crate) fn parse(line: &mut Line) -> Read<Shape> {
        let endian = match line.take("endian").as_deref() {
            None | Some("little") => Endian::Little,
            Some("big") => Endian::Big,
            Some(other) => return Err(format!("{other:?} is no byte order")),
        };
        let attr_size = line.number("attr_size")?.unwrap_or(128);
        if !(64..=144).contains(&attr_size) {
            return Err(format!("attr_size={attr_size} is outside 64 to 144"));
        }
        let (claimed_data_size, truncate) = (line.number("data_size")?, line.number("truncate")?);
        let unfinished = line.number("unfinished")?.unwrap_or(0) != 0;
        Ok(Shape {
            endian,
            attr_size,
            claimed_data_size,
            truncate,
            unfinished,
        })
    }

    /// The whole file.
    pub(crate) fn file(
        &self,
        events: &[Event],
        records: &[Vec<u8>],
        features: &[Feature],
    ) -> Vec<u8> {
        let ids = id_sections(events);
        let attrs_at = ids.last().map_or(HEADER, |(at, size)| at + size);
        let attrs = self.attrs(events, &ids);
        let data = records.concat();
        let data_at = attrs_at + attrs.len();
        let mut out = Bytes::new(self.endian);
        self.header(
            (attrs_at, attrs.len()),
            (data_at, data.len()),
            features,
            &mut out,
        );
        events
            .iter()
            .flat_map(|event| &event.ids)
            .for_each(|id| out.u64(id.0));
        out.raw(&attrs);
        out.raw(&data);
        write_features(features, &mut out);
        let mut file = out.into_vec();
        file.truncate(self.truncate.unwrap_or(file.len()));
        file
    }

    fn attrs(&self, events: &[Event], ids: &[Section]) -> Vec<u8> {
        let mut out = Bytes::new(self.endian);
        for (event, section) in events.iter().zip(ids) {
            out.raw(&encode_attr(&event.attr, self.attr_size, self.endian));
            write_section(*section, &mut out);
        }
        out.into_vec()
    }

    fn header(&self, attrs: Section, data: Section, features: &[Feature], out: &mut Bytes) {
        out.u64(u64::from_le_bytes(*b"PERFILE2"));
        out.u64(HEADER as u64);
        out.u64(u64::from(self.attr_size) + 16);
        write_section(attrs, out);
        out.u64(data.0 as u64);
        out.u64(self.claimed_data_size.unwrap_or(data.1 as u64));
        write_section((0, 0), out);
        for word in bitmap(features) {
            out.u64(word);
        }
    }
}

fn write_section(section: Section, out: &mut Bytes) {
    let (offset, size) = section;
    out.u64(offset as u64);
    out.u64(size as u64);
}

/// Ids stand back to back behind the header.
fn id_sections(events: &[Event]) -> Vec<Section> {
    let mut at = HEADER;
    let section = |event: &Event| {
        let size = event.ids.len() * 8;
        at += size;
        (at - size, size)
    };
    events.iter().map(section).collect()
}

fn bitmap(features: &[Feature]) -> [u64; 4] {
    let mut words = [0; 4];
    for feature in features {
        words[usize::from(feature.bit / 64)] |= 1 << (feature.bit % 64);
    }
    words
}

/// The table of sections, then the sections, lowest bit first.
fn write_features(features: &[Feature], out: &mut Bytes) {
    let mut sorted: Vec<&Feature> = features.iter().collect();
    sorted.sort_by_key(|feature| feature.bit);
    let mut at = out.len() + sorted.len() * 16;
    for feature in &sorted {
        write_section((at, feature.bytes.len()), out);
        at += feature.bytes.len();
    }
    sorted.iter().for_each(|feature| out.raw(&feature.bytes));
}
