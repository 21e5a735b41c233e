//! What a reader found in the samples, small enough to compare: nothing can be left undecoded and still agree.

use std::fmt;

/// Samples so far.
#[derive(Default)]
pub struct Digest {
    samples: u64,
    chain_words: u64,
    sum: u64,
}

impl Digest {
    /// Takes the fields of a sample.
    #[inline]
    pub fn sample(&mut self, fields: &[Option<u64>]) {
        self.samples += 1;
        fields.iter().flatten().for_each(|field| self.mix(*field));
    }

    /// Takes its call chain.
    #[inline]
    pub fn chain(&mut self, words: impl Iterator<Item = u64>) {
        for word in words {
            self.chain_words += 1;
            self.mix(word);
        }
    }

    #[inline]
    fn mix(&mut self, value: u64) {
        self.sum = self.sum.rotate_left(1).wrapping_add(value);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} samples, {} chain words, {:016x}", self.samples, self.chain_words, self.sum)
    }
}
