//! Recordings with bytes changed: the same seed changes the same bytes.

/// Words that lengths and offsets do not expect.
const EXTREMES: [u64; 8] = [
    0,
    1,
    7,
    0xffff,
    0xffff_ffff,
    1 << 63,
    u64::MAX,
    u64::MAX - 7,
];
/// Sizes that a record's header does not expect.
const SIZES: [u16; 8] = [0, 4, 8, 9, 16, 0x8010, 0x7ff8, 0xffff];

/// Changes some bytes of a recording: once to six times.
pub(crate) fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    (0..=random.below(6)).for_each(|_| change(bytes, random));
}

/// The file's header: where its fields for records stand, and its size.
const DATA_OFFSET: usize = 40;
const DATA_SIZE: usize = 48;
const HEADER: usize = 104;

/// Changes some records of a recording, each as a whole, and keeps all sizes true: so readers get far. A stream and a
/// recording of the other byte order are changed byte by byte.
pub(crate) fn mutate_records(bytes: &mut Vec<u8>, random: &mut Random) {
    let Some((start, mut records, end)) = split(bytes) else {
        return mutate(bytes, random);
    };
    (0..=random.below(4)).for_each(|_| change_record(&mut records, random));
    let records = records.concat();
    let mut changed = [&bytes[..start], &records, &bytes[end..]].concat();
    // The table of features begins where the records end, and says where in the file each stands.
    let moved = (records.len() as u64).wrapping_sub((end - start) as u64);
    let (table, features) = (start + records.len(), feature_count(bytes));
    for at in (0..features).map(|feature| table + 16 * feature) {
        if let Some(offset) = word(&changed, at) {
            write(&mut changed, at, &offset.wrapping_add(moved).to_le_bytes());
        }
    }
    write(
        &mut changed,
        DATA_SIZE,
        &(records.len() as u64).to_le_bytes(),
    );
    *bytes = changed;
}

/// Offsets where the records begin, the records, and where they end; `None` where they cannot be told apart.
fn split(bytes: &[u8]) -> Option<(usize, Vec<Vec<u8>>, usize)> {
    let is_file = bytes.starts_with(b"PERFILE2") && word(bytes, 8)? == HEADER as u64;
    let start = usize::try_from(word(bytes, DATA_OFFSET)?).ok()?;
    let end = start.checked_add(usize::try_from(word(bytes, DATA_SIZE)?).ok()?)?;
    let (mut rest, mut records) = (bytes.get(start..end)?, Vec::new());
    while let Some(size) = rest.get(6..8) {
        let size = usize::from(u16::from_le_bytes(size.try_into().ok()?));
        let (record, after) = rest.split_at_checked(size.max(8))?;
        records.push(record.to_vec());
        rest = after;
    }
    (is_file && rest.is_empty() && !records.is_empty()).then_some((start, records, end))
}

fn feature_count(bytes: &[u8]) -> usize {
    let bits = bytes.get(72..HEADER).unwrap_or_default();
    bits.iter().map(|byte| byte.count_ones() as usize).sum()
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(
        bytes.get(at..at.checked_add(8)?)?.try_into().ok()?,
    ))
}

/// One record comes twice, elsewhere or not at all, or a word of it, its kind or its flags are others.
fn change_record(records: &mut Vec<Vec<u8>>, random: &mut Random) {
    let (count, at, other) = (
        records.len(),
        random.below(records.len()),
        random.below(records.len()),
    );
    let record = &mut records[at];
    let place = 8 + random.below(record.len() - 8);
    match random.below(8) {
        0 => {
            let again = record.clone();
            records.insert(other, again);
        }
        1 if count > 1 => drop(records.remove(at)),
        2 => records.swap(at, other),
        3 => write(record, 4, &(random.next() as u16 & 0x8007).to_le_bytes()),
        4 => flip(record, place, random),
        kind => {
            let value = if kind == 5 {
                EXTREMES[random.below(EXTREMES.len())]
            } else {
                random.next() >> 32
            };
            write(record, place & !7, &value.to_le_bytes());
        }
    }
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
        4 => write(
            bytes,
            at & !7,
            &EXTREMES[random.below(EXTREMES.len())].to_le_bytes(),
        ),
        5 => write(
            bytes,
            (at & !7) + 6,
            &SIZES[random.below(SIZES.len())].to_le_bytes(),
        ),
        6 => write(bytes, at, &vec![0; random.below(64)]),
        7 => {
            let piece = piece(bytes, random);
            write(bytes, at, &piece);
        }
        _ => {
            let (piece, twice) = (piece(bytes, random), random.below(2) == 0);
            let end = if twice {
                at
            } else {
                (at + piece.len()).min(bytes.len())
            };
            bytes.splice(at..end, piece.into_iter().filter(|_| twice));
        }
    }
}

fn flip(bytes: &mut [u8], at: usize, random: &mut Random) {
    let bit = 1 << random.below(8);
    bytes
        .iter_mut()
        .skip(at)
        .take(1)
        .for_each(|byte| *byte ^= bit);
}

/// A short stretch of the recording.
fn piece(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let from = place(bytes.len(), random);
    bytes
        .iter()
        .skip(from)
        .take(random.below(128))
        .copied()
        .collect()
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
    bytes
        .iter_mut()
        .skip(at)
        .zip(piece)
        .for_each(|(target, source)| *target = *source);
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

    #[test]
    fn changed_records_keep_their_frames() {
        let recording = oxperf_testkit::Recording::parse(
            "event cycles sample=IP|TID|TIME ids=1
             comm pid=7 tid=7 sleep
             sample ip=0x400010 pid=7 tid=7 time=100
             finished_round
             feature hostname string=vm",
        );
        let file = recording.unwrap().to_file();
        for seed in 0..500 {
            let mut changed = file.clone();
            mutate_records(&mut changed, &mut Random::new(seed));
            let (_, records, end) = split(&changed).unwrap();
            assert!(!records.is_empty());
            let hostname = usize::try_from(word(&changed, end).unwrap()).unwrap();
            assert!(
                changed[hostname..].windows(2).any(|text| text == b"vm"),
                "seed {seed}"
            );
        }
    }
}
