//! A set of CPUs, in one of three shapes.

use crate::{Cursor, Encoder, WireError};

/// CPU_MAP: the CPUs that were asked for; also the body of an EVENT_UPDATE about CPUs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CpuMap {
    /// One number each; [`CpuMap::ANY`] for whatever CPU the thread is on.
    Cpus(Vec<u16>),
    /// A bit for each CPU, in words of 4 or 8 bytes.
    Mask {
        /// Bytes of a word in the record.
        word_size: u16,
        /// The words, widened.
        words: Vec<u64>,
    },
    /// Everything between two numbers.
    Range {
        /// Also whatever CPU the thread is on.
        any: bool,
        /// First.
        start: u16,
        /// Last.
        end: u16,
    },
}

impl CpuMap {
    /// Stands for any CPU in a list.
    pub const ANY: u16 = u16::MAX;

    /// Decodes the body; `None` for a shape that is not known.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<Option<CpuMap>, WireError> {
        Ok(Some(match cursor.u16()? {
            0 => {
                let count = cursor.u16()?;
                let mut list = Cursor::new(cursor.items(count.into(), 2)?, cursor.endian());
                CpuMap::Cpus(std::iter::from_fn(|| list.u16().ok()).collect())
            }
            1 => decode_mask(cursor)?,
            2 => {
                let any = cursor.u8()? != 0;
                cursor.u8()?;
                CpuMap::Range {
                    any,
                    start: cursor.u16()?,
                    end: cursor.u16()?,
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        match self {
            CpuMap::Cpus(cpus) => {
                encoder.u16(0);
                encoder.u16(cpus.len() as u16);
                cpus.iter().for_each(|cpu| encoder.u16(*cpu));
            }
            CpuMap::Mask { word_size, words } => encode_mask(*word_size, words, encoder),
            CpuMap::Range { any, start, end } => {
                encoder.u16(2);
                encoder.u8(u8::from(*any));
                encoder.u8(0);
                encoder.u16(*start);
                encoder.u16(*end);
            }
        }
    }

    /// The CPUs in the record's order; `None` for any.
    pub fn cpus(&self) -> Vec<Option<u32>> {
        match self {
            CpuMap::Cpus(cpus) => cpus
                .iter()
                .map(|cpu| (*cpu != CpuMap::ANY).then_some(u32::from(*cpu)))
                .collect(),
            CpuMap::Mask { word_size, words } => {
                let width = u32::from(*word_size) * 8;
                let bits = words.iter().enumerate().flat_map(move |(index, word)| {
                    let first = index as u32 * width;
                    (0..width)
                        .filter(move |bit| word >> bit & 1 != 0)
                        .map(move |bit| Some(first + bit))
                });
                bits.collect()
            }
            CpuMap::Range { any, start, end } => any
                .then_some(None)
                .into_iter()
                .chain((*start..=*end).map(|cpu| Some(u32::from(cpu))))
                .collect(),
        }
    }
}

fn decode_mask(cursor: &mut Cursor<'_>) -> Result<CpuMap, WireError> {
    let (count, word_size) = (cursor.u16()?, cursor.u16()?);
    let words = match word_size {
        4 => {
            let mut words = Cursor::new(cursor.items(count.into(), 4)?, cursor.endian());
            std::iter::from_fn(|| words.u32().ok().map(u64::from)).collect()
        }
        _ => {
            cursor.u32()?;
            let mut words = Cursor::new(cursor.items(count.into(), 8)?, cursor.endian());
            std::iter::from_fn(|| words.u64().ok()).collect()
        }
    };
    Ok(CpuMap::Mask {
        word_size: if word_size == 4 { 4 } else { 8 },
        words,
    })
}

fn encode_mask(word_size: u16, words: &[u64], encoder: &mut Encoder) {
    encoder.u16(1);
    encoder.u16(words.len() as u16);
    encoder.u16(word_size);
    if word_size == 4 {
        words.iter().for_each(|word| encoder.u32(*word as u32));
    } else {
        encoder.u32(0);
        words.iter().for_each(|word| encoder.u64(*word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn every_shape_round_trips() {
        for map in [
            CpuMap::Cpus(vec![0, 2, CpuMap::ANY]),
            CpuMap::Mask {
                word_size: 4,
                words: vec![0b1011],
            },
            CpuMap::Mask {
                word_size: 8,
                words: vec![1, 1 << 63],
            },
            CpuMap::Range {
                any: true,
                start: 0,
                end: 3,
            },
        ] {
            let mut body = Encoder::new(Endian::Big);
            map.encode(&mut body);
            assert_eq!(
                CpuMap::decode(&mut Cursor::new(body.as_bytes(), Endian::Big)),
                Ok(Some(map))
            );
        }
        assert_eq!(
            CpuMap::decode(&mut Cursor::new(&[9, 0], Endian::Little)),
            Ok(None)
        );
    }

    #[test]
    fn cpus_of_every_shape() {
        assert_eq!(CpuMap::Cpus(vec![2, CpuMap::ANY]).cpus(), [Some(2), None]);
        assert_eq!(
            CpuMap::Mask {
                word_size: 4,
                words: vec![1, 2]
            }
            .cpus(),
            [Some(0), Some(33)]
        );
        assert_eq!(
            CpuMap::Range {
                any: true,
                start: 1,
                end: 2
            }
            .cpus(),
            [None, Some(1), Some(2)]
        );
    }
}
