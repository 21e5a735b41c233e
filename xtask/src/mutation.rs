//! Recordings with bytes changed: the same seed changes the same bytes.

/// Words that lengths and offsets do not expect.
const EXTREMES: [u64; 8] = [0, 1, 7, 0xffff, 0xffff_ffff, 1 << 63, u64::MAX, u64::MAX - 7];
/// Sizes that a record's header does not expect.
const SIZES: [u16; 8] = [0, 4, 8, 9, 16, 0x8010, 0x7ff8, 0xffff];

/// Changes some bytes of a recording: once to six times.
pub(crate) fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    (0..=random.below(6)).for_each(|_| change(bytes, random));
}

/// One change: a cut, a bit, a byte, a word, an extreme word, a record's size, a stretch of zeros, a stretch copied
/// elsewhere, a stretch that comes twice or not at all.
fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = place(bytes.len(), random);
    match random.below(9) {
        0 if random.below(4) == 0 => bytes.truncate(at),
        0 | 1 => write(bytes, at, &[random.next() as u8]),
        2 => flip(bytes, at, random),
        3 => write(bytes, at & !7, &random.next().to_le_bytes()),
        4 => write(bytes, at & !7, &EXTREMES[random.below(EXTREMES.len())].to_le_bytes()),
        5 => write(bytes, (at & !7) + 6, &SIZES[random.below(SIZES.len())].to_le_bytes()),
        6 => write(bytes, at, &vec![0; random.below(64)]),
        7 => {
            let piece = piece(bytes, random);
            write(bytes, at, &piece);
        }
        _ => {
            let (piece, twice) = (piece(bytes, random), random.below(2) == 0);
            let end = if twice { at } else { (at + piece.len()).min(bytes.len()) };
            bytes.splice(at..end, piece.into_iter().filter(|_| twice));
        }
    }
}

fn flip(bytes: &mut [u8], at: usize, random: &mut Random) {
    let bit = 1 << random.below(8);
    bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bit);
}

/// A short stretch of the recording.
fn piece(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let from = place(bytes.len(), random);
    bytes.iter().skip(from).take(random.below(128)).copied().collect()
}

/// Header, attributes and ids are few among many records: they get their share.
fn place(len: usize, random: &mut Random) -> usize {
    match random.below(4) {
        0 => random.below(len.min(104)),
        1 => random.below(len.min(2048)),
        2 => len - random.below(len.min(4096)).min(len),
        _ => random.below(len),
    }
}

fn write(bytes: &mut [u8], at: usize, piece: &[u8]) {
    bytes.iter_mut().skip(at).zip(piece).for_each(|(target, source)| *target = *source);
}

/// A xorshift generator: the same seed damages the same way.
pub(crate) struct Random(u64);

impl Random {
    /// A generator; seeds that are close to one another give numbers that are not.
    pub(crate) fn new(seed: u64) -> Random {
        Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`, or 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 8) as usize % limit.max(1)
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_damages_the_same_way_and_never_fails() {
        let damaged = |seed| {
            let (mut bytes, mut random) = (vec![7; 300], Random::new(seed));
            (0..12).for_each(|_| change(&mut bytes, &mut random));
            bytes
        };
        assert_eq!(damaged(5), damaged(5));
        assert_ne!(damaged(5), damaged(6));
        (0..2000).map(damaged).for_each(drop);
        mutate(&mut Vec::new(), &mut Random::new(1));
    }
}
