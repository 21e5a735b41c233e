//! From the CPU's time stamp counter to the recording's clock.

use crate::{Cursor, Encoder, WireError};

/// TIME_CONV: how to turn time stamp counts into nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeConv {
    /// Right shift after the multiplication.
    pub shift: u64,
    /// Factor.
    pub mult: u64,
    /// Nanoseconds at count 0.
    pub zero: u64,
    /// The parts of newer records; `None` in the short old form.
    pub extended: Option<TimeConvExtended>,
}

/// Fields that newer TIME_CONV records add.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeConvExtended {
    /// Base of a short counter.
    pub cycles: u64,
    /// Mask of a short counter.
    pub mask: u64,
    /// True if `zero` holds.
    pub cap_time_zero: bool,
    /// True if the counter is short.
    pub cap_time_short: bool,
}

impl TimeConv {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<TimeConv, WireError> {
        let (shift, mult, zero) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        Ok(TimeConv {
            shift,
            mult,
            zero,
            extended: decode_extended(cursor).ok(),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        for word in [self.shift, self.mult, self.zero] {
            encoder.u64(word);
        }
        if let Some(extended) = &self.extended {
            encoder.u64(extended.cycles);
            encoder.u64(extended.mask);
            encoder.u8(u8::from(extended.cap_time_zero));
            encoder.u8(u8::from(extended.cap_time_short));
            encoder.bytes(&[0; 6]);
        }
    }
}

fn decode_extended(cursor: &mut Cursor<'_>) -> Result<TimeConvExtended, WireError> {
    Ok(TimeConvExtended {
        cycles: cursor.u64()?,
        mask: cursor.u64()?,
        cap_time_zero: cursor.u8()? != 0,
        cap_time_short: cursor.u8()? != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn both_forms_round_trip() {
        let extended = TimeConvExtended {
            cycles: 4,
            mask: 5,
            cap_time_zero: true,
            cap_time_short: false,
        };
        for extended in [None, Some(extended)] {
            let record = TimeConv {
                shift: 1,
                mult: 2,
                zero: 3,
                extended,
            };
            let mut body = Encoder::new(Endian::Little);
            record.encode(&mut body);
            assert_eq!(
                TimeConv::decode(&mut Cursor::new(body.as_bytes(), Endian::Little)),
                Ok(record)
            );
        }
    }
}
