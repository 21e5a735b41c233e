//! Numbers in few bytes: seven bits a byte, lowest first; the high bit says that more follows.

use oxperf_analysis::flame::FlameWeight;

/// Bytes that numbers are put to.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) bytes: Vec<u8>,
}

impl Numbers {
    /// No numbers, with room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Numbers {
        Numbers {
            bytes: Vec::with_capacity(bytes),
        }
    }

    /// Puts a number.
    pub(crate) fn put(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// Puts a weight: samples times two, plus one when a second number follows, which is the value less samples times
    /// `mean`, sign in the lowest bit.
    pub(crate) fn put_weight(&mut self, weight: FlameWeight, mean: u64) {
        // More samples than half of what 64 bits hold cannot come from a file; the page would not show them exactly.
        let samples = weight.samples.min(u64::MAX / 2);
        let expected = samples.saturating_mul(mean);
        self.put(samples << 1 | u64::from(weight.value != expected));
        if weight.value != expected {
            self.put(zigzag(weight.value.wrapping_sub(expected) as i64));
        }
    }
}

/// Small numbers of either sign as small numbers without one.
fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_take_more_bytes() {
        let mut numbers = Numbers::default();
        numbers.put(127);
        numbers.put(300);
        numbers.put_weight(
            FlameWeight {
                value: 5,
                samples: 0,
            },
            0,
        );
        assert_eq!(numbers.bytes, [127, 0xac, 0x02, 1, 10]);
        assert_eq!(zigzag(-1), 1);
    }
}
