//! Finding the boundaries at which decoding can begin.

/// The bytes of a PSB packet.
pub const PSB: [u8; 16] = [
    0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
];

/// Half a PSB, and the same a byte later.
const HALVES: [u64; 2] = [0x8202_8202_8202_8202, 0x0282_0282_0282_0282];

/// The offset of the first PSB at or behind `from`.
///
/// The packet before a PSB may end with the same bytes, and then the PSB is the end of them and not the beginning.
///
/// ```
/// use intel_pt::packet::{PSB, find_psb};
/// let trace = [&[0x82, 0x02, 0x82][..], &PSB].concat();
/// assert_eq!(find_psb(&trace, 0), Some(3));
/// assert_eq!(find_psb(&trace, 4), None);
/// ```
pub fn find_psb(trace: &[u8], from: usize) -> Option<usize> {
    let (words, _) = trace.get(from..)?.as_chunks::<8>();
    let halves = words
        .iter()
        .enumerate()
        .filter(|(_, word)| HALVES.contains(&u64::from_le_bytes(**word)));
    halves
        .map(|(index, _)| from + 8 * index)
        .find_map(|half| psb_around(trace, from, half))
}

/// The PSB that holds the eight bytes at `half`, if there is one.
fn psb_around(trace: &[u8], from: usize, half: usize) -> Option<usize> {
    let alternate = |at: &usize| matches!(trace[*at..*at + 2], [0x02, 0x82] | [0x82, 0x02]);
    let earliest = half.saturating_sub(PSB.len()).max(from);
    let run = (earliest..half)
        .rev()
        .take_while(alternate)
        .last()
        .unwrap_or(half);
    let start = run + usize::from(trace[run] == 0x82);
    let pairs = trace[start..]
        .chunks_exact(2)
        .take(2 * PAIRS)
        .take_while(|pair| **pair == PSB[..2])
        .count();
    match pairs {
        0..PAIRS => None,
        // Two of them, one behind the other.
        pairs if pairs == 2 * PAIRS => Some(start),
        pairs => Some(start + 2 * (pairs - PAIRS)),
    }
}

/// Repetitions of the two bytes of a PSB.
const PAIRS: usize = PSB.len() / 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_at_every_offset() {
        for before in 0..40 {
            let trace = [&vec![0x55; before][..], &PSB, &[0x02, 0x23]].concat();
            assert_eq!(find_psb(&trace, 0), Some(before));
            assert_eq!(find_psb(&trace, before), Some(before));
            assert_eq!(find_psb(&trace, before + 1), None);
        }
    }

    #[test]
    fn bytes_of_the_packet_before_do_not_count() {
        for tail in 0..16 {
            let rest = &PSB[PSB.len() - tail..];
            let trace = [&[0x19; 3], rest, &PSB, &[0x00]].concat();
            assert_eq!(find_psb(&trace, 0), Some(3 + tail), "{tail} bytes before");
        }
    }

    #[test]
    fn two_in_a_row_are_two() {
        let trace = [&[0x00; 5][..], &PSB, &PSB, &[0x02, 0x23]].concat();
        assert_eq!(find_psb(&trace, 0), Some(5));
        assert_eq!(find_psb(&trace, 5 + 16), Some(21));
    }

    #[test]
    fn a_cut_one_is_none() {
        assert_eq!(find_psb(&PSB[1..], 0), None);
        assert_eq!(find_psb(&PSB, 17), None);
    }
}
